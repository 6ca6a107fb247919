"""What is too large is refused with its size, however large it is."""

import re

import pytest

from sequoia.errors import TooLarge
from sequoia.problem.families import base, capacity
from sequoia.sizes import require_at_most, require_memory


@pytest.mark.parametrize(
    ("count", "said"), [(12_345, "12,345"), (3e15, "3e+15"), (10**400, "1e+300")]
)
def test_counts(count, said):
    require_at_most("a sweep", 12_000, "cells", 12_000)
    words = f"a sweep would have {said} cells; at most 12,000 are allowed."
    with pytest.raises(TooLarge, match=re.escape(words)):
        require_at_most("a sweep", count, "cells", 12_000)


@pytest.mark.parametrize(("numbers", "said"), [(2**30, "8 GiB"), (10**400, "9.31e+290 GiB")])
def test_memory(numbers, said):
    require_memory("a table", 1000)
    with pytest.raises(TooLarge, match=re.escape(f"a table would need {said} of memory")):
        require_memory("a table", numbers)


def test_so_many_workers_are_refused_before_they_are_drawn(monkeypatch):
    def drawn(*_):
        raise AssertionError("something was drawn")

    monkeypatch.setattr(base, "ladder_arms", drawn)
    with pytest.raises(TooLarge, match="60,000,000,000 pairs of worker and arm"):
        capacity(workers=3_000_000_000)
