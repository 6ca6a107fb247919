"""The error boundary: whatever a user can mend is one line on stderr and exit code 2."""

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import typer
import typer.main

from sequoia.errors import SequoiaError

MENDABLE = 2
INTERRUPTED = 130


def run(app: typer.Typer, arguments: Sequence[str] | None) -> int:
    """Run ``app`` and return its exit code.

    Errors of ours and of usage become one line each. Anything else is our bug and keeps its
    traceback.
    """
    command = typer.main.get_command(app)
    try:
        with _interruptible():
            code = command.main(args=arguments, prog_name="sequoia", standalone_mode=False)
    except SequoiaError as error:
        return _complain(type(error).__name__, str(error))
    except typer.TyperException as error:
        return _complain("UsageError", error.format_message())
    except MemoryError:
        return _complain("TooLarge", "there is not enough memory for this.")
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    return int(code or 0)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let no Ctrl-C get lost in a library's callback, where Python drops exceptions."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt


def _complain(kind: str, message: str) -> int:
    print(f"{kind}: {' '.join(message.split())}", file=sys.stderr)
    return MENDABLE
