"""The nested subsets of the London Underground."""

import itertools

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from sequoia.plots import canvas
from sequoia.plots.labels import label_points
from sequoia.validation import FloatArray

_COLOURS = (canvas.BLUE, canvas.GREEN, canvas.SKY, canvas.PURPLE, canvas.ORANGE)
_MARKERS = ("o", "s", "^", "D", "P")


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
