"""The two-arm counterexample: how it is built, and what policies earn on it."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sequoia.plots.canvas import GREY, INK, colour_of, new_axes, plain
from sequoia.problem import Problem

_ACTED, _IDLE = "acted on", "left alone"


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
