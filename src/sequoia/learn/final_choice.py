"""Which model is kept in the end: what was learned, `price`, or both together."""

from dataclasses import dataclass, replace

import numpy as np

from sequoia.learn.held_out import HeldOut
from sequoia.models.graph_model import GraphModel
from sequoia.optimize.dose_groups import DoseGroup
from sequoia.optimize.encoding import few_actions
from sequoia.optimize.linear.dose_tables import DoseTableArgmax
from sequoia.problem import limits_of
from sequoia.validation import FloatArray

# Actions that are listed in little time, whatever the space.
_MOST_LISTED = 3_000
# Combinations of doses in all clusters: a decision takes 15 ms with 800, 100 arms in clusters of 5.
_MOST_COMBINATIONS = 2_000
# Combinations times episodes, and the fewest episodes that can tell: seconds.
_WORK, _FEWEST = 16_000, 40


@dataclass(frozen=True, eq=False)
class Finalist:
    """A model, and what it earned per step in each held-out episode, ``(E,)``."""

    model: GraphModel
    rewards: FloatArray


def final_choice(
    learned: GraphModel, guess: GraphModel | None, held_out: HeldOut, is_batched: bool
) -> Finalist:
    """Return the best of three in the same episodes, by their mean.

    The learned model adds the doses of an action up. A factored value function knows what doses of
    a cluster are worth beyond their sum. `price` acts by it alone; it may also be added to what was
    learned, which measures best on most epidemics.

    Parameters
    ----------
    guess
        The model that acts on the sums of the factored value function; ``None`` without one.
    is_batched
        Whether the space finds the best action of many linear functions at once.
    """
    if guess is None or guess.factored is None or not _is_quick(guess, is_batched):
        return Finalist(learned, held_out.play(learned))
    price = replace(guess, is_joint=True)
    size = sum(len(own.doses) for own in guess.factored.tables)
    episodes = min(held_out.episodes, max(_FEWEST, _WORK // size))
    if len(guess.factored.tables) == 1:  # one table holds all arms, so nothing is better
        return Finalist(price, held_out.play(price, episodes))
    models = (price, learned, replace(learned, is_joint=True))
    finalists = [Finalist(model, held_out.play(model, episodes)) for model in models]
    return max(finalists, key=lambda one: float(one.rewards.mean()))


def _is_quick(model: GraphModel, is_batched: bool) -> bool:
    """Whether decisions by what doses are worth together take milliseconds."""
    environment, encoding = model.environment, model.encoding
    if few_actions(environment.space, _MOST_LISTED) is not None:
        return True
    assert model.factored is not None
    groups = [DoseGroup(own.arms, own.doses) for own in model.factored.tables]
    if sum(len(group.doses) for group in groups) > _MOST_COMBINATIONS or not is_batched:
        return False
    start = environment.draw_start(np.random.default_rng(0), 1)
    is_free = limits_of(environment, start, np.zeros(1, dtype=np.int64)) is None
    return is_free and DoseTableArgmax(encoding, groups).takes_inputs
