"""The command in a process of its own, for tests that stop it or kill it."""

import os
import subprocess
import sys
import time
from pathlib import Path

# How long a test waits for what must happen: only a hang should reach it, on any machine.
PATIENCE = 600.0

# A parent that ignores the signal, as a background job does, must not make the child ignore it.
# Lines of progress come with the time, so they would come on a slow machine only.
_CODE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from sequoia.cli import main, progress
progress.SECONDS_BETWEEN_LINES = float("inf")
main()
"""


def start(folder: Path, *arguments: str) -> subprocess.Popen:
    """Start the command in a folder."""
    return subprocess.Popen(
        [sys.executable, "-c", _CODE, *arguments],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(folder: Path, pattern: str, count: int, process: subprocess.Popen) -> None:
    """Wait until the process has written so many files of a pattern."""
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        if len(list(folder.glob(pattern))) >= count:
            return
        time.sleep(0.005)
    raise AssertionError(f"ended too early: {process.communicate()[1]}")


def ended(process: subprocess.Popen) -> tuple[str, str]:
    """Return what a process that was told to end has said."""
    return process.communicate(timeout=PATIENCE)
