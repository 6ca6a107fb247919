"""Whether what happens is still what was estimated, week by week."""

from datetime import date, timedelta

import numpy as np
import pytest

from programme_cases import begin, fill, sheet
from sequoia.cli import main
from sequoia_programme.drift import find_drift

START, WEEKS, PEOPLE = date(2026, 9, 7), 6, 60
STATES = ("good", "bad")
KERNEL = np.array([[0.8, 0.2], [0.3, 0.7]])
TRANSITIONS = """dose,state,good,bad
none,good,0.8,0.2
none,bad,0.3,0.7
visit,good,0.8,0.2
visit,bad,0.3,0.7
"""
END = START + timedelta(weeks=WEEKS, days=-1)


def played(tmp_path, seed, later=KERNEL):
    """Return a programme in which everybody is called on Mondays and Thursdays.

    In its last two weeks people move by other transitions.
    """
    (tmp_path / str(seed)).mkdir()
    folder = tmp_path / str(seed)
    programme = begin(folder, states={"good": 1.0, "bad": 0.0}, start=START)
    rng, state, rows = np.random.default_rng(seed), np.zeros(PEOPLE, dtype=int), []
    for number in range(5 * WEEKS):
        day = START + timedelta(days=7 * (number // 5) + number % 5)
        if number % 5 in (0, 3):
            rows += [f"{day},P{i},{STATES[state[i]]}" for i in range(PEOPLE)]
        kernel = later if number >= 5 * (WEEKS - 2) else KERNEL
        state = (rng.random(PEOPLE) > kernel[state, 0]).astype(int)
    roster = "name,cost\n" + "".join(f"P{i},10\n" for i in range(PEOPLE))
    log = "date,who,state\n" + "\n".join(rows)
    fill(programme, folder, roster, "name,capacity\nAnna,60\n", log)
    sheet(programme.folder, "transitions.csv", TRANSITIONS)
    return programme


def test_every_sighting_but_the_first_is_predicted_once(tmp_path):
    found = find_drift(played(tmp_path, 0), END)
    assert [str(week.first) for week in found.weeks] == [
        str(START + timedelta(weeks=n)) for n in range(WEEKS - 1, -1, -1)
    ]
    assert sum(week.seen.sum() for week in found.weeks) == PEOPLE * (2 * WEEKS - 1)
    for week in found.weeks:
        assert week.predicted.sum() == pytest.approx(week.seen.sum())


def test_chance_alone_is_hardly_ever_called_a_drift(tmp_path):
    alarms = [find_drift(played(tmp_path, seed), END).is_drift for seed in range(12)]
    assert sum(alarms) <= 1


def test_other_moves_are_a_drift_in_their_weeks(tmp_path, capsys):
    programme = played(tmp_path, 1, np.array([[0.5, 0.5], [0.1, 0.9]]))
    found = find_drift(programme, END)
    assert [week.is_drift for week in found.weeks] == [True, True, False, False, False, False]
    assert "bad was seen more often than predicted" in found.words or "less often" in found.words
    with pytest.raises(SystemExit):
        main(["programme", "drift", str(programme.folder), "--date", str(END)])
    said = capsys.readouterr().out
    assert "The transitions have drifted: in the week of" in said
    assert f"sequoia programme fit {programme.folder} estimates them anew." in said


def test_weeks_without_sightings_are_left_out(tmp_path):
    programme = played(tmp_path, 2)
    assert len(find_drift(programme, END + timedelta(weeks=3)).weeks) == 5
    empty = find_drift(programme, END + timedelta(weeks=30))
    assert not empty.weeks
    assert empty.words.startswith("Nobody was seen twice")
