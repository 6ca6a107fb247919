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
    Path,
    Problem,
    Rules,
    Schedule,
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
    "Path",
    "Problem",
    "Rules",
    "Schedule",
    "__version__",
    "load",
    "save",
]
