"""Every figure of the paper's experiment, by name."""

from collections.abc import Callable

from matplotlib.axes import Axes

from sequoia.paper.experiment import ABLATIONS, SETTINGS, TRAP_POLICIES
from sequoia.paper.plot_ablations import plot_ablations
from sequoia.paper.plot_settings import plot_settings
from sequoia.paper.plot_trap import plot_trap
from sequoia.paper.results import Results
from sequoia.plots.plot_families import plot_sigmoid, plot_underground
from sequoia.problem.families import interventions, trap
from sequoia.problem.underground import underground


def paper_figures(results: Results) -> dict[str, Axes]:
    """Draw every figure that there is something for."""
    drawings: dict[str, Callable[[Results], Axes]] = {}
    if any(results.sizes(family) for family in SETTINGS):
        drawings["settings"] = plot_settings
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
