"""Accounts and their sessions."""

import io
from datetime import timedelta

import pytest

from programme_cases import begin, known
from sequoia.cli import main
from sequoia.errors import ProblemError
from sequoia_programme import accounts, attempts, schema
from sequoia_programme.accounts import (
    Account,
    add_account,
    all_accounts,
    change_account,
    change_own_password,
    check_password,
    end_session,
    end_session_of,
    find_session,
    has_accounts,
    open_session,
    remove_account,
    sessions_of,
)
from sequoia_programme.attempts import Key, reserve, take_back
from sequoia_programme.changing import rename
from sequoia_programme.schema import now
from sequoia_programme.store import FILE

PASSWORD = "correct horse battery"


def test_an_account_opens_with_its_password_only(tmp_path):
    programme = begin(tmp_path)
    assert not has_accounts(programme)
    anna = add_account(programme, "anna", "administer", PASSWORD)
    assert has_accounts(programme)
    assert check_password(programme, "anna", PASSWORD) == anna
    assert check_password(programme, "anna", PASSWORD + "x") is None
    assert check_password(programme, "nobody", PASSWORD) is None
    assert PASSWORD.encode() not in (programme.folder / FILE).read_bytes()


def test_a_session_lasts_until_it_ends(tmp_path, monkeypatch):
    programme = begin(tmp_path)
    anna = add_account(programme, "anna", "administer", PASSWORD)
    token = open_session(programme, anna)
    assert find_session(programme, token) == anna
    assert token.encode() not in (programme.folder / FILE).read_bytes()
    end_session(programme, token)
    assert find_session(programme, token) is None
    late = open_session(programme, anna)
    monkeypatch.setattr(accounts, "now", lambda: now() + timedelta(hours=13))
    assert find_session(programme, late) is None


def test_a_session_that_is_used_every_day_ends_after_a_week(tmp_path, monkeypatch):
    programme = begin(tmp_path)
    anna = add_account(programme, "anna", "administer", PASSWORD)
    token = open_session(programme, anna)
    for hours in range(0, 24 * 7, 11):
        monkeypatch.setattr(accounts, "now", lambda h=hours: now() + timedelta(hours=h))
        assert find_session(programme, token) == anna
    monkeypatch.setattr(accounts, "now", lambda: now() + timedelta(days=7, hours=1))
    assert find_session(programme, token) is None


def test_waiting_grows_and_ends(tmp_path, monkeypatch):
    store = begin(tmp_path).store
    began, later = now(), [0.0]
    monkeypatch.setattr(attempts, "now", lambda: began + timedelta(seconds=later[0]))
    own, shared = Key("a", 5, is_own=True), Key("b", 2)

    def tried(*keys, right=False):
        with store.writing() as connection:
            wait = reserve(connection, keys)
        if right and not wait:
            with store.writing() as connection:
                take_back(connection, keys)
        return wait

    assert [tried(own) for _ in range(6)] == [0] * 5 + [2]
    later[0] = 2.0
    assert [tried(own) for _ in range(2)] == [0, 4]
    later[0] = 6.0
    assert tried(own, right=True) == 0
    assert [tried(own) for _ in range(6)] == [0] * 5 + [2]
    # Who signs in takes back what was counted for it, and nothing of others.
    assert [tried(shared), tried(shared, right=True), tried(shared), tried(shared)] == [0, 0, 0, 2]
    later[0] = 25 * 3600.0
    assert [tried(shared), tried(shared)] == [0, 0]


@pytest.mark.parametrize("password", ["aaaaaaaaaa", "1234567890", "Password123", "annaanna123"])
def test_passwords_that_are_guessed_first_are_none(tmp_path, password):
    with pytest.raises(ProblemError, match="wanted"):
        add_account(begin(tmp_path), "anna", "administer", password)


def test_a_new_role_or_password_ends_the_sessions(tmp_path):
    programme = begin(tmp_path)
    add_account(programme, "anna", "administer", PASSWORD)
    bo = add_account(programme, "bo", "plan", PASSWORD)
    for change in ({"role": "view"}, {"password": "another password"}):
        token = open_session(programme, bo)
        change_account(programme, "bo", **change)
        assert find_session(programme, token) is None
    assert check_password(programme, "bo", "another password") == Account("bo", "view")


def test_somebody_can_always_administer(tmp_path):
    programme = begin(tmp_path)
    with pytest.raises(ProblemError, match="first account needs the role administer"):
        add_account(programme, "bo", "plan", PASSWORD)
    add_account(programme, "anna", "administer", PASSWORD)
    for attempt in (
        lambda: remove_account(programme, "anna"),
        lambda: change_account(programme, "anna", role="view"),
    ):
        with pytest.raises(ProblemError, match="only account that can administer"):
            attempt()
    assert all_accounts(programme) == [Account("anna", "administer")]


@pytest.mark.parametrize(
    ("name", "role", "password", "words"),
    [
        ("anna", "boss", PASSWORD, "role is 'boss'"),
        ("anna", "administer", "short", "password has 5 characters"),
        ("", "administer", PASSWORD, "is called ''"),
    ],
)
def test_bad_accounts_are_refused(tmp_path, name, role, password, words):
    programme = begin(tmp_path)
    with pytest.raises(ProblemError, match=words):
        add_account(programme, name, role, password)
    assert not has_accounts(programme)


@pytest.mark.parametrize(
    ("role", "may"),
    [
        ("view", ["view"]),
        ("work", ["work"]),
        ("plan", ["view", "work", "plan"]),
        ("administer", ["view", "work", "plan", "administer"]),
    ],
)
def test_a_role_covers_others(role, may):
    assert [other for other in accounts.ROLES if Account("", role).may(other)] == may
    assert Account("", role).may(accounts.ANY)


def test_an_account_of_a_worker_belongs_to_the_staff(tmp_path):
    programme = known(tmp_path)
    add_account(programme, "anna", "administer", PASSWORD)
    for worker, said in (("", "called ''"), ("Nurse Ana", "perhaps 'Nurse Anna'")):
        with pytest.raises(ProblemError, match=said):
            add_account(programme, "bo", "work", PASSWORD, worker)
    bo = add_account(programme, "bo", "work", PASSWORD, "Nurse Bo")
    rename(programme, "name", "Nurse Bo", "Nurse Bob")
    token = open_session(programme, bo)
    assert find_session(programme, token) == Account("bo", "work", "Nurse Bob")
    change_account(programme, "bo", role="plan")
    assert all_accounts(programme)[1] == Account("bo", "plan")


def test_a_new_password_of_ones_own_ends_the_other_sessions(tmp_path):
    programme = begin(tmp_path)
    anna = add_account(programme, "anna", "administer", PASSWORD)
    here, there = open_session(programme, anna, "Firefox, Linux"), open_session(programme, anna)
    assert {one.device for one in sessions_of(programme, "anna", here)} == {"Firefox, Linux", ""}
    change_own_password(programme, "anna", "another password", here)
    assert find_session(programme, there) is None
    [left] = sessions_of(programme, "anna", here)
    assert left.is_this
    end_session_of(programme, "anna", left.digest)
    assert find_session(programme, here) is None


def test_accounts_of_before_that_looked_at_everything_see_numbers(tmp_path):
    programme = begin(tmp_path)
    add_account(programme, "anna", "administer", PASSWORD)
    with programme.store.writing() as connection:
        connection.execute(schema.accounts.insert().values(name="eve", role="see", hash=""))
        connection.execute(schema.version.update().values(number=6))
    assert all_accounts(programme)[1] == Account("eve", "view")


def test_the_command_keeps_accounts(tmp_path, monkeypatch, capsys):
    programme = begin(tmp_path)

    def command(*words, typed=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as ended:
            main(["programme", "account", words[0], str(programme.folder), *words[1:]])
        return ended.value.code, capsys.readouterr()

    code, said = command("add", "anna", "--role", "administer", typed=f"{PASSWORD}\n")
    assert (code, said.out) == (0, "Added anna, who may administer.\n")
    assert command("add", "bo", typed=f"{PASSWORD}\n")[0] == 0
    assert command("role", "bo", "--role", "plan")[0] == 0
    assert command("password", "bo", typed="another password\n")[0] == 0
    assert check_password(programme, "bo", "another password") == Account("bo", "plan")
    assert command("remove", "bo")[0] == 0
    assert command("list")[1].out == "anna  administer\n"
    code, said = command("remove", "anna")
    assert code == 2
    assert len(said.err.splitlines()) == 1
