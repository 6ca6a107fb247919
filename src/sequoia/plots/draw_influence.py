"""Pictures of the arms that each action reaches, and of what chosen actions do."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Patch

from sequoia.plots.canvas import BLUE, GREY, ORANGE, legend, new_axes, plain, title
from sequoia.plots.names import fit, left_out, room, short_names, tick_names
from sequoia.problem import Decision, Problem
from sequoia.problem.names import count, say
from sequoia.validation import FloatArray, IntArray

_MOST_NAMED = 12


def draw_influence(problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw actions on the left, arms on the right, and a line where an action gives a dose.

    Neighbours have much in common; arms that no action reaches are only named.
    """
    actions, arms = _order(problem)
    ax = ax if ax is not None else new_axes(7.0, 1.4 + 0.2 * min(40, max(len(actions), len(arms))))
    title(ax, problem.name)
    entries = problem.influence.tocoo()
    left, right = _places(actions, problem.space.n_actions), _places(arms, problem.arms.n_arms)
    ends = np.stack([left[entries.col], right[entries.row]], axis=1)
    lines = np.stack([np.broadcast_to([0.0, 1.0], ends.shape), ends], axis=2)
    ax.add_collection(LineCollection(list(lines), colors=GREY, linewidths=1.0, zorder=1))
    ax.scatter(np.zeros(len(actions)), left[actions], s=45, c=ORANGE, zorder=2)
    ax.scatter(np.ones(len(arms)), right[arms], s=45, c=BLUE, zorder=2)
    _label(ax, left, actions, problem.space.names, 0)
    _label(ax, right, arms, problem.arms.names, 1)
    ax.set_xlim(-0.03, 1.03)
    ax.set_ylim(1.0, -0.1)
    ax.set_axis_off()
    left_out = np.setdiff1d(np.arange(problem.arms.n_arms), arms).tolist()
    if left_out:
        names = [problem.arms.names[arm] for arm in left_out]
        listed = say(names) if len(names) <= _MOST_NAMED else f"{len(names)} arms"
        note = f"No action reaches {listed}."
        ax.annotate(note, (0.0, 1.0), (0, -6), textcoords="offset points", va="top", fontsize=8)
    return ax


def _order(problem: Problem) -> tuple[IntArray, IntArray]:
    """Return actions, and arms that are reached, so that what belongs together is side by side."""
    dense = problem.influence.toarray() != 0
    first = np.where(dense.any(axis=0), dense.argmax(axis=0), len(dense))
    actions = np.argsort(first, kind="stable")
    arms = np.flatnonzero(dense.any(axis=1))
    middle = dense[arms] @ np.argsort(actions) / dense[arms].sum(axis=1)
    return actions, arms[np.argsort(middle, kind="stable")]


def _places(order: IntArray, size: int) -> FloatArray:
    places = np.full(size, np.nan)
    places[order] = (np.arange(len(order)) + 0.5) / len(order)
    return places


def _label(ax: Axes, places: FloatArray, order: IntArray, names: Sequence[str], side: int) -> None:
    """Write names outside the dots, and what they are names of above."""
    noun, texts = short_names(names)
    align = "left" if side else "right"
    size, every, texts = fit([texts[i] for i in order], room(ax, "y"), False, bool(noun))
    for index, text in list(zip(order.tolist(), texts, strict=True))[::every]:
        ax.annotate(
            text,
            (side, places[index]),
            (7 if side else -7, 0),
            textcoords="offset points",
            ha=align,
            va="center",
            fontsize=size,
        )
    note = noun or left_out(len(order) - len(texts[::every]), len(order))
    ax.text(side, -0.02, note, ha="center", va="bottom", fontsize=9)


def draw_chosen(problem: Problem, decision: Decision, ax: Axes | None = None) -> Axes:
    """Draw the arms that the decision reaches, as bars of their dose, and name what is chosen."""
    arms = problem.arms
    ax = ax if ax is not None else new_axes(8.0, 3.0)
    doses = np.asarray(problem.influence @ decision.action.astype(np.float64))
    most = np.asarray(abs(problem.influence).sum(axis=1))
    places = np.arange(arms.n_arms)
    ax.bar(places, most, color="#F2F2F2", edgecolor=GREY, linewidth=0.6, width=0.8)
    ax.bar(places, doses, color=BLUE, width=0.8)
    noun = tick_names(ax.xaxis, places, arms.names)
    ax.set_xlabel(noun)
    ax.set_ylabel("dose")
    ax.margins(x=0.01)
    handles = [
        Patch(color=BLUE, label="dose"),
        Patch(facecolor="#F2F2F2", edgecolor=GREY, label="with every action"),
    ]
    legend(ax, handles=handles)
    plain(ax)
    title(ax, f"{problem.name}: {count(int(decision.action.sum()), 'action')}")
    return ax
