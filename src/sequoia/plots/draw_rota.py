"""The minutes of workers and the visits that arms need, slot by slot, as one grid."""

import numpy as np
from matplotlib.axes import Axes

from sequoia.plots.canvas import is_narrow, new_axes, seams, title
from sequoia.plots.names import Group, tick_groups, tick_names
from sequoia.problem import Problem, Rota

_MOST_COUNTS = 40
# A short visit is pale and still seen.
_PALEST = 0.25


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
