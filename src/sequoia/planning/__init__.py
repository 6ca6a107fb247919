"""Today's plan: who does what, what it is worth, and why."""

from sequoia.planning.plan import Plan
from sequoia.planning.planner import DayPlan, Planner, Why, Worth, plan
from sequoia.proof import Proof

__all__ = ["DayPlan", "Plan", "Planner", "Proof", "Why", "Worth", "plan"]
