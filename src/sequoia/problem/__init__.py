"""What may be decided: arms, action spaces, problems, the paper's families, files."""

from sequoia.problem.action_limits import ActionLimits
from sequoia.problem.action_sets import limits_of, sample_actions, space_at
from sequoia.problem.arms import Arms
from sequoia.problem.assortment import Assortment
from sequoia.problem.check_environment import check_environment
from sequoia.problem.contagion import Contagion
from sequoia.problem.dependencies import Dependencies
from sequoia.problem.environment import Environment
from sequoia.problem.files import load, load_any, save
from sequoia.problem.problem import Problem
from sequoia.problem.promises import Promise, Promises
from sequoia.problem.purse import SpendingLimit
from sequoia.problem.rules import Floor, Lock, Rules
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
    "SpendingLimit",
    "Team",
    "Walk",
    "check_environment",
    "limits_of",
    "load",
    "load_any",
    "sample_actions",
    "save",
    "space_at",
    "with_rules",
]
