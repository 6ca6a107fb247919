"""Settings by name: the presets of the library, and one for each learner that a package adds."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sequoia.errors import ConfigError
from sequoia.learn.config import Config
from sequoia.learn.improvement_config import ImprovementConfig
from sequoia.learn.q_learning_config import QLearningConfig
from sequoia.learn.registry import LEARNERS


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
    config, own = PRESETS[preset] if preset in PRESETS else _added(preset)
    return config.of({**config.of(own).flat(), **config.full_names(changes)})


def _added(name: str) -> Preset:
    """Return the settings of a learner that a package adds."""
    if name in _GONE:
        raise ConfigError(
            f"the preset {name!r} is gone: one learner serves every environment. Leave the preset "
            "out, or use 'default'."
        )
    if name not in LEARNERS.added:
        known = ", ".join([*PRESETS, *LEARNERS.added])
        raise ConfigError(f"there is no preset {name!r}; known: {known}.")
    learner = LEARNERS[name]
    return Preset(learner.settings, learner.changes)
