"""An evaluation: mean rewards, paired differences, rewards over time, decision times."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from sequoia.evaluation.evaluation import Evaluation
from sequoia.evaluation.intervals import half_width
from sequoia.plots.canvas import (
    GREY,
    INK,
    VERMILION,
    colour_of,
    is_narrow,
    legend,
    line_of,
    marker_of,
    new_axes,
    plain,
    title,
)
from sequoia.plots.names import name_policies, name_x
from sequoia.problem.names import count, duration

# Shorter than a clock can tell.
_SHORTEST = 1e-7


def plot_comparison(evaluation: Evaluation, ax: Axes | None = None) -> Axes:
    """Draw the mean of each policy, random = 1 as in the paper, and the bound as a line.

    Whiskers are 95 % confidence intervals. Where random earns nothing, bars are rewards per step.
    """
    names = list(evaluation.names)
    # Below 2.6 inches, title, note and axis leave no room for bars.
    height = max(2.6, 1.3 + 0.42 * (len(names) + 1))
    ax = ax if ax is not None else new_axes(8.0, height)
    random = float(evaluation.random.mean())
    unit = random if random > 0 else 1.0
    means = [evaluation.mean(name) for name in names]
    places = np.arange(len(names))
    lengths = np.array([estimate.mean for estimate in means]) / unit
    whiskers = np.nan_to_num(np.array([estimate.half for estimate in means]) / unit)
    colours = [colour_of(name, names) for name in names]
    ax.barh(places, lengths, color=colours, height=0.68)
    ax.errorbar(lengths, places, xerr=whiskers, fmt="none", ecolor=INK, elinewidth=1.2, capsize=3)
    right = lengths + whiskers
    if evaluation.bound is not None:
        limit = evaluation.bound.per_step / unit
        _draw_limit(ax, limit, evaluation.bound.kind)
        right = np.append(right, limit)
    for place, length, whisker in zip(places, lengths, whiskers, strict=True):
        # Beyond the whisker, on white, so that neither it nor the line of the bound is covered.
        ax.annotate(
            f"{length:.2f}",
            (length + whisker, place),
            (5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )
    name_policies(ax, names)
    ax.invert_yaxis()
    ax.set_xlim(min(0.0, float((lengths - whiskers).min())), 1.12 * max(float(right.max()), 1e-9))
    ax.set_xlabel("mean reward, random = 1" if random > 0 else "mean reward per step")
    pad = 20 if evaluation.bound is not None else 6
    title(ax, evaluation.problem, pad)
    plain(ax)
    return ax


def _draw_limit(ax: Axes, limit: float, kind: str) -> None:
    ax.axvline(limit, color=VERMILION, linestyle="--", linewidth=1.6)
    ax.annotate(
        f"at most {limit:.3g} ({kind} bound)",
        (limit, 1.0),
        (-4, 3),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=8.5,
        color=VERMILION,
    )


def plot_paired(evaluation: Evaluation, ax: Axes | None = None, against: str | None = None) -> Axes:
    """Draw by how much each policy earns more or less per step than another, the best by default.

    A dot is an episode, in which both had the same luck; the bar is the mean with its 95 %
    confidence interval.
    """
    other = evaluation.best if against is None else against
    names = [name for name in evaluation.names if name != other] or [other]
    ax = ax if ax is not None else new_axes(8.0, 1.4 + 0.42 * len(names))
    means = evaluation.rewards.mean(axis=2)
    base = means[evaluation.index(other)]
    spread = np.linspace(-0.24, 0.24, evaluation.n_episodes)
    spread = spread[np.argsort(np.arange(len(spread)) * 0.618034 % 1.0)]
    ax.axvline(0.0, color=INK, linewidth=1.0)
    for place, name in enumerate(names):
        values = means[evaluation.index(name)] - base
        colour = colour_of(name, list(evaluation.names))
        ax.scatter(values, place + spread, s=9, color=colour, alpha=0.55, linewidths=0)
        difference = evaluation.paired(name, other)
        half = np.nan_to_num(difference.half)
        ax.errorbar(
            difference.mean,
            place,
            xerr=half,
            fmt="D",
            color=INK,
            markersize=4.5,
            capsize=4,
            elinewidth=1.8,
            zorder=3,
        )
    name_policies(ax, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    name_x(ax, f"reward per step minus that of {other}")
    ax.grid(axis="x", color=GREY, alpha=0.4)
    plain(ax)
    title(ax, f"{evaluation.problem}: the same luck for all")
    return ax


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


def plot_decision_times(evaluation: Evaluation, ax: Axes | None = None) -> Axes:
    """Draw the time of a decision: the middle half as a bar, all but the outer 5 % as a line."""
    names = list(evaluation.names)
    ax = ax if ax is not None else new_axes(8.0, 1.4 + 0.38 * len(names))
    seconds = np.maximum(evaluation.seconds.reshape(len(names), -1), _SHORTEST)
    low, quarter, middle, most, high = np.percentile(seconds, [5, 25, 50, 75, 95], axis=1)
    places = np.arange(len(names))
    ax.hlines(places, low, high, color=INK, linewidth=1.2)
    colours = [colour_of(name, names) for name in names]
    ax.barh(places, most - quarter, left=quarter, height=0.5, color=colours, zorder=2)
    halo = [withStroke(linewidth=4.0, foreground="white")]
    ax.scatter(
        middle, places, marker="|", s=170, c=INK, linewidths=1.8, path_effects=halo, zorder=3
    )
    for place, text, right in zip(places, middle, high, strict=True):
        ax.annotate(
            duration(text),
            (right, place),
            (6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    ax.set_xscale("log")
    left, right = float(low.min()), float(high.max())
    ax.set_xlim(left / 1.6, right * (right / left) ** 0.16 * 2)
    name_policies(ax, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.xaxis.set_major_locator(LogLocator(numticks=3 if is_narrow(ax) else 9))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda second, _: duration(second)))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("time of a decision")
    ax.grid(axis="x", alpha=0.3)
    plain(ax)
    title(ax, f"{evaluation.problem}: time of a decision")
    return ax
