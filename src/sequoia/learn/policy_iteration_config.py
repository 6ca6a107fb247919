"""How SEQUOIA learns by policy iteration: every setting, by name."""

from typing import ClassVar

from pydantic import Field

from sequoia.learn.config import Config, Group


class GraphSettings(Group):
    """The shared network: ``hidden`` numbers per node, ``layers`` rounds of messages."""

    hidden: int = Field(default=32, ge=1)
    layers: int = Field(default=2, ge=0)


class ComparisonSettings(Group):
    """What is played in a round.

    ``states`` of the current policy, with up to ``candidates`` other actions each, ``rollouts``
    times under different luck, ``depth`` steps ahead. A candidate forces ``changes`` columns in
    and as many out. ``states`` and ``changes`` follow from the size of the problem unless given.
    ``epsilon`` is the chance of a random action on the way to these states.
    """

    states: int | None = Field(default=None, ge=1)
    candidates: int = Field(default=8, ge=1)
    rollouts: int = Field(default=4, ge=1)
    depth: int = Field(default=12, ge=1)
    changes: int | None = Field(default=None, ge=1)
    epsilon: float = Field(default=0.1, ge=0, le=1)


class StartSettings(Group):
    """The factored value function that learning starts from; see `relax_factored`.

    ``table`` is the most configurations of a cluster, ``price_rounds`` how often prices between
    clusters are improved; 0 starts from nothing. Unless given, tables are those of `price`, and
    rounds follow from the size of the problem: one that is too large for them starts from nothing.
    """

    table: int | None = Field(default=None, ge=1)
    price_rounds: int | None = Field(default=None, ge=0)


class FitSettings(Group):
    """How the network is fitted: Adam with a rate that falls to 0 in each round.

    In ``gradient_steps`` batches of about ``batch_size`` comparisons, of the last ``keep_rounds``
    rounds; unless given, larger ones where there is more to learn from. ``learning_rate`` is that
    of batches of 128; it grows with the root of their size.
    """

    gradient_steps: int = Field(default=400, ge=1)
    batch_size: int | None = Field(default=None, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0)
    keep_rounds: int = Field(default=3, ge=1)


class PolicyIterationConfig(Config):
    """How SEQUOIA learns by policy iteration.

    ``rounds`` rounds at most; ``patience`` rounds without a better policy end it.
    ``n_eval_episodes`` held-out episodes tell which is best; as many as are quick unless given.
    """

    learner: ClassVar[str] = "policy-iteration"

    start: StartSettings = StartSettings()
    network: GraphSettings = GraphSettings()
    comparisons: ComparisonSettings = ComparisonSettings()
    fit: FitSettings = FitSettings()

    rounds: int = Field(default=6, ge=0)
    patience: int = Field(default=6, ge=1)
    n_eval_episodes: int | None = Field(default=None, ge=1)
