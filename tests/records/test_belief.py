"""Belief problems against an exact solution of the partially observed one, written on its own."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from sequoia.bounds import bound, solve_exactly
from sequoia.errors import ProblemError, TooLarge
from sequoia.policies import make_policy
from sequoia.problem import Arms, Budget, Problem
from sequoia.problem.families import make
from sequoia.records import Log, Seen, belief_problem, say_belief


def tiny(seed, states=2, arms=2, horizon=5):
    rng = np.random.default_rng(seed)
    kernels = rng.dirichlet(np.full(states, 0.7), (arms, 2, states))
    rewards = np.sort(rng.random((arms, states)), axis=1)
    return Problem(
        f"tiny {seed}",
        Arms(rewards, np.tile([0.0, 1.0], (arms, 1)), kernels),
        Budget(np.ones(arms), 1),
        rng.dirichlet(np.ones(states), arms),
        horizon=horizon,
    )


class Hidden:
    """Expectimax over joint beliefs: every action, every thing that may be seen, every step."""

    def __init__(self, problem, seen):
        self.problem, self.seen = problem, seen
        self.actions = problem.space.enumerate(100)

    def outcomes(self, arm, belief, dose):
        """Yield chance, next belief, what a visit showed and what was reported, of one arm."""
        moves = self.problem.arms.kernels[arm, dose]
        show = self.seen.at_visit if dose else 0.0
        shown = [(1 - show, -1, belief)]
        shown += [(show * p, s, np.eye(len(belief))[s]) for s, p in enumerate(belief)]
        for chance, state, known in shown:
            after = known @ moves
            yield chance * (1 - self.seen.before), after, state, -1
            for s, p in enumerate(after):
                yield chance * self.seen.before * p, np.eye(len(belief))[s], state, s

    def step(self, beliefs, action):
        """Yield chance and outcomes of all arms, and return the reward."""
        levels = self.problem.levels(action[None])[0].tolist()
        each = [
            [one for one in self.outcomes(j, b, levels[j]) if one[0] > 1e-12]
            for j, b in enumerate(beliefs)
        ]
        return [(np.prod([one[0] for one in joint]), joint) for joint in product(*each)]

    def reward(self, beliefs, action):
        levels = self.problem.levels(action[None])[0]
        arms = self.problem.arms
        return sum(b @ arms.kernels[j, levels[j]] @ arms.rewards[j] for j, b in enumerate(beliefs))

    def best(self):
        @cache
        def value(key, left):
            if not left:
                return 0.0
            beliefs = np.array(key)
            return max(
                self.reward(beliefs, action)
                + sum(p * value(as_key(joint), left - 1) for p, joint in self.step(beliefs, action))
                for action in self.actions
            )

        return self.from_start(
            lambda b: value(as_key([(1, row) for row in b]), self.problem.horizon)
        )

    def of_policy(self, belief, act):
        """Return what a policy earns that sees the states of ``belief`` instead."""

        def value(beliefs, step):
            if step == self.problem.horizon:
                return 0.0
            action = act(belief.nodes(beliefs), step)
            levels = self.problem.levels(action[None])[0]
            total = self.reward(beliefs, action)
            for chance, joint in self.step(beliefs, action):
                after = np.array([one[1] for one in joint])
                if not self.seen.before:
                    shown = np.array([one[2] for one in joint])
                    np.testing.assert_allclose(belief.track(beliefs, levels, shown), after)
                total += chance * value(after, step + 1)
            return total

        return self.from_start(lambda beliefs: value(beliefs, 0))

    def from_start(self, value):
        """Average over what is reported before the first decision."""
        start, chance = self.problem.start, self.seen.before
        each = [
            [(1 - chance, row)] + [(chance * p, np.eye(len(row))[s]) for s, p in enumerate(row)]
            for row in start
        ]
        return sum(
            np.prod([p for p, _ in joint]) * value(np.array([b for _, b in joint]))
            for joint in product(*each)
            if np.prod([p for p, _ in joint]) > 0
        )


def as_key(joint):
    return tuple(tuple(np.round(one[1], 10).tolist()) for one in joint)


CASES = (
    [(seed, 2, 5, Seen()) for seed in range(12)]
    + [(seed, 3, 4, Seen()) for seed in range(6)]
    + [(seed, 2, 4, Seen(0.0, 0.6)) for seed in range(4)]
    + [(seed, 2, 3, Seen(0.4, 1.0)) for seed in range(3)]
    + [(seed, 2, 3, Seen(0.3, 0.5)) for seed in range(2)]
)


@pytest.mark.parametrize(("seed", "states", "horizon", "seen"), CASES)
def test_the_belief_plan_is_as_good_as_the_exact_one(seed, states, horizon, seen):
    problem = tiny(seed, states, horizon=horizon)
    hidden = Hidden(problem, seen)
    best = hidden.best()
    belief = belief_problem(problem, seen)
    exact = solve_exactly(belief.problem)
    assert exact.value == pytest.approx(best, rel=0.02)
    earned = hidden.of_policy(belief, lambda nodes, step: exact.act(nodes, step).action)
    assert earned <= best + 1e-9
    assert earned >= 0.999 * best


@pytest.mark.parametrize("seed", range(4))
def test_a_small_error_gives_the_exact_value(seed):
    problem = tiny(seed, horizon=4)
    belief = belief_problem(problem, error=1e-6)
    best = Hidden(problem, Seen()).best()
    assert solve_exactly(belief.problem).value == pytest.approx(best, rel=1e-5)
    assert bound(belief.problem).total >= best - 1e-6


def test_prices_plan_on_beliefs():
    problem = tiny(3, horizon=4)
    belief = belief_problem(problem)
    policy = make_policy("price", belief.problem)
    rng = np.random.default_rng(0)
    earned = Hidden(problem, Seen()).of_policy(
        belief, lambda nodes, step: policy.act(nodes[None], step, [rng]).actions[0]
    )
    assert earned >= 0.98 * Hidden(problem, Seen()).best()


def test_states_that_are_always_known_give_the_problem_itself():
    problem = make("standard", arms=4, seed=2)
    belief = belief_problem(problem, Seen(1.0))
    np.testing.assert_allclose(belief.problem.arms.kernels, problem.arms.kernels)
    np.testing.assert_allclose(belief.problem.arms.rewards, problem.arms.rewards)
    np.testing.assert_allclose(belief.problem.start, problem.start)


def alone(moves, horizon=20):
    """Return a problem of one arm, whose second dose leads to the good state."""
    arms = Arms([[0.0, 1.0]], [[0.0, 1.0]], [[moves, [[0.0, 1.0], [0.0, 1.0]]]])
    return Problem("alone", arms, Budget([1.0], 1), [[1.0, 0.0]], horizon=horizon)


def test_memory_is_as_long_as_the_error_asks():
    problem = alone([[0.95, 0.05], [0.05, 0.95]])
    # The distance to the limit is 0.9 ** n / 2.
    for error in (0.1, 0.01):
        size = belief_problem(problem, error=error).problem.arms.n_states
        steps = np.log(2 * error) / np.log(0.9)
        assert steps <= size <= 2 * steps + 8


def test_slow_arms_have_few_beliefs_that_last_as_long():
    slow = alone([[1.0, 0.0], [0.001, 0.999]], horizon=600)
    belief = belief_problem(slow, error=0.05)
    assert belief.problem.arms.n_states < 150
    about = np.eye(belief.problem.arms.n_states)[1]
    rest = belief.problem.arms.kernels[0, 0]
    for step in range(1, 601):
        about = about @ rest
        assert about @ belief.problem.arms.rewards[0] == pytest.approx(0.999**step, abs=0.06)


def test_beliefs_follow_the_log():
    problem = tiny(1, states=3, arms=3)
    belief = belief_problem(problem, error=1e-4)
    log = Log([0, 1, 2], 4, [[0, 1, 2], [1, 4, 0]], [[0, 1, 1], [2, 3, 1]])
    about = belief.about(log)
    moves = problem.arms.kernels
    wanted = [
        np.eye(3)[2] @ moves[0, 1] @ moves[0, 0] @ moves[0, 0],
        np.eye(3)[0],
        problem.start[2] @ np.linalg.matrix_power(moves[2, 0], 3) @ moves[2, 1],
    ]
    np.testing.assert_allclose(about, wanted)
    nodes = belief.nodes(about)
    assert nodes[1] == 0
    near = belief.beliefs[np.arange(2), nodes[:2]]
    np.testing.assert_allclose(near, wanted[:2], atol=1e-3)
    late = Log([0, 1, 2], 4, [], [], joined=[4, 0, 0])
    np.testing.assert_allclose(belief.about(late)[0], problem.start[0])


def test_beliefs_are_said_in_words():
    arms = Arms([[0.0, 1.0]], [[0.0]], [[np.eye(2)]], state_names=["at risk", "well"])
    assert (
        say_belief(arms, np.array([0.71, 0.29]), 12, "day")
        == "likely at risk (71 %), last seen 12 days ago"
    )
    assert say_belief(arms, np.array([0.0, 1.0]), 0) == "well, seen now"
    assert say_belief(arms, np.array([0.4, 0.6]), None) == "likely well (60 %), never seen"


def test_what_cannot_be_is_refused():
    with pytest.raises(ProblemError, match="infect each other"):
        belief_problem(make("epidemic", seed=1))
    with pytest.raises(ProblemError, match="error is 0"):
        belief_problem(tiny(0), error=0.0)
    with pytest.raises(TooLarge, match="allow a larger error"):
        belief_problem(tiny(1, states=3), Seen(0.0, 0.5), error=1e-9)


def test_chains_that_go_round_are_finite():
    turn = np.array([[0.0, 1.0], [1.0, 0.0]])
    arms = Arms([[0.0, 1.0]], [[0.0, 1.0]], [[turn, np.eye(2)]])
    belief = belief_problem(Problem("x", arms, Budget([1.0], 1), [[0.3, 0.7]]))
    assert belief.problem.arms.n_states <= 8
