"""Simulation: decisions, rollouts, scenarios with common random numbers."""

from sequoia.simulate.decisions import Decided, Decisions
from sequoia.simulate.rollout import Episode, Trajectory, rollout
from sequoia.simulate.scenarios import Scenarios

__all__ = ["Decided", "Decisions", "Episode", "Scenarios", "Trajectory", "rollout"]
