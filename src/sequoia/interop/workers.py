"""Several workers who act at once, for learners that speak PettingZoo's parallel interface."""

from typing import Any

from sequoia.extras import require

require("pettingzoo")

import numpy as np
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from sequoia.errors import InfeasibleDecision, ProblemError
from sequoia.interop.gym import Feasible, as_gym
from sequoia.problem import Assignment, Budget, Problem
from sequoia.validation import ActionArray

Observation = NDArray[np.float32]
ByWorker = dict[str, Any]


class Workers(ParallelEnv):  # type: ignore[misc]
    """A problem whose workers choose for themselves whom they visit, all at once.

    Each worker of an `Assignment` is an agent. Its action space is a `Feasible`: the arms that fit
    into its own capacity. All see the same, and all get the reward of the whole. Whoever is visited
    by several counts once.
    """

    def __init__(self, problem: Problem) -> None:
        space = problem.space
        if not isinstance(space, Assignment) or not problem.is_identity:
            raise ProblemError(
                f"{problem.name} has a {space.kind} space; an assignment of workers to arms is "
                "wanted."
            )
        self._whole = as_gym(problem)
        self.metadata: dict[str, Any] = {"name": problem.name, "render_modes": []}
        self.render_mode = None
        self.possible_agents = list(space.worker_names)
        self.agents: list[str] = []
        self._spaces = {
            worker: Feasible(Budget(space.costs, capacity, space.names))
            for worker, capacity in zip(space.worker_names, space.capacities, strict=True)
        }

    def observation_space(self, agent: str) -> Any:
        """Return what a worker sees: see `as_gym`."""
        return self._whole.observation_space

    def action_space(self, agent: str) -> Feasible:
        """Return what fits into a worker's capacity."""
        return self._spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], ByWorker]:
        """Begin an episode."""
        self.agents = list(self.possible_agents)
        seen, info = self._whole.reset(seed=seed, options=options)
        return self._to_all(seen), self._to_all(info)

    def step(
        self, actions: dict[str, ActionArray]
    ) -> tuple[dict[str, Observation], ByWorker, ByWorker, ByWorker, ByWorker]:
        """Carry out what all workers chose."""
        for worker, action in actions.items():
            if not self._spaces[worker].contains(action):
                raise InfeasibleDecision(f"{action} does not fit into the capacity of {worker}.")
        together = np.max([actions[worker] for worker in self.agents], axis=0)
        seen, reward, is_end, is_over, info = self._whole.step(together.astype(np.int8))
        answers = (self._to_all(part) for part in (seen, reward, is_end, is_over, info))
        result = tuple(answers)
        if is_end or is_over:
            self.agents = []
        return result  # type: ignore[return-value]

    def _to_all(self, thing: Any) -> ByWorker:
        """Return the same for every worker."""
        return dict.fromkeys(self.agents, thing)
