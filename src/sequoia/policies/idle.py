"""Do nothing."""

import numpy as np

from sequoia.errors import InfeasibleSpace
from sequoia.policies.policy import Options, StatewisePolicy, Style
from sequoia.problem import Decision, Environment, limits_of
from sequoia.problem.environment import States


class Idle(StatewisePolicy):
    """The null action in every step: a floor for every other policy (paper, section 5)."""

    name = "idle"
    words = "do nothing"
    style = Style("#B8B8B8", "o")

    def __init__(self, environment: Environment) -> None:
        space = environment.space
        broken = space.system.violations(space.idle)
        if broken:
            raise InfeasibleSpace(
                f"idle: doing nothing breaks a rule: {'; '.join(broken)}; leave idle out."
            )
        self._environment, self._decision = environment, space.idle

    @classmethod
    def make(cls, environment: Environment, options: Options) -> "Idle":
        """Make it for any environment."""
        return cls(environment)

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decision:
        """Return the empty decision."""
        limits = limits_of(self._environment, state[None], np.array([step]))
        action = self._decision.action
        if limits is not None and not limits.holds(action[None])[0]:
            broken = limits.why_not(0, action, self._environment.space.names)
            raise InfeasibleSpace(
                f"idle: doing nothing breaks a rule in step {step}: {broken}; leave idle out."
            )
        return self._decision
