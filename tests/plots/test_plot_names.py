"""No name disappears from a picture without a word."""

from dataclasses import replace
from functools import partial
from itertools import cycle

import numpy as np
import pytest
from test_plots import assert_fine, on_a_phone

from sequoia import Arms, Assignment, Budget, Problem, Schedule
from sequoia.plots import plot_decision, plot_episode, plot_problem
from sequoia.plots.names import shortened, wrapped
from sequoia.policies import Random
from sequoia.problem.families import routing
from sequoia.simulate import Scenarios, rollout

FIRST = ("Maximiliane", "Bartholomew", "Li", "Wolfeschlegelsteinhausen")


def long_names(size: int, noun: str) -> list[str]:
    return [f"{noun} {FIRST[i % 4]} of Oxford Street number {i}" for i in range(size)]


def people(size: int, make) -> Problem:
    names = long_names(size, "Patient")
    ladder = np.tile([0.0, 1.0], (size, 1)), np.tile([0.1, 0.5, 0.8], (size, 1))
    arms = Arms.ladder(*ladder, names=names)
    return Problem("many", arms, make(size, names), np.tile([1.0, 0.0], (size, 1)))


NURSES = long_names(12, "Nurse")
HOURS = [f"Monday {hour:02d}:00 to {hour + 1:02d}:00" for hour in range(20)]
OPEN = np.random.default_rng(0).random((100, 20)) < 0.5
MANY = {
    "costs": people(
        60, lambda n, names: Assignment(1.0 + np.arange(n) % 3, np.full(12, 6.0), names, NURSES)
    ),
    "slots": people(
        60, lambda n, names: Schedule(OPEN[:12], OPEN[:n], 2, 2, False, names, NURSES, HOURS)
    ),
    "budget": people(120, lambda n, names: Budget(np.ones(n), 20, names)),
}


def words(ax) -> str:
    labels = [ax.xaxis.label, ax.yaxis.label, *ax.texts]
    return " ".join(" ".join(label.get_text().split()) for label in labels)


@pytest.mark.parametrize(("name", "is_phone"), [*zip(MANY, cycle([True, False]))])
def test_many_long_names_neither_overlap_nor_vanish(tmp_path, name, is_phone):
    problem = MANY[name]
    decision = problem.space.sample(np.random.default_rng(1))
    played = rollout(problem, Random(problem), Scenarios.sample(problem, 1, seed=0))
    drawings = [
        partial(plot_problem, problem),
        partial(plot_decision, problem, decision),
        partial(plot_episode, played.episode(0), problem),
    ]
    for draw in drawings:
        assert_fine(on_a_phone(draw) if is_phone else draw(None), tmp_path / "p.png")


def test_those_left_out_are_counted():
    ax = plot_problem(MANY["budget"])
    shown = sum(bool(label.get_text()) for label in ax.get_xticklabels())
    assert 0 < shown < 120
    assert f"{120 - shown} of 120 names do not fit" in words(ax)
    assert "are cut" in words(plot_decision(MANY["slots"], booked()))


def booked():
    return MANY["slots"].space.sample(np.random.default_rng(1))


def test_a_map_counts_the_names_that_do_not_fit():
    problem = routing(arms=100)
    ax = plot_problem(problem)
    (note,) = [text.get_text() for text in ax.texts if "do not fit" in text.get_text()]
    assert note == f"{100 - (len(ax.texts) - 1)} of 100 names do not fit"


def test_a_map_on_which_all_names_fit_says_nothing():
    assert "do not fit" not in words(plot_problem(routing()))


def test_long_names_keep_their_beginning_and_their_end():
    for name in (*NURSES, "a" * 200 + " 7", "short"):
        broken = wrapped(name)
        assert broken.count("\n") <= 2
        assert max(map(len, broken.split("\n"))) <= 24
        assert broken.split()[0][:3] == name.split()[0][:3]
        assert broken[-1] == name[-1]
    assert wrapped("Katherine Coleman Goble Johnson").replace("\n", " ") == (
        "Katherine Coleman Goble Johnson"
    )
    assert shortened("abcdefghij", 5) == "ab…ij"


def test_states_with_names_are_called_by_them(tmp_path):
    names = ["ill and without any care at all", "well"]
    problem = MANY["costs"]
    problem = replace(problem, arms=replace(problem.arms, state_names=names))
    played = rollout(problem, Random(problem), Scenarios.sample(problem, 1, seed=0))
    draw = partial(plot_episode, played.episode(0), problem)
    wide, narrow = draw(None), on_a_phone(draw)
    for ax in (wide, narrow):
        assert_fine(ax, tmp_path / "p.png")
        assert ax.bbox.width > 0.4 * ax.figure.bbox.width
    beside = wide.figure.axes[1].get_yticklabels()
    below = narrow.figure.legends[0].get_texts()
    for texts in (beside, below):
        assert [text.get_text().replace("\n", " ") for text in texts] == names
