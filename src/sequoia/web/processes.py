"""Processes beside the server: they end with it."""

import os
import threading
import time

_SECONDS_BETWEEN_LOOKS = 2.0


def end_with(server: int) -> None:
    """End this process when the server is gone, also where that was killed."""

    def watch() -> None:
        while os.getppid() == server:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
