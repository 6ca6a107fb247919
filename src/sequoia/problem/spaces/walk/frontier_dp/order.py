"""An order of the edges that leaves few nodes open at any time."""

from collections.abc import Sequence

from sequoia.validation import IntArray

_BEAM = 100
# A frontier of 13 nodes is the largest whose states fit into the 63 bits of a key.
MOST_OPEN = 13


def edge_order(edges: IntArray) -> list[int] | None:
    """Return the edges in the order in which a sweep over the nodes completes them.

    ``None`` when some node order with few open nodes was not found. Edges that complete with the
    same node come in the order in which this closes their other ends.
    """
    pairs = [(int(a), int(b)) for a, b in edges]
    nodes = _node_order(pairs)
    if nodes is None:
        return None
    place = {node: index for index, node in enumerate(nodes)}
    closes = dict.fromkeys(nodes, 0)
    for pair in pairs:
        complete = max(place[node] for node in pair)
        for node in pair:
            closes[node] = max(closes[node], complete)

    def moment(edge: int) -> tuple[int, int, int]:
        first, last = sorted(pairs[edge], key=place.__getitem__)
        return place[last], closes[first], place[first]

    return sorted(range(len(pairs)), key=moment)


def _node_order(pairs: Sequence[tuple[int, int]]) -> list[int] | None:
    """Search for an order of the nodes with few open ones: placed, but with neighbours to come.

    A beam search over sets of placed nodes. The cost of a set is the sum of four to the number of
    open nodes along the way, as states grow by about so much with each of them.
    """
    near: dict[int, int] = {}
    for a, b in pairs:
        near[a] = near.get(a, 0) | 1 << b
        near[b] = near.get(b, 0) | 1 << a
    everything = sum(1 << node for node in near)
    # Sets are bits of a number; an order is a linked list, last node first.
    beam: dict[int, tuple[float, tuple[int, ...], object]] = {0: (0.0, (), None)}
    for _ in near:
        found: dict[int, tuple[float, tuple[int, ...], object]] = {}
        for placed, (cost, still_open, order) in beam.items():
            for node in _next_nodes(placed, still_open, near, everything):
                after = placed | 1 << node
                left = tuple(other for other in (*still_open, node) if near[other] & ~after)
                price = cost + 4.0 ** len(left)
                if len(left) < MOST_OPEN and (after not in found or price < found[after][0]):
                    found[after] = (price, left, (node, order))
        best = sorted(found.items(), key=lambda item: item[1][0])[:_BEAM]
        beam = dict(best)
    return _unlinked(beam[everything][2]) if everything in beam else None


def _next_nodes(
    placed: int, still_open: tuple[int, ...], near: dict[int, int], everything: int
) -> list[int]:
    """Return the nodes next to an open one; all that are left where none is open.

    A node without neighbours to come costs nothing, so it is placed at once.
    """
    reached = 0
    for node in still_open:
        reached |= near[node]
    reached = reached & ~placed or everything & ~placed
    nodes = []
    while reached:
        lowest = reached & -reached
        nodes.append(lowest.bit_length() - 1)
        if not near[nodes[-1]] & ~placed:
            return nodes[-1:]
        reached ^= lowest
    return nodes


def _unlinked(order: object) -> list[int]:
    nodes = []
    while isinstance(order, tuple):
        node, order = order
        nodes.append(node)
    return nodes[::-1]
