"""Rewards step by step."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from sequoia.evaluation.evaluation import Evaluation
from sequoia.evaluation.intervals import half_width
from sequoia.plots.canvas import INK, VERMILION, new_axes, plain, title
from sequoia.plots.colours import colour_of, line_of, marker_of
from sequoia.problem.names import count


def plot_reward_over_time(evaluation: Evaluation, ax: Axes | None = None) -> Axes:
    """Draw the mean reward of each step, with a band for its 95 % confidence interval."""
    ax = ax if ax is not None else new_axes(8.0, 4.4)
    names = list(evaluation.names)
    episodes, steps = evaluation.rewards.shape[1:]
    step = np.arange(steps)
    order = np.argsort(-evaluation.rewards.mean(axis=(1, 2)), kind="stable").tolist()
    for index in order:
        name, rewards = names[index], evaluation.rewards[index]
        mean, colour = rewards.mean(axis=0), colour_of(names[index], names)
        ax.plot(
            step,
            mean,
            line_of(name, names),
            color=colour,
            marker=marker_of(name, names),
            markersize=4.5,
            markevery=(0, max(1, steps // 10)),
            linewidth=1.6,
            label=name,
        )
        if episodes > 1:
            half = half_width(rewards)
            ax.fill_between(step, mean - half, mean + half, color=colour, alpha=0.18, linewidth=0)
    if evaluation.bound is not None:
        limit = evaluation.bound.per_step
        text = "bound on the mean of all steps"
        ax.axhline(limit, color=VERMILION, linestyle=":", linewidth=1.8, label=text)
    ax.set_xlabel("step")
    ax.set_ylabel("reward of the step")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, labelcolor=INK)
    ax.grid(axis="y", alpha=0.3)
    plain(ax)
    title(ax, f"{evaluation.problem}: mean of {count(episodes, 'episode')}")
    return ax
