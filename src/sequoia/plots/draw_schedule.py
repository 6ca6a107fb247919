"""Schedules and rotas: the open slots of workers and arms, and who visits whom when, as grids."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from sequoia.plots.canvas import BLUE, ORANGE, SKY, is_narrow, new_axes, seams, title
from sequoia.plots.names import (
    Group,
    left_out,
    name_x,
    room,
    short_names,
    tick_groups,
    tick_names,
    upright_inches,
    write_inside,
)
from sequoia.problem import Decision, Problem, Rota, Schedule

_MOST_COUNTS = 40
# A short visit is pale and still seen.
_PALEST = 0.25
_MOST_LETTERS = 60


def draw_schedule(problem: Problem, space: Schedule, ax: Axes | None = None) -> Axes:
    """Draw a column per worker, then a column per arm; a cell is filled where a slot is open."""
    workers, slots = space.worker_slots.shape
    arms = len(space.arm_slots)
    gap = max(1, round(0.03 * (workers + arms)))
    ax = ax if ax is not None else new_axes(8.0, 1.7 + 0.34 * min(slots, 16))
    title(ax, problem.name)
    grid = _blank(slots, workers + gap + arms)
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


def draw_rota(problem: Problem, space: Rota, ax: Axes | None = None) -> Axes:
    """Draw a column per worker, then one per arm; the darker a slot, the more minutes.

    A worker's cell shows the minutes at work, an arm's those of a visit, where the slot suits it.
    """
    workers, slots = space.minutes.shape
    arms = space.n_actions
    gap = max(1, round(0.03 * (workers + arms)))
    ax = ax if ax is not None else new_axes(8.0, 1.7 + 0.34 * min(slots, 16))
    title(ax, problem.name)
    wanted = np.where(space.arm_slots, space.lengths[:, None], 0.0)
    for first, minutes, colours in (
        (0, space.minutes, "Oranges"),
        (workers + gap, wanted, "Blues"),
    ):
        if not minutes.size:
            continue
        edges = np.arange(first, first + len(minutes) + 1), np.arange(slots + 1)
        most = float(minutes.max()) or 1.0
        ax.pcolormesh(*edges, np.zeros((slots, len(minutes))), cmap="Greys", vmin=-0.1, vmax=2)
        ax.pcolormesh(
            *edges,
            np.ma.masked_equal(minutes.T, 0.0),
            cmap=colours,
            vmin=-_PALEST * most,
            vmax=most,
            **seams(workers + arms),
        )
    ax.set_xlim(0, workers + gap + arms)
    ax.set_ylim(slots, 0)
    left, right = np.arange(workers) + 0.5, workers + gap + np.arange(arms) + 0.5
    tick_groups(
        ax,
        Group(left, space.worker_names, "workers", ": minutes"),
        Group(right, space.names, "arms", ": visit"),
    )
    ax.set_ylabel(tick_names(ax.yaxis, np.arange(slots) + 0.5, space.slot_names))
    if slots <= _MOST_COUNTS:
        for slot, total in enumerate(space.minutes.sum(axis=0)):
            text = "{:g}, {}" if is_narrow(ax) else "{:g} minutes, arms: {}"
            text = text.format(total, space.arm_slots[:, slot].sum())
            ax.text(workers + gap + arms + 0.5, slot + 0.5, text, va="center", fontsize=8)
    ax.tick_params(length=0)
    ax.set_frame_on(False)
    return ax


def draw_bookings(
    problem: Problem, space: Schedule | Rota, decision: Decision, ax: Axes | None = None
) -> Axes:
    """Draw workers down and slots across; a cell is grey where open, and names who is visited."""
    booked = space.booked(decision)
    workers, slots = space.worker_slots.shape
    below = upright_inches(space.slot_names)
    ax = ax if ax is not None else new_axes(8.0, 1.5 + below + 0.34 * min(max(workers, 1), 24))
    busy = booked.any(axis=1)
    grid = _blank(workers, slots)
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


def _blank(rows: int, columns: int) -> np.ma.MaskedArray:
    """Return a grid in which nothing is drawn yet, with zeros below its mask."""
    return np.ma.array(np.zeros((rows, columns)), mask=True)
