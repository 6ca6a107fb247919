"""Ctrl-C ends the command, whatever is going on, and without a traceback."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process at once, while nothing is written.

    For imports: in the middle of one, an exception is turned into another one, or lost.
    """
    with _handling(lambda *_: os._exit(INTERRUPTED)):
        yield


@contextmanager
def interruptible() -> Iterator[None]:
    """Let no Ctrl-C get lost in a library's callback, where Python drops exceptions."""
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        signal.default_int_handler(number, frame)

    try:
        with _handling(press):
            yield
    except Exception:
        # What a library makes of an interruption is still one.
        if pressed:
            raise KeyboardInterrupt from None
        raise
    if pressed:
        raise KeyboardInterrupt


@contextmanager
def _handling(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Set what Ctrl-C does for a while, unless it is to be ignored."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
