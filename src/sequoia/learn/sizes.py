"""How much a round looks at: by the size of the problem, and by what an argmax costs."""

from dataclasses import dataclass

import numpy as np

from sequoia.learn.guard import OTHER_LUCK
from sequoia.optimize.auto import RolloutAuto
from sequoia.problem import Environment

# A round takes a few seconds: so many microseconds of argmaxes, and so many numbers of states.
_ARGMAX_TIME, _NUMBERS = 600_000, 30_000_000
_FEWEST, _MOST = 1_200, 24_000
# Rollouts of a candidate under different luck, and candidates of a state.
ROLLOUTS, CANDIDATES = 4, 8
_FEWEST_EPISODES, _MOST_EPISODES = 10, 800
# Fewer states at a greater depth teach nothing but luck.
_FEWEST_STATES = 48


@dataclass(frozen=True)
class Sizes:
    """Numbers of a round.

    Attributes
    ----------
    episodes
        Played side by side.
    states
        In which actions are compared one step deep.
    guard
        Episodes of a batch of the paired test.
    """

    episodes: int
    states: int
    guard: int
    decisions: int
    components: int

    @classmethod
    def of(cls, environment: Environment, argmax: RolloutAuto) -> "Sizes":
        """Return sizes that make a round take some seconds."""
        components = int(environment.draw_start(np.random.default_rng(0), 1).shape[1])
        horizon = environment.horizon
        decisions = int(np.clip(_ARGMAX_TIME / argmax.microseconds, _FEWEST, _MOST))
        rows = min(decisions / 2, _NUMBERS / 10 / components)
        episodes = int(np.clip(rows / horizon, _FEWEST_EPISODES, _MOST_EPISODES))
        pairs = min(decisions / 2, _NUMBERS / (ROLLOUTS * components))
        states = int(max(pairs / (1 + CANDIDATES), _FEWEST_STATES))
        judged = min(
            _ARGMAX_TIME / (6 * argmax.microseconds),
            _NUMBERS / 10 / ((1 + OTHER_LUCK) * components),
        )
        guard = int(np.clip(judged / horizon, _FEWEST_EPISODES, _MOST_EPISODES))
        return cls(episodes, states, guard, decisions, components)

    def states_at(self, depth: int) -> int:
        """Return in how many states actions are compared that deep; 0 where it does not pay."""
        if depth == 1:
            return self.states
        per_state = ROLLOUTS * (1 + CANDIDATES) * depth
        most = min(10 * self.decisions / per_state, 4 * _NUMBERS / (self.components * per_state))
        states = int(min(most, self.states))
        return states if states >= _FEWEST_STATES else 0
