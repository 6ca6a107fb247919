"""Pictures: ``plot_x(thing, ax=None)`` draws on ``ax``, or on a figure of its own."""

from sequoia.plots.canvas import save_plot
from sequoia.plots.plot_calibration import plot_calibration
from sequoia.plots.plot_comparison import plot_comparison
from sequoia.plots.plot_decision import plot_decision
from sequoia.plots.plot_decision_times import plot_decision_times
from sequoia.plots.plot_episode import plot_episode
from sequoia.plots.plot_fit import plot_fit
from sequoia.plots.plot_gaps import Gap, plot_gaps
from sequoia.plots.plot_paired import plot_paired
from sequoia.plots.plot_problem import plot_problem
from sequoia.plots.plot_regret import plot_regret
from sequoia.plots.plot_reward_over_time import plot_reward_over_time
from sequoia.plots.plot_sigmoid import plot_sigmoid
from sequoia.plots.plot_times import plot_times
from sequoia.plots.plot_underground import plot_underground

__all__ = [
    "Gap",
    "plot_calibration",
    "plot_comparison",
    "plot_decision",
    "plot_decision_times",
    "plot_episode",
    "plot_fit",
    "plot_gaps",
    "plot_paired",
    "plot_problem",
    "plot_regret",
    "plot_reward_over_time",
    "plot_sigmoid",
    "plot_times",
    "plot_underground",
    "save_plot",
]
