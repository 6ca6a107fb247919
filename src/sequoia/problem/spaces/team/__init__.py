"""Several walkers, each on a round trip of limited time: arms are served by one of them."""

from sequoia.problem.spaces.team.space import Team

__all__ = ["Team"]
