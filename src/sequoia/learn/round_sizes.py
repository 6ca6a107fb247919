"""How much a round of policy iteration looks at, where its settings leave that open."""

from dataclasses import dataclass

import numpy as np

from sequoia.learn.policy_iteration_config import PolicyIterationConfig
from sequoia.models.next_step import NextStep
from sequoia.optimize.auto import RolloutAuto
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Dependencies, Environment, limits_of

# Work of a round: components times states. Fewer states suffice where each holds many components.
_WORK, _FEWEST, _MOST = 20_000, 12, 2_500
# The most where each state's argmax goes through a list of actions or packs them by rows, and where
# it takes a search. In RedFinnedBlueEye 7 of 2018, whose actions are packed, 60 states a round earn
# no more than random play, and 240 a sixth more, in hardly more time.
_MOST_LISTED, _MOST_SEARCHED = 240, 60
# Components times held-out episodes; playing them is a small part of a round.
_HELD_OUT_WORK, _FEWEST_HELD_OUT, _MOST_HELD_OUT = 40_000, 16, 1_000
_HELD_OUT_LISTED, _HELD_OUT_SEARCHED = 120, 40
# From here on a candidate makes several changes at once, each with this many components to itself.
_COMPONENTS_PER_CHANGE, _FEWEST_CHANGES = 80, 2
# Batches grow with what a round teaches, within limits. Measured on epidemics: at 8 nodes, where a
# round has 20,000 lessons, batches of 512 learn better than 128; at 100, with 1,600, worse.
_LESSONS_PER_BATCH, _BATCHES = 40, (128, 512)


@dataclass(frozen=True, eq=False)
class RoundSizes:
    """Sizes by how large an environment is, and by how the best action is found."""

    environment: Environment
    config: PolicyIterationConfig
    encoding: ActionEncoding
    argmax: RolloutAuto
    next_step: NextStep
    dependencies: Dependencies | None

    @property
    def states(self) -> int:
        """How many states are visited in a round."""
        if self.config.comparisons.states is not None:
            return self.config.comparisons.states
        most = self._by_argmax(_MOST, _MOST_LISTED, _MOST_SEARCHED)
        return int(np.clip(_WORK // self._n_components, _FEWEST, most))

    @property
    def held_out(self) -> int:
        """How many episodes judge a policy."""
        if self.config.n_eval_episodes is not None:
            return self.config.n_eval_episodes
        most = self._by_argmax(_MOST_HELD_OUT, _HELD_OUT_LISTED, _HELD_OUT_SEARCHED)
        return int(np.clip(_HELD_OUT_WORK // self._n_components, _FEWEST_HELD_OUT, most))

    @property
    def changes(self) -> int:
        """How many columns a candidate forces in and out."""
        if self.config.comparisons.changes is not None:
            return self.config.comparisons.changes
        many = self._n_components // _COMPONENTS_PER_CHANGE
        return many if self._may_share and many >= _FEWEST_CHANGES else 1

    def batch(self, lessons: int) -> tuple[int, float]:
        """Return the size of a batch where a round taught so many lessons, and its rate."""
        own, (few, many) = self.config.fit, _BATCHES
        size = own.batch_size
        if size is None:
            size = int(np.clip(lessons // _LESSONS_PER_BATCH, few, many))
        return size, own.learning_rate * float(np.sqrt(size / few))

    @property
    def _n_components(self) -> int:
        return int(self.environment.draw_start(np.random.default_rng(0), 1).shape[1])

    def _by_argmax(self, batched: int, listed: int, searched: int) -> int:
        """Return a limit by how the best action is found: quickly, less so, slowly."""
        if self._is_batched:
            return batched
        is_listed = self.argmax.lists_actions or not self.next_step.is_linear
        return listed if is_listed or self._is_packed else searched

    @property
    def _is_packed(self) -> bool:
        first = self.environment.draw_start(np.random.default_rng(0), 1)
        limits = limits_of(self.environment, first, np.zeros(1, dtype=np.int64))
        return self.argmax.packs and limits is not None

    @property
    def _is_batched(self) -> bool:
        """Whether the best actions of many states are found at once."""
        return self.argmax.is_batched and self.next_step.is_linear

    @property
    def _may_share(self) -> bool:
        """Whether credit can be shared among several changes of one candidate."""
        is_plain = self.encoding.dose_indicators is None and self._is_batched
        knows = self.dependencies is not None and hasattr(self.environment, "component_rewards")
        return is_plain and knows
