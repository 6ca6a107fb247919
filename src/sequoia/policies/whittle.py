"""Act on the arms with the largest Whittle indices."""

import numpy as np

from sequoia.bounds.whittle import whittle_indices
from sequoia.errors import ProblemError
from sequoia.policies.policy import Options, StatewisePolicy, Style, require_problem
from sequoia.problem import Decision, Environment, Problem, limits_of
from sequoia.problem.environment import States
from sequoia.validation import IntArray


class WhittlePolicy(StatewisePolicy):
    """Acts on the arms with the largest Whittle indices, as far as these are positive.

    Parameters
    ----------
    discount
        The problem's unless given; 1 for average reward.

    Raises
    ------
    ProblemError
        When the problem is not a standard bandit, or an arm is not indexable, with the reason.
    """

    name = "whittle"
    words = "the largest Whittle indices; for standard bandits"
    style = Style("#44AA99", "d")

    def __init__(self, problem: Problem, discount: float | None = None) -> None:
        most, acted = require_standard(problem)
        arms = problem.arms
        pair = np.stack([np.zeros_like(acted), acted], axis=1)
        each = np.arange(arms.n_models)[:, None]
        indices = whittle_indices(
            arms.kernels[each, pair],
            arms.next_rewards[each, pair],
            problem.discount if discount is None else discount,
        )
        used = np.unique(arms.model)
        wrong = used[~indices.is_indexable[used]]
        if len(wrong):
            arm = int(np.flatnonzero(arms.model == wrong[0])[0])
            raise ProblemError(f"{arms.names[arm]} is not indexable; use prices instead.")
        self._problem = problem
        self._most = most
        self.indices = indices.indices

    @classmethod
    def make(cls, environment: Environment, options: Options) -> "WhittlePolicy":
        """Make it for a standard bandit."""
        return cls(require_problem(environment, cls.name))

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decision:
        """Return the decision to act where the index is largest."""
        index = self.indices[self._problem.arms.model, np.asarray(state)]
        limits = limits_of(self._problem, state[None], np.array([step]))
        if limits is not None:
            index = np.where(limits.lower[0] == 1, np.inf, index)
            index = np.where(limits.upper[0] == 0, -np.inf, index)
        order = np.argsort(-index, kind="stable")[: self._most]
        action = np.zeros(len(index), dtype=np.int8)
        action[order[index[order] > 0]] = 1
        return self._problem.space.certify(action)


def require_standard(problem: Problem) -> tuple[int, IntArray]:
    """Return how many arms may be acted on and, by model, the level of acting; or refuse."""
    space, rules = problem.space, problem.space.system
    costs = rules.matrix[[0]].toarray()[0] if rules.n_rows == 1 else np.empty(0)
    reason = None
    if not problem.is_decoupled:
        reason = "its arms infect each other"
    elif not problem.is_identity:
        reason = "its action columns are not its arms"
    elif len(costs) != space.n_actions or np.isfinite(rules.lower[0]):
        reason = f"its space is of kind {space.kind}, not a plain budget"
    elif not (costs == costs[0]).all() or costs[0] <= 0:
        reason = "its arms have different costs"
    if reason is not None:
        raise ProblemError(f"{problem.name} is not a standard bandit: {reason}.")
    level = np.abs(problem.arms.doses - 1.0).argmin(axis=1)
    return int(min(rules.upper[0] / costs[0] + 1e-9, space.n_actions)), level
