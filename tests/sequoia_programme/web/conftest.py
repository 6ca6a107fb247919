"""What all tests of the page share."""

import pytest

from sequoia_programme import today


@pytest.fixture(autouse=True)
def _few_episodes(monkeypatch):
    """Choose a policy quickly: which one is best is a matter of tests/sequoia_programme."""
    monkeypatch.setattr(today, "FEW_EPISODES", 2)
