"""How good anything can be."""

from sequoia.bounds.exact import Exact, solve_exactly

__all__ = ["Exact", "solve_exactly"]
