"""Files that appear complete or not at all, that replace nothing unasked, and locks."""

import json
import os
import shutil
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from sequoia.errors import FileError

T = TypeVar("T")

UNFINISHED = ".writing-"

# Whoever only asks whether something is in use holds its lock for a moment.
_PATIENCE = 0.2


def write_bytes(target: Path, content: bytes) -> None:
    """Write beside ``target``, then move there; a link is followed, not replaced."""
    place = Path(os.path.realpath(target))
    if not place.parent.is_dir():
        raise FileError(f"{target.parent} is not a folder; make it first.")
    if place.is_dir():
        raise FileError(f"{target} is a folder; the name of a file is wanted.")
    try:
        # A private mode is for secrets; this file is as public as the one before, or any other.
        mode = place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                # Held until the move is done, so that `clear_unfinished` leaves it alone.
                _take(file.fileno())
                file.write(content)
                file.flush()
                os.chmod(name, mode)
                # Else a machine that loses power may have moved a file that is still empty.
                os.fsync(file.fileno())
                os.replace(name, place)
                sync(place.parent)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(name)
            raise
    except OSError as error:
        raise FileError(f"{target} cannot be written: {error.strerror or error}.") from None


def write_text(target: Path, content: str) -> None:
    """Write text in UTF-8, ending in a line break."""
    write_bytes(target, (content.rstrip("\n") + "\n").encode())


def sync(path: Path) -> None:
    """Return when the disk has a file, or the names in a folder."""
    # Not every file system can; Windows opens no folders.
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def require_unpackable(path: Path, packed: zipfile.ZipFile, most: int) -> None:
    """Raise when an archive is far larger than its file: it would fill the memory."""
    size = sum(part.file_size for part in packed.infolist())
    if size > most:
        raise FileError(f"{path} has {size // 10**6} MB inside; at most {most // 10**6} are read.")


def read_bytes(path: Path) -> bytes:
    """Read a file, or say in one line why not."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FileError(f"{path} does not exist.") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Read TOML, or say in one line what is wrong with it."""
    return _parsed(path, "TOML", tomllib.loads)


def read_json(path: Path) -> Any:
    """Read JSON, or say in one line what is wrong with it."""
    return _parsed(path, "JSON", json.loads)


def _parsed(path: Path, language: str, parse: Callable[[str], T]) -> T:
    content = read_bytes(path)
    try:
        return parse(content.decode("utf-8-sig"))
    except RecursionError:
        raise FileError(f"{path} cannot be read: it is nested too deeply.") from None
    except ValueError as error:
        reason = " ".join(str(error).split())[:200]
        raise FileError(f"{path} cannot be read as {language}: {reason}.") from None


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder} cannot be made: {error.strerror}.") from None


def refuse_to_replace(targets: Iterable[Path], force: bool = False) -> None:
    """Raise a `FileError` for the first of ``targets`` that exists, unless told otherwise."""
    for target in targets:
        try:
            is_there = target.exists()
        except OSError as error:
            raise FileError(f"{target} cannot be written: {error.strerror}.") from None
        if not force and is_there:
            raise FileError(
                f"{target} exists already; choose another name, or say --force to overwrite it."
            )


def clear_unfinished(folder: Path, pattern: str = "") -> None:
    """Remove what killed processes left half-written in ``folder``.

    Parameters
    ----------
    pattern
        Which folders below to look at, such as ``"cells/*"``; ``folder`` itself unless given.
    """
    found = folder.glob(f"{pattern}/{UNFINISHED}*" if pattern else f"{UNFINISHED}*")
    # Removed in the middle of a swap, a folder may hold the only copy of what was there.
    remove_unheld(left for left in found if not (left / "old").exists())


def remove_unheld(paths: Iterable[Path]) -> None:
    """Remove those files and folders that no process holds; see `held`."""
    for path in paths:
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY)
            try:
                if _take(handle):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            finally:
                os.close(handle)


@contextmanager
def room_in(folder: Path) -> Iterator[Path]:
    """Give a folder inside another that goes at the end; what a killed process left goes now."""
    clear_unfinished(folder)
    try:
        made = tempfile.TemporaryDirectory(dir=folder, prefix=UNFINISHED)
    except OSError as error:
        raise FileError(f"{folder} cannot be written: {error.strerror}.") from None
    with made as room, held(Path(room)):
        yield Path(room)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Let `clear_unfinished` and `remove_unheld` leave ``path`` alone."""
    handle = os.open(path, os.O_RDONLY)
    try:
        _take(handle)
        yield
    finally:
        os.close(handle)


@contextmanager
def locked(folder: Path, what: str, patience: float = _PATIENCE) -> Iterator[None]:
    """Keep other processes out of ``folder``; the lock ends with this one, however that ends.

    Parameters
    ----------
    what
        What goes on in there, such as ``"sweep"``, for the message to the others.
    patience
        For how many seconds to wait for another process.
    """
    is_new = not folder.exists()
    path = folder / "lock"
    handle = _open_and_take(path, what, patience)
    try:
        os.truncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)
        if is_new:
            # Where nothing came of it, no empty folder is left.
            with suppress(OSError):
                folder.rmdir()


def is_locked(folder: Path) -> bool:
    """Say whether some process holds the lock of ``folder``."""
    try:
        handle = os.open(folder / "lock", os.O_RDWR)
    except OSError:
        return False
    try:
        return not _take(handle)
    finally:
        os.close(handle)


def _open_and_take(path: Path, what: str, patience: float) -> int:
    try:
        while True:
            # Whoever held it before may have removed an empty folder with it.
            make_folder(path.parent)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            if not _take(handle, patience):
                holder = os.read(handle, 100).decode(errors="replace").strip()
                os.close(handle)
                raise FileError(
                    f"{path.parent} is in use: the {what} with process id {holder or 'unknown'} is "
                    "writing to it."
                )
            # Whoever held it before may have removed it since; then it keeps nobody out.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), os.stat(path)):
                    return handle
            os.close(handle)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}.") from None


def _take(handle: int, patience: float = 0.0) -> bool:
    """Lock an open file; another process may hold it for ``patience`` seconds."""
    try:
        import fcntl
    except ImportError:  # Windows has no such locks: there, nobody is kept out.
        return True
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        else:
            return True


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
