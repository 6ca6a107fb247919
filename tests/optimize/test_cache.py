"""Answers are remembered for the right state and network, and forgotten in time."""

import numpy as np
import pytest
from argmax_cases import columns_of

from sequoia.errors import SequoiaError
from sequoia.optimize.cache import ArgmaxCache
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.optimize.relu_net import ReluNet

ARMS, STATES = 8, 3


class Counting:
    """Counts what it is asked to solve."""

    name = "counting"

    def __init__(self):
        self._engine = Enumeration(columns_of("budget"))
        self.batches = []

    def by(self, network):
        def solve(states):
            self.batches.append(len(states))
            return self._engine.best(network(states))

        return solve


class Network:
    """A random network over states and actions, by version."""

    def __init__(self, version):
        rng = np.random.default_rng(version)
        self._first = rng.standard_normal((6, ARMS))
        self._state = rng.standard_normal((6, ARMS))
        self._output = rng.standard_normal(6)
        self._linear = rng.standard_normal((ARMS, STATES))

    def __call__(self, states):
        assert states.ndim == 2
        return ReluNet(
            (self._first,),
            # State by state: how a product is rounded depends on the batch, on some machines.
            np.stack([self._state @ state for state in states]),
            (),
            self._output,
            self._linear[np.arange(ARMS), states],
            states.sum(axis=1).astype(float),
        )


def check(answer, states, network):
    """The answer of every state is that of a fresh engine."""
    fresh = Enumeration(columns_of("budget")).best(network(states))
    for part in ("actions", "values", "bounds"):
        assert getattr(answer, part).tolist() == getattr(fresh, part).tolist()


def draw(count, seed=0, high=STATES):
    return np.random.default_rng(seed).integers(0, high, (count, ARMS))


def test_answers_are_those_of_the_engine_whatever_is_known():
    """Random batches of few different states and changing versions: never a mixed-up answer."""
    engine, cache = Counting(), ArgmaxCache(capacity=20)
    rng = np.random.default_rng(1)
    pool = draw(40, seed=2)
    version = 0
    for _ in range(60):
        version += int(rng.random() < 0.15)
        states = pool[rng.integers(0, 40, rng.integers(1, 12))]
        check(cache.best(states, version, engine.by(Network(version))), states, Network(version))
        assert len(cache) <= 20
    assert cache.hits > 0
    assert cache.misses > 0


def test_states_that_differ_in_one_arm_are_different():
    """Also where their arms hold the same states in another order."""
    engine = Counting()
    cache = ArgmaxCache(100)
    base = np.arange(ARMS)[None] % STATES
    states = np.concatenate([np.roll(base, shift, axis=1) for shift in range(3)])
    states = np.concatenate([states, np.full((1, ARMS), 2), 2 - np.eye(ARMS, dtype=np.int64)])
    for state in states:
        check(cache.best(state[None], 0, engine.by(Network(0))), state[None], Network(0))
    assert engine.batches == [1] * len(states)


def test_equal_states_are_solved_once():
    engine = Counting()
    cache = ArgmaxCache(100)
    two = draw(2)
    states = two[[0, 1, 0, 0, 1]]
    check(cache.best(states, 0, engine.by(Network(0))), states, Network(0))
    assert engine.batches == [2]
    assert (cache.hits, cache.misses, cache.hit_rate) == (3, 2, 0.6)


def test_known_states_are_not_solved_again():
    engine = Counting()
    cache = ArgmaxCache(100)
    states = draw(6)
    cache.best(states[:4], 0, engine.by(Network(0)))
    check(cache.best(states[::-1], 0, engine.by(Network(0))), states[::-1], Network(0))
    assert engine.batches == [4, 2]
    answer = cache.best(states, 0, lambda _: pytest.fail("everything is known"))
    check(answer, states, Network(0))
    assert (cache.hits, cache.misses) == (10, 6)


def test_states_between_whole_numbers_are_told_apart():
    """0.2 and 0.7 are not both 0."""
    engine = Counting()
    cache = ArgmaxCache(100)

    def slopes(states):
        """Want the first arm below a half, the last one above."""
        side = np.where(states[:, :1] < 0.5, 1.0, -1.0)
        return ReluNet.of_linear(side * np.linspace(1, -1, ARMS))

    states = np.array([[0.2] * ARMS, [0.7] * ARMS])
    cache.best(states[:1], 0, engine.by(slopes))
    low, high = cache.best(states, 0, engine.by(slopes)).actions
    assert engine.batches == [1, 1]
    assert (low[0], low[-1], high[0], high[-1]) == (1, 0, 0, 1)


def test_the_order_in_cachery_does_not_matter():
    engine = Counting()
    cache = ArgmaxCache(100)
    states = draw(5)
    cache.best(states, 0, engine.by(Network(0)))
    cache.best(np.asfortranarray(states), 0, engine.by(Network(0)))
    assert engine.batches == [5]


@pytest.mark.parametrize("version", [1, -1, 7])
def test_another_version_forgets_everything(version):
    engine = Counting()
    cache = ArgmaxCache(100)
    states = draw(5)
    cache.best(states, 0, engine.by(Network(0)))
    check(cache.best(states[:2], version, engine.by(Network(9))), states[:2], Network(9))
    assert engine.batches == [5, 2]
    assert len(cache) == 2
    cache.best(states, 0, engine.by(Network(0)))
    assert engine.batches == [5, 2, 5]


def test_least_recently_used_is_dropped_first():
    engine = Counting()
    cache = ArgmaxCache(capacity=3)
    a, b, c, d = draw(4)[:, None]
    for state in (a, b, c, a, d):
        cache.best(state, 0, engine.by(Network(0)))
    assert len(cache) == 3
    solved = len(engine.batches)
    for state in (a, c, d):
        cache.best(state, 0, engine.by(Network(0)))
    assert len(engine.batches) == solved
    cache.best(b, 0, engine.by(Network(0)))
    assert len(engine.batches) == solved + 1


def test_batch_larger_than_the_capacity():
    engine, cache = Counting(), ArgmaxCache(capacity=3)
    states = draw(30)
    check(cache.best(states, 0, engine.by(Network(0))), states, Network(0))
    check(cache.best(states, 0, engine.by(Network(0))), states, Network(0))
    assert len(cache) == 3


def test_answers_do_not_share_cachery():
    """Writing into an answer changes no later one."""
    engine, cache = Counting(), ArgmaxCache(10)
    states = draw(2)
    cache.best(states, 0, engine.by(Network(0))).actions[:] = 7
    check(cache.best(states, 0, engine.by(Network(0))), states, Network(0))


def test_nothing_is_kept_or_counted_when_a_solve_fails():
    engine, cache = Counting(), ArgmaxCache(10)
    states = draw(3)
    cache.best(states[:1], 0, engine.by(Network(0)))

    def broken(_):
        raise SequoiaError("no network")

    with pytest.raises(SequoiaError):
        cache.best(states, 0, broken)
    assert (cache.hits, cache.misses, len(cache)) == (0, 1, 1)


def test_empty_batch_and_no_questions_yet():
    engine, cache = Counting(), ArgmaxCache(10)
    assert cache.hit_rate == 0.0
    answer = cache.best(draw(0), 0, engine.by(Network(0)))
    assert len(answer.actions) == len(answer.values) == 0


def test_capacity_must_be_positive():
    with pytest.raises(SequoiaError, match=r"cache\.capacity is 0"):
        ArgmaxCache(0)
