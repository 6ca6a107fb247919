"""Episodes that were played: who is acted on in which state, and where arms are over time."""

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from sequoia.errors import ProblemError
from sequoia.plots.canvas import figure_of, legend, new_axes, plain, title
from sequoia.plots.names import tick_names
from sequoia.problem import Problem
from sequoia.simulate import Trajectory
from sequoia.validation import FloatArray, IntArray


def plot_policy_map(problem: Problem, played: Trajectory, ax: Axes | None = None) -> Axes:
    """Draw how often each arm is acted on in each state, from episodes that a policy played.

    States that an arm was never in are left white.
    """
    states, levels = _states_and_levels(problem, played)
    shape = (problem.arms.n_arms, problem.arms.n_states)
    met, acted = np.zeros(shape), np.zeros(shape)
    arm = np.broadcast_to(np.arange(shape[0]), states.shape)
    np.add.at(met, (arm, states), 1)
    np.add.at(acted, (arm, states), levels > 0)
    share: FloatArray = np.divide(acted, met, out=np.full(shape, np.nan), where=met > 0)
    ax = ax if ax is not None else new_axes(5.5, max(3.0, 0.9 + 0.22 * shape[0]))
    image = ax.imshow(share, cmap="cividis", vmin=0, vmax=1, aspect="auto", interpolation="none")
    said = [problem.arms.say_state(state) for state in range(shape[1])]
    ax.set_xticks(np.arange(shape[1]), said)
    ax.set_xlabel("state")
    ax.set_ylabel(tick_names(ax.yaxis, np.arange(shape[0]), list(problem.arms.names)))
    figure_of(ax).colorbar(image, ax=ax, label="share of steps in which it is acted on")
    title(ax, f"{problem.name}: who is acted on in which state")
    return ax


def plot_occupancy(problem: Problem, played: Trajectory, ax: Axes | None = None) -> Axes:
    """Draw which share of all arms is in each state, step by step, over all episodes."""
    states = _states_of(problem, played)
    n_states = problem.arms.n_states
    shares = np.stack([(states == state).mean(axis=(0, 2)) for state in range(n_states)])
    ax = ax if ax is not None else new_axes(7.5, 4.0)
    colours = colormaps["cividis"](np.linspace(0.05, 0.95, n_states))
    names = [problem.arms.say_state(state) for state in range(n_states)]
    options: dict[str, Any] = {"labels": names, "colors": colours, "linewidth": 0}
    ax.stackplot(np.arange(shares.shape[1]), shares, **options)
    ax.set_xlim(0, shares.shape[1] - 1)
    ax.set_ylim(0, 1)
    ax.set_xlabel("step")
    ax.set_ylabel("share of arms")
    title(ax, f"{problem.name}: states over time")
    legend(ax, title="state", reverse=True)
    plain(ax)
    return ax


def _states_of(problem: Problem, played: Trajectory) -> IntArray:
    """Return the states of arms in all steps, ``(E, H + 1, J)``."""
    states = np.asarray(played.states)
    if states.ndim != 3 or states.shape[2] != problem.arms.n_arms:
        raise ProblemError(
            f"the episodes have states of shape {states.shape}; those of {problem.name} have "
            f"{problem.arms.n_arms} arms."
        )
    return states.astype(np.int64)


def _states_and_levels(problem: Problem, played: Trajectory) -> tuple[IntArray, IntArray]:
    """Return states and levels of doses, a row for each step of each episode, ``(E H, J)``."""
    states = _states_of(problem, played)[:, :-1]
    flat = states.reshape(-1, states.shape[2])
    return flat, problem.levels(np.asarray(played.actions).reshape(len(flat), -1))
