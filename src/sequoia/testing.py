"""Checks for parts of your own: of a space, a policy or an environment.

Each check is a function that returns nothing, or raises a `ProblemError` that says in one line what
was found and what is wanted. They try small things out; call them from a test.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from sequoia.errors import ProblemError, SequoiaError, TooLarge
from sequoia.policies import Policy
from sequoia.problem import ActionSpace, Environment, check_environment
from sequoia.rng import stream
from sequoia.simulate import Scenarios, rollout
from sequoia.solvers import Highs
from sequoia.validation import ActionArray

__all__ = ["check_environment", "check_policy", "check_space"]

_DRAWS = 30
# Each looks at every way to go on from every step, which takes longer than a draw.
_GROWTHS = 3
# With more actions than this, only drawn ones are looked at.
_MOST_LISTED = 2_000
_EPISODES = 4
# Values of the best action by two ways are equal up to what solvers can promise.
_EQUAL = 1e-5


def check_space(space: ActionSpace) -> None:
    """Try whether an action space keeps what `ActionSpace` promises.

    Draws satisfy the rules, equal generators draw the same, every extension is allowed, both forms
    of the rules have the same best action, and what is written reads back.

    Examples
    --------
    >>> from sequoia import Budget
    >>> from sequoia.testing import check_space
    >>> check_space(Budget([1, 2, 3], 4))
    """
    kind = type(space).__name__
    for form in ("system", "compact", "slim"):
        system = getattr(space, form)
        if system.n_actions != space.n_actions:
            raise ProblemError(
                f"{kind}.{form} has {system.n_actions} action columns; {space.n_actions} are "
                "wanted, one for each name."
            )
    for draw in range(_DRAWS):
        decision, again = (space.sample(stream(draw, "check space")) for _ in range(2))
        broken = space.system.violations(decision)
        if broken:
            raise ProblemError(f"a draw of {kind} breaks {broken[0]}.")
        if not np.array_equal(decision.action, again.action):
            raise ProblemError(f"{kind}.sample draws other actions with an equal generator.")
        if not space.contains(decision.action[None])[0]:
            raise ProblemError(f"{kind}.contains refuses what {kind}.sample drew.")
    for growth in range(_GROWTHS):
        _check_extensions(space, kind, growth)
    _check_best(space, kind)
    _check_listed(space, kind)


def check_policy(make: Callable[[Any], Policy], environment: Environment) -> None:
    """Try whether a policy decides as `Policy` promises: allowed, and by its generators alone.

    Parameters
    ----------
    make
        Makes the policy from an environment: a class, or a function.

    Examples
    --------
    >>> import sequoia
    >>> from sequoia.policies import Random
    >>> from sequoia.testing import check_policy
    >>> check_policy(Random, sequoia.make("trap"))
    """
    policies = [make(environment) for _ in range(2)]
    kind = type(policies[0]).__name__
    if not isinstance(getattr(policies[0], "name", None), str):
        raise ProblemError(f"{kind} has no name; one word is wanted.")
    scenarios = Scenarios.sample(environment, _EPISODES, 0)
    # A rollout checks every decision against the rules.
    first, second = (rollout(environment, policy, scenarios, 0) for policy in policies)
    if not np.array_equal(first.actions, second.actions):
        raise ProblemError(
            f"{kind} decides otherwise with equal states and generators; all luck comes from rngs."
        )
    alone = rollout(environment, policies[0], Scenarios(*(part[:1] for part in _parts(scenarios))))
    if not np.array_equal(alone.actions[0], first.actions[0]):
        raise ProblemError(
            f"{kind} decides otherwise for an episode alone than beside others, or remembers an "
            "earlier one; reset must forget."
        )


def _parts(scenarios: Scenarios) -> tuple[Any, Any]:
    return scenarios.start, scenarios.noise


def _check_extensions(space: ActionSpace, kind: str, seed: int) -> None:
    """Grow a decision step by step and check every way to go on."""
    decision, rng = space.idle, stream(seed, "check extensions")
    if space.system.violations(decision):
        return
    while len(extensions := space.extensions(decision)):
        grown = [extensions[index] for index in range(len(extensions))]
        for column, larger in zip(extensions.columns, grown, strict=True):
            gained = larger.action - decision.action
            broken = space.system.violations(larger)
            if broken or gained.sum() != 1 or gained[column] != 1:
                raise ProblemError(
                    f"an extension of {kind} by {space.names[column]} "
                    + (f"breaks {broken[0]}." if broken else "does not add that column alone.")
                )
        decision = grown[int(rng.integers(len(grown)))]


def _check_best(space: ActionSpace, kind: str) -> None:
    """Compare the best action by the rules with that of every quicker way."""
    for seed in range(5):
        weights = stream(seed, "check best").normal(size=space.n_actions)
        forms = {"system": space.system, "compact": space.compact}
        best = {
            name: Highs().solve(form.program(weights)).objective for name, form in forms.items()
        }
        quick = space.argmax_linear(weights)
        if quick is not None:
            space.certify(quick)
            best["argmax_linear"] = float(weights @ quick)
        for name, value in best.items():
            if abs(value - best["system"]) > _EQUAL * max(1.0, abs(value)):
                raise ProblemError(
                    f"the best action of {kind} is worth {best['system']:g} by system and "
                    f"{value:g} by {name}; they must agree."
                )


def _check_listed(space: ActionSpace, kind: str) -> None:
    """Compare a list of all actions with what is allowed, where they are few."""
    try:
        listed: ActionArray = space.enumerate(_MOST_LISTED)
    except TooLarge:
        return
    if len(np.unique(listed, axis=0)) != len(listed):
        raise ProblemError(f"{kind}.enumerate lists an action twice.")
    for action in listed:
        try:
            space.certify(action)
        except SequoiaError as error:
            raise ProblemError(f"{kind}.enumerate lists what certify refuses: {error}") from None
