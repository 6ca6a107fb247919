"""A problem as a picture; each kind of action space registers its own.

Those that have none show what arms pay, or the rules row by row.
"""

from functools import singledispatch

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm

from sequoia.plots.canvas import new_axes, seams, title
from sequoia.plots.draw_assignment import draw_assignment
from sequoia.plots.draw_influence import draw_influence
from sequoia.plots.draw_network import draw_network
from sequoia.plots.draw_schedule import draw_rota, draw_schedule
from sequoia.plots.draw_team import draw_places
from sequoia.plots.draw_walk import draw_map
from sequoia.plots.names import room, tick_names, upright_inches
from sequoia.problem import ActionSpace, Assignment, Budget, Problem, Rota, Schedule, Team, Walk

_MOST_CELLS_WITH_NUMBERS = 120
# "0.15" at font size 6.5, and some room.
_POINTS_OF_A_NUMBER = 18.0


def plot_problem(problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw what may be decided: the map, open slots, costs and capacities, or who is reached.

    Parameters
    ----------
    ax
        Where to draw; a figure of its own unless given.
    """
    return picture_of(problem.space.base, problem, ax)


@singledispatch
def picture_of(space: ActionSpace, problem: Problem, ax: Axes | None) -> Axes:  # noqa: ARG001
    """Draw the rows; a kind of space with a better picture registers it here."""
    return draw_rows(problem, ax)


@picture_of.register
def _(space: Assignment, problem: Problem, ax: Axes | None) -> Axes:
    return draw_assignment(problem, space, ax)


@picture_of.register
def _(space: Schedule, problem: Problem, ax: Axes | None) -> Axes:
    return draw_schedule(problem, space, ax)


@picture_of.register
def _(space: Rota, problem: Problem, ax: Axes | None) -> Axes:
    return draw_rota(problem, space, ax)


@picture_of.register
def _(space: Team, problem: Problem, ax: Axes | None) -> Axes:
    return draw_places(problem, space, ax)


@picture_of.register
def _(space: Walk, problem: Problem, ax: Axes | None) -> Axes:
    return draw_map(problem, space, ax)


@picture_of.register
def _(space: Budget, problem: Problem, ax: Axes | None) -> Axes:  # noqa: ARG001
    """Draw who infects whom or is reached; when actions are arms, what these pay says more."""
    if problem.contagion is not None:
        return draw_network(problem, ax)
    return draw_rewards(problem, ax) if problem.is_identity else draw_influence(problem, ax)


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
