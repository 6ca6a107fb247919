"""Best closed walks, by dynamic programming along a frontier that sweeps over the graph."""

from sequoia.problem.spaces.walk.frontier_dp.frontier import Frontier

__all__ = ["Frontier"]
