"""Everything in one file, and back: whole or not at all."""

import json
import threading
import zipfile
from datetime import date

import pytest

from programme_cases import content, known
from sequoia.cli import main
from sequoia.errors import FileError, SequoiaError
from sequoia_programme import store
from sequoia_programme.accounts import Account, add_account, find_session, open_session
from sequoia_programme.backup import backup, restore
from sequoia_programme.drafts import set_wish
from sequoia_programme.estimates import estimate
from sequoia_programme.history import find_journal
from sequoia_programme.people import add_note
from sequoia_programme.recording import record
from sequoia_programme.repeats import begin_answer
from sequoia_programme.settings import read_programme
from sequoia_programme.situation import find_situation
from sequoia_programme.today import plan_today, publish_proposed
from sequoia_programme.tokens import add_token, open_feed

DAY = date(2026, 11, 4)


@pytest.fixture
def programme(tmp_path):
    """A programme that keeps something of every kind."""
    programme = known(tmp_path)
    add_account(programme, "anna", "administer", "correct horse battery")
    add_note(programme, "Ada", "likes tea")
    estimate(programme, DAY)
    plan_today(find_situation(programme, DAY), {"must": ["Ada"]}, policy="price")
    publish_proposed(programme, DAY)
    record(programme, ["Ada=good"], DAY, key="k1")
    record(programme, ["Zoë=not at home"], DAY)
    set_wish(programme, DAY, "never", "Grace")
    add_token(programme, "hospital", ["read"], 1)
    open_feed(programme, "Nurse Anna")
    begin_answer(programme, "k", "r")
    (programme.folder / "model").mkdir()
    (programme.folder / "model" / "weights").write_bytes(bytes(range(256)))
    (programme.folder / "uploads" / "x").mkdir(parents=True)
    (programme.folder / "uploads" / "x" / "roster.csv").write_text("name")
    return programme


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != store.FILE
    }


def test_everything_comes_back(programme, tmp_path):
    token = open_session(programme, Account("anna", "administer"))
    backup(programme, tmp_path / "b.zip")
    restore(tmp_path / "b.zip", tmp_path / "again")
    again = read_programme(tmp_path / "again")
    before = content(programme)
    assert {name for name, rows in before.items() if not rows} <= {"attempts", "exported"} | {
        "absences"
    }
    assert content(again) == {**before, "sessions": []}
    assert find_session(programme, token)
    assert find_session(again, token) is None
    there = files(programme.folder)
    assert {name for name in there if name.startswith("uploads")}
    assert files(again.folder) == {k: v for k, v in there.items() if not k.startswith("uploads")}


def test_a_backup_is_of_one_moment_while_others_write(programme, tmp_path):
    stop = threading.Event()

    def write():
        while not stop.is_set():
            add_note(programme, "Ada", "a note")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            backup(programme, tmp_path / f"{number}.zip")
    finally:
        stop.set()
        writer.join()
    restore(tmp_path / "2.zip", tmp_path / "again")
    again = content(read_programme(tmp_path / "again"))
    assert len(again["notes"]) > 1


def changed(path, change):
    """Write a backup with other files in it."""
    with zipfile.ZipFile(path) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    change(files)
    with zipfile.ZipFile(path, "w") as packed:
        for name, inside in files.items():
            packed.writestr(name, inside)


def named(files, name):
    about = json.loads(files["backup.json"])
    about["files"][name] = about["files"].pop("model/weights")
    files[name] = files.pop("model/weights")
    files["backup.json"] = json.dumps(about).encode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda files: files.pop("programme.toml"), "no whole backup"),
        (lambda files: files.update({"programme.toml": b"x"}), "1 file of it changed"),
        (lambda files: named(files, "../evil"), "'../evil'"),
        (lambda files: named(files, "/tmp/evil"), "'/tmp/evil'"),
        (lambda files: files.update({"backup.json": b"{"}), "no whole backup"),
        (lambda files: files.update({"backup.json": b'{"format": 2}'}), "format 2"),
    ],
)
def test_what_is_no_whole_backup_leaves_nothing(programme, tmp_path, change, said):
    path = tmp_path / "b.zip"
    backup(programme, path)
    changed(path, change)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileError, match=said):
        restore(path, tmp_path / "again")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_damaged_byte_anywhere_is_found(programme, tmp_path):
    path = tmp_path / "b.zip"
    backup(programme, path)
    whole = path.read_bytes()
    for place in range(50, len(whole), len(whole) // 40):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        try:
            restore(path, tmp_path / str(place))
        except SequoiaError:
            assert not (tmp_path / str(place)).exists()
            continue
        # Dates of the archive and the like: nothing of what is kept.
        assert content(read_programme(tmp_path / str(place))) == content(programme)


def test_nothing_is_replaced_and_a_copy_is_elsewhere(programme, tmp_path):
    backup(programme, tmp_path / "b.zip")
    with pytest.raises(FileError, match="exists already"):
        backup(programme, tmp_path / "b.zip")
    with pytest.raises(FileError, match="is there already"):
        restore(tmp_path / "b.zip", programme.folder)
    with pytest.raises(FileError, match="in the folder of the programme"):
        backup(programme, programme.folder / "b.zip")
    with pytest.raises(FileError, match="is wanted"):
        backup(programme, tmp_path / "b.tar")


def test_the_command_backs_up_and_restores(programme, tmp_path, capsys):
    folder, path, again = (str(tmp_path / name) for name in ("clinic", "b.zip", "again"))
    for arguments in (["backup", folder, "-o", path], ["restore", path, again]):
        with pytest.raises(SystemExit) as stop:
            main(["programme", *arguments])
        assert not stop.value.code
    assert "read back and whole" in capsys.readouterr().out
    assert find_journal(read_programme(tmp_path / "again"), 3) == find_journal(programme, 3)


def test_a_backup_of_before_is_brought_to_the_newest_version(tmp_path, monkeypatch):
    first = store.MIGRATIONS[:4]
    monkeypatch.setattr(store, "MIGRATIONS", first)
    programme = known(tmp_path)
    monkeypatch.setattr("sequoia_programme.backup._forget_who_is_signed_in", lambda _: None)
    backup(programme, tmp_path / "b.zip")
    monkeypatch.undo()
    restore(tmp_path / "b.zip", tmp_path / "again")
    with read_programme(tmp_path / "again").store.reading() as connection:
        assert store.version_of(connection) == len(store.MIGRATIONS)


def test_a_copy_that_cannot_be_written_is_one_line_and_no_backup(programme, tmp_path, monkeypatch):
    def broken(_, target):
        target.write_bytes(b"no database" * 100)

    monkeypatch.setattr("sequoia_programme.backup.copy_database", broken)
    with pytest.raises(FileError, match="the copy for the backup cannot be written"):
        backup(programme, tmp_path / "kept.zip")
    assert not (tmp_path / "kept.zip").exists()
