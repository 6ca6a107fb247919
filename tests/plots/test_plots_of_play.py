"""Learning curves, policy maps, occupancy, and what changed between two plans."""

import numpy as np
import pytest

import sequoia
from sequoia import Arms, Assignment, Problem, Rules
from sequoia.errors import ProblemError
from sequoia.plots import (
    plot_changes,
    plot_occupancy,
    plot_policy_map,
    plot_training,
    save_plot,
)
from sequoia.policies import make_policy
from sequoia.simulate import Scenarios, rollout

PROBLEM = sequoia.make("standard", arms=6, budget=2, horizon=5)
PLAYED = rollout(PROBLEM, make_policy("myopic", PROBLEM), Scenarios.sample(PROBLEM, 10, 0))


def test_a_map_shows_how_often_each_arm_is_acted_on_in_each_state():
    ax = plot_policy_map(PROBLEM, PLAYED)
    shares = np.asarray(ax.images[0].get_array())
    assert shares.shape == (6, 4)
    states, acted = PLAYED.states[:, :-1, 3], PLAYED.actions[:, :, 3]
    state = int(np.bincount(states.ravel()).argmax())
    assert shares[3, state] == pytest.approx(acted[states == state].mean())
    never = np.setdiff1d(np.arange(4), states)
    assert np.isnan(np.ma.filled(ax.images[0].get_array(), np.nan)[3, never]).all()


def test_occupancy_adds_up_and_ends_where_the_arms_are():
    ax = plot_occupancy(PROBLEM, PLAYED)
    assert len(ax.collections) == 4
    top = ax.collections[-1].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx(1.0)
    with pytest.raises(ProblemError, match="2 arms"):
        plot_occupancy(sequoia.make("trap"), PLAYED)


def test_a_learning_curve_tells_rounds_that_won_from_those_that_did_not(tmp_path):
    trained = sequoia.train(sequoia.make("trap", horizon=4), seconds=1)
    ax = plot_training(trained)
    won, lost = ax.collections[-2:]
    assert len(won.get_offsets()) == sum(one["won"] is not None for one in trained.history)
    assert len(won.get_offsets()) + len(lost.get_offsets()) == len(trained.history)
    save_plot(ax, tmp_path / "curve.png")


def test_changes_between_two_plans_are_told_apart():
    arms = Arms.ladder([[0, 1]] * 4, [[0.1, 0.9]] * 4, names=["Ada", "Ben", "Cleo", "Dev"])
    space = Assignment([1] * 4, [1, 1], worker_names=["Olga", "Paul"])
    problem = Problem("p", arms, space, [[1, 0]] * 4)
    before = sequoia.plan(problem, [0, 0, 1, 1], rules=Rules(must=["Ada", "Ben"]))
    after = sequoia.plan(problem, [0, 0, 1, 1], rules=Rules(must=["Ada", "Cleo"]))
    ax = plot_changes(before, after)
    said = [text.get_text() for text in ax.texts]
    assert sum(text.startswith("Ben") for text in said) == 1
    assert sum(text.startswith("Cleo") for text in said) == 1
    assert sum(text.startswith("Ada") for text in said) == 2
    assert "1 gone, 1 new" in ax.get_title(loc="left")
    assert "0 gone, 0 new, 0 moved, 2 the same" in plot_changes(after, after).get_title(loc="left")
