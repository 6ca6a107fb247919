"""Episodes side by side, as Stable-Baselines3 wants them; imported where it is installed alone."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from experiments.rivals.scores import ScoreArgmax, n_seen
from sequoia.errors import ProblemError
from sequoia.models.q_model import FULL_VIEW
from sequoia.policies.greedy import require_step_by_step, what_is_forced
from sequoia.problem import ActionSpace, Decision, Environment, space_at
from sequoia.validation import ActionArray, BoolArray

# Scores are not meant to end anywhere, but Stable-Baselines3 asks where they do.
_FAR = 1e6

Seen = NDArray[np.float32]


class SideBySide(VecEnv):  # type: ignore[misc]
    """E episodes of an environment that are stepped together, with rewards divided by ``scale``.

    The share of the episode that is left is seen, so its end is an end like any other.
    """

    def __init__(
        self, environment: Environment, episodes: int, actions: spaces.Space[Any], more: int = 0
    ) -> None:
        self.environment = environment
        self.scale = 1.0
        self.rng = np.random.default_rng(0)
        size = n_seen(environment) + more
        super().__init__(episodes, spaces.Box(-np.inf, np.inf, (size,), np.float32), actions)
        self._states = environment.draw_start(self.rng, episodes)
        self._steps = np.zeros(episodes, np.int64)
        self._given: NDArray[Any] = np.empty(0)

    def reset(self) -> Seen:
        """Begin all episodes."""
        self._states = self.environment.draw_start(self.rng, self.num_envs)
        self._steps = np.zeros(self.num_envs, np.int64)
        return self.seen()

    def seen(self) -> Seen:
        """Return what a network sees of each episode."""
        return FULL_VIEW.features(self.environment, self._states, self._steps).astype(np.float32)

    def carry_out(self, rows: NDArray[np.int64], actions: ActionArray) -> NDArray[np.float32]:
        """Step some episodes and return their rewards; those that end are begun again by `wake`."""
        noise = self.rng.random((len(rows), self.environment.n_noise))
        rewards, self._states[rows] = self.environment.step(self._states[rows], actions, noise)
        self._steps[rows] += 1
        return (rewards / self.scale).astype(np.float32)

    def wake(self) -> tuple[Seen, BoolArray, list[dict[str, Any]]]:
        """Begin episodes anew that are over; return what is seen, which ended, and where."""
        ended: BoolArray = self._steps >= self.environment.horizon
        last = self.seen()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(ended).tolist():
            infos[row] = {"terminal_observation": last[row]}
        if ended.any():
            self._states[ended] = self.environment.draw_start(self.rng, int(ended.sum()))
            self._steps[ended] = 0
        return self.seen(), ended, infos

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take note of what is chosen."""
        self._given = actions

    @abstractmethod
    def step_wait(self) -> Any:
        """Return what comes of it."""

    def close(self) -> None:
        """There is nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute, the same for all episodes."""
        if attr_name == "render_mode":
            return [None] * self.num_envs
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute for all episodes."""
        setattr(self, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: Any = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Return what a method says of each episode."""
        return list(getattr(self, method_name)(*method_args, **method_kwargs))

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Nothing is wrapped."""
        return [False] * self.num_envs


class ScoredEpisodes(SideBySide):
    """Takes a score per column; the action is the feasible one with the largest sum."""

    def __init__(self, environment: Environment, episodes: int, argmax: ScoreArgmax) -> None:
        columns = environment.space.n_actions
        super().__init__(environment, episodes, spaces.Box(-_FAR, _FAR, (columns,), np.float32))
        self._argmax = argmax

    def step_wait(self) -> Any:
        """Act in all episodes."""
        scores = torch.from_numpy(np.asarray(self._given, np.float32))
        actions = self._argmax.best(scores, self._states, self._steps)
        rewards = self.carry_out(np.arange(self.num_envs), actions)
        seen, ended, infos = self.wake()
        return seen, rewards, ended, infos


class MaskedEpisodes(SideBySide):
    """Takes one column at a time: ``n < N`` adds column n, ``N`` carries out what is chosen.

    What is chosen so far is the end of what is seen.
    """

    def __init__(self, environment: Environment, episodes: int) -> None:
        require_step_by_step(environment, "ppo-masked")
        columns = environment.space.n_actions
        super().__init__(environment, episodes, spaces.Discrete(columns + 1), columns)
        self._begun: list[Decision] = [environment.space.idle] * episodes

    def reset(self) -> Seen:
        """Begin all episodes with nothing chosen but what is forced."""
        super().reset()
        self._begin(range(self.num_envs))
        return self.seen()

    def _begin(self, rows: Iterable[int]) -> None:
        """Forget what is chosen."""
        for row in rows:
            state, step = self._states[row], int(self._steps[row])
            self._begun[row] = what_is_forced(self.environment, "ppo-masked", state, step)

    def seen(self) -> Seen:
        """Return what is seen of each episode, and what is chosen so far."""
        chosen = np.array([one.action for one in self._begun], np.float32)
        return np.concatenate([super().seen(), chosen], axis=1)

    def action_masks(self) -> BoolArray:
        """Return what may come next in each episode, ``(E, N + 1)``."""
        allowed = np.zeros((self.num_envs, self.environment.space.n_actions + 1), np.bool_)
        allowed[:, -1] = True
        for row, begun in enumerate(self._begun):
            allowed[row, self._space(row).extensions(begun).columns] = True
        return allowed

    def _space(self, row: int) -> ActionSpace:
        return space_at(self.environment, self._states[row], int(self._steps[row]))

    def step_wait(self) -> Any:
        """Add a column, or carry out what is chosen, in each episode."""
        rewards = np.zeros(self.num_envs, np.float32)
        is_done = self._given == self.environment.space.n_actions
        for row in np.flatnonzero(~is_done).tolist():
            extensions = self._space(row).extensions(self._begun[row])
            begun = extensions.with_column(int(self._given[row]))
            if begun is None:
                raise ProblemError(f"ppo-masked chose column {self._given[row]} against its mask.")
            self._begun[row] = begun
        done = np.flatnonzero(is_done)
        if len(done):
            actions = np.array([self._begun[row].action for row in done], np.int8)
            rewards[done] = self.carry_out(done, actions)
        seen, ended, infos = self.wake()
        self._begin(done.tolist())
        return self.seen() if len(done) else seen, rewards, ended, infos
