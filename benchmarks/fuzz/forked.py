"""One call in a child forked from this process, with limits on time and memory."""

import json
import os
import pkgutil
import resource
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

SECONDS = 30
BYTES = 2 * 2**30
# A child that waits spends no processor time; a busy machine may give it little.
PATIENCE = 20 * SECONDS


def import_everything() -> None:
    """Import what any command may need, once: a fork costs milliseconds, imports take seconds."""
    import sequoia

    for module in pkgutil.walk_packages(sequoia.__path__, "sequoia."):
        if not module.name.endswith(("__main__", ".ray")):
            with suppress(ImportError):  # what needs an extra that is not here
                import_module(module.name)
    for name in ("highspy", "matplotlib.pyplot", "matplotlib.backends.backend_agg", "torch"):
        import_module(name)


def forked(function: Callable[..., None], *arguments: object) -> tuple[str, str]:
    """Call ``function(say, *arguments)`` in a child.

    Return the first two texts that it said: what the case is, and what is wrong with it. If the
    child died before the second, that is what is wrong.
    """
    there, here = os.pipe()
    child = os.fork()
    if not child:
        _be_the_child(function, arguments, here)
    os.close(here)
    said, is_late = _listen(there)
    if is_late:
        os.kill(child, signal.SIGKILL)
    os.close(there)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    words = said[0] if said else ""
    if len(said) > 1:
        return words, said[1]
    if is_late:
        return words, f"it waits: {PATIENCE} seconds have passed"
    if code == -signal.SIGXCPU:
        return words, f"more than {SECONDS} seconds of processor time"
    return words, f"the process died, with exit code {code}"


def _listen(pipe: int) -> tuple[list[str], bool]:
    """Return the lines that a child wrote until it ended, and whether it had to be ended."""
    text, end = b"", time.monotonic() + PATIENCE
    while True:
        ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
        chunk = os.read(pipe, 65536) if ready else b""
        text += chunk
        if not chunk:
            return [json.loads(line) for line in text.splitlines()], not ready


def _be_the_child(function: Callable[..., None], arguments: tuple[object, ...], pipe: int) -> None:
    """Never return."""

    def say(text: str) -> None:
        os.write(pipe, (json.dumps(text) + "\n").encode())

    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        function(say, *arguments)
    finally:
        os._exit(1)
