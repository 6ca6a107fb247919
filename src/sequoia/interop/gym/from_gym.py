"""Gymnasium environments as ours."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from sequoia.errors import ProblemError
from sequoia.problem import ActionSpace
from sequoia.problem.spaces import write_space
from sequoia.problem.tables import TableSet
from sequoia.validation import ActionArray, FloatArray, whole

_SEED, _STEPS, _ENDED, _DONE = range(4)
_BITS = 48  # of an action that one number holds exactly
_MOST_LIVE = 256
_SEEDS = 2**31
_NO_LIMIT = 1e9

Env = gymnasium.Env[Any, Any]


def from_gym(
    make_env: Callable[[], Env],
    horizon: int,
    discount: float = 0.99,
    *,
    space: ActionSpace | None = None,
) -> "GymEnvironment":
    """Return a Gymnasium environment as one that SEQUOIA can learn.

    Parameters
    ----------
    make_env
        Makes the environment; called as often as episodes are played side by side. Its action
        space is a `Feasible`, or binary vectors whose rules are given as ``space``.
    horizon
        Number of steps of an episode. One that ends earlier stays where it is and earns nothing.

    Raises
    ------
    ProblemError
        When the actions are not binary vectors with rules, or observations have no fixed length.
    """
    return GymEnvironment(make_env, horizon, discount, space)


class GymEnvironment:
    """A Gymnasium environment; made by `from_gym`.

    A Gymnasium environment cannot be put into a state, but with the same seed and the same actions
    it repeats itself. So a state is a row of numbers: the seed that the episode was begun with, the
    steps taken, whether it has ended, the actions so far, and the observation, flattened.
    Environments of recent states are kept, so that going on from them is one step; going on from
    any other state repeats its episode. All luck comes from the seed; the noise given to `step` is
    not used.
    """

    n_noise = 0

    def __init__(
        self, make_env: Callable[[], Env], horizon: int, discount: float, space: ActionSpace | None
    ) -> None:
        self._make = make_env
        self._idle = [make_env()]
        self._live: OrderedDict[bytes, Env] = OrderedDict()
        example = self._idle[0]
        self.name = _name(example)
        self.space = _rules(example, self.name) if space is None else space
        if example.action_space.shape != (self.space.n_actions,):
            raise ProblemError(
                f"the actions of {self.name} are {example.action_space}; vectors of "
                f"{self.space.n_actions} columns are wanted."
            )
        self.horizon = whole("horizon", horizon, 1)
        if not 0 < discount <= 1:
            raise ProblemError(f"discount is {discount}; (0, 1] is wanted.")
        self.discount = float(discount)
        self._observations = example.observation_space
        flat = spaces.flatten_space(self._observations)
        if not isinstance(flat, spaces.Box):
            raise ProblemError(
                f"the observations of {self.name} are {self._observations}; numbers of a fixed "
                "length are wanted."
            )
        self._low, self._span = _scale(flat)
        self._words = -(-self.space.n_actions // _BITS)
        self._seen = _DONE + self.horizon * self._words

    @cached_property
    def fingerprint(self) -> str:
        """A stable name for what can be seen of the environment; not for what is inside it."""
        rules = write_space(self.space)
        options = {
            "name": self.name,
            "horizon": self.horizon,
            "discount": self.discount,
            "observations": str(self._observations),
            "space": rules.options,
        }
        return TableSet(options, rules.tables).fingerprint()

    def draw_start(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw first states, ``(count, D)``; the seeds of their episodes come from ``rng``."""
        rows = np.zeros((count, self._seen + len(self._low)))
        rows[:, _SEED] = rng.integers(_SEEDS, size=count)
        env = self._take()
        for row in rows:
            row[self._seen :] = self._flat(env.reset(seed=int(row[_SEED]))[0])
        self._idle.append(env)
        return rows

    def features(self, states: FloatArray) -> FloatArray:
        """Return whether the episode has ended, and the observation.

        What has limits runs from 0 to 1.
        """
        scaled = (states[:, self._seen :] - self._low) / self._span
        return np.concatenate([states[:, [_ENDED]], scaled], axis=1)

    def step(
        self,
        states: FloatArray,
        actions: ActionArray,
        noise: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return rewards, ``(B,)``, and the next states; episodes that have ended earn nothing.

        Raises
        ------
        ProblemError
            When an episode does not repeat itself, or is over.
        """
        following = np.array(states, dtype=np.float64)
        rewards = np.zeros(len(following))
        for index in np.flatnonzero(following[:, _ENDED] == 0).tolist():
            rewards[index] = self._advance(following[index], actions[index])
        return rewards, following

    def close(self) -> None:
        """Close every environment."""
        for env in (*self._idle, *self._live.values()):
            env.close()
        self._idle.clear()
        self._live.clear()

    def _advance(self, row: FloatArray, action: ActionArray) -> float:
        """Take one step, write the next state into ``row`` and return the reward."""
        steps = int(row[_STEPS])
        if steps >= self.horizon:
            raise ProblemError(f"an episode of {self.name} has {self.horizon} steps, and is over.")
        env = self._live.pop(self._key(row), None)
        env = self._repeat(row) if env is None else env
        observation, reward, is_terminal, is_cut, _ = env.step(np.array(action, dtype=np.int8))
        row[_STEPS] = steps + 1
        row[_ENDED] = is_terminal or is_cut
        self._history(row)[steps] = _packed(action, self._words)
        row[self._seen :] = self._flat(observation)
        if row[_ENDED] or steps + 1 == self.horizon:
            self._idle.append(env)
        else:
            self._live[self._key(row)] = env
        if len(self._live) > _MOST_LIVE:
            self._idle.append(self._live.popitem(last=False)[1])
        return float(reward)

    def _repeat(self, row: FloatArray) -> Env:
        """Return an environment that was brought into the state ``row``."""
        env, seed = self._take(), int(row[_SEED])
        observation, _ = env.reset(seed=seed)
        for packed in self._history(row)[: int(row[_STEPS])]:
            observation, *_ = env.step(_unpacked(packed, self.space.n_actions))
        if not np.array_equal(self._flat(observation), row[self._seen :], equal_nan=True):
            raise ProblemError(
                f"{self.name} does not repeat itself: the seed {seed} and the same actions gave "
                "another observation."
            )
        return env

    def _history(self, row: FloatArray) -> FloatArray:
        """Return the part of ``row`` that holds the actions so far, packed, ``(H, words)``."""
        return row[_DONE : self._seen].reshape(self.horizon, self._words)

    def _key(self, row: FloatArray) -> bytes:
        return row[: self._seen].tobytes()

    def _take(self) -> Env:
        return self._idle.pop() if self._idle else self._make()

    def _flat(self, observation: object) -> FloatArray:
        return np.asarray(spaces.flatten(self._observations, observation), dtype=np.float64)


def _name(env: Env) -> str:
    return type(env.unwrapped).__name__ if env.spec is None else env.spec.id


def _rules(env: Env, name: str) -> ActionSpace:
    rules = getattr(env.action_space, "space", None)
    if not isinstance(rules, ActionSpace):
        raise ProblemError(
            f"the actions of {name} are {env.action_space}; a Feasible space is wanted, or their "
            "rules as space."
        )
    return rules


def _scale(flat: spaces.Box) -> tuple[FloatArray, FloatArray]:
    """Return what observations are lowered and divided by: what limits there are, else nothing."""
    low, high = flat.low.astype(np.float64), flat.high.astype(np.float64)
    # Some spaces say "no limit" by the largest number there is.
    has_limits = (low > -_NO_LIMIT) & (high < _NO_LIMIT) & (high > low)
    low, high = np.where(has_limits, low, 0.0), np.where(has_limits, high, 1.0)
    return low, high - low


def _packed(action: ActionArray, words: int) -> FloatArray:
    bits = np.zeros(words * _BITS)
    bits[: len(action)] = action
    packed: FloatArray = bits.reshape(words, _BITS) @ 2.0 ** np.arange(_BITS)
    return packed


def _unpacked(packed: FloatArray, size: int) -> ActionArray:
    bits = (packed.astype(np.int64)[:, None] >> np.arange(_BITS)) & 1
    return bits.reshape(-1)[:size].astype(np.int8)
