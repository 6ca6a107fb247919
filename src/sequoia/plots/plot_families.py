"""Pictures of the parts of families: the sigmoid of interventions, the Underground of routing."""

import itertools

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from sequoia.errors import ProblemError
from sequoia.plots import canvas
from sequoia.plots.canvas import BLUE, VERMILION, new_axes, plain, title
from sequoia.plots.labels import label_points
from sequoia.problem import Problem
from sequoia.problem.names import count
from sequoia.validation import FloatArray

_COLOURS = (canvas.BLUE, canvas.GREEN, canvas.SKY, canvas.PURPLE, canvas.ORANGE)
_MARKERS = ("o", "s", "^", "D", "P")


def plot_sigmoid(problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw the probability of moving up by dose, a line per model; dots are attainable doses.

    Models whose first dose brings less than a later one are set apart from the others.
    """
    arms = problem.arms
    if arms.n_states < 2 or arms.n_doses < 2:
        raise ProblemError(f"{problem.name} has no link to draw: two states and doses are wanted.")
    ax = ax if ax is not None else new_axes(6.5, 4.0)
    up = arms.kernels[:, :, 0, 1]
    gains = np.diff(up, axis=1)
    rising = gains.max(axis=1) > gains[:, 0] + 1e-9
    styles = (
        (rising, VERMILION, "-", "a later dose brings more than the first"),
        (~rising, BLUE, "--", "no later dose brings more than the first"),
    )
    for which, colour, line, text in styles:
        for doses, chances in zip(arms.doses[which], up[which], strict=True):
            ax.plot(doses, chances, line, color=colour, marker="o", markersize=4, alpha=0.65)
        if which.any():
            ax.plot([], [], line, color=colour, label=f"{text} ({count(int(which.sum()), 'arm')})")
    ax.legend(loc="upper left", frameon=False, fontsize=8)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("dose")
    ax.set_ylabel("probability of moving up from state 0")
    ax.set_xticks(np.unique(arms.doses)[:12])
    ax.grid(axis="y", alpha=0.3)
    plain(ax)
    title(ax, problem.name)
    return ax


def plot_underground(network: nx.Graph, ax: Axes | None = None) -> Axes:
    """Draw the stations of `sequoia.problem.underground.underground`, one colour per subset.

    The centre is stretched, as on a pocket map, so that its names can be read.
    """
    ax = ax if ax is not None else canvas.new_axes(8.6, 7.4)
    rings = network.graph["subsets"]
    stations = [station for ring in rings for station in ring]
    index = {station: i for i, station in enumerate(stations)}
    part = network.subgraph(stations)
    source = index[network.graph["source"]]
    places = _stretched(np.array([network.nodes[station]["pos"] for station in stations]), source)
    edges = np.array([(index[a], index[b]) for a, b in part.edges])
    ax.add_collection(
        LineCollection(list(places[edges]), colors=canvas.GREY, linewidths=1.4, zorder=1)
    )
    sizes = itertools.accumulate(map(len, rings))
    for ring, end, colour, marker in zip(rings, sizes, _COLOURS, _MARKERS, strict=True):
        x, y = places[end - len(ring) : end].T
        inside = part.subgraph(stations[:end]).number_of_edges()
        text = f"{end} stations, {inside} edges"
        ax.scatter(x, y, s=42, c=colour, marker=marker, edgecolors="white", zorder=2, label=text)
    x, y = places[[source]].T
    ax.scatter(x, y, s=260, marker="*", color=canvas.BLUE, edgecolors="white", zorder=3)
    ax.margins(0.06, 0.04)
    ax.set_axis_off()
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False, fontsize=8)
    canvas.title(ax, f"Nested subsets of the London Underground around {stations[source]}")
    label_points(ax, places, stations, edges)
    return ax


def _stretched(places: FloatArray, centre: int) -> FloatArray:
    """Move points away from the centre, near ones more than far ones."""
    away = (places - places[centre]) * [np.cos(np.radians(places[centre, 1])), 1.0]
    radius = np.hypot(*away.T)
    scale = np.divide(1.0, radius**0.4, out=np.zeros_like(radius), where=radius > 0)
    return np.asarray(away * scale[:, None], dtype=np.float64)
