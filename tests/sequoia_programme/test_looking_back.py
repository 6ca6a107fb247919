"""The past, played again and planned again, beside what people did."""

from datetime import date, timedelta

import numpy as np
import pytest

from programme_cases import begin, content, fill, sheet
from sequoia.cli import main
from sequoia.errors import ProblemError
from sequoia_programme.calendar import days_of
from sequoia_programme.replay import replay
from sequoia_programme.shadow import find_shadow

START, STEPS = date(2026, 11, 2), 20
LAST = date(2026, 11, 30)
# Ill people get well by visits only, and well ones need none.
TRANSITIONS = """dose,state,well,ill
none,well,0.98,0.02
none,ill,0,1
visit,well,0.98,0.02
visit,ill,0.9,0.1
"""


@pytest.fixture
def programme(tmp_path):
    """Four well people who are visited every day, and four ill ones who never are."""
    programme = begin(tmp_path, states={"well": 1.0, "ill": 0.0})
    roster = "name,cost\n" + "".join(f"P{n},10\n" for n in range(8))
    days = [START + timedelta(days=n) for n in range(28) if n % 7 < 5]
    log = "date,who,state,by\n" + "".join(f"{START},P{n},ill,\n" for n in range(4, 8))
    log += "".join(f"{day},P{n},well,Anna\n" for day in days for n in range(4))
    fill(programme, tmp_path, roster, "name,capacity\nAnna,40\n", log)
    sheet(programme.folder, "transitions.csv", TRANSITIONS)
    return programme


def test_a_policy_that_goes_where_it_helps_earns_more_than_what_was_done(programme):
    found = replay(programme, START, LAST)
    assert found.steps == STEPS
    assert found.visits == (4.0, pytest.approx(4.0, abs=0.5))
    # What was done leaves four people ill: at most half is earned.
    assert found.done.mean <= 4.0
    assert found.believed == pytest.approx(4.0, abs=0.2)
    assert found.gain.low > 2.0
    assert found.other.mean - found.done.mean == pytest.approx(found.gain.mean)


def test_the_same_visits_differ_by_nothing(programme, monkeypatch):
    from sequoia_programme import replay as module

    class Same:
        def reset(self, runs):
            self.runs = runs

        def act(self, states, step, rngs):
            action = np.tile(np.arange(8) < 4, (len(states), 1)).astype(np.int8)
            return type("Made", (), {"actions": action})

    monkeypatch.setattr(module, "make_policy", lambda *_: Same())
    found = replay(programme, START, LAST)
    assert (found.gain.low, found.gain.high) == (0.0, 0.0)


def test_nothing_is_kept_of_a_shadow(programme):
    before = content(programme)
    days = days_of(programme.calendar, START, START + timedelta(days=2))
    found = find_shadow(programme, days)
    assert content(programme) == before
    assert [one.done for one in found] == [["P0", "P1", "P2", "P3"]] * 3
    assert set(found[0].planned) >= {"P4", "P5", "P6", "P7"}
    assert found[0].both == [who for who in found[0].planned if who in found[0].done]
    assert found[0].gain.long_run > found[0].gain_done.long_run


def test_the_commands_say_it_with_what_cannot_be_known(programme, capsys):
    folder = str(programme.folder)
    for verb, last, wanted in (
        ("replay", LAST, "What such data cannot tell"),
        ("shadow", START, "Nothing was kept."),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["programme", verb, folder, "--from", str(START), "--to", str(last)])
        assert not stop.value.code
        assert wanted in capsys.readouterr().out
    with pytest.raises(ProblemError, match="0 steps to play; 1 to 400 are wanted"):
        replay(programme, LAST, START)
