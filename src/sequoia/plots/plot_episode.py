"""One episode as a heat map."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm

from sequoia.plots.canvas import VERMILION, new_axes, seams, tick_names, title
from sequoia.problem import Problem
from sequoia.simulate import Episode


def plot_episode(episode: Episode, problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw arms down, time across, coloured by state, with a dot where an arm gets a dose."""
    states = episode.states.T
    reached = problem.levels(episode.actions).T > 0
    arms, steps = states.shape
    ax = ax if ax is not None else new_axes(8.0, min(9.0, 1.6 + 0.17 * arms))
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
        label="acted on",
    )
    ax.invert_yaxis()
    noun = tick_names(ax.yaxis, np.arange(arms) + 0.5, problem.arms.names, 50)
    every = max(1, steps // 20)
    ax.set_xticks(
        np.arange(0, steps, every) + 0.5, [str(t) for t in range(0, steps, every)], fontsize=8
    )
    ax.set_xlabel("step")
    ax.set_ylabel(noun)
    ax.tick_params(length=0)
    ax.set_frame_on(False)
    bar = ax.figure.colorbar(shade, ax=ax, ticks=np.arange(levels), label="state", pad=0.01)
    bar.set_ticklabels([problem.arms.say_state(state) for state in range(levels)])
    ax.legend(
        loc="upper right", bbox_to_anchor=(1.0, 0.0), borderaxespad=2.2, frameon=False, fontsize=8
    )
    mean = episode.rewards.mean()
    title(ax, f"{problem.name}: one episode, {mean:.3g} reward per step")
    return ax
