"""Which model is kept in the end: what was learned, `price`, or both together."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sequoia.models.graph_model import GraphModel
from sequoia.optimize.dose_groups import DoseGroup
from sequoia.optimize.encoding import few_actions
from sequoia.optimize.linear.dose_tables import DoseTableArgmax
from sequoia.problem import limits_of
from sequoia.validation import FloatArray

# Actions that are listed in little time, whatever the space.
_MOST_LISTED = 3_000
# Combinations of doses in all clusters, times inputs: weights of joint units are 80 MB.
_MOST_WEIGHTS = 10_000_000


@dataclass(frozen=True, eq=False)
class Finalist:
    """A model, and what it earned per step in each held-out episode, ``(E,)``."""

    model: GraphModel
    rewards: FloatArray


def final_choice(
    learned: Finalist, guess: GraphModel | None, play: Callable[[GraphModel], FloatArray]
) -> Finalist:
    """Return the best of three in the same episodes, by their mean.

    The learned model adds the doses of an action up. A factored value function knows what doses of
    a cluster are worth beyond their sum. `price` acts by it alone; it may also be added to what was
    learned, which measures best on most epidemics. Both are left out where a decision takes long.

    Parameters
    ----------
    guess
        The model that acts on the sums of the factored value function; ``None`` without one.
    play
        Returns what a model earns per step in the episodes that the learned one has played.
    """
    if guess is None or guess.factored is None or not _is_quick(guess):
        return learned
    price = replace(guess, is_joint=True)
    if len(guess.factored.tables) == 1:  # one table holds all arms, so nothing is better
        return Finalist(price, play(price))
    both = replace(learned.model, is_joint=True)
    finalists = (Finalist(price, play(price)), learned, Finalist(both, play(both)))
    return max(finalists, key=lambda one: float(one.rewards.mean()))


def _is_quick(model: GraphModel) -> bool:
    """Whether decisions by what doses are worth together take milliseconds."""
    environment, encoding = model.environment, model.encoding
    if few_actions(environment.space, _MOST_LISTED) is not None:
        return True
    assert model.factored is not None
    groups = [DoseGroup(own.arms, own.doses) for own in model.factored.tables]
    if sum(len(group.doses) for group in groups) * encoding.n_inputs > _MOST_WEIGHTS:
        return False
    start = environment.draw_start(np.random.default_rng(0), 1)
    is_free = limits_of(environment, start, np.zeros(1, dtype=np.int64)) is None
    argmax = DoseTableArgmax(encoding, groups)
    return is_free and argmax.is_batched and argmax.takes_inputs
