"""Arms that infect each other, as a network: who is in which state, and who is acted on."""

from collections.abc import Iterable

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from sequoia.errors import ProblemError
from sequoia.plots.canvas import GREY, INK, VERMILION, new_axes, title
from sequoia.problem import Problem

# Well and ill people are told apart by colour and by brightness.
_QUIET, _INFECTIOUS = "#DCE9F2", "#E69F00"
_MOST_NAMED = 40


def plot_network(
    problem: Problem,
    state: ArrayLike,
    chosen: Iterable[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw who bears on whom; arms whose state spreads are filled, those acted on have a ring.

    Parameters
    ----------
    state
        The state of each arm, ``(J,)``.
    chosen
        The names of the arms that are acted on.
    """
    if problem.contagion is None:
        raise ProblemError(f"{problem.name} has no network: its arms evolve on their own.")
    ax = ax if ax is not None else new_axes(6.4, 5.2)
    names = list(problem.arms.names)
    graph = nx.from_scipy_sparse_array(problem.contagion.neighbours)
    places = nx.kamada_kawai_layout(graph)
    spread = np.array([places[arm] for arm in range(len(names))])
    is_ill = problem.contagion.sources[np.asarray(state)] > 0
    picked = np.isin(names, list(chosen))
    for here, there in graph.edges:
        ax.plot(*spread[[here, there]].T, color=GREY, linewidth=0.9, zorder=1)
    colours = np.where(is_ill, _INFECTIOUS, _QUIET)
    size = 12_000 / (len(names) + 20)
    across, up = spread.T
    ax.scatter(across, up, s=size, c=colours.tolist(), edgecolors=INK, linewidths=0.8, zorder=2)
    across, up = spread[picked].T
    ax.scatter(across, up, s=1.9 * size, facecolors="none", edgecolors=VERMILION, linewidths=2.4)
    if len(names) <= _MOST_NAMED:
        for place, name in zip(spread, names, strict=True):
            ax.annotate(name, place, ha="center", va="center", fontsize=7.5, zorder=3)
    spreads = [
        problem.arms.say_state(s) for s in np.flatnonzero(problem.contagion.sources).tolist()
    ]
    title(ax, f"filled: {', '.join(spreads)}; ring: acted on")
    ax.set_axis_off()
    ax.set_aspect("equal")
    return ax
