"""What then happens: rollouts, scenarios with common random numbers."""

from sequoia.simulate.rollout import Trajectory, rollout
from sequoia.simulate.scenarios import Scenarios

__all__ = ["Scenarios", "Trajectory", "rollout"]
