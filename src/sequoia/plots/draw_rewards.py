"""What each arm pays in each state."""

import numpy as np
from matplotlib.axes import Axes

from sequoia.plots.canvas import new_axes, seams, title
from sequoia.plots.names import room, tick_names
from sequoia.problem import Problem

_MOST_CELLS_WITH_NUMBERS = 120
# "0.15" at font size 6.5, and some room.
_POINTS_OF_A_NUMBER = 18.0


def draw_rewards(problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw a grid of arms and states, coloured by reward, the best state on top."""
    rewards = problem.arms.rewards[problem.arms.model]
    arms, states = rewards.shape
    ax = ax if ax is not None else new_axes(8.0 if arms > 8 else 5.0, 1.8 + 0.4 * min(states, 10))
    title(ax, problem.name)
    mesh = ax.pcolormesh(rewards.T, cmap="cividis", **seams(arms))
    ax.figure.colorbar(mesh, ax=ax, label="reward", pad=0.01)
    if rewards.size <= _MOST_CELLS_WITH_NUMBERS and room(ax, "x") >= _POINTS_OF_A_NUMBER * arms:
        middle = (rewards.min() + rewards.max()) / 2
        for (arm, state), reward in np.ndenumerate(rewards):
            ax.text(
                arm + 0.5,
                state + 0.5,
                f"{reward:.3g}",
                ha="center",
                va="center",
                fontsize=8 if arms <= 12 else 6.5,
                color="black" if reward > middle else "white",
            )
    noun = tick_names(ax.xaxis, np.arange(arms) + 0.5, problem.arms.names)
    kind = tick_names(ax.yaxis, np.arange(states) + 0.5, problem.arms.state_names)
    ax.set_xlabel(noun)
    ax.set_ylabel(kind or "state")
    ax.tick_params(length=0)
    ax.set_frame_on(False)
    return ax
