"""The compact form: which ways are gone, and a clock that flows along them."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from sequoia.problem.spaces.team.routes import Map
from sequoia.problem.system import LinearSystem, Rows
from sequoia.validation import FloatArray, IntArray

# Groups times arms times arms; with more, this form is larger than the plain one.
MOST_WAYS = 20_000


def walker_groups(own: Map) -> list[IntArray]:
    """Return walkers of one depot, the same hours and arms: they are interchangeable."""
    key = np.column_stack([own.limits, own.out, own.home, own.may_serve])
    _, group = np.unique(key, axis=0, return_inverse=True)
    return [np.flatnonzero(group == which) for which in range(int(group.max(initial=-1)) + 1)]


def time_flow(
    own: Map, groups: Sequence[IntArray], names: Sequence[str], worker_names: Sequence[str]
) -> LinearSystem:
    """Return rows over arms, ways of each group of walkers (binary), and the clock on each way.

    The clock on a way says when it ends, zero where it is not taken; it grows along a route, so
    that there are no round trips without a depot (Gavish and Graves 1978), and by more than the
    way takes where somebody waits. Node ``J`` of a group is its depot.
    """
    n_arms = len(names)
    ways = [ways_of(own, int(group[0])) for group in groups]
    start, stop, minutes, earliest, latest = (
        np.concatenate([np.empty(0, dtype=np.int64), *(way[part] for way in ways)])
        for part in range(5)
    )
    group_of = np.repeat(np.arange(len(groups)), [len(way[0]) for way in ways])
    size = len(start)
    way, clock = n_arms + np.arange(size), n_arms + size + np.arange(size)
    shape = n_arms + 2 * size
    arms = np.arange(n_arms)
    into, out = np.flatnonzero(stop < n_arms), np.flatnonzero(start < n_arms)
    first = np.flatnonzero(start == n_arms)
    waits = np.flatnonzero(earliest > 0)

    def rows(count: int, *parts: tuple[IntArray, IntArray, IntArray | float]) -> csr_array:
        data = [np.broadcast_to(np.asarray(value, float), row.shape) for row, _, value in parts]
        places = [np.concatenate([part[axis] for part in parts]) for axis in (0, 1)]
        return csr_array((np.concatenate(data), tuple(places)), shape=(count, shape))

    # A group comes to an arm as often as it leaves it, and its clock goes on.
    node_in, node_out = group_of[into] * n_arms + stop[into], group_of[out] * n_arms + start[out]
    nodes, place = np.unique(np.concatenate([node_in, node_out]), return_inverse=True)
    come, leave = place[: len(into)], place[len(into) :]
    said = [f"{worker_names[groups[n // n_arms][0]]}'s at {names[n % n_arms]}" for n in nodes]
    count = len(nodes)
    blocks = [
        Rows.equal(
            rows(n_arms, (arms, arms, 1.0), (stop[into], way[into], -1.0)),
            0.0,
            [f"{name} is served once, if acted on" for name in names],
        ),
        Rows.at_most(
            rows(len(groups), (group_of[first], way[first], 1.0)),
            np.array([len(group) for group in groups], dtype=np.float64),
            [f"walkers like {worker_names[group[0]]}" for group in groups],
        ),
        Rows.equal(
            rows(count, (come, way[into], 1.0), (leave, way[out], -1.0)),
            0.0,
            [f"way on for {text}" for text in said],
        ),
        Rows.at_least(
            rows(
                count,
                (leave, clock[out], 1.0),
                (come, clock[into], -1.0),
                (leave, way[out], -minutes[out]),
            ),
            0.0,
            [f"clock for {text}" for text in said],
        ),
        Rows.at_least(
            rows(
                len(waits),
                (np.arange(len(waits)), clock[waits], 1.0),
                (np.arange(len(waits)), way[waits], -earliest[waits]),
            ),
            0.0,
            [f"earliest end of way {w}" for w in waits.tolist()],
        ),
        Rows.at_most(
            rows(size, (np.arange(size), clock, 1.0), (np.arange(size), way, -latest)),
            0.0,
            [f"latest end of way {w}" for w in range(size)],
        ),
    ]
    places = [*names, "the depot"]
    ends = [f"{places[a]} to {places[b]}" for a, b in zip(start, stop, strict=True)]
    return LinearSystem.from_rows(
        blocks,
        n_arms,
        [*names, *(f"way from {text}" for text in ends), *(f"clock from {text}" for text in ends)],
        column_upper=np.concatenate([np.ones(n_arms + size), np.maximum(latest, 0)]),
        is_integer=np.arange(shape) < n_arms + size,
    )


def ways_of(own: Map, walker: int) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Return start, stop, minutes, earliest and latest end of the ways that a walker may take.

    The earliest end is 0 where it follows from the clock before.
    """
    arms = np.flatnonzero(own.is_in_reach[walker])
    depot = np.full(len(arms), own.n_arms)
    start, stop = (part.reshape(-1) for part in np.meshgrid(arms, arms, indexing="ij"))
    keep = start != stop
    start, stop = start[keep], stop[keep]
    latest, first = own.latest[walker], own.first[walker]
    minutes = own.between[start, stop]
    keep = np.maximum(first[start] + minutes, own.early[stop]) <= latest[stop]
    start, stop, minutes = start[keep], stop[keep], minutes[keep]
    early = np.where(own.early[stop] > first[start] + minutes, own.early[stop], 0)
    return (
        np.concatenate([depot, start, arms]),
        np.concatenate([arms, stop, depot]),
        np.concatenate([own.out[walker, arms], minutes, own.home[walker, arms]]),
        np.concatenate([first[arms], early, np.zeros(len(arms), dtype=np.int64)]),
        np.concatenate([latest[arms], latest[stop], np.full(len(arms), own.limits[walker])]),
    )


def routes_of(own: Map, groups: Sequence[IntArray], values: FloatArray) -> list[list[int]]:
    """Return the routes that a whole solution of `time_flow` describes, one for each walker."""
    routes: list[list[int]] = [[] for _ in own.limits]
    column = own.n_arms
    for group in groups:
        start, stop, *_ = ways_of(own, int(group[0]))
        taken = np.flatnonzero(values[column : column + len(start)] > 0.5)
        column += len(start)
        following = {int(start[way]): int(stop[way]) for way in taken if start[way] < own.n_arms}
        begins = [int(stop[way]) for way in taken if start[way] == own.n_arms]
        for walker, arm in zip(group.tolist(), begins, strict=False):
            while arm < own.n_arms:
                routes[walker].append(arm)
                arm = following[arm]
    return routes
