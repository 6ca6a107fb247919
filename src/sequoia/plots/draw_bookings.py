"""Who visits whom when, as a grid."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from sequoia.plots.canvas import SKY, new_axes, seams, title
from sequoia.plots.names import (
    left_out,
    name_x,
    room,
    short_names,
    tick_names,
    upright_inches,
    write_inside,
)
from sequoia.problem import Decision, Problem, Rota, Schedule

_MOST_LETTERS = 60


def draw_bookings(
    problem: Problem, space: Schedule | Rota, decision: Decision, ax: Axes | None = None
) -> Axes:
    """Draw workers down and slots across; a cell is grey where open, and names who is visited."""
    booked = space.booked(decision)
    workers, slots = space.worker_slots.shape
    below = upright_inches(space.slot_names)
    ax = ax if ax is not None else new_axes(8.0, 1.5 + below + 0.34 * min(max(workers, 1), 24))
    busy = booked.any(axis=1)
    grid = np.ma.masked_all((workers, slots))
    grid[space.worker_slots] = 0
    grid[busy] = 1
    colours = ListedColormap(["#E6E6E6", SKY])
    ax.pcolormesh(grid, cmap=colours, vmin=0, vmax=1, **seams(max(workers, slots)))
    noun, texts = short_names(space.names)
    width, height = room(ax, "x") / max(slots, 1) - 3, room(ax, "y", below) / max(workers, 1) - 1
    visits = np.argwhere(busy).tolist()
    whom = [", ".join(texts[arm] for arm in np.flatnonzero(booked[i, :, k])) for i, k in visits]
    cut = sum(
        not write_inside(ax, (slot + 0.5, worker + 0.5), text, width, height)
        for (worker, slot), text in zip(visits, whom, strict=True)
    )
    ax.invert_yaxis()
    who = tick_names(ax.yaxis, np.arange(workers) + 0.5, space.worker_names, below)
    when = tick_names(ax.xaxis, np.arange(slots) + 0.5, space.slot_names)
    if sum(map(len, space.slot_names)) <= _MOST_LETTERS:
        ax.xaxis.set_tick_params(rotation=0)
    ax.set_ylabel(who)
    named = f"numbers are {noun}" if noun else "names are those visited"
    parts = (when, f"{named}, grey is open", left_out(cut, len(visits), "are cut"))
    name_x(ax, "; ".join(filter(None, parts)))
    ax.tick_params(length=0)
    ax.set_frame_on(False)
    title(ax, f"{problem.name}: who visits whom when")
    return ax
