"""A programme in one file: its database as it is now, and everything else in its folder."""

import hashlib
import io
import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Any

from sequoia.errors import FileError, ProblemError, SequoiaError
from sequoia.io import (
    UNFINISHED,
    make_folder,
    read_bytes,
    refuse_to_replace,
    require_unpackable,
    room_in,
    sync,
    write_bytes,
)
from sequoia.problem.names import count
from sequoia_programme.schema import attempts, now, sessions
from sequoia_programme.settings import Programme, read_programme
from sequoia_programme.store import FILE as DATABASE
from sequoia_programme.store import copy_database

ENDING = ".zip"
FORMAT = 1
# What says which files belong to a backup, and what is in each.
_ABOUT = "backup.json"
# What is of the moment: uploads, models in training, copies of before a migration.
_OF_THE_MOMENT = ("uploads", "lock", "model-in-training", UNFINISHED, "records-version-", DATABASE)
# No programme is nearly as large: ten thousand people and ten years of records have 2 GB.
_MOST_UNPACKED = 20_000_000_000


def backup(programme: Programme, target: Path, force: bool = False) -> int:
    """Write everything that a programme keeps into one file; return how many files are in it.

    Others may read and write meanwhile: what is in the file is how things stood at one moment.
    Whoever is signed in is not signed in to what is restored from it.
    """
    if programme.database:
        raise ProblemError(
            f"{programme.where} has its database on a server; back that up there, such as by "
            "pg_dump, and copy the folder."
        )
    if target.suffix != ENDING:
        raise FileError(f"{target} ends in {target.suffix!r}; {ENDING} is wanted.")
    if target.resolve().is_relative_to(programme.folder.resolve()):
        raise FileError(f"{target} is in the folder of the programme; another place is wanted.")
    refuse_to_replace([target], force)
    programme.store.open()
    with tempfile.TemporaryDirectory(prefix=UNFINISHED) as room:
        copy = Path(room) / DATABASE
        copy_database(programme.folder / DATABASE, copy)
        _forget_who_is_signed_in(copy)
        files = {DATABASE: copy.read_bytes()}
        for path in _kept(programme.folder):
            files[path.relative_to(programme.folder).as_posix()] = read_bytes(path)
    write_bytes(target, _packed(programme, files))
    # What was not read back is no backup.
    return len(_unpacked(target))


def restore(file: Path, folder: Path) -> int:
    """Bring a programme back from a backup, all of it or nothing; return how many files it has."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(f"{folder} is there already; a folder that is not there is wanted.")
    files = _unpacked(file)
    make_folder(folder.parent)
    with room_in(folder.parent) as room:
        made = room / folder.name
        for name, content in files.items():
            path = made / name
            make_folder(path.parent)
            write_bytes(path, content)
        try:
            read_programme(made).store.open()
        except SequoiaError as error:
            lines = (line.replace(str(made), str(folder)) for line in error.lines)
            raise FileError(f"{file} is not restored:", *lines) from None
        try:
            if folder.exists():
                folder.rmdir()
            made.rename(folder)
        except OSError as error:
            raise FileError(f"{folder} cannot be made: {error.strerror}.") from None
        sync(folder.parent)
    return len(files)


def _kept(folder: Path) -> Iterator[Path]:
    """Yield the files of a programme beside its database."""
    for path in sorted(folder.rglob("*")):
        top = path.relative_to(folder).parts[0]
        if path.is_file() and not top.startswith(_OF_THE_MOMENT):
            yield path


def _forget_who_is_signed_in(copy: Path) -> None:
    try:
        with closing(sqlite3.connect(copy)) as connection, connection:
            for table in (sessions, attempts):
                connection.execute(f"DELETE FROM {table.name}")  # noqa: S608 (a table of our own)
    except sqlite3.Error as error:
        raise FileError(f"the copy for the backup cannot be written: {error}.") from None


def _packed(programme: Programme, files: dict[str, bytes]) -> bytes:
    about = {
        "format": FORMAT,
        "programme": programme.name,
        "at": f"{now():%Y-%m-%d %H:%M:%S} UTC",
        "files": {name: _digest(content) for name, content in files.items()},
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_ABOUT, json.dumps(about, ensure_ascii=False, indent=1))
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _unpacked(file: Path) -> dict[str, bytes]:
    """Return the files of a backup, each as it was written."""
    content = read_bytes(file)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            require_unpackable(file, archive, _MOST_UNPACKED)
            about: dict[str, Any] = json.loads(archive.read(_ABOUT))
            if about["format"] != FORMAT:
                raise FileError(
                    f"{file} has format {about['format']}; this version reads {FORMAT}."
                )
            files = {name: archive.read(name) for name in about["files"]}
        wrong = [name for name in files if _digest(files[name]) != about["files"][name]]
        wrong += [name for name in files if not _is_inside(name)]
    except SequoiaError:
        raise
    except Exception as error:  # there is no end to what damaged bytes provoke
        reason = " ".join(str(error).split())[:100] or type(error).__name__
        raise FileError(f"{file} is no whole backup: {reason.rstrip('.')}.") from None
    if wrong:
        said = count(len(wrong), "file")
        raise FileError(f"{file} is no whole backup: {said} of it changed, such as {wrong[0]!r}.")
    return files


def _is_inside(name: str) -> bool:
    """Whether a name leads to a file below the folder that it is written to."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and not set(name) & set("\\:\0")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
