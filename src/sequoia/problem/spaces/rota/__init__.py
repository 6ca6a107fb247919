"""Staff with slots and minutes: who visits whom when, for how long."""

from sequoia.problem.spaces.rota.space import Rota

__all__ = ["Rota"]
