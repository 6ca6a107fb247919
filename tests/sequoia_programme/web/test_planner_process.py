"""Plans beside the page: asked for once, and not for how things stood before."""

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import pytest
from web_cases import DAY, local_page, send

from real_command import PATIENCE
from sequoia_programme.drafts import set_wish
from sequoia_programme.web import planner
from sequoia_programme.web.planner import PlannerProcess, StillComputing
from sequoia_programme.web.processes import OwnProcess
from sequoia_programme.web.waiting import WaitingLine


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


@pytest.fixture
def line():
    """A line that begins when it is told, with its clock, and what was computed."""
    opened, done, clock = threading.Event(), [], [0.0]
    line = WaitingLine(lambda: ThreadPoolExecutor(1), lambda: clock[0])

    def ask(key, account, patience=0.0):
        def task():
            opened.wait(PATIENCE)
            done.append(key)
            return key

        with suppress(StillComputing):
            return line.ask(key, account, task, patience)

    yield ask, opened, done, clock
    opened.set()
    line.close()


def test_who_asks_for_very_much_keeps_nobody_waiting(line):
    ask, opened, done, _ = line
    for number in range(150):
        ask(number, "viewer")
    ask("plan", "planner")
    opened.set()
    assert ask("plan", "planner", PATIENCE) == "plan"
    assert ask(149, "viewer", PATIENCE) == 149
    assert done == [0, "plan", 146, 147, 148, 149]


def test_what_nobody_waits_for_any_more_is_not_computed(line):
    ask, opened, done, clock = line
    for key in ("first", "left", "wanted"):
        ask(key, "planner")
    clock[0] = 11.0
    ask("wanted", "planner")
    opened.set()
    assert ask("wanted", "planner", PATIENCE) == "wanted"
    assert done == ["first", "wanted"]


def test_few_requests_of_one_account_are_held(line):
    ask, opened, _, _ = line
    with ThreadPoolExecutor(20) as pool:
        begun = time.monotonic()
        held = [pool.submit(ask, "a", "viewer", PATIENCE) for _ in range(20)]
        while sum(one.done() for one in held) < 16 and time.monotonic() < begun + PATIENCE:
            time.sleep(0.01)
        assert [one.done() for one in held].count(False) == 4
        opened.set()
        assert [one.result() for one in held].count("a") == 4


@pytest.mark.usefixtures("gate")
def test_a_plan_that_takes_too_long_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("sequoia_programme.web.today._LONG_PATIENCE", 0.0)
    _, client = local_page(tmp_path)
    answer = send(client, "/today/publish", digest="x")
    assert answer.status_code == 503
    assert "still being computed" in answer.text


def test_what_is_computed_is_stopped_unless_others_wait_for_it():
    line = WaitingLine(OwnProcess)
    slow = partial(time.sleep, 10 * PATIENCE)
    try:
        for account in ("anna", "bo"):
            with suppress(StillComputing):
                line.ask("slow", account, slow, 0.0)
        with suppress(StillComputing):
            line.ask("next", "anna", partial(str, 1), 0.0)
        assert line.progress("next").ahead == 1
        assert not line.cancel("slow", "anna")
        assert line.progress("slow").ahead == 0
        assert line.cancel("slow", "bo")
        # The next one is computed in a process of its own.
        assert line.ask("next", "anna", partial(str, 1), PATIENCE) == "1"
        assert not line.cancel("slow", "anna")
    finally:
        line.close()


def test_while_a_plan_is_made_what_is_published_stays_on_the_page(tmp_path, monkeypatch):
    programme, client = local_page(tmp_path)
    plan = client.get("/").text
    send(client, "/today/publish", digest=re.search(r'name="digest" value="(\w+)"', plan)[1])
    set_wish(programme, DAY, "never", "Ada")

    def wait(*_):
        raise StillComputing

    monkeypatch.setattr(client.app.state.site.planner, "proposal", wait)
    text = client.get("/").text
    assert "The plan is being made" in text
    assert "What is published holds meanwhile" in text
    assert 'class="visit' in text
    there = send(client, "/today/stop").headers["location"]
    text = client.get(there).text
    assert "Planning was stopped" in text
    assert "The plan is being made" not in text
