"""Every choice that training makes, by name."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from sequoia.errors import ConfigError


class TrainConfig(BaseModel):
    """How SEQUOIA learns.

    Presets: `default` where arms evolve on their own and so have prices, `scratch` where they do
    not, `paper` with the hyper-parameters of the paper's table.

    Network: ``hidden`` widths of the ReLU layers that see state and action (unless given, one of
    16 where all actions can be tried and none elsewhere, so that every decision is exact and
    quick), ``value`` width of a layer that sees the state alone, ``linear`` a part linear in the
    action, ``critic`` width of a network for the worth of states (0: only best actions tell it),
    ``indicators`` one number per arm and state instead of the bare state, ``clock`` the steps left
    as a feature and targets that end with the episode, ``prices`` the price part, where arms
    evolve on their own: from the tight relaxation or the quick one, in at most
    ``price_seconds``; ``normalise`` targets of size 1.

    Warm start, where there is no price part: ``warm_samples`` states and actions fitted to the
    reward of the next step in ``warm_epochs``; ``warm_myopic`` adds what the fitted network would
    do, ``warm_perturbed`` the same with flips, ``warm_infeasible`` all-ones and all-zeros with
    flips; ``loose_rules`` trains under the space's simple rules (a route's budget) alone.

    Learning: in each of ``rounds`` rounds, ``episodes`` episodes run side by side, and after each
    step ``gradient_steps`` batches are learned. The target network takes over the share
    ``target_rate`` of the weights every ``target_every`` batches. Best actions are remembered for
    ``memo_rounds`` rounds.

    Selection: every ``validate_every`` rounds the policy plays ``validate_episodes`` held-out
    episodes. With ``keep_best`` the best network seen is the result, and ``patience`` tries
    without a better one end the training; else the last one is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    hidden: tuple[PositiveInt, ...] = (16,)
    value: int = Field(default=64, ge=0)
    linear: bool = True
    critic: int = Field(default=64, ge=0)
    indicators: bool = True
    clock: bool = True
    prices: Literal["hull", "lp", "none"] = "hull"
    price_seconds: float = Field(default=60.0, gt=0)
    normalise: bool = True

    discount: float | None = Field(default=None, gt=0, le=1)
    rounds: int = Field(default=12, ge=0)
    episodes: int = Field(default=32, ge=1)
    gradient_steps: int = Field(default=16, ge=1)
    batch: int = Field(default=256, ge=1)
    memory: int = Field(default=10_000, ge=1)
    priority: float = Field(default=0.6, ge=0, le=1)
    epsilon_start: float = Field(default=0.1, ge=0, le=1)
    epsilon_end: float = Field(default=0.1, ge=0, le=1)
    epsilon_decay: float = Field(default=1000, gt=0)
    learning_rate: float = Field(default=3e-4, gt=0)
    adam_epsilon: float = Field(default=1e-8, gt=0)
    clip: float = Field(default=10.0, gt=0)
    target_every: int = Field(default=80, ge=1)
    target_rate: float = Field(default=1.0, gt=0, le=1)
    double: bool = True
    memo_rounds: int = Field(default=4, ge=1)

    warm_samples: int = Field(default=4_000, ge=0)
    warm_epochs: int = Field(default=30, ge=0)
    warm_myopic: bool = True
    warm_perturbed: bool = True
    warm_infeasible: bool = True
    loose_rules: bool = False

    validate_episodes: int = Field(default=50, ge=1)
    validate_every: int = Field(default=3, ge=1)
    patience: int = Field(default=3, ge=1)
    keep_best: bool = True

    @classmethod
    def preset(cls, name: str, **changes: Any) -> "TrainConfig":
        """Return a preset with some values changed.

        Raises
        ------
        ConfigError
            When a name is unknown or a value is out of range, in one line.
        """
        if name not in PRESETS:
            raise ConfigError(f"there is no preset {name!r}; known: {', '.join(PRESETS)}.")
        try:
            return cls(**{**PRESETS[name], **changes})
        except ValidationError as error:
            raise ConfigError(_in_one_line(error)) from None


# Table 2 of the paper. What it leaves open: how often memoised actions are discarded, the number
# of warm-start samples, the norm at which gradients are clipped, and how sharply priorities count.
_PAPER: dict[str, Any] = {
    "hidden": (32, 32),
    "value": 0,
    "linear": False,
    "critic": 0,
    "indicators": False,
    "clock": False,
    "prices": "none",
    "normalise": False,
    "discount": 0.99,
    "rounds": 100,
    "episodes": 1,
    "gradient_steps": 1,
    "batch": 32,
    "memory": 10_000,
    "epsilon_start": 0.9,
    "epsilon_end": 0.05,
    "epsilon_decay": 1000,
    "learning_rate": 2.5e-4,
    "adam_epsilon": 1.5e-4,
    "clip": 1.0,
    "target_every": 1,
    "target_rate": 1e-6,
    "memo_rounds": 5,
    "warm_samples": 10_000,
    "warm_epochs": 50,
    "validate_every": 10,
    "keep_best": False,
}

# Without prices there is more to learn.
_SCRATCH: dict[str, Any] = {
    "prices": "none",
    "rounds": 60,
    "learning_rate": 1e-3,
    "validate_every": 5,
    "patience": 6,
}

PRESETS: dict[str, dict[str, Any]] = {"default": {}, "scratch": _SCRATCH, "paper": _PAPER}


def _in_one_line(error: ValidationError) -> str:
    first = error.errors()[0]
    name = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return f"train.{name} is unknown; known: {', '.join(TrainConfig.model_fields)}."
    return f"train.{name} is {first['input']!r}: {first['msg'].lower()}."
