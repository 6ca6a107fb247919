"""A team some of whose arms are served straight one after the other, in a given order."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from sequoia.errors import ProblemError
from sequoia.problem.names import say
from sequoia.problem.spaces.base import ActionSpace
from sequoia.problem.spaces.locked import Locked
from sequoia.problem.spaces.team.finder import RouteFinder
from sequoia.problem.spaces.team.plain import PlainForm
from sequoia.problem.spaces.team.routes import Map
from sequoia.solvers import Limits
from sequoia.validation import ActionArray, FloatArray, IntArray


class ChainedTeam(Locked):
    """A team in which each chain of arms is one long stop, from its first arm to its last.

    So all that a team knows of routes holds for chains as well. Only the rows of `system` are more:
    some walker goes from each arm of a chain straight to the next.

    Parameters
    ----------
    team
        The space without chains.
    own, plain
        Its map, and its plain form.
    chains
        Arms that follow each other.
    """

    has_quick_program = False
    # Rules that ask for some arm of a chain ask for all of them.
    is_refusal_final = True

    def __init__(
        self, team: ActionSpace, own: Map, plain: PlainForm, chains: Sequence[Sequence[int]]
    ) -> None:
        arms = [arm for chain in chains for arm in chain]
        for arm in arms:
            if arms.count(arm) > 1:
                raise ProblemError(
                    f"{team.names[arm]} is in two orders; put them into one, or leave it out."
                )
        pairs = [pair for chain in chains for pair in pairwise(chain)]
        super().__init__(team, [plain.straight_rows(pairs, team.names)])
        self._map, self._plain, self._chains = own, plain, [list(chain) for chain in chains]

    def with_order(self, arms: Sequence[int]) -> "ChainedTeam":
        """Add a chain."""
        return ChainedTeam(self._base, self._map, self._plain, [*self._chains, list(arms)])

    @cached_property
    def _stops(self) -> list[list[int]]:
        """The arms of each stop: chains first, then every other arm by itself."""
        taken = {arm for chain in self._chains for arm in chain}
        return [*self._chains, *([arm] for arm in range(self.n_actions) if arm not in taken)]

    @cached_property
    def _members(self) -> IntArray:
        """Which arms each stop serves, ``(C, J)``."""
        members = np.zeros((len(self._stops), self.n_actions), dtype=np.int64)
        for stop, arms in enumerate(self._stops):
            members[stop, arms] = 1
        return members

    @cached_property
    def _finder(self) -> RouteFinder:
        """Routes over stops: ways lead to the first arm of one and from the last of another."""
        own, stops = self._map, self._stops
        first, last = [stop[0] for stop in stops], [stop[-1] for stop in stops]
        spans = np.array([_span(own, stop) for stop in stops]).reshape(-1, 3)
        inside, early, late = spans.T
        may_serve = [own.may_serve[:, stop].all(axis=1) for stop in stops]
        return RouteFinder(
            Map(
                own.between[np.ix_(last, first)] + inside,
                own.out[:, first] + inside,
                own.home[:, last],
                own.begins,
                own.limits,
                np.array(may_serve).T.reshape(len(own.limits), len(stops)),
                early,
                late,
                own.service[first] + inside,
            )
        )

    def bracket_linear(
        self, weights: FloatArray, limits: Limits
    ) -> tuple[ActionArray, float] | None:
        """Return an action and a bound; a stop weighs what its arms do."""
        found = self._finder.best(self._members @ weights, limits)
        if found is None:
            return None
        served = [stop for route in found.routes for stop in route]
        action: ActionArray = self._members[served].sum(axis=0).astype(np.int8)
        return action, found.bound

    def _why_not(self, action: ActionArray) -> str:
        """Say it as the team does, or that the order is what is too much."""
        if not self._base.contains(action[None])[0]:
            return self._base._why_not(action)
        said = [", then ".join(self.names[arm] for arm in chain) for chain in self._chains]
        return f"{say(self.chosen(action))} can be served, but not with {' and '.join(said)}."

    def _plan(self, action: ActionArray) -> ActionArray | None:
        served = self._members @ action
        if not ((served == 0) | (served == self._members.sum(axis=1))).all():
            return None
        routes = self._finder.routes((served > 0).astype(np.int8))
        if routes is None:
            return None
        stops = self._stops
        return self._plain.plan([[arm for s in route for arm in stops[s]] for route in routes])


def _span(own: Map, chain: Sequence[int]) -> tuple[int, int, int]:
    """Return how long a chain takes after its first arm, and when it may end.

    Who begins as late as possible may still wait on the way: then it takes that much longer.
    """
    minutes = [int(own.between[pair]) for pair in pairwise(chain)]
    end = int(own.early[chain[0]])
    for arm, takes in zip(chain[1:], minutes, strict=True):
        end = max(end + takes, int(own.early[arm]))
    begin = int(own.late[chain[-1]])
    for arm, takes in zip(chain[-2::-1], minutes[::-1], strict=True):
        begin = min(begin - takes, int(own.late[arm]))
    takes = max(sum(minutes), end - begin)
    is_possible = own.early[chain[0]] <= begin
    return takes, end, begin + takes if is_possible else -1
