"""Clusters of arms that are looked at together."""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.bounds.factored.local_table import DoseCombinations, Graph, table_size
from sequoia.problem import Problem

Cluster = tuple[int, ...]
Size = Callable[[Sequence[int]], float]


def grow_clusters(
    problem: Problem, doses: DoseCombinations, most: int
) -> list[tuple[Cluster, Cluster]]:
    """Return clusters that cover all arms, each as its own arms and arms borrowed from others.

    First arms that share many neighbours are merged (average linkage of the share of common
    neighbours, so that villages form before bridges do), as long as the table of a cluster has at
    most ``most`` configurations. Then each cluster borrows the arms it is tied to most strongly,
    within the same limit: a value function over overlapping clusters knows what bridges do.
    A single arm is a cluster however large its table is.
    """
    graph = Graph.of(problem)
    ties = sparse.csr_array((graph.weights + graph.weights.T).astype(np.float64))
    ties.setdiag(0.0)
    ties.eliminate_zeros()

    def size(arms: Sequence[int]) -> float:
        return table_size(problem, doses, arms)

    merged = _merge(_similarity(ties), size, most)
    return [(cluster, _borrow(ties, cluster, size, most)) for cluster in merged]


def _similarity(ties: csr_array) -> csr_array:
    """Return, for neighbours, the share of their neighbours (with themselves) in common."""
    count = ties.shape[0]
    closed = csr_array((ties + sparse.eye_array(count)) > 0, dtype=np.float64)
    shared = csr_array((closed @ closed.T).multiply(ties > 0))
    scale = sparse.diags_array(1 / np.sqrt(closed.sum(axis=1)))
    return csr_array(scale @ shared @ scale)


def _merge(similarity: csr_array, size: Size, most: int) -> list[Cluster]:
    """Merge the two clusters most alike, again and again."""
    members: dict[int, Cluster] = {arm: (arm,) for arm in range(similarity.shape[0])}
    links: dict[int, dict[int, float]] = {arm: {} for arm in members}
    entries = similarity.tocoo()
    for first, other, value in zip(entries.row, entries.col, entries.data, strict=True):
        links[int(first)][int(other)] = float(value)
    queue = [(-value, a, b) for a, near in links.items() for b, value in near.items() if a < b]
    heapify(queue)
    fresh = len(members)
    while queue:
        _, first, other = heappop(queue)
        if first not in members or other not in members:
            continue
        together = tuple(sorted(members[first] + members[other]))
        if size(together) > most:
            continue
        near = links.pop(first)
        for third, value in links.pop(other).items():
            near[third] = near.get(third, 0.0) + value
        near.pop(first, None)
        near.pop(other, None)
        del members[first], members[other]
        for third, value in near.items():
            links[third].pop(first, None)
            links[third].pop(other, None)
            links[third][fresh] = value
            heappush(queue, (-value / (len(together) * len(members[third])), third, fresh))
        members[fresh], links[fresh] = together, near
        fresh += 1
    return sorted(members.values())


def _borrow(ties: csr_array, cluster: Cluster, size: Size, most: int) -> Cluster:
    """Return the outside arms, most strongly tied first, that still fit."""
    pull = ties[np.asarray(cluster)].sum(axis=0)
    pull[np.asarray(cluster)] = 0
    borrowed: Cluster = ()
    for arm in sorted(np.flatnonzero(pull).tolist(), key=lambda arm: (-pull[arm], arm)):
        if size((*cluster, *borrowed, arm)) <= most:
            borrowed = (*borrowed, arm)
    return borrowed
