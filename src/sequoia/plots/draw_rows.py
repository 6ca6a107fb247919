"""The rules themselves: which column stands in which row."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm

from sequoia.plots.canvas import new_axes, seams, title
from sequoia.plots.names import tick_names, upright_inches
from sequoia.problem import Problem


def draw_rows(problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw the coefficients of the action columns, for spaces that have no picture of their own."""
    system = problem.space.system
    matrix = system.matrix[:, : system.n_actions].toarray()
    rows, columns = matrix.shape
    below = upright_inches(problem.space.names)
    ax = ax if ax is not None else new_axes(8.0, 1.6 + below + 0.25 * min(rows, 20))
    title(ax, problem.name)
    largest = float(np.abs(matrix).max(initial=1e-9))
    mesh = ax.pcolormesh(
        np.ma.masked_equal(matrix, 0.0),
        cmap="PuOr",
        norm=TwoSlopeNorm(0.0, -largest, largest),
        **seams(max(rows, columns)),
    )
    ax.figure.colorbar(mesh, ax=ax, label="coefficient", pad=0.01)
    ax.invert_yaxis()
    ax.set_xlabel(tick_names(ax.xaxis, np.arange(columns) + 0.5, problem.space.names))
    ax.set_ylabel(tick_names(ax.yaxis, np.arange(rows) + 0.5, system.row_names, below))
    ax.tick_params(length=0)
    return ax
