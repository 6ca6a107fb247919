"""Pictures of what bounds cost and how close policies come."""

import numpy as np
import pytest
from test_plots import assert_fine

from sequoia.plots import Gap, plot_gaps, plot_times
from sequoia.plots.canvas import new_axes

SECONDS = {
    (kind, thing): {arms: scale * arms / 1e5 for arms in (20, 1_000, 1_000_000)}
    for kind in ("standard", "capacity")
    for thing, scale in (("bound", 3.0), ("decision", 1.0))
}
GAPS = {
    name: [Gap(arms, scale / arms, 0.1 * scale / arms) for arms in (10, 100, 1_000)]
    for name, scale in (("whittle", 0.1), ("price", 0.08))
}


@pytest.mark.parametrize(("plot", "thing"), [(plot_times, SECONDS), (plot_gaps, GAPS)])
def test_pictures_of_bounds(plot, thing, tmp_path):
    assert_fine(plot(thing), tmp_path / "p.png")
    ax = new_axes()
    assert plot(thing, ax) is ax


def test_times_are_drawn_as_given_beside_a_line_in_proportion():
    lines = {line.get_label(): line for line in plot_times(SECONDS).lines}
    drawn = lines["standard: decision"]
    assert drawn.get_xdata().tolist() == [20, 1_000, 1_000_000]
    np.testing.assert_allclose(drawn.get_ydata(), [2e-4, 1e-2, 10.0])
    proportion = lines["in proportion"].get_ydata()
    np.testing.assert_allclose(proportion, [6e-4, 3e-2, 30.0])


def test_gaps_are_per_cent_of_the_bound():
    ax = plot_gaps(GAPS)
    whittle = next(c for c in ax.containers if c.get_label() == "whittle")
    np.testing.assert_allclose(whittle.lines[0].get_ydata(), [1.0, 0.1, 0.01])
