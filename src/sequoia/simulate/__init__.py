"""What then happens: transitions, rollouts, scenarios with common random numbers."""

from sequoia.simulate.rollout import Trajectory, rollout
from sequoia.simulate.scenarios import Scenarios
from sequoia.simulate.transition import expected_reward, transition

__all__ = ["Scenarios", "Trajectory", "expected_reward", "rollout", "transition"]
