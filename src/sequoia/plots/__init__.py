"""Pictures: ``plot_x(thing, ax=None)`` draws on ``ax``, or on a figure of its own."""

from sequoia.plots.canvas import save_plot
from sequoia.plots.draw_assortment import plot_assortment
from sequoia.plots.plot_bounds import Gap, plot_gaps, plot_times
from sequoia.plots.plot_changes import plot_changes
from sequoia.plots.plot_decision import plot_decision
from sequoia.plots.plot_episode import plot_episode
from sequoia.plots.plot_evaluation import (
    plot_comparison,
    plot_decision_times,
    plot_paired,
    plot_reward_over_time,
)
from sequoia.plots.plot_families import plot_sigmoid, plot_underground
from sequoia.plots.plot_network import plot_network
from sequoia.plots.plot_play import plot_occupancy, plot_policy_map
from sequoia.plots.plot_problem import plot_problem
from sequoia.plots.plot_records import plot_calibration, plot_fit, plot_regret
from sequoia.plots.plot_training import plot_training

__all__ = [
    "Gap",
    "plot_assortment",
    "plot_calibration",
    "plot_changes",
    "plot_comparison",
    "plot_decision",
    "plot_decision_times",
    "plot_episode",
    "plot_fit",
    "plot_gaps",
    "plot_network",
    "plot_occupancy",
    "plot_paired",
    "plot_policy_map",
    "plot_problem",
    "plot_regret",
    "plot_reward_over_time",
    "plot_sigmoid",
    "plot_times",
    "plot_training",
    "plot_underground",
    "save_plot",
]
