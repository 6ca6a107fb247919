"""Every family under a name of Gymnasium's: ``gymnasium.make("sequoia/capacity-v0", arms=20)``."""

from functools import partial
from typing import Any

import gymnasium

from sequoia.interop.gym.as_gym import Observation, as_gym
from sequoia.problem.families import FAMILIES, make
from sequoia.validation import ActionArray


def _make(
    family: str, render_mode: str | None = None, **knobs: Any
) -> gymnasium.Env[Observation, ActionArray]:
    return as_gym(make(family, **knobs), render_mode)


def register() -> None:
    """Register ``sequoia/<family>-v0``; what a family takes, ``gymnasium.make`` takes."""
    for family in FAMILIES:
        gymnasium.register(f"sequoia/{family}-v0", entry_point=partial(_make, family))
