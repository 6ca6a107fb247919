"""PPO over a score per column; the action is the feasible one with the largest sum of scores."""

from typing import Any, ClassVar

from experiments.rivals.ppo import Ppo, PpoConfig
from experiments.rivals.scores import ByScores, ScoreArgmax, score_model
from sequoia.models.q_model import QModel
from sequoia.problem import Environment


class PpoScoresConfig(PpoConfig):
    """Settings of ``ppo-scores``."""

    learner: ClassVar[str] = "ppo-scores"


class PpoScores(Ppo[PpoScoresConfig]):
    """A Gaussian policy over scores ``theta``, decoded by ``argmax { theta @ a : a feasible }``.

    The decoder is part of the environment, as PPO sees it: it learns which scores pay, never
    which actions are allowed. The result is the mean of the scores.
    """

    name: ClassVar[str] = "ppo-scores"
    settings = PpoScoresConfig

    def __init__(self, environment: Environment, config: PpoScoresConfig, seed: int) -> None:
        self._argmax = ScoreArgmax(environment)
        super().__init__(environment, config, seed)

    def _make(self) -> Any:
        from stable_baselines3 import PPO

        from experiments.rivals.side_by_side import ScoredEpisodes

        episodes = ScoredEpisodes(self.environment, self.config.episodes, self._argmax)
        return PPO("MlpPolicy", episodes, **self._settings(self.environment.horizon))

    def actor(self) -> ByScores:
        """Return the policy of the mean scores."""
        policy = self._ppo.policy
        return ByScores(
            self.environment,
            lambda z: policy.action_net(policy.mlp_extractor.forward_actor(z)),
            self._argmax,
        )

    def model(self) -> QModel:
        """Return the scores as a function linear in the action."""
        return score_model(self.environment, self._hidden, self._output)
