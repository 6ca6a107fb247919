"""The figures of the paper's experiment: rewards by setting, what parts add, the counterexample."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.paper.experiment import ABLATIONS, POLICIES, SETTINGS, TRAP_POLICIES
from experiments.paper.results import Results, standard_error
from experiments.paper.tables import EVERYWHERE, FIELD, compared
from sequoia.plots.canvas import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    colour_of,
    new_axes,
    plain,
    style_of,
    title,
)
from sequoia.plots.plot_families import plot_sigmoid, plot_underground
from sequoia.policies import Style
from sequoia.problem import Problem
from sequoia.problem.families import interventions, trap
from sequoia.problem.underground import underground

_WIDTH = 0.86
# What policies of one row of the field take of its height.
_TALL = 0.8
_BOUND = "no policy earns more on average"
_NO_LABEL = "_nolegend_"
# Size of a star, which fills less of its box than other marks: a hollow one must be told from it.
_STAR = 75
_COLOURS = dict(zip(ABLATIONS, (BLUE, SKY), strict=True))
_RIVAL_STYLES = {
    "ppo-scores": Style(ORANGE, "o"),
    "ppo-masked": Style(GREY, "p"),
    "srl": Style(PURPLE, "s"),
    "cascade-dqn": Style(INK, "v"),
    "lsflow": Style("#8C564B", "h"),
}
_ACTED, _IDLE = "acted on", "left alone"


def plot_settings(results: Results) -> Axes:
    """Draw one panel per setting on a figure of its own; return the axes of the first."""
    figure = Figure(figsize=(11.0, 6.8), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, 2).ravel().tolist()
    for index, (ax, family) in enumerate(zip(panels, SETTINGS, strict=True)):
        plot_setting(results, family, ax)
        ax.set_title(f"({'abcd'[index]}) {SETTINGS[family]}", loc="left", fontsize=11, color=INK)
        ax.set_ylabel("" if index % 2 else "average reward, random = 1")
    handles = {
        label: handle
        for ax in panels
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    order = [name for name in (*POLICIES, _BOUND) if name in handles]
    figure.legend(
        [handles[name] for name in order],
        order,
        loc="outside lower center",
        ncols=5,
        frameon=False,
        fontsize=9.5,
    )
    first: Axes = panels[0]
    return first


def plot_setting(results: Results, family: str, ax: Axes | None = None) -> Axes:
    """Draw the mean over seeds of each policy by size; whiskers are standard errors."""
    ax = ax if ax is not None else new_axes(6.0, 3.6)
    sizes = results.sizes(family)
    names = [n for n in POLICIES if any(results.of(family, size, n) for size in sizes)]
    for place, size in enumerate(sizes):
        _draw_bars(ax, results, family, size, place, names)
        _draw_bound(ax, results, family, size, place)
    ax.set_xticks(range(len(sizes)), [f"J = {size}" for size in sizes])
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(-0.55, max(len(sizes), 1) - 0.45)
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)
    plain(ax)
    return ax


def _draw_bars(
    ax: Axes, results: Results, family: str, size: int, place: int, names: Sequence[str]
) -> None:
    width = _WIDTH / max(len(names), 1)
    for position, name in enumerate(names):
        values = results.relative(family, size, name)
        if not len(values):
            continue
        x = place - _WIDTH / 2 + (position + 0.5) * width
        is_new = name not in ax.get_legend_handles_labels()[1]
        ax.bar(
            x,
            values.mean(),
            0.92 * width,
            color=colour_of(name, POLICIES),
            edgecolor=INK,
            linewidth=0.5,
            label=name if is_new else _NO_LABEL,
        )
        error = float(np.nan_to_num(standard_error(values)))
        ax.errorbar(x, values.mean(), error, fmt="none", ecolor=INK, elinewidth=1.1, capsize=2)


def _draw_bound(ax: Axes, results: Results, family: str, size: int, place: int) -> None:
    """Draw the mean bound of the seeds that SEQUOIA was played on, or random where it was not."""
    bounds = results.bounds(family, size, "sequoia")
    bounds = bounds if len(bounds) else results.bounds(family, size, "random")
    if len(bounds):
        half = _WIDTH / 2 + 0.03
        is_new = _BOUND not in ax.get_legend_handles_labels()[1]
        ax.hlines(
            bounds.mean(),
            place - half,
            place + half,
            color=INK,
            linestyle="--",
            linewidth=1.6,
            label=_BOUND if is_new else _NO_LABEL,
        )


def plot_field(results: Results, ax: Axes | None = None) -> Axes:
    """Draw what others earn in per cent of SEQUOIA, a row for each setting and size.

    Lines are intervals over seeds that hold for all comparisons together, where there are seeds
    enough; a hollow mark is a tie.
    """
    found = compared(results)
    places = list(dict.fromkeys((one.family, one.arms) for one in found))
    ax = ax if ax is not None else new_axes(9.0, 1.6 + 0.46 * len(places))
    names = [name for name in FIELD if any(one.policy == name for one in found)]
    for position, name in enumerate(names):
        own = [one for one in found if one.policy == name]
        rows = [places.index((one.family, one.arms)) for one in own]
        y = np.array(rows) - _TALL / 2 + (position + 0.5) * _TALL / len(names)
        means = np.array([100 + one.change.mean for one in own])
        halves = np.array([one.change.half if one.is_telling else 0.0 for one in own])
        is_tie = np.array([one.is_telling and one.change.includes_zero for one in own])
        style = _RIVAL_STYLES.get(name) or style_of(name, FIELD)
        colour, marker = style.colour, style.marker
        ax.errorbar(means, y, xerr=halves, fmt="none", ecolor=colour, elinewidth=1.0, alpha=0.6)
        for mask, face, label in ((~is_tie, colour, name), (is_tie, "white", _NO_LABEL)):
            ax.scatter(
                means[mask],
                y[mask],
                _STAR if marker == "*" else 30,
                marker=marker,
                facecolors=face,
                edgecolors=colour,
                linewidths=1.0,
                zorder=3,
                label=label,
            )
    for row in range(1, len(places)):
        ax.axhline(row - 0.5, color=GREY, linewidth=0.5, alpha=0.5)
    ax.axvline(100, color=INK, linewidth=1.0, linestyle="--")
    ax.set_yticks(range(len(places)), [f"{EVERYWHERE[f]}, {arms}" for f, arms in places])
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.set_xlim(max(0.0, ax.get_xlim()[0]), min(130.0, ax.get_xlim()[1]))
    ax.set_xlabel("% of SEQUOIA on the same problems")
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
    ax.legend(loc="upper center", bbox_to_anchor=(0.4, -0.09), ncols=4, frameon=False, fontsize=9)
    plain(ax)
    title(ax, "Others beside SEQUOIA; hollow: a tie")
    return ax


def plot_ablations(results: Results, ax: Axes | None = None) -> Axes:
    """Draw what every variant earns in per cent of the default on the same seeds, by setting.

    Whiskers are standard errors.
    """
    ax = ax if ax is not None else new_axes(9.0, 4.0)
    places = [
        (family, arms)
        for family in SETTINGS
        for arms in results.sizes(family)
        if any(results.of(family, arms, name) for name in ABLATIONS)
    ]
    names = [name for name in ABLATIONS if any(results.of(*place, name) for place in places)]
    width = 0.84 / max(len(names), 1)
    for position, name in enumerate(names):
        found = [100 + results.percent_over(*place, name, "sequoia") for place in places]
        x = np.arange(len(places)) - 0.42 + (position + 0.5) * width
        means = [float(values.mean()) if len(values) else 0.0 for values in found]
        errors = [float(np.nan_to_num(standard_error(values))) for values in found]
        colour = _COLOURS[name]
        ax.bar(x, means, 0.92 * width, color=colour, edgecolor=INK, linewidth=0.5, label=name)
        ax.errorbar(x, means, errors, fmt="none", ecolor=INK, elinewidth=1.1, capsize=2)
    ax.axhline(100, color=INK, linewidth=0.8, linestyle="--")
    texts = [f"{SETTINGS[family]}\nJ = {arms}" for family, arms in places]
    ax.set_xticks(range(len(places)), texts, fontsize=9)
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel("% of the default")
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False, fontsize=9)
    plain(ax)
    title(ax, "What each part is worth")
    return ax


def plot_trap(problem: Problem, rewards: Mapping[str, float]) -> Axes:
    """Draw the arms beside the rewards on a figure of its own; return the axes of the rewards.

    Parameters
    ----------
    rewards
        Mean reward per step of each policy.
    """
    figure = Figure(figsize=(9.5, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=(1.35, 1.0))
    draw_chains(problem, left)
    return plot_trap_rewards(rewards, right)


def plot_trap_rewards(rewards: Mapping[str, float], ax: Axes | None = None) -> Axes:
    """Draw the reward of each policy as a bar."""
    ax = ax if ax is not None else new_axes(5.0, 3.4)
    names = list(rewards)
    bars = ax.bar(
        names,
        list(rewards.values()),
        color=[colour_of(name, names) for name in names],
        edgecolor=INK,
        linewidth=0.6,
        width=0.7,
    )
    ax.bar_label(bars, fmt="{:.2f}", fontsize=9, padding=2)
    ax.set_ylabel("reward per step")
    ax.margins(y=0.14)
    ax.tick_params(axis="x", length=0, labelsize=9)
    ax.set_title("What policies earn", loc="left", fontsize=10, color=INK)
    plain(ax)
    return ax


def draw_chains(problem: Problem, ax: Axes) -> None:
    """Draw the states of each arm with their rewards, and where an arm moves to."""
    rewards = problem.arms.rewards
    for arm, own in enumerate(rewards):
        y = -1.7 * arm
        for state, reward in enumerate(own.tolist()):
            is_best = reward == rewards.max()
            ax.scatter(state, y, s=1500, c="#FBD9A5" if is_best else "#E8E8E8", edgecolors=GREY)
            ax.text(state, y, f"{reward:g}", ha="center", va="center", fontsize=11, color=INK)
            if state:
                _arrow(ax, (state - 0.86, y + 0.22), (state - 0.14, y + 0.22), -0.35, "-")
                _arrow(ax, (state - 0.14, y - 0.22), (state - 0.86, y - 0.22), -0.35, ":")
        ax.text(-0.45, y, problem.arms.names[arm], ha="right", va="center", fontsize=10)
    last = rewards.shape[1] - 1
    for text, line in ((_ACTED, "-"), (_IDLE, ":")):
        ax.plot([], [], line, color=INK, label=text)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False, fontsize=9)
    ax.set_xlim(-1.0, last + 0.4)
    ax.set_ylim(-1.7 * (len(rewards) - 1) - 0.85, 0.85)
    ax.set_axis_off()
    ax.set_title("Two arms, one action: reward by state", loc="left", fontsize=10, color=INK)


def _arrow(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], bend: float, line: str
) -> None:
    style = {"arrowstyle": "-|>", "connectionstyle": f"arc3,rad={bend}", "color": INK}
    ax.annotate("", end, start, arrowprops=style | {"linestyle": line, "linewidth": 1.1})


def paper_figures(results: Results) -> dict[str, Axes]:
    """Draw every figure that there is something for."""
    drawings: dict[str, Callable[[Results], Axes]] = {}
    if any(results.sizes(family) for family in SETTINGS):
        drawings["settings"] = plot_settings
    if any(one.policy in FIELD for one in compared(results)):
        drawings["field"] = plot_field
    if results.sizes("trap"):
        drawings["trap"] = _draw_trap
    if any(one.policy in ABLATIONS for one in results.records):
        drawings["ablations"] = plot_ablations
    drawings["sigmoid"] = lambda _: plot_sigmoid(interventions())
    drawings["underground"] = lambda _: plot_underground(underground())
    return {name: draw(results) for name, draw in drawings.items()}


def _draw_trap(results: Results) -> Axes:
    found = {name: results.of("trap", 0, name) for name in TRAP_POLICIES}
    return plot_trap(trap(), {name: own[1].mean for name, own in found.items() if 1 in own})
