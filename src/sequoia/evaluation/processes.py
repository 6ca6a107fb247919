"""Processes that neither outlive nor outrun the one that started them."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import TypeVar

# To send a result takes milliseconds; who needs ten seconds for it is not being read any more.
_TRIES, _SECONDS_A_TRY = 200, 0.05
# How long Ctrl-C may wait until it is heard.
_SECONDS_A_WAIT = 0.1

# Processes are many and each does little, so threads inside would only get in each other's way.
ONE_THREAD: Mapping[str, str] = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)

Result = TypeVar("Result")


def nursery(*modules: str) -> BaseContext:
    """Return where processes come from: one server imports the modules, and the others are forks.

    A new interpreter each would import for seconds, and hold what it imported a second time.
    PyTorch is imported where this process has it. Without forks, each is a new interpreter.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*modules, *({"torch"} & sys.modules.keys())])
    return context


@contextmanager
def starting() -> Iterator[None]:
    """Let processes that start now have one thread each, and not hear Ctrl-C.

    From their first moment on: this process stops them itself.
    """
    known = dict(os.environ)
    os.environ.update(ONE_THREAD)
    try:
        with _deaf_to_interrupts():
            yield
    finally:
        for name in ONE_THREAD:
            if name in known:
                os.environ[name] = known[name]
            else:
                del os.environ[name]


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    known = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, known)


def first_done(futures: Iterable[Future[Result]]) -> set[Future[Result]]:
    """Wait until some are done, and hear Ctrl-C between waits only.

    In the middle of one, an exception could leave locks of futures taken for good: their pool would
    then never end.
    """
    while True:
        with _hearing_late():
            done = wait(futures, _SECONDS_A_WAIT, FIRST_COMPLETED).done
        if done:
            return done


@contextmanager
def _hearing_late() -> Iterator[None]:
    """Let Ctrl-C come when this is over."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    known = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, known)
        if pressed:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def mortal() -> Iterator[None]:
    """Let `end_all` end this process now, and not after: half a result blocks whoever reads it."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def end_all(processes: Iterable[BaseProcess]) -> None:
    """End processes whose work is `mortal`; one that sends a result is given time for that."""
    for process in processes:
        for _ in range(_TRIES):
            process.terminate()
            process.join(_SECONDS_A_TRY)
            if not process.is_alive():
                break
        else:
            process.kill()


def end_with_parent() -> None:
    """End this process when the one that started it is gone, killed or not."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
