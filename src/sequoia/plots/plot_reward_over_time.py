"""Rewards step by step."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from sequoia.evaluation.evaluation import Evaluation
from sequoia.evaluation.intervals import half_width
from sequoia.plots.canvas import GREY, VERMILION, legend, new_axes, plain, title
from sequoia.plots.colours import colour_of, line_of, marker_of
from sequoia.problem.names import count


def plot_reward_over_time(evaluation: Evaluation, ax: Axes | None = None) -> Axes:
    """Draw the mean reward of each step, with a band for its 95 % confidence interval.

    To the right of the last step is the mean of all steps, and there the bound: it holds for that
    mean and not for a single step, which may earn more.
    """
    ax = ax if ax is not None else new_axes(8.0, 4.4)
    names = list(evaluation.names)
    episodes, steps = evaluation.rewards.shape[1:]
    step = np.arange(steps)
    order = np.argsort(-evaluation.rewards.mean(axis=(1, 2)), kind="stable").tolist()
    every = max(2, steps // 10)
    for place, index in enumerate(order):
        name, rewards = names[index], evaluation.rewards[index]
        mean, colour = rewards.mean(axis=0), colour_of(names[index], names)
        ax.plot(
            step,
            mean,
            line_of(name, names),
            color=colour,
            marker=marker_of(name, names),
            markersize=4.5,
            # Not all at the same steps, so that of two that earn the same both are seen.
            markevery=(place % every, every),
            linewidth=1.6,
            label=name,
        )
        if episodes > 1:
            half = half_width(rewards)
            ax.fill_between(step, mean - half, mean + half, color=colour, alpha=0.18, linewidth=0)
    _draw_means(ax, evaluation, order)
    ax.set_xlabel("step")
    ax.set_ylabel("reward of the step")
    legend(ax)
    ax.grid(axis="y", alpha=0.3)
    plain(ax)
    title(ax, f"{evaluation.problem}: mean of {count(episodes, 'episode')}")
    return ax


def _draw_means(ax: Axes, evaluation: Evaluation, order: Sequence[int]) -> None:
    """Draw the mean of all steps beside the steps, with the bound on it."""
    names, steps = list(evaluation.names), evaluation.rewards.shape[2]
    width = 0.05 * max(steps, 2)
    left = steps - 1 + 1.2 * width
    ax.axvspan(left, left + 2 * width, color=GREY, alpha=0.25, linewidth=0)
    for index in order:
        mean, colour = evaluation.rewards[index].mean(), colour_of(names[index], names)
        ax.plot(left + width, mean, marker_of(names[index], names), color=colour, markersize=6)
    if evaluation.bound is not None:
        limit, ends = evaluation.bound.per_step, (left, left + 2 * width)
        ax.plot(
            ends, (limit, limit), "--", color=VERMILION, linewidth=1.8, label="bound on the mean"
        )
    ticks = [int(tick) for tick in MaxNLocator(6, integer=True).tick_values(0, steps - 1)]
    shown = [tick for tick in ticks if 0 <= tick < steps]
    ax.set_xticks([*shown, left + width], [*map(str, shown), "mean"])
