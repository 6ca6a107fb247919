"""Do nothing."""

import numpy as np

from sequoia.errors import InfeasibleSpace
from sequoia.problem import Decision, Problem
from sequoia.validation import IntArray


class Idle:
    """The null action in every step: a floor for every other policy (paper, section 5)."""

    name = "idle"

    def __init__(self, problem: Problem) -> None:
        space = problem.space
        broken = space.system.violations(space.idle)
        if broken:
            raise InfeasibleSpace(
                f"idle: doing nothing breaks a rule: {'; '.join(broken)}; leave idle out."
            )
        self._decision = space.idle

    def act(self, state: IntArray, step: int, rng: np.random.Generator) -> Decision:  # noqa: ARG002
        """Return the empty decision."""
        return self._decision
