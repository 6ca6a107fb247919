"""Files that appear complete or not at all."""

import os
import tempfile
from pathlib import Path

from sequoia.errors import FileError

UNFINISHED = ".writing-"


def write_bytes(target: Path, content: bytes) -> None:
    """Write beside ``target``, then move there."""
    if not target.parent.is_dir():
        raise FileError(f"{target.parent} is not a folder; make it first.")
    if target.is_dir():
        raise FileError(f"{target} is a folder; the name of a file is wanted.")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            # A private mode is for secrets; this file is as public as any other.
            os.chmod(name, 0o666 & ~_umask())
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise FileError(f"{target} cannot be written: {error.strerror or error}.") from None


def write_text(target: Path, content: str) -> None:
    """Write text in UTF-8, ending in a line break."""
    write_bytes(target, (content.rstrip("\n") + "\n").encode())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
