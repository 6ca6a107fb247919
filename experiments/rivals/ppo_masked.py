"""PPO that chooses one column at a time among those that still fit."""

from typing import Any, ClassVar

import numpy as np

from experiments.rivals.column_model import ColumnModel
from experiments.rivals.one_by_one import OneByOne
from experiments.rivals.ppo import Ppo, PpoConfig
from sequoia.rng import stream

# Actions by which it is measured how many choices one takes.
_MEASURED = 20


class PpoMaskedConfig(PpoConfig):
    """Settings of ``ppo-masked``."""

    learner: ClassVar[str] = "ppo-masked"


class PpoMasked(Ppo[PpoMaskedConfig]):
    """MaskablePPO (Huang & Ontañón 2022) of sb3-contrib over columns, and one choice to stop.

    Only columns that still fit have a chance, so that every action is feasible.
    """

    name: ClassVar[str] = "ppo-masked"
    settings = PpoMaskedConfig
    played_by: ClassVar[str] = OneByOne.name

    def _make(self) -> Any:
        from sb3_contrib import MaskablePPO

        from experiments.rivals.side_by_side import MaskedEpisodes

        episodes = MaskedEpisodes(self.environment, self.config.episodes)
        n_steps = self.environment.horizon * self._choices()
        return MaskablePPO("MlpPolicy", episodes, **self._settings(n_steps))

    def _choices(self) -> int:
        """Return how many choices an action takes at most: a round then has whole episodes."""
        rng = stream(0, "ppo-masked")
        drawn = [self.environment.space.sample(rng).action.sum() for _ in range(_MEASURED)]
        return int(np.max(drawn)) + 1

    def actor(self) -> OneByOne:
        """Return the policy of the likeliest choices."""
        return OneByOne(self.environment, self.model())

    def model(self) -> ColumnModel:
        """Return the preferences for each next column."""
        return ColumnModel(
            self.environment,
            {
                "hidden.weight": self._hidden.weight.detach().numpy().copy(),
                "hidden.bias": self._hidden.bias.detach().numpy().copy(),
                "choice.weight": self._output.weight.detach().numpy().copy(),
                "choice.bias": self._output.bias.detach().numpy().copy(),
            },
        )
