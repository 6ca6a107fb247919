"""Today's plan: who does what, what it is worth, and why."""

from sequoia.planning.planner import DayPlan, Planner, Proof, Why, Worth, plan

__all__ = ["DayPlan", "Planner", "Proof", "Why", "Worth", "plan"]
