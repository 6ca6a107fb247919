"""Pictures: ``plot_x(thing, ax=None)`` draws on ``ax``, or on a figure of its own."""

from sequoia.experiments.plots.canvas import save_plot
from sequoia.experiments.plots.plot_episode import plot_episode
from sequoia.experiments.plots.plot_problem import plot_problem
from sequoia.experiments.plots.plot_sigmoid import plot_sigmoid
from sequoia.experiments.plots.plot_underground import plot_underground

__all__ = ["plot_episode", "plot_problem", "plot_sigmoid", "plot_underground", "save_plot"]
