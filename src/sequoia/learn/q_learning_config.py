"""Every choice that Q-learning makes; names are those of Stable-Baselines3 where it has one."""

from typing import ClassVar, Literal

from pydantic import Field, PositiveInt

from sequoia.learn.config import Config, Group


class NetworkSettings(Group):
    """What the network is made of.

    ``hidden`` widths of the ReLU layers that see state and action (chosen by `chosen_hidden`
    unless given), ``value`` width of a layer that sees the state alone, ``linear`` a part linear in
    the action, ``critic`` width of a network for the worth of states (0: only best actions tell
    it), ``indicators`` one number per arm and state instead of the bare state, ``time_feature`` the
    steps left as a feature and targets that end with the episode, ``prices`` the price part, where
    arms are decoupled: from the tight relaxation or the quick one, improved at most
    ``price_rounds`` times and, as a last resort, for ``price_seconds``; ``normalise`` targets of
    size 1; ``initial`` weights as He et al. 2015 draw them, with outputs of 0, or as PyTorch does.
    """

    hidden: tuple[PositiveInt, ...] | None = None
    value: int = Field(default=64, ge=0)
    linear: bool = True
    critic: int = Field(default=64, ge=0)
    indicators: bool = True
    time_feature: bool = True
    prices: Literal["hull", "lp", "none"] = "hull"
    # Until a thousandth is left: 1 for 100 arms of capacity or scheduling, 13 for 40 interventions,
    # 13 to 19 on 40 stations. On 100 stations, 20 leave 0.6 % and 33 a thousandth.
    price_rounds: int = Field(default=20, ge=1)
    price_seconds: float = Field(default=1_800.0, gt=0)
    normalise: bool = True
    initial: Literal["he", "torch"] = "he"


class ReplaySettings(Group):
    """The buffer: ``buffer_size`` transitions, drawn in proportion to priority ** ``alpha``."""

    buffer_size: int = Field(default=10_000, ge=1)
    alpha: float = Field(default=0.6, ge=0, le=1)


class ExplorationSettings(Group):
    """The chance of a random action: from ``initial_eps`` to ``final_eps``.

    After ``decay`` steps, a third of the difference is left.
    """

    initial_eps: float = Field(default=0.1, ge=0, le=1)
    final_eps: float = Field(default=0.1, ge=0, le=1)
    decay: float = Field(default=1000, gt=0)


class WarmStartSettings(Group):
    """What comes first where there is no price part.

    ``samples`` states and actions are fitted to the reward of the next step in ``epochs``;
    ``myopic`` adds what the fitted network would do, ``perturbed`` the same with flips,
    ``infeasible`` all-ones and all-zeros with flips. ``strategic`` samples are of states anywhere,
    where any state of an arm is as likely, with every single column in and out; else of states in
    random play. ``refit`` fits rewards again once ``myopic`` samples are there; else the episodes
    learn from them, as from all others. ``kept`` is how many samples the replay buffer takes over;
    all unless given.
    """

    samples: int = Field(default=4_000, ge=0)
    epochs: int = Field(default=30, ge=0)
    myopic: bool = True
    perturbed: bool = True
    infeasible: bool = True
    strategic: bool = False
    refit: bool = True
    kept: int | None = Field(default=None, ge=0)


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
    """How SEQUOIA learns by Q-learning (the paper's algorithm 1).

    In each of ``rounds`` rounds, ``episodes`` episodes run side by side, and after each step
    ``gradient_steps`` batches of ``batch_size`` are learned. The target network takes over the
    share ``tau`` of the weights every ``target_update_interval`` batches. Best actions are
    remembered for ``cache_rounds`` rounds. ``gamma`` is the weight of the next step: the
    environment's, or 1 with a time feature, unless given. ``double`` asks the online network for
    the best action (van Hasselt et al. 2016). The learning rate is multiplied by ``lr_decay`` after
    each epoch of the warm start and, from the beginning, after each round. ``loose_rules`` trains
    under the space's simple rules (a route's budget) alone.
    """

    learner: ClassVar[str] = "q-learning"
    old_names: ClassVar[dict[str, str]] = {
        "clock": "network.time_feature",
        "memory": "replay.buffer_size",
        "priority": "replay.alpha",
        "epsilon_start": "exploration.initial_eps",
        "epsilon_end": "exploration.final_eps",
        "epsilon_decay": "exploration.decay",
        "warm_samples": "warm_start.samples",
        "warm_epochs": "warm_start.epochs",
        "warm_myopic": "warm_start.myopic",
        "warm_perturbed": "warm_start.perturbed",
        "warm_infeasible": "warm_start.infeasible",
        "validate_episodes": "selection.n_eval_episodes",
        "validate_every": "selection.eval_freq",
        "discount": "gamma",
        "batch": "batch_size",
        "clip": "max_grad_norm",
        "target_every": "target_update_interval",
        "target_rate": "tau",
        "memo_rounds": "cache_rounds",
    }

    network: NetworkSettings = NetworkSettings()
    replay: ReplaySettings = ReplaySettings()
    exploration: ExplorationSettings = ExplorationSettings()
    warm_start: WarmStartSettings = WarmStartSettings()
    selection: SelectionSettings = SelectionSettings()

    gamma: float | None = Field(default=None, gt=0, le=1)
    rounds: int = Field(default=12, ge=0)
    episodes: int = Field(default=32, ge=1)
    gradient_steps: int = Field(default=16, ge=1)
    batch_size: int = Field(default=256, ge=1)
    learning_rate: float = Field(default=3e-4, gt=0)
    lr_decay: float = Field(default=1.0, gt=0, le=1)
    adam_epsilon: float = Field(default=1e-8, gt=0)
    max_grad_norm: float = Field(default=10.0, gt=0)
    target_update_interval: int = Field(default=80, ge=1)
    tau: float = Field(default=1.0, gt=0, le=1)
    double: bool = True
    cache_rounds: int = Field(default=4, ge=1)
    loose_rules: bool = False
