"""A few rows that all routes keep: for prices and bounds where routes are too many to list."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from sequoia.problem.spaces.team.routes import Map
from sequoia.problem.system import LinearSystem, Rows
from sequoia.validation import FloatArray, IntArray


def minutes_form(
    own: Map, groups: Sequence[IntArray], names: Sequence[str], worker_names: Sequence[str]
) -> LinearSystem:
    """Return rows over arms and the groups of walkers that serve them: nobody works too long.

    No routes break these rows, but not everything that keeps them has routes.
    """
    n_arms = len(names)
    least = [_least(own, int(group[0])) for group in groups]
    reach = [np.flatnonzero(own.is_in_reach[int(group[0])]) for group in groups]
    group = np.repeat(np.arange(len(groups)), [len(arms) for arms in reach])
    arm = np.concatenate([np.empty(0, dtype=np.int64), *reach])
    column, width = n_arms + np.arange(len(arm)), n_arms + len(arm)
    minutes = np.concatenate([np.empty(0), *least])
    served = csr_array(
        (
            np.concatenate([np.ones(n_arms), -np.ones(len(arm))]),
            (
                np.concatenate([np.arange(n_arms), arm]),
                np.concatenate([np.arange(n_arms), column]),
            ),
        ),
        shape=(n_arms, width),
    )
    takes = csr_array((minutes, (group, column)), shape=(len(groups), width))
    like = [f"walkers like {worker_names[int(group[0])]}" for group in groups]
    by = [f"{names[a]} by {like[g]}" for g, a in zip(group.tolist(), arm.tolist(), strict=True)]
    room = own.limits - own.begins
    return LinearSystem.from_rows(
        [
            Rows.equal(served, 0.0, [f"{name} is served once, if acted on" for name in names]),
            Rows.at_most(
                takes,
                np.array([room[group].sum() for group in groups], dtype=np.float64),
                [f"minutes of {text}" for text in like],
            ),
        ],
        n_arms,
        [*names, *by],
    )


def _least(own: Map, walker: int) -> FloatArray:
    """Return what each arm in reach takes a walker at least, ``(j,)``.

    That is its service, half of a way there and half of a way on, as every way of a route has two
    ends. Who comes from one arm goes on to another.
    """
    arms = np.flatnonzero(own.is_in_reach[walker])
    size, service = len(arms), own.service[arms]
    ways = (own.between - own.service)[np.ix_(arms, arms)].astype(np.float64)
    np.fill_diagonal(ways, np.inf)
    there = own.out[walker, arms] - own.begins[walker] - service
    # The last of the places is the depot; the two nearest ones each way are enough.
    come = np.vstack([ways, there, np.full(size, np.inf)])
    leave = np.vstack([ways.T, own.home[walker, arms], np.full(size, np.inf)])
    before, after = (np.argsort(part, axis=0, kind="stable")[:2] for part in (come, leave))
    column = np.arange(size)
    both = np.full(size, np.inf)
    for first in before:
        for then in after:
            minutes = come[first, column] + leave[then, column]
            is_there = (first != then) | (first == size)
            both = np.minimum(both, np.where(is_there, minutes, np.inf))
    least: FloatArray = service + np.minimum(both, there + own.home[walker, arms]) / 2
    return least
