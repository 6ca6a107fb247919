"""Settings that suit a kind of problem, by name."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sequoia.errors import ConfigError
from sequoia.learn.config import Config
from sequoia.learn.improvement_config import ImprovementConfig
from sequoia.learn.q_learning_config import QLearningConfig


class Preset(NamedTuple):
    """The settings of a learner, and what differs from their defaults."""

    config: type[Config]
    changes: Mapping[str, Any]


PRESETS: dict[str, Preset] = {
    "default": Preset(ImprovementConfig, {}),
    "paper": Preset(QLearningConfig, {}),
}
# Presets of earlier versions; the one learner does what they did.
_GONE = ("scratch", "interacting")


def make_config(preset: str, /, **changes: Any) -> Config:
    """Return the settings of a preset with some values changed; see `Config.of` for their names.

    Raises
    ------
    ConfigError
        When a name is unknown or a value is out of range, in one line.
    """
    config, own = PRESETS[preset] if preset in PRESETS else _rival(preset)
    return config.of({**config.of(own).flat(), **config.full_names(changes)})


def _rival(name: str) -> Preset:
    """Return the settings of a rival, which is imported only when it is asked for."""
    from sequoia.learn.rivals.registry import RIVAL_PRESETS

    if name in _GONE:
        raise ConfigError(
            f"the preset {name!r} is gone: one learner serves every environment. Leave the preset "
            "out, or use 'default'."
        )
    if name not in RIVAL_PRESETS:
        known = ", ".join([*PRESETS, *RIVAL_PRESETS])
        raise ConfigError(f"there is no preset {name!r}; known: {known}.")
    return RIVAL_PRESETS[name]
