"""What a cell found."""

from pydantic import BaseModel, ConfigDict


class PolicyNumbers(BaseModel):
    """What a policy earned.

    Attributes
    ----------
    rewards
        Mean reward per step of each episode; empty where the policy does not apply.
    reason
        Why it does not apply.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rewards: tuple[float, ...] = ()
    reason: str | None = None


class PolicyTimes(BaseModel):
    """How long a policy took.

    Attributes
    ----------
    decisions, at_limit
        How many there were, and how many a limit cut off: these may depend on the machine.
    mean, median, slowest
        Of the time of one decision, in seconds; the slowest 5 % take longer than ``slow``.
    training
        Seconds of training, where there is any.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    decisions: int
    at_limit: int
    mean: float
    median: float
    slow: float
    slowest: float
    training: float | None = None


class CellResult(BaseModel):
    """Everything a cell found; times are apart, because they differ from run to run.

    Attributes
    ----------
    problem, fingerprint
        Name and content of the problem.
    steps
        Steps of an episode.
    random
        What acting at random earns per step, in each episode.
    bound
        What no policy exceeds per step, on average; ``bound_stopped_by`` as in `Bound`.
    numbers, times
        By the names of the policies.
    seconds
        Time of the whole cell; of one that was interrupted, since it was taken up again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    problem: str
    fingerprint: str
    steps: int
    random: tuple[float, ...]
    bound: float | None
    numbers: dict[str, PolicyNumbers]
    times: dict[str, PolicyTimes]
    bound_seconds: float | None
    bound_stopped_by: str | None = None
    seconds: float
