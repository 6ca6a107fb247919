"""Processes beside the server: they end with it."""

import os
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection


def end_with(life: Connection) -> None:
    """End this process when the other end of ``life`` is closed, or its owner is killed."""

    def watch() -> None:
        try:
            life.recv()
        except (EOFError, OSError):
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class OwnProcess(ProcessPoolExecutor):
    """A process for one thing at a time, which ends at once when it is shut down."""

    def __init__(self) -> None:
        context = get_context("spawn")
        theirs, self._life = context.Pipe(duplex=False)
        super().__init__(1, context, end_with, (theirs,))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the process, whatever it is doing."""
        self._life.close()
        super().shutdown(wait, cancel_futures=cancel_futures)
