"""The map on which walks go, and a walk on it."""

from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from sequoia.plots.canvas import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    VERMILION,
    is_narrow,
    new_axes,
    settle,
    title,
)
from sequoia.plots.labels import label_points
from sequoia.problem import Decision, Problem, Walk
from sequoia.problem.names import count
from sequoia.validation import FloatArray, IntArray

_MOST_LENGTHS = 60
_APART = 16.0
_MOST_IN_FULL = 40


def draw_map(problem: Problem, space: Walk, ax: Axes | None = None) -> Axes:
    """Draw nodes, coloured by what their arm pays at best, edges, and a star at the source."""
    size = len(space.names)
    ax = ax if ax is not None else new_axes(8.0, 5.0 if size <= 40 else 7.0)
    title(ax, problem.name)
    places = positions(space)
    best = problem.arms.rewards.max(axis=1)[problem.arms.model]
    ax.add_collection(
        LineCollection(list(places[space.edges]), colors=GREY, linewidths=1.5, zorder=1)
    )
    dots = ax.scatter(
        places[:, 0],
        places[:, 1],
        c=best if problem.is_identity else None,
        s=60 if size <= 40 else 36,
        cmap="cividis",
        vmin=0,
        edgecolors="white",
        zorder=2,
    )
    ax.scatter(
        [places[space.source, 0]],
        [places[space.source, 1]],
        marker="*",
        s=260,
        c=VERMILION,
        edgecolors="white",
        zorder=3,
        label="walks begin and end here",
    )
    if problem.is_identity:
        ax.figure.colorbar(dots, ax=ax, label="best reward of the arm", pad=0.01)
    ax.margins(0.12, 0.08)
    ax.set_axis_off()
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, 0.0), frameon=False, fontsize=8)
    _write_lengths(ax, space, places)
    order = np.argsort(space.distance[space.source], kind="stable")
    back = np.argsort(order)
    label_points(ax, places[order], [space.names[i] for i in order], back[space.edges])
    return ax


def positions(space: Walk) -> FloatArray:
    """Return where the nodes are drawn, ``(N, 2)``: as the user says, else by springs."""
    if space.positions is not None:
        known: FloatArray = space.positions
        return known
    return springs(space.edges, len(space.names))


def springs(edges: IntArray, size: int) -> FloatArray:
    """Return where nodes come to rest when edges, ``(E, 2)``, pull and nodes push, ``(N, 2)``.

    They begin unfolded, at the slowest vibrations of the graph, and end upright, so that a lattice
    looks like one.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(edges.tolist())
    spread = nx.spectral_layout(graph)
    # Nodes that begin in one place could not push each other apart.
    luck = np.random.default_rng(1).normal(scale=1e-3, size=(size, 2))
    begin = {node: spread[node] + luck[node] for node in range(size)}
    rest = nx.spring_layout(graph, pos=begin, seed=1, iterations=200)
    return _upright(np.array([rest[node] for node in range(size)]), edges)


def _upright(places: FloatArray, edges: IntArray) -> FloatArray:
    """Turn the nodes so that most edges lie along an axis, and the first node is top left."""
    if not len(edges):
        return places
    flat = (places - places.mean(axis=0)) @ [1, 1j]
    along = flat[edges[:, 1]] - flat[edges[:, 0]]
    # The fourth power takes all four directions of an axis, or of its normal, to one.
    turned = flat * np.exp(-0.25j * np.angle(np.sum(along**4)))
    across = turned.real * (1 if turned[0].real <= 0 else -1)
    up = turned.imag * (1 if turned[0].imag >= 0 else -1)
    return np.stack([across, up], axis=1)


def _write_lengths(ax: Axes, space: Walk, places: FloatArray) -> None:
    """Write the lengths of the edges on them, where they differ and are few enough to read.

    A length stands in the middle of its edge, or to one side where it would cover another.
    """
    if len(set(space.lengths.tolist())) < 2 or len(space.edges) > _MOST_LENGTHS:
        return
    settle(ax)
    written = np.empty((0, 2))
    for (a, b), length in zip(space.edges, space.lengths, strict=True):
        along = np.array([0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8])[:, None]
        choices = (1 - along) * places[a] + along * places[b]
        pixels = ax.transData.transform(choices)
        nearest = np.linalg.norm(pixels[:, None] - written, axis=2).min(axis=1, initial=_APART)
        best = int(nearest.argmax())
        written = np.concatenate([written, pixels[[best]]])
        ax.text(
            choices[best, 0],
            choices[best, 1],
            str(length),
            fontsize=7,
            color=INK,
            ha="center",
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            zorder=1.5,
        )


def draw_walk(problem: Problem, space: Walk, decision: Decision, ax: Axes | None = None) -> Axes:
    """Draw the route in order over the map, and where it is acted on the way."""
    size = len(space.names)
    ax = ax if ax is not None else new_axes(8.0, 5.2 if size <= 40 else 7.0)
    places = positions(space)
    route = space.walk(decision)
    ax.add_collection(LineCollection(list(places[space.edges]), colors=GREY, linewidths=1.2))
    ax.scatter(places[:, 0], places[:, 1], s=26, c=GREY, zorder=2, linewidths=0)
    _draw_steps(ax, places, route)
    acted = np.flatnonzero(decision.action)
    x, y = places[acted].T
    ax.scatter(x, y, s=120, c=ORANGE, edgecolors=INK, zorder=4, label="acted on")
    x, y = places[[space.source]].T
    ax.scatter(
        x, y, s=240, marker="*", c=VERMILION, edgecolors="white", zorder=5, label="begins and ends"
    )
    ax.plot([], [], color=BLUE, linewidth=2.2, label="the walk; twice where it comes back")
    ax.margins(0.12, 0.08)
    if size > _MOST_IN_FULL:
        _zoom(ax, places, places[route])
    ax.set_axis_off()
    columns = 1 if is_narrow(ax) else 3
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, 0.0), ncols=columns, frameon=False, fontsize=8)
    title(ax, f"{problem.name}: a walk that acts on {count(len(acted), 'node')}")
    order = np.array(list(dict.fromkeys([*route, *range(size)])))
    label_points(ax, places[order], [space.names[i] for i in order], np.argsort(order)[space.edges])
    return ax


def _zoom(ax: Axes, places: FloatArray, stops: FloatArray) -> None:
    """Show where the walk goes and some of what is around it."""
    low, high = stops.min(axis=0), stops.max(axis=0)
    room = np.maximum(0.3 * (high - low), 0.08 * (places.max(axis=0) - places.min(axis=0)))
    ax.set_xlim(low[0] - room[0], high[0] + room[0])
    ax.set_ylim(low[1] - room[1], high[1] + room[1])


def _draw_steps(ax: Axes, places: FloatArray, route: list[int]) -> None:
    """Draw an arrow per step; those between the same two nodes are bent apart."""
    used: Counter[tuple[int, int]] = Counter()
    for a, b in pairwise(route):
        used[a, b] += 1
        bend = 0.1 * (used[a, b] + (used[b, a] > 0)) if (b, a) in used or used[a, b] > 1 else 0.1
        ax.annotate(
            "",
            places[b],
            places[a],
            arrowprops={
                "arrowstyle": "-|>",
                "color": BLUE,
                "linewidth": 2.0,
                "shrinkA": 3,
                "shrinkB": 5,
                "connectionstyle": f"arc3,rad={bend:.2f}",
            },
            zorder=3,
        )
