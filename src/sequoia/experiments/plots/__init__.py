"""Pictures: ``plot_x(thing, ax=None)`` draws on ``ax``, or on a figure of its own."""

from sequoia.experiments.plots.canvas import save_plot
from sequoia.experiments.plots.plot_ablations import plot_ablations
from sequoia.experiments.plots.plot_comparison import plot_comparison
from sequoia.experiments.plots.plot_decision import plot_decision
from sequoia.experiments.plots.plot_decision_times import plot_decision_times
from sequoia.experiments.plots.plot_episode import plot_episode
from sequoia.experiments.plots.plot_gaps import Gap, plot_gaps
from sequoia.experiments.plots.plot_paired import plot_paired
from sequoia.experiments.plots.plot_problem import plot_problem
from sequoia.experiments.plots.plot_reward_over_time import plot_reward_over_time
from sequoia.experiments.plots.plot_settings import plot_setting, plot_settings
from sequoia.experiments.plots.plot_sigmoid import plot_sigmoid
from sequoia.experiments.plots.plot_times import plot_times
from sequoia.experiments.plots.plot_trap import plot_trap
from sequoia.experiments.plots.plot_underground import plot_underground

__all__ = [
    "Gap",
    "plot_ablations",
    "plot_comparison",
    "plot_decision",
    "plot_decision_times",
    "plot_episode",
    "plot_gaps",
    "plot_paired",
    "plot_problem",
    "plot_reward_over_time",
    "plot_setting",
    "plot_settings",
    "plot_sigmoid",
    "plot_times",
    "plot_trap",
    "plot_underground",
    "save_plot",
]
