"""Files: complete or not at all, nothing lost, one writer at a time."""

import os
import stat
import subprocess
import sys

import pytest

from sequoia.errors import FileError
from sequoia.io import (
    UNFINISHED,
    clear_unfinished,
    is_locked,
    locked,
    refuse_to_replace,
    write_bytes,
    write_text,
)

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / "real.txt", tmp_path / "link.txt"
    link.symlink_to(real)
    for content in ("first", "second"):
        write_text(link, content)
        assert link.is_symlink()
        assert real.read_text() == f"{content}\n"
    assert os.listdir(tmp_path / "there") == ["real.txt"]


def test_a_file_keeps_its_mode(tmp_path):
    file = tmp_path / "f"
    file.write_text("")
    file.chmod(0o640)
    write_bytes(file, b"more")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_name_that_no_file_can_have_is_one_clear_line(tmp_path):
    with pytest.raises(FileError, match="cannot be written: File name too long"):
        refuse_to_replace([tmp_path / ("9" * 400)])


def test_what_is_there_is_not_replaced_unless_asked(tmp_path):
    (tmp_path / "b").write_text("dear")
    refuse_to_replace([tmp_path / "a"])
    with pytest.raises(FileError, match=r"b exists already; .*--force"):
        refuse_to_replace([tmp_path / "a", tmp_path / "b"])
    refuse_to_replace([tmp_path / "b"], force=True)


HALF = """
import os, pathlib, sys, tempfile
from sequoia import io
def die(*_):
    os.kill(os.getpid(), 9)
io.os.replace = die
io.write_text(pathlib.Path(sys.argv[1]), "half")
"""


@POSIX
def test_what_a_killed_process_left_is_cleared_and_what_a_living_one_writes_is_not(tmp_path):
    target = tmp_path / "sub" / "f.txt"
    target.parent.mkdir()
    subprocess.run([sys.executable, "-c", HALF, str(target)], check=False)
    assert [name[:9] for name in os.listdir(target.parent)] == [UNFINISHED]
    writing = tmp_path / "sub" / f"{UNFINISHED}now"
    with writing.open("wb") as file:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
        clear_unfinished(tmp_path)
        assert len(os.listdir(target.parent)) == 2
        clear_unfinished(tmp_path, "*")
        assert os.listdir(target.parent) == [writing.name]
    clear_unfinished(target.parent)
    assert os.listdir(target.parent) == []


def test_the_only_copy_of_something_is_never_cleared(tmp_path):
    (tmp_path / f"{UNFINISHED}x" / "old").mkdir(parents=True)
    (tmp_path / f"{UNFINISHED}y" / "new").mkdir(parents=True)
    clear_unfinished(tmp_path)
    assert os.listdir(tmp_path) == [f"{UNFINISHED}x"]


@POSIX
def test_one_at_a_time(tmp_path):
    folder = tmp_path / "f"
    assert not is_locked(folder)
    with locked(folder, "training"):
        assert is_locked(folder)
        with (
            pytest.raises(FileError, match=f"the training with process id {os.getpid()} is writ"),
            locked(folder, "training"),
        ):
            pass
    assert not is_locked(folder)
    assert not folder.exists()


@POSIX
def test_a_lock_ends_with_its_process(tmp_path):
    code = "import os, pathlib, sys\nfrom sequoia.io import locked\n"
    code += "with locked(pathlib.Path(sys.argv[1]), 'sweep'):\n    os.kill(os.getpid(), 9)\n"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert os.listdir(tmp_path) == ["lock"]
    assert not is_locked(tmp_path)
    with locked(tmp_path, "sweep"):
        assert is_locked(tmp_path)


def test_a_file_is_on_the_disk_before_it_takes_its_place(tmp_path, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (done.append("fsync"), fsync(handle))[1])
    monkeypatch.setattr(os, "replace", lambda *both: (done.append("replace"), replace(*both))[1])
    write_bytes(tmp_path / "a", b"content")
    assert done == ["fsync", "replace", "fsync"]
