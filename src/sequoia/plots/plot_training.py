"""Training: what the kept policy earns, and what the guard decided in each round."""

import numpy as np
from matplotlib.axes import Axes

from sequoia.models.folder import Trained
from sequoia.plots.canvas import BLUE, INK, VERMILION, legend, new_axes, plain, title


def plot_training(trained: Trained, ax: Axes | None = None) -> Axes:
    """Draw the learning curve.

    The line is what the policy that is kept earns in held-out episodes, with its 95 % interval. A
    full marker is a round whose policy won its paired test and was kept, an empty one a round that
    won nothing. The dashed line is the bound, where there is one.
    """
    ax = ax if ax is not None else new_axes(8.0, 4.0)
    rounds = np.array([done["round"] for done in trained.history])
    best = np.array([done["best"] for done in trained.history], dtype=np.float64)
    half = np.array([done.get("half") or np.nan for done in trained.history], dtype=np.float64)
    is_won = np.array([done.get("won") is not None for done in trained.history])
    ax.fill_between(rounds, best - half, best + half, color=BLUE, alpha=0.18, linewidth=0)
    ax.plot(rounds, best, color=BLUE, linewidth=1.4, label="kept policy")
    ax.scatter(rounds[is_won], best[is_won], s=36, color=BLUE, zorder=3, label="won its test")
    ax.scatter(
        rounds[~is_won],
        best[~is_won],
        s=36,
        facecolors="white",
        edgecolors=INK,
        zorder=3,
        label="won nothing",
    )
    if trained.bound is not None:
        ax.axhline(trained.bound, color=VERMILION, linestyle="--", linewidth=1.4, label="bound")
    ax.set_xlabel("round")
    ax.set_ylabel("reward per step")
    title(ax, f"{trained.model.environment.name}: {trained.seconds:.0f} s of training")
    legend(ax)
    plain(ax)
    return ax
