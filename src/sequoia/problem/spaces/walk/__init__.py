"""A closed walk on a graph."""

from sequoia.problem.spaces.walk.space import Walk

__all__ = ["Walk"]
