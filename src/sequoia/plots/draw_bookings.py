"""Who visits whom when, as a grid."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from sequoia.plots.canvas import SKY, new_axes, seams, short_names, tick_names, title
from sequoia.problem import Decision, Problem, Schedule

_MOST_CELLS = 800
_MOST_LETTERS = 60


def draw_bookings(
    problem: Problem, space: Schedule, decision: Decision, ax: Axes | None = None
) -> Axes:
    """Draw workers down and slots across; a cell is grey where open, and names who is visited."""
    booked = space.booked(decision)
    workers, slots = space.worker_slots.shape
    ax = ax if ax is not None else new_axes(8.0, 1.5 + 0.34 * min(max(workers, 1), 24))
    busy = booked.any(axis=1)
    grid = np.ma.masked_all((workers, slots))
    grid[space.worker_slots] = 0
    grid[busy] = 1
    colours = ListedColormap(["#E6E6E6", SKY])
    ax.pcolormesh(grid, cmap=colours, vmin=0, vmax=1, **seams(max(workers, slots)))
    noun, texts = short_names(space.names)
    if grid.size <= _MOST_CELLS:
        room = max(2, int(100 / max(slots, 1)))
        for worker, arm, slot in np.argwhere(booked).tolist():
            text = texts[arm] if len(texts[arm]) <= room else f"{texts[arm][: room - 1]}…"
            ax.text(slot + 0.5, worker + 0.5, text, ha="center", va="center", fontsize=8)
    ax.invert_yaxis()
    who = tick_names(ax.yaxis, np.arange(workers) + 0.5, space.worker_names, 30)
    when = tick_names(ax.xaxis, np.arange(slots) + 0.5, space.slot_names, 30)
    if sum(map(len, space.slot_names)) <= _MOST_LETTERS:
        ax.xaxis.set_tick_params(rotation=0)
    ax.set_ylabel(who)
    named = f"numbers are {noun}" if noun else "names are those visited"
    ax.set_xlabel(f"{when}{'; ' if when else ''}{named}, grey is open")
    ax.tick_params(length=0)
    ax.set_frame_on(False)
    title(ax, f"{problem.name}: who visits whom when")
    return ax
