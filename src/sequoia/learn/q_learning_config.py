"""Every choice of Q-learning; names are those of Stable-Baselines3 where it has one."""

from typing import ClassVar, Literal

from pydantic import Field, PositiveInt

from sequoia.learn.config import Config, Group


class NetworkSettings(Group):
    """What the network is made of.

    ``hidden`` widths of the ReLU layers that see state and action, ``value`` width of a layer that
    sees the state alone, ``linear`` a part linear in the action, ``indicators`` the features of the
    environment instead of the bare state, ``time_feature`` the steps left as a feature and targets
    that end with the episode; ``normalise`` targets of size 1; ``initial`` weights as PyTorch draws
    them, or as He et al. 2015 do, with outputs of 0.
    """

    hidden: tuple[PositiveInt, ...] = (32, 32)
    value: int = Field(default=0, ge=0)
    linear: bool = False
    indicators: bool = False
    time_feature: bool = False
    normalise: bool = False
    initial: Literal["he", "torch"] = "torch"


# A network that sees all there is, with a part linear in the action, as rivals use it.
FULL_NETWORK = {
    "linear": True,
    "indicators": True,
    "time_feature": True,
    "normalise": True,
    "initial": "he",
}


class ReplaySettings(Group):
    """The buffer: ``buffer_size`` transitions, drawn in proportion to priority ** ``alpha``."""

    buffer_size: int = Field(default=10_000, ge=1)
    alpha: float = Field(default=0.6, ge=0, le=1)


class ExplorationSettings(Group):
    """The chance of a random action: from ``initial_eps`` to ``final_eps``.

    After ``decay`` steps, a third of the difference is left.
    """

    initial_eps: float = Field(default=0.9, ge=0, le=1)
    final_eps: float = Field(default=0.05, ge=0, le=1)
    decay: float = Field(default=1000, gt=0)


class WarmStartSettings(Group):
    """What comes first (paper, section 4.3).

    ``samples`` states and actions are fitted to the reward of the next step in ``epochs``;
    ``kept`` is how many samples the replay buffer takes over.
    """

    samples: int = Field(default=50_000, ge=0)
    epochs: int = Field(default=12, ge=0)
    kept: int = Field(default=1_000, ge=0)


class SelectionSettings(Group):
    """Which network is the result.

    Every ``eval_freq`` rounds the policy plays ``n_eval_episodes`` held-out episodes. With
    ``keep_best`` the best network seen is the result, and ``patience`` tries without a better one
    end the training; else the last one is.
    """

    n_eval_episodes: int = Field(default=50, ge=1)
    eval_freq: int = Field(default=3, ge=1)
    patience: int = Field(default=3, ge=1)
    keep_best: bool = True


class QLearningConfig(Config):
    """How Q-learning learns, by default as in table 2 of the paper.

    What the table leaves open follows the authors' code where that is the better reading
    (docs/reproduction.md has the measured effect of each): strategic samples, PyTorch's first
    weights, a learning rate that falls by a tenth in each epoch and episode, a tenth of the buffer
    filled at first. The norm at which gradients are clipped, and how sharply priorities count, are
    ours.

    In each of ``rounds`` rounds, ``episodes`` episodes run side by side, and after each step
    ``gradient_steps`` batches of ``batch_size`` are learned. The target network takes over the
    share ``tau`` of the weights every ``target_update_interval`` batches. Best actions are
    remembered for ``cache_rounds`` rounds. ``gamma`` is the weight of the next step.
    """

    learner: ClassVar[str] = "q-learning"

    network: NetworkSettings = NetworkSettings()
    replay: ReplaySettings = ReplaySettings()
    exploration: ExplorationSettings = ExplorationSettings()
    warm_start: WarmStartSettings = WarmStartSettings()
    selection: SelectionSettings = SelectionSettings(eval_freq=10, keep_best=False)

    gamma: float = Field(default=0.99, gt=0, le=1)
    rounds: int = Field(default=100, ge=0)
    episodes: int = Field(default=1, ge=1)
    gradient_steps: int = Field(default=1, ge=1)
    batch_size: int = Field(default=32, ge=1)
    learning_rate: float = Field(default=2.5e-4, gt=0)
    lr_decay: float = Field(default=0.9, gt=0, le=1)
    adam_epsilon: float = Field(default=1.5e-4, gt=0)
    max_grad_norm: float = Field(default=1.0, gt=0)
    target_update_interval: int = Field(default=1, ge=1)
    tau: float = Field(default=1e-6, gt=0, le=1)
    cache_rounds: int = Field(default=5, ge=1)
