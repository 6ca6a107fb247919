"""One episode as a heat map."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm
from matplotlib.patches import Patch

from sequoia.plots.canvas import VERMILION, figure_of, is_narrow, legend, new_axes, seams, title
from sequoia.plots.names import short_names, tick_names, wrapped
from sequoia.problem import Problem
from sequoia.problem.names import Numbered
from sequoia.simulate import Episode

_MOST_PATCHES = 8


def plot_episode(episode: Episode, problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw arms down, time across, coloured by state, with a dot where an arm gets a dose.

    The more a state pays, the brighter its colour.
    """
    order = problem.arms.rewards[problem.arms.model].mean(axis=0).argsort(kind="stable")
    states = order.argsort()[episode.states.T]
    reached = problem.levels(episode.actions).T > 0
    arms, steps = states.shape
    ax = ax if ax is not None else new_axes(8.0, min(_tallest(problem), 1.6 + 0.17 * arms))
    levels = problem.arms.n_states
    norm = BoundaryNorm(np.arange(levels + 1) - 0.5, 256)
    shade = ScalarMappable(norm, "cividis")
    ax.pcolormesh(states, cmap=shade.cmap, norm=norm, **seams(arms))
    arm, step = np.nonzero(reached)
    ax.scatter(
        step + 0.5,
        arm + 0.5,
        s=22 if arms <= 40 else max(1.0, 900 / arms),
        c=VERMILION,
        edgecolors="white",
        linewidths=0.6,
    )
    ax.invert_yaxis()
    noun = tick_names(ax.yaxis, np.arange(arms) + 0.5, problem.arms.names)
    tick_names(ax.xaxis, np.arange(steps) + 0.5, Numbered("step", steps))
    ax.set_xlabel("step; dots: acted on")
    ax.set_ylabel(noun)
    ax.tick_params(length=0)
    ax.set_frame_on(False)
    _draw_states(ax, [problem.arms.state_names[state] for state in order], shade)
    mean = episode.rewards.mean()
    title(ax, f"{problem.name}: one episode, {mean:.3g} reward per step")
    return ax


def _draw_states(ax: Axes, names: Sequence[str], shade: ScalarMappable) -> None:
    """Say which colour is which state: beside the picture, or below where it is narrow."""
    if is_narrow(ax) and len(names) <= _MOST_PATCHES:
        colours = map(tuple, shade.to_rgba(np.arange(len(names))).tolist())
        pairs = zip(colours, names, strict=True)
        legend(ax, handles=[Patch(color=colour, label=wrapped(name)) for colour, name in pairs])
        return
    # As wide in a tall picture as in a flat one.
    aspect = max(8.0, 4.0 * figure_of(ax).get_size_inches()[1])
    bar = ax.figure.colorbar(shade, ax=ax, pad=0.01, aspect=aspect)
    bar.set_label(tick_names(bar.ax.yaxis, np.arange(len(names)), names) or "state")


def _tallest(problem: Problem) -> float:
    """Return how tall a picture may be: numbers may be left out, names are worth their place."""
    are_numbers = bool(short_names(problem.arms.names)[0])
    return 9.0 if are_numbers else 18.6
