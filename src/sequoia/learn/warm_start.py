"""Cheap, telling samples to begin from (paper, section 4.3)."""

from dataclasses import dataclass

import numpy as np

from sequoia.problem import Environment, capabilities_of, sample_actions
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

_FLIPS = 0.15
# Random feasible actions in each state of strategic samples.
_FEASIBLE = 10


@dataclass(frozen=True, eq=False)
class Samples:
    """W transitions: what a step from some states with some actions earns and leads to."""

    states: States
    steps: IntArray
    actions: ActionArray
    rewards: FloatArray
    following: States

    def __len__(self) -> int:
        return len(self.steps)

    def only(self, rows: IntArray) -> "Samples":
        """Return some of them."""
        return Samples(*(getattr(self, name)[rows] for name in self.__annotations__))

    def join(self, other: "Samples") -> "Samples":
        """Return both."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__annotations__)
        return Samples(*(np.concatenate(pair) for pair in pairs))


def first_samples(
    environment: Environment,
    count: int,
    infeasible: bool,
    rng: np.random.Generator,
) -> Samples:
    """Draw states by playing at random; feasible and, if wanted, infeasible actions in them."""
    horizon = environment.horizon
    episodes = -(-count // horizon)
    states = environment.draw_start(rng, episodes)
    played = []
    for step in range(horizon):
        actions = sample_actions(environment, states, np.full(episodes, step), rng)
        if infeasible:
            strange = rng.random(episodes) < 0.5
            actions[strange] = one_sided(rng, int(strange.sum()), actions.shape[1])
        played.append(_step(environment, states, np.full(episodes, step), actions, rng))
        states = played[-1].following
    result = played[0]
    for one in played[1:]:
        result = result.join(one)
    return result


def strategic_samples(
    environment: Environment, count: int, rng: np.random.Generator
) -> Samples | None:
    """Draw states anywhere, and try in each what tells single columns apart.

    Every state of an arm is as likely; as many arms as are usually acted on are then put into their
    last state. Tried are: to act on these, ten random feasible actions, all columns, none, and each
    column alone in and alone out ("isolating the impact of including or knocking-out individual
    actions", section 4.3). So an action is seen with what it earns at the top of the ladder, which
    random play hardly ever reaches. ``None`` for an environment without arms, or whose arms have
    clocks: nobody knows which states it may be in.
    """
    problem = capabilities_of(environment).problem
    if problem is None or problem.keeper or problem.purse:
        return None
    arms, columns = problem.arms, problem.space.n_actions
    drawn = _feasible(environment, _FEASIBLE, rng)
    high = max(1, min(arms.n_arms, int(drawn.sum(axis=1).mean().round())))
    alone = np.eye(columns, dtype=np.int8)
    fixed = np.concatenate([np.ones((1, columns), np.int8), alone[:1] * 0, alone, 1 - alone])
    tried = len(fixed) + _FEASIBLE + problem.is_identity
    parts = []
    for _ in range(max(1, round(count / tried))):
        state = rng.integers(0, arms.n_states, arms.n_arms)
        top = rng.permutation(arms.n_arms)[:high]
        state[top] = arms.n_states - 1
        actions = [fixed, _feasible(environment, _FEASIBLE, rng)]
        if problem.is_identity:
            own = np.zeros((1, columns), np.int8)
            own[0, top] = 1
            actions.append(own)
        every = np.concatenate(actions)
        states = np.repeat(state[None], len(every), axis=0)
        parts.append((states, every))
    states, every = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _step(environment, states, np.zeros(len(states), np.int64), every, rng)


def _feasible(environment: Environment, count: int, rng: np.random.Generator) -> ActionArray:
    """Return random feasible actions, ``(count, N)``, of a space that no state limits."""
    return np.array([environment.space.sample(rng).action for _ in range(count)], np.int8)


def more_samples(
    environment: Environment,
    samples: Samples,
    best: ActionArray,
    perturbed: bool,
    rng: np.random.Generator,
) -> Samples:
    """Try in the sampled states what a fitted network would do, and the same with flips.

    Parameters
    ----------
    best
        The best action of each sample, ``(W, N)``.
    """
    own = _step(environment, samples.states, samples.steps, best, rng)
    if not perturbed:
        return own
    other = flipped(rng, best)
    return own.join(_step(environment, samples.states, samples.steps, other, rng))


def one_sided(rng: np.random.Generator, count: int, size: int) -> ActionArray:
    """Return all-ones and all-zeros actions with a few entries flipped, ``(count, size)``."""
    bottom: ActionArray = np.repeat(rng.integers(0, 2, (count, 1)), size, axis=1).astype(np.int8)
    return flipped(rng, bottom)


def flipped(rng: np.random.Generator, actions: ActionArray) -> ActionArray:
    """Return actions with a few entries flipped; they need not be feasible."""
    flips: BoolArray = rng.random(actions.shape) < _FLIPS
    return actions ^ flips.astype(np.int8)


def _step(
    environment: Environment,
    states: States,
    steps: IntArray,
    actions: ActionArray,
    rng: np.random.Generator,
) -> Samples:
    noise = rng.random((len(states), environment.n_noise))
    rewards, following = environment.step(states, actions, noise)
    return Samples(states, steps, actions, rewards, following)
