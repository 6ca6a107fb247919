"""The error boundary: whatever a user can mend is one line on stderr and exit code 2."""

import errno
import re
import sys
from collections.abc import Sequence

import typer
import typer.main

from sequoia.cli.interrupts import INTERRUPTED, interruptible
from sequoia.errors import SequoiaError
from sequoia.extras import missing_package

MENDABLE = 2
# What a disk says that is full, only read, or broken: at any call, also one that clears up.
_OF_A_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO}
# No name or number that is meant is as long.
_LONG_NUMBER = re.compile(r"\d{60,}")


def run(app: typer.Typer, arguments: Sequence[str] | None, name: str = "sequoia") -> int:
    """Run ``app``, whose help calls it ``name``, and return its exit code.

    Errors of ours and of usage become one line each. Anything else is our bug and keeps its
    traceback.
    """
    command = typer.main.get_command(app)
    try:
        with interruptible():
            code = command.main(args=arguments, prog_name=name, standalone_mode=False)
    except SequoiaError as error:
        return _complain(type(error).__name__, *error.lines)
    except typer.TyperException as error:
        return _complain("UsageError", error.format_message())
    except ModuleNotFoundError as error:
        missing = missing_package(error)
        if missing is None:
            raise
        return _complain(type(missing).__name__, *missing.lines)
    except OSError as error:
        if error.errno not in _OF_A_DISK:
            raise
        where = f"{error.filename}: " if error.filename else ""
        return _complain("FileError", f"{where}the disk refuses: {error.strerror}.")
    except MemoryError:
        return _complain("TooLarge", "there is not enough memory for this.")
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    return int(code or 0)


def _complain(kind: str, *messages: str) -> int:
    for message in messages:
        line = _LONG_NUMBER.sub(_shortened, " ".join(message.split()))
        print(f"{kind}: {line}", file=sys.stderr)
    return MENDABLE


def _shortened(number: re.Match[str]) -> str:
    return f"{number[0][:5]}… ({len(number[0])} digits)"
