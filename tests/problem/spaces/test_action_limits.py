"""What is allowed depends on the state: the same as trying every action, in every space."""

import numpy as np
import pytest
from examples import EXAMPLES, chosen_of, every_set

from action_limit_cases import Doors, random_limits
from sequoia.errors import InfeasibleDecision, InfeasibleSpace, ProblemError
from sequoia.optimize import ActionEncoding, LinearArgmax
from sequoia.problem import ActionLimits, check_environment, limits_of, sample_actions, space_at
from sequoia.problem.spaces import Budget, restrict
from sequoia.simulate import Decisions

every_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)


def allowed_by_hand(example, limits):
    """Every set of columns that the words of the space and the bounds of the state allow."""
    found = set()
    for chosen in example.feasible:
        action = np.zeros(example.space.n_actions)
        action[list(chosen)] = 1
        sums = limits.matrix.toarray() @ action
        columns = (limits.lower[0] <= action).all() and (action <= limits.upper[0]).all()
        rows = (limits.row_lower[0] <= sums).all() and (sums <= limits.row_upper[0]).all()
        if columns and rows:
            found.add(chosen)
    return found


@every_example
@pytest.mark.parametrize("seed", range(3))
def test_a_restricted_space_is_that_of_the_words(example, seed):
    rng = np.random.default_rng(seed)
    size = example.space.n_actions
    limits = random_limits(rng, size)
    wanted = allowed_by_hand(example, limits)
    space = restrict(example.space, limits)
    every = np.zeros((2**size, size), dtype=np.int8)
    for row, chosen in enumerate(every_set(size)):
        every[row, list(chosen)] = 1
    assert {chosen_of(a) for a in every[space.contains(every)]} == wanted
    assert {chosen_of(a) for a in space.enumerate(10_000)} == wanted
    assert {chosen_of(a) for a in every[limits.allowed(every)[0]]} >= wanted
    argmax = LinearArgmax(ActionEncoding.of_space(space))
    if not wanted:
        with pytest.raises(InfeasibleSpace):
            argmax.maximise(rng.normal(size=(1, size)))
        return
    for _ in range(5):
        drawn = space.sample(rng)
        assert chosen_of(drawn.action) in wanted
        assert space.system.violations(drawn) == []
        weights = rng.normal(size=size)
        best = argmax.maximise(weights[None])
        assert chosen_of(best.actions[0]) in wanted
        assert best.values[0] == pytest.approx(max(sum(weights[list(c)]) for c in wanted))
        for step in range(len(grown := space.extensions(drawn))):
            assert chosen_of(grown[step].action) in wanted


def test_limits_of_the_same_bounds_have_the_same_key():
    rng = np.random.default_rng(0)
    one, other = random_limits(rng, 5), random_limits(rng, 5)
    assert one.keys() == one.only([0]).keys() != other.keys()


def test_why_not_names_columns_and_rows():
    limits = ActionLimits([[0, 1, 0]], [[0, 1, 1]], [[1, 1, 1]], [[-np.inf]], [[1]], ["at most 1"])
    words = limits.why_not(0, np.array([1, 0, 1]), ["a", "b", "c"])
    assert words == (
        'a cannot be chosen in this state; b must be chosen in this state; row "at most 1": 2 > 1'
    )


def test_a_state_that_allows_nothing_names_the_conflict():
    limits = ActionLimits([[1, 1, 0]], [[1, 1, 1]])
    space = restrict(Budget(np.ones(3), 1, ["a", "b", "c"]), limits)
    with pytest.raises(InfeasibleSpace, match=r"needed in this state: a and b"):
        space.sample(np.random.default_rng(0))


def test_environment_says_what_is_allowed_where():
    doors = Doors()
    check_environment(doors)
    states = doors.draw_start(np.random.default_rng(0), 50)
    steps = np.arange(50) % doors.horizon
    actions = sample_actions(doors, states, steps, np.random.default_rng(1))
    limits = limits_of(doors, states, steps)
    assert limits.holds(actions).all()
    assert space_at(doors, states[0], 0).contains(actions[:1])[0]
    forbidden = (states[:, 0] == 0).argmax()
    wrong = np.eye(4, dtype=np.int8)[[0]]
    assert not space_at(doors, states[forbidden], 0).contains(wrong)[0]
    made = Decisions.of_actions(wrong)
    found = made.broken(doors.space, limits_of(doors, states[[forbidden]], np.array([0])))
    assert "door 0 cannot be chosen in this state" in found[1]


def test_limits_of_another_size_are_refused():
    class Odd(Doors):
        def action_limits(self, states, steps):
            return super().action_limits(states[:-1], steps[:-1])

    with pytest.raises(ProblemError, match=r"action_limits of doors are \(7, 4\)"):
        check_environment(Odd())


def test_certify_says_why_not():
    doors = Doors()
    space = space_at(doors, np.array([0, 1, 1, 1]), 0)
    with pytest.raises(InfeasibleDecision, match="not in this state: door 0"):
        space.certify([1, 0, 0, 0])
