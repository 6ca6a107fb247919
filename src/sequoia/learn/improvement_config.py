"""How the one learner learns: every setting, by name."""

from typing import ClassVar

from pydantic import Field

from sequoia.learn.config import Config


class ImprovementConfig(Config):
    """Stopping rules; all sizes follow from the problem.

    At most ``rounds`` rounds. After ``patience`` rounds that win nothing the next ones look closer;
    where they already do, that ends it. With networks it takes twice as many.
    """

    learner: ClassVar[str] = "policy-improvement"

    rounds: int = Field(default=40, ge=0)
    patience: int = Field(default=2, ge=1)
