"""Mean rewards as bars."""

import numpy as np
from matplotlib.axes import Axes

from sequoia.evaluation.evaluation import Evaluation
from sequoia.plots.canvas import INK, VERMILION, new_axes, plain, title
from sequoia.plots.colours import colour_of
from sequoia.plots.names import name_policies


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
    lengths = np.array([one.mean for one in means]) / unit
    whiskers = np.nan_to_num(np.array([one.half for one in means]) / unit)
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
