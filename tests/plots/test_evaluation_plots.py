import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from test_plots import NURSES, PEOPLE, PROBLEMS, assert_fine, clinic, on_a_phone

from sequoia import Assignment, Problem, Rules
from sequoia.bounds.certificate import Bound
from sequoia.evaluation import Evaluation, evaluate
from sequoia.plots import (
    plot_comparison,
    plot_decision,
    plot_decision_times,
    plot_paired,
    plot_reward_over_time,
)
from sequoia.plots.canvas import colour_of, marker_of, new_axes
from sequoia.policies import POLICIES
from sequoia.problem.families import capacity, scheduling

PLOTS = [plot_comparison, plot_decision_times, plot_paired, plot_reward_over_time]


def made_up(names, episodes=20, bound=True, scale=1.0) -> Evaluation:
    rng = np.random.default_rng(0)
    level = np.linspace(0.5, 3.0, len(names))[:, None, None] * scale
    rewards = level + rng.random((len(names), episodes, 20))
    seconds = 10.0 ** rng.uniform(-6, 1, (len(names), 1, 1)) * rng.random(rewards.shape)
    limit = Bound(80.0 * scale, 4.0 * scale, "lp", 0.1) if bound else None
    gaps, is_at_limit = np.full(rewards.shape, np.nan), np.zeros(rewards.shape, dtype=bool)
    return Evaluation(
        *("made up", "f" * 16, 0, names, rewards, seconds, gaps),
        *(is_at_limit, is_at_limit, rewards[0], limit),
    )


EVALUATIONS = {
    "all policies": made_up(list(POLICIES)),
    "one policy, one episode": made_up(["price"], 1, bound=False),
    "two of one's own": made_up(["a policy with a long name", "another"], 50),
    "losses": made_up(["idle", "price"], 5, bound=False, scale=-2.0),
    "played": evaluate(capacity(arms=6, workers=2, horizon=4), ["idle", "random", "price"], 3),
}


@pytest.mark.parametrize("name", EVALUATIONS)
@pytest.mark.parametrize("plot", PLOTS)
def test_pictures_of_an_evaluation(tmp_path, plot, name):
    assert_fine(plot(EVALUATIONS[name]), tmp_path / "p.png")
    assert_fine(on_a_phone(partial(plot, EVALUATIONS[name])), tmp_path / "p.png")


@pytest.mark.parametrize("plot", PLOTS)
def test_they_go_where_they_are_told(plot):
    ax = new_axes()
    assert plot(EVALUATIONS["all policies"], ax) is ax


def test_the_bound_is_a_line_and_random_is_one():
    ax = plot_comparison(EVALUATIONS["all policies"])
    assert [text.get_text() for text in ax.get_yticklabels()] == list(POLICIES)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths[0] == pytest.approx(1.0)  # the first is what random was made of
    limit = 4.0 / EVALUATIONS["all policies"].random.mean()
    assert any(line.get_xdata()[0] == pytest.approx(limit) for line in ax.lines)


def test_the_bound_on_the_mean_is_not_drawn_across_the_steps():
    """A step may earn more than the bound on the mean of all: there the line would look wrong."""
    evaluation = EVALUATIONS["all policies"]
    ax = plot_reward_over_time(evaluation)
    (line,) = [line for line in ax.lines if line.get_label() == "bound on the mean"]
    assert min(line.get_xdata()) > evaluation.rewards.shape[2] - 1
    assert set(line.get_ydata()) == {4.0}
    assert [text.get_text() for text in ax.get_xticklabels()][-1] == "mean"
    for name in evaluation.names:
        own = evaluation.mean(name).mean
        means = [one.get_ydata()[0] for one in ax.lines if len(one.get_xdata()) == 1]
        assert any(mean == pytest.approx(own) for mean in means)


def test_times_are_said_as_people_say_them():
    ax = plot_decision_times(EVALUATIONS["all policies"])
    ax.figure.canvas.draw()
    left, right = ax.get_xlim()
    ticks = [text for text in ax.get_xticklabels() if left <= text.get_position()[0] <= right]
    assert ticks
    for text in [*ax.texts, *ticks]:
        assert re.fullmatch(r"[0-9.,]+ (ms|s|min)", text.get_text())


def test_no_two_policies_look_alike():
    looks = [(colour_of(name, []), marker_of(name, [])) for name in POLICIES]
    assert len({colour for colour, _ in looks}) == len({marker for _, marker in looks}) == 12


# The others differ in nothing that these pictures show.
_ALIKE = (
    "standard 1000",
    "interventions 100",
    "capacity 100",
    "trap",
    "one station",
    "no positions",
)
DECISIONS = {
    **{name: problem for name, problem in PROBLEMS.items() if name not in _ALIKE},
    "absent worker": scheduling().with_rules(Rules(absent=["worker 1"])),
    "absent nurse": clinic(Assignment(np.ones(4), [2.0, 1.0], PEOPLE, NURSES)).with_rules(
        Rules(absent=["Nurse Anna"])
    ),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_every_decision_has_a_picture(tmp_path, name):
    problem: Problem = DECISIONS[name]
    draw = partial(plot_decision, problem, problem.space.sample(np.random.default_rng(1)))
    is_phone = list(DECISIONS).index(name) % 2
    assert_fine(on_a_phone(draw) if is_phone else draw(None), tmp_path / "p.png")


def test_the_walk_names_its_stations():
    problem = PROBLEMS["routing"]
    ax = plot_decision(problem, problem.space.sample(np.random.default_rng(0)))
    written = {text.get_text() for text in ax.texts}
    assert "Oxford Circus" in written


@pytest.mark.parametrize("name", ["x" * 400, "a long name of many words " * 40])
@pytest.mark.parametrize("plot", PLOTS)
def test_a_title_of_any_length_leaves_room_for_the_picture(tmp_path, plot, name):
    evaluation = replace(EVALUATIONS["all policies"], problem=name)
    assert_fine(plot(evaluation), tmp_path / "p.png")
    ax = on_a_phone(partial(plot, evaluation))
    assert_fine(ax, tmp_path / "p.png")
    assert ax.get_title(loc="left").endswith("…")
