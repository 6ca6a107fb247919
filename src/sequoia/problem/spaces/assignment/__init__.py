"""Workers with capacities visit arms with costs."""

from sequoia.problem.spaces.assignment.space import Assignment

__all__ = ["Assignment"]
