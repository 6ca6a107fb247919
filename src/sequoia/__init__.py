"""Plan a sequence of combinatorial decisions under uncertainty."""

from sequoia.problem import (
    Arms,
    Assignment,
    Budget,
    Contagion,
    Custom,
    Decision,
    Environment,
    Floor,
    LinearSystem,
    Problem,
    Rules,
    Schedule,
    Walk,
    load,
    save,
)

__version__ = "0.1.0"

__all__ = [
    "Arms",
    "Assignment",
    "Budget",
    "Contagion",
    "Custom",
    "Decision",
    "Environment",
    "Floor",
    "LinearSystem",
    "Problem",
    "Rules",
    "Schedule",
    "Walk",
    "__version__",
    "load",
    "save",
]
