"""Action spaces: which joint actions are allowed in one step."""

from sequoia.problem.spaces.assignment import Assignment
from sequoia.problem.spaces.base import ActionSpace, Extensions
from sequoia.problem.spaces.budget import Budget
from sequoia.problem.spaces.custom import Custom
from sequoia.problem.spaces.registry import read_space, write_space
from sequoia.problem.spaces.restricted import Restricted, restrict
from sequoia.problem.spaces.rota import Rota
from sequoia.problem.spaces.ruled import Ruled, with_rules
from sequoia.problem.spaces.schedule import Schedule
from sequoia.problem.spaces.team import Team
from sequoia.problem.spaces.walk import Walk

__all__ = [
    "ActionSpace",
    "Assignment",
    "Budget",
    "Custom",
    "Extensions",
    "Restricted",
    "Rota",
    "Ruled",
    "Schedule",
    "Team",
    "Walk",
    "read_space",
    "restrict",
    "with_rules",
    "write_space",
]
