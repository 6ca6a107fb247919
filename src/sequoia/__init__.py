"""Plan a sequence of combinatorial decisions under uncertainty.

The nouns are here, and the verbs: `load`, `save`, `make`, `fit`, `train`, `evaluate`, `bound` and
`plan`.
Each is imported when it is first used, because many bring heavy libraries along.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sequoia.version import __version__

if TYPE_CHECKING:
    from sequoia.bounds import bound
    from sequoia.evaluation import evaluate
    from sequoia.learn import train
    from sequoia.planning import plan
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
        Lock,
        Problem,
        Promise,
        Promises,
        Rota,
        Rules,
        Schedule,
        Simulator,
        SpendingLimit,
        Team,
        Walk,
        check_environment,
        load,
        save,
    )
    from sequoia.problem.families import make
    from sequoia.records import Log, fit

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
    "Lock",
    "Log",
    "Problem",
    "Promise",
    "Promises",
    "Rota",
    "Rules",
    "Schedule",
    "Simulator",
    "SpendingLimit",
    "Team",
    "Walk",
    "__version__",
    "bound",
    "check_environment",
    "evaluate",
    "fit",
    "load",
    "make",
    "plan",
    "save",
    "train",
]

_ROOMS = {
    "bound": "bounds",
    "Log": "records",
    "evaluate": "evaluation",
    "fit": "records",
    "make": "problem.families",
    "plan": "planning",
    "train": "learn",
}


def __getattr__(name: str) -> Any:
    """Import a noun or a verb from its room."""
    if name not in __all__:
        raise AttributeError(f"module 'sequoia' has no attribute {name!r}")
    try:
        return getattr(import_module(f"sequoia.{_ROOMS.get(name, 'problem')}"), name)
    except ModuleNotFoundError as error:
        from sequoia.extras import missing_package

        raise missing_package(error) or error from error


def __dir__() -> list[str]:
    return list(__all__)
