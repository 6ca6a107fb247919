"""The open slots of workers and arms as one grid."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from sequoia.plots.canvas import BLUE, ORANGE, is_narrow, new_axes, seams, title
from sequoia.plots.names import Group, tick_groups, tick_names
from sequoia.problem import Problem, Schedule

_MOST_COUNTS = 40


def draw_schedule(problem: Problem, space: Schedule, ax: Axes | None = None) -> Axes:
    """Draw a column per worker, then a column per arm; a cell is filled where a slot is open."""
    workers, slots = space.worker_slots.shape
    arms = len(space.arm_slots)
    gap = max(1, round(0.03 * (workers + arms)))
    ax = ax if ax is not None else new_axes(8.0, 1.7 + 0.34 * min(slots, 16))
    title(ax, problem.name)
    grid = np.ma.masked_all((slots, workers + gap + arms))
    grid[:, :workers] = space.worker_slots.T
    grid[:, workers + gap :] = 2 * space.arm_slots.T
    colours = ListedColormap(["#F2F2F2", ORANGE, BLUE])
    ax.pcolormesh(grid, cmap=colours, vmin=0, vmax=2, **seams(workers + arms))
    ax.invert_yaxis()
    left, right = np.arange(workers) + 0.5, workers + gap + np.arange(arms) + 0.5
    tick_groups(ax, Group(left, space.worker_names, "workers"), Group(right, space.names, "arms"))
    ax.set_ylabel(tick_names(ax.yaxis, np.arange(slots) + 0.5, space.slot_names))
    if slots <= _MOST_COUNTS:
        openings, wishes = space.worker_slots.sum(axis=0), space.arm_slots.sum(axis=0)
        for slot in range(slots):
            numbers = openings[slot], wishes[slot]
            text = "{}, {}" if is_narrow(ax) else "workers: {}, arms: {}"
            ax.text(grid.shape[1] + 0.5, slot + 0.5, text.format(*numbers), va="center", fontsize=8)
    ax.tick_params(length=0)
    ax.set_frame_on(False)
    return ax
