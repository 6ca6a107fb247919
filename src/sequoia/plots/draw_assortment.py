"""The items of an assortment: what they earn, and how much they are wanted."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from sequoia.plots.canvas import INK, new_axes, plain, title
from sequoia.plots.names import tick_names
from sequoia.problem import Assortment
from sequoia.problem.assortment import HIGH, LOW


def plot_assortment(environment: Assortment, ax: Axes | None = None) -> Axes:
    """Draw a bar per item: its price, coloured by how likely it sells when it is shown alone.

    Hype and saturation are those of an average beginning.
    """
    items = environment.n_items
    ax = ax if ax is not None else new_axes(8.0, 3.4)
    title(ax, environment.name)
    state = np.full((items, len(environment.component_names)), (LOW + HIGH) / 2)
    state[:, 2 * items :] = 0
    alone = environment.chances(state, np.eye(items, dtype=np.int8)).diagonal()
    scale = ScalarMappable(Normalize(0, 1), "cividis")
    colours = scale.to_rgba(alone)
    ax.bar(np.arange(items), environment.prices, color=colours, edgecolor=INK, linewidth=0.5)
    ax.figure.colorbar(scale, ax=ax, label="chance to sell, shown alone", pad=0.01)
    ax.set_xlabel(tick_names(ax.xaxis, np.arange(items), environment.space.names))
    ax.set_ylabel("price")
    ax.set_xlim(-0.7, items - 0.3)
    plain(ax)
    return ax
