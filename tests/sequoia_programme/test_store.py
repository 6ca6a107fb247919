"""The database: migrated, whole, and one writer after the other."""

import shutil
import sqlite3
from contextlib import closing
from datetime import date

import pytest
import sqlalchemy as sql

from programme_cases import begin, content, fill, known
from sequoia.errors import FileError
from sequoia_programme import creating, store
from sequoia_programme.accounts import all_accounts, has_accounts
from sequoia_programme.estimates import estimate
from sequoia_programme.history import find_history
from sequoia_programme.recording import record
from sequoia_programme.schema import journal
from sequoia_programme.settings import read_programme
from sequoia_programme.situation import find_situation
from sequoia_programme.store import FILE
from sequoia_programme.today import plan_today


def test_a_database_is_brought_to_the_newest_version_once(tmp_path, monkeypatch):
    programme = begin(tmp_path)
    fill(programme, tmp_path)
    before = content(programme)
    calls = []

    newest = len(store.MIGRATIONS)

    def another(connection):
        calls.append(1)
        connection.execute(sql.text("ALTER TABLE roster ADD COLUMN phone VARCHAR"))

    steps = (*store.MIGRATIONS, another)
    monkeypatch.setattr(store, "MIGRATIONS", steps)
    monkeypatch.setattr(store, "MIGRATIONS", steps)
    for _ in range(2):
        with programme.store.open().reading() as connection:
            assert store.version_of(connection) == newest + 1
            connection.execute(sql.text("SELECT phone FROM roster"))
    assert calls == [1]
    assert {**content(programme), "schema_version": 0} == {**before, "schema_version": 0}


def test_a_database_of_the_first_version_is_read_and_filled(tmp_path, monkeypatch):
    first = store.MIGRATIONS[:1]
    monkeypatch.setattr(store, "MIGRATIONS", first)
    programme = begin(tmp_path)
    monkeypatch.undo()
    fill(programme, tmp_path)
    (tmp_path / "other").mkdir()
    other = begin(tmp_path / "other")
    fill(other, tmp_path)
    assert content(programme) == content(other)


def test_plans_of_the_version_before_are_published_ones(tmp_path):
    programme = known(tmp_path)
    day = date(2026, 11, 4)
    plan_today(find_situation(programme, day), {})
    record(programme, ["Ada=good"], day)
    with closing(sqlite3.connect(tmp_path / "clinic" / FILE)) as raw, raw:
        # What version 5 did not have.
        raw.execute("DROP TABLE outcomes")
        raw.execute("ALTER TABLE plans DROP COLUMN published")
        for table in ("sightings", "visits"):
            for name in ("time", "note", "recorder"):
                raw.execute(f"ALTER TABLE {table} DROP COLUMN {name}")
        raw.execute("UPDATE schema_version SET number = 5")
    [old] = find_history(programme, day, day)
    assert old.plan.published == old.plan.made
    assert "Ada" in {one.task.who for one in old.outcomes if one.visit}
    assert (tmp_path / "clinic" / "records-version-5.db").exists()
    record(programme, ["Grace=not at home"], day, time="9:40", remark="The dog barks.")
    [(_, _, when, _, *said)] = content(programme)["outcomes"]
    assert (when, said) == (day, ["not at home", "09:40", "The dog barks.", ""])


def test_a_migration_that_fails_leaves_the_version_before(tmp_path, monkeypatch):
    programme = begin(tmp_path)

    def broken(connection):
        connection.execute(sql.text("ALTER TABLE roster ADD COLUMN phone VARCHAR"))
        connection.execute(sql.text("SELECT nonsense"))

    steps = (*store.MIGRATIONS, broken)
    monkeypatch.setattr(store, "MIGRATIONS", steps)
    monkeypatch.setattr(store, "MIGRATIONS", steps)
    with pytest.raises(FileError, match="nonsense"):
        programme.store.open()
    monkeypatch.undo()
    with programme.store.open().reading() as connection:
        assert "phone" not in {c["name"] for c in sql.inspect(connection).get_columns("roster")}


def test_a_newer_database_is_one_clear_line(tmp_path):
    programme = begin(tmp_path)
    with sqlite3.connect(tmp_path / "clinic" / "records.db") as raw:
        raw.execute("UPDATE schema_version SET number = 99")
    with pytest.raises(FileError, match="has schema version 99; this version of sequoia knows"):
        programme.store.open()


def test_what_is_no_database_is_one_clear_line(tmp_path):
    programme = begin(tmp_path)
    file = tmp_path / "clinic" / "records.db"
    file.write_bytes(b"this is not a database" * 100)
    with pytest.raises(FileError, match=r"records.db: file is not a database"):
        programme.store.open()
    file.unlink()
    with pytest.raises(FileError, match="holds no records; sequoia programme init"):
        programme.store.open()
    with pytest.raises(FileError, match="cannot be opened"):
        store.Store.of_folder(tmp_path, "nonsense://x").open()


def test_an_error_in_a_transaction_undoes_all_of_it(tmp_path):
    programme = begin(tmp_path)

    def half() -> None:
        with programme.store.writing() as connection:
            connection.execute(journal.insert().values(words="half"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert content(programme)["journal"] == []


def test_settings_that_are_wrong_are_all_named(tmp_path):
    begin(tmp_path)
    toml = tmp_path / "clinic" / "programme.toml"
    text = toml.read_text()
    text = text.replace('step = "day"', 'step = "dya"').replace("start = 2026-11-02", "start = 3")
    text = text.replace("visit = 1", "visit = 0").replace("horizon = 20", "horizont = 20")
    toml.write_text(text)
    with pytest.raises(FileError) as stop:
        read_programme(tmp_path / "clinic")
    said = str(stop.value)
    for part in (
        "perhaps 'horizon' is meant",
        "perhaps 'day' is meant",
        "'start' has 3",
        "visit is 0",
    ):
        assert part in said
    toml.unlink()
    with pytest.raises(FileError, match="holds no programme"):
        read_programme(tmp_path / "clinic")


def test_the_settings_are_read_as_written(tmp_path):
    programme = begin(tmp_path, kind="schedule", limit=3, slots=["Mon", "Wed"], step="week")
    assert programme.space == {
        "kind": "schedule",
        "limit": 3,
        "slots": ["Mon", "Wed"],
        "visits": 1,
    }
    assert programme.calendar.date_of(1) == date(2026, 11, 9)
    assert programme.states == ["good", "at risk", "lapsed"]
    with pytest.raises(FileError, match="exists already"):
        begin(tmp_path)


def test_a_beginning_that_was_killed_can_begin_again(tmp_path, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(creating, "write_text", killed)
    with pytest.raises(KeyboardInterrupt):
        begin(tmp_path)
    monkeypatch.undo()
    with pytest.raises(FileError, match="holds no programme"):
        read_programme(tmp_path / "clinic")
    fill(begin(tmp_path), tmp_path)


def test_a_beginning_that_cannot_be_leaves_nothing(tmp_path):
    with pytest.raises(FileError, match="two are wanted"):
        begin(tmp_path, states={"good": 1.0})
    assert not (tmp_path / "clinic").exists()


def test_damage_that_is_no_text_is_one_clear_line(tmp_path):
    """SQLite quotes the damaged words of its schema; the driver cannot decode them."""
    begin(tmp_path)
    file = tmp_path / "clinic" / "records.db"
    before, words, after = file.read_bytes().partition(b"CREATE TABLE")
    file.write_bytes(before + words.replace(b"T", b"\xfc", 1) + after)
    with pytest.raises(FileError, match=r"records.db is damaged: what it holds is not UTF-8"):
        store.Store.of_folder(tmp_path / "clinic").open()


def raw(programme, statement, *values):
    """Change a database as no command of ours does."""
    with closing(sqlite3.connect(programme.folder / FILE)) as connection, connection:
        connection.execute(statement, values)


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("UPDATE roster SET facts = ?", '{"cost": 20'),
        ("UPDATE roster SET facts = ?", "[1]"),
        ("UPDATE roster SET joined = ?", "2026-13-45"),
        ("UPDATE sightings SET date = ?", "1026-11-02"),
        ("UPDATE roster SET name = ?", b"\x01"),
        ("UPDATE fits SET arrays = ?", b"PK\x03\x04 and nothing else"),
    ],
)
def test_a_cell_that_was_damaged_is_one_clear_line(tmp_path, statement, value):
    programme = begin(tmp_path)
    fill(programme, tmp_path)
    estimate(programme, date(2026, 11, 4))
    raw(programme, statement.replace("name = ?", "name = ? WHERE id = 1"), value)
    with pytest.raises(FileError, match=r"records.db is damaged: .*restore"):
        find_situation(programme, date(2026, 11, 4))


def test_a_file_that_fails_the_check_of_sqlite_is_not_read(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path)
    with closing(sqlite3.connect(programme.folder / FILE)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_schema WHERE name LIKE 'sqlite_autoindex_visits%'")
    (tmp_path / "copy").mkdir()
    for name in ("programme.toml", FILE):
        shutil.copy(programme.folder / name, tmp_path / "copy")
    with pytest.raises(FileError, match=r"records.db is damaged: "):
        all_accounts(read_programme(tmp_path / "copy"))


def test_a_file_that_is_empty_or_gone_is_said_and_not_made(tmp_path):
    programme = begin(tmp_path)
    (programme.folder / FILE).write_bytes(b"")
    with pytest.raises(FileError, match=r"is damaged: it has 0 bytes, and lost what it held"):
        all_accounts(programme)
    (programme.folder / FILE).unlink()
    for look in (all_accounts, has_accounts):
        with pytest.raises(FileError, match="holds no records"):
            look(programme)
    assert not (programme.folder / FILE).exists()


def test_a_copy_stays_of_what_is_migrated(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "MIGRATIONS", store.MIGRATIONS[:4])
    programme = begin(tmp_path)
    fill(programme, tmp_path)
    before = (programme.folder / FILE).read_bytes()
    monkeypatch.undo()
    all_accounts(programme)
    copy = programme.folder / "records-version-4.db"
    assert (programme.folder / FILE).read_bytes() != before
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT number FROM schema_version").fetchone() == (4,)
        assert connection.execute("SELECT count(*) FROM roster").fetchone() == (5,)
    assert [path.name for path in programme.folder.glob("records-*")] == [copy.name]
