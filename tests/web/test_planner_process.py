"""Plans beside the page: asked for once, and not for how things stood before."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from web_cases import DAY, local_page, send

from real_command import PATIENCE
from sequoia.web import planner
from sequoia.web.planner import PlannerProcess, StillComputing


@pytest.fixture
def gate(monkeypatch):
    """Plans that wait, then say which version they are of."""
    opened, made = threading.Event(), []

    def propose(_folder, _day, version, _overrides, _who):
        opened.wait(PATIENCE)
        made.append(version)
        return version

    monkeypatch.setattr(planner, "_propose", propose)
    yield opened, made
    opened.set()


def test_plans_of_how_things_stood_before_are_not_made(tmp_path, gate):
    opened, made = gate
    process = PlannerProcess(tmp_path, lambda: ThreadPoolExecutor(1))
    for version in ("first", "second", "second", "third"):
        with pytest.raises(StillComputing):
            process.proposal(DAY, version, {}, 0.0)
    opened.set()
    assert process.proposal(DAY, "third", {}, PATIENCE) == "third"
    assert made == ["first", "third"]
    process.close()


@pytest.mark.usefixtures("gate")
def test_a_plan_that_takes_too_long_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("sequoia.web.today._LONG_PATIENCE", 0.0)
    _, client = local_page(tmp_path)
    answer = send(client, "/today/publish", digest="x")
    assert answer.status_code == 503
    assert "still being computed" in answer.text
