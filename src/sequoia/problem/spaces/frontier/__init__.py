"""Best closed walks, by dynamic programming along a frontier that sweeps over the graph."""

from sequoia.problem.spaces.frontier.heaviest import Frontier

__all__ = ["Frontier"]
