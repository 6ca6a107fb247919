"""Settings that suit a kind of problem, by name."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sequoia.errors import ConfigError
from sequoia.learn.config import Config
from sequoia.learn.policy_iteration_config import PolicyIterationConfig
from sequoia.learn.price_start import has_prices
from sequoia.learn.q_learning_config import QLearningConfig
from sequoia.models.next_step import listed_actions
from sequoia.problem import Environment
from sequoia.problem.dependencies import dependencies_of


class Preset(NamedTuple):
    """The settings of a learner, and what differs from their defaults."""

    config: type[Config]
    changes: Mapping[str, Any]


# Table 2 of the paper. What it leaves open follows the authors' code where that is the better
# reading (docs/reproduction.md has the measured effect of each): strategic samples, PyTorch's first
# weights, a learning rate that falls by a tenth in each epoch and episode, a tenth of the buffer
# filled at first. The norm at which gradients are clipped, and how sharply priorities count, are
# ours.
_PAPER = {
    "network": {
        "hidden": (32, 32),
        "value": 0,
        "linear": False,
        "critic": 0,
        "indicators": False,
        "time_feature": False,
        "prices": "none",
        "normalise": False,
        "initial": "torch",
    },
    "exploration": {"initial_eps": 0.9, "final_eps": 0.05, "decay": 1000},
    "replay": {"buffer_size": 10_000},
    "warm_start": {
        "samples": 50_000,
        "epochs": 12,
        "strategic": True,
        "refit": False,
        "kept": 1_000,
    },
    "selection": {"eval_freq": 10, "keep_best": False},
    "gamma": 0.99,
    "rounds": 100,
    "episodes": 1,
    "gradient_steps": 1,
    "batch_size": 32,
    "learning_rate": 2.5e-4,
    "lr_decay": 0.9,
    "adam_epsilon": 1.5e-4,
    "max_grad_norm": 1.0,
    "target_update_interval": 1,
    "tau": 1e-6,
    "cache_rounds": 5,
}

# Without prices there is more to learn.
_SCRATCH = {
    "network": {"prices": "none"},
    "selection": {"eval_freq": 5, "patience": 6},
    "rounds": 60,
    "learning_rate": 1e-3,
}

PRESETS: dict[str, Preset] = {
    "default": Preset(QLearningConfig, {}),
    "scratch": Preset(QLearningConfig, _SCRATCH),
    "paper": Preset(QLearningConfig, _PAPER),
    "interacting": Preset(PolicyIterationConfig, {}),
}


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

    if name not in RIVAL_PRESETS:
        known = ", ".join([*PRESETS, *RIVAL_PRESETS])
        raise ConfigError(f"there is no preset {name!r}; known: {known}.")
    return RIVAL_PRESETS[name]


def usual_preset(environment: Environment) -> str:
    """Return the name of the preset that suits ``environment``."""
    if has_prices(environment):
        return "default"
    knows_more = dependencies_of(environment) is not None or listed_actions(environment) is not None
    return "interacting" if knows_more else "scratch"
