"""Ctrl-C while processes are waited for."""

import signal
from concurrent.futures import Future
from concurrent.futures._base import DoneAndNotDoneFutures

import pytest

from sequoia.evaluation import processes


def test_ctrl_c_is_heard_between_waits_only(monkeypatch):
    """In the middle of one, locks are taken that nobody would give back."""
    over = []

    def interrupted(futures, *_):
        signal.raise_signal(signal.SIGINT)
        over.append(True)
        return DoneAndNotDoneFutures(set(), set(futures))

    monkeypatch.setattr(processes, "wait", interrupted)
    # Where tests run in the background, Ctrl-C is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            processes.first_done([Future()])
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert over == [True]
