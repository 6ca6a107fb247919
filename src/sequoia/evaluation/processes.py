"""Processes that neither outlive nor outrun the one that started them."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Start processes that ignore Ctrl-C from their first moment; this one stops them itself."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    known = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, known)


def end_with_parent() -> None:
    """End this process when the one that started it is gone, killed or not."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
