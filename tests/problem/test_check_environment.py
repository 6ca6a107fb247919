"""What an environment promises is found out by playing it."""

import numpy as np
import pytest

import sequoia
from sequoia.errors import ProblemError
from sequoia.problem import Budget, Dependencies
from sequoia.problem.families import FAMILIES


class Lamps:
    """Three lamps that burn out; one may be mended a step."""

    name = "lamps"
    fingerprint = "lamps 1"
    space = Budget(np.ones(3), 1)
    horizon = 4
    discount = 0.9
    n_noise = 3

    def draw_start(self, rng, count):
        return rng.integers(0, 2, (count, 3))

    def features(self, states):
        return states.astype(float)

    def step(self, states, actions, noise):
        lit = np.maximum(states, actions)
        return lit.sum(axis=1).astype(float), lit * (noise < 0.8)


def changed(**members):
    return type("Lamps", (Lamps,), members)()


def starts(draw):
    return changed(draw_start=lambda _, __, count: draw(count))


def steps(result):
    return changed(step=lambda _, states, __, ___: result(states))


def draws_its_own_luck(self, states, actions, noise):
    rewards, lit = Lamps.step(self, states, actions, noise)
    return rewards, lit * np.random.default_rng().integers(0, 2, lit.shape)


def overwrites(_, states, actions, noise):
    states |= actions
    return states.sum(axis=1).astype(float), states * (noise < 0.8)


def mixes_rows(self, states, actions, noise):
    rewards, lit = Lamps.step(self, states, actions, noise)
    return rewards - rewards.mean(), lit


BROKEN = {
    "no fingerprint": (changed(fingerprint=""), r"Lamps.fingerprint is ''; a text is wanted"),
    "no space": (changed(space=3), r"Lamps.space is 3; an ActionSpace is wanted"),
    "horizon": (changed(horizon=2.5), r"Lamps.horizon is 2.5; a whole number from 1 on"),
    "discount": (changed(discount=1.2), r"Lamps.discount is 1.2; \(0, 1\] is wanted"),
    "starts": (
        starts(lambda _: np.zeros(3)),
        r"draw_start of lamps: an array \(3,\) is found, \(8, any\) is wanted",
    ),
    "starts with their own luck": (
        starts(lambda count: np.random.default_rng().random((count, 3))),
        r"draw_start of lamps gives other states for an equal generator",
    ),
    "features": (
        changed(features=lambda _, states: np.full(states.shape, np.inf)),
        r"features of lamps: inf is found, finite numbers are wanted",
    ),
    "rewards of the wrong shape": (
        steps(lambda states: (np.zeros((len(states), 1)), states)),
        r"rewards in step of lamps: an array \(8, 1\) is found, \(8,\) is wanted",
    ),
    "rewards that are no numbers": (
        steps(lambda states: (np.array(["much"] * len(states)), states)),
        r"rewards in step of lamps: .*'much'.* is found, finite numbers are wanted",
    ),
    "no pair": (
        steps(lambda states: np.zeros(len(states))),
        r"step of lamps returns ndarray; \(rewards, states\) is wanted",
    ),
    "own luck": (changed(step=draws_its_own_luck), r"step of lamps gives other results for equal"),
    "overwrites": (changed(step=overwrites), r"step of lamps changes the states it is given"),
    "mixes rows": (changed(step=mixes_rows), r"gives a state another result alone than in a batch"),
    "dependencies": (
        changed(dependencies=Dependencies(np.zeros((3, 3)), np.zeros((3, 3)))),
        r"say that component \d does not depend on",
    ),
}


def test_a_good_one_passes():
    sequoia.check_environment(Lamps())


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_passes(family):
    sequoia.check_environment(FAMILIES[family]())


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_promise_is_one_line(name):
    environment, words = BROKEN[name]
    with pytest.raises(ProblemError, match=words) as raised:
        sequoia.check_environment(environment)
    assert "\n" not in str(raised.value)


def test_a_missing_member_is_named():
    class Empty:
        name = "empty"

    with pytest.raises(ProblemError, match="Empty has no fingerprint"):
        sequoia.check_environment(Empty())
