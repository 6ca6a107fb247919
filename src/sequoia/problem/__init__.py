"""Problems: arms, action spaces, rules, the paper's families, files.

Each is imported when it is first used: who only wants a name or a sheet waits for no matrices.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sequoia.problem.action_limits import ActionLimits
    from sequoia.problem.arms import Arms
    from sequoia.problem.assortment import Assortment
    from sequoia.problem.capabilities import capabilities_of, limits_of, sample_actions, space_at
    from sequoia.problem.contagion import Contagion
    from sequoia.problem.dependencies import Dependencies
    from sequoia.problem.environment import Environment
    from sequoia.problem.environment_checks import check_environment
    from sequoia.problem.files import load, load_any, save
    from sequoia.problem.problem import Problem
    from sequoia.problem.promises import Promise, Promises
    from sequoia.problem.purse import SpendingLimit
    from sequoia.problem.rules import Bar, Floor, Lock, Rules
    from sequoia.problem.simulator import Simulator
    from sequoia.problem.spaces import (
        ActionSpace,
        Assignment,
        Budget,
        Custom,
        Extensions,
        Rota,
        Schedule,
        Team,
        Walk,
        with_rules,
    )
    from sequoia.problem.system import Decision, LinearSystem

__all__ = [
    "ActionLimits",
    "ActionSpace",
    "Arms",
    "Assignment",
    "Assortment",
    "Bar",
    "Budget",
    "Contagion",
    "Custom",
    "Decision",
    "Dependencies",
    "Environment",
    "Extensions",
    "Floor",
    "LinearSystem",
    "Lock",
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
    "capabilities_of",
    "check_environment",
    "limits_of",
    "load",
    "load_any",
    "sample_actions",
    "save",
    "space_at",
    "with_rules",
]

_NAMES = {
    "action_limits": "ActionLimits",
    "arms": "Arms",
    "assortment": "Assortment",
    "capabilities": "capabilities_of limits_of sample_actions space_at",
    "environment_checks": "check_environment",
    "contagion": "Contagion",
    "dependencies": "Dependencies",
    "environment": "Environment",
    "files": "load load_any save",
    "problem": "Problem",
    "promises": "Promise Promises",
    "purse": "SpendingLimit",
    "rules": "Bar Floor Lock Rules",
    "simulator": "Simulator",
    "spaces": "ActionSpace Assignment Budget Custom Extensions Rota Schedule Team Walk with_rules",
    "system": "Decision LinearSystem",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a name from its module."""
    if name not in _MODULES:
        raise AttributeError(f"module 'sequoia.problem' has no attribute {name!r}")
    return getattr(import_module(f"sequoia.problem.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
