"""Dynamic assortment: show a few items to each customer."""

from typing import Annotated

import numpy as np

from sequoia.problem.assortment import HIGH, LOW, Assortment
from sequoia.problem.families import base
from sequoia.rng import stream


def assortment(
    items: Annotated[int, "number of items"] = 20,
    show: Annotated[int, "how many are shown at most"] = 4,
    horizon: Annotated[int, "customers of an episode"] = 80,
    discount: base.Discount = 0.99,
    seed: base.Seed = 0,
) -> Assortment:
    """Make a dynamic assortment: what is shown decides what is bought, and that what is wanted.

    Prices and two features of each item are drawn from 1 to 10; so are hype and saturation, at the
    beginning of each episode.
    """
    base.at_least("items", items, 1)
    base.at_least("show", show, 1)
    rng = stream(seed, "family:assortment")
    drawn = rng.uniform(LOW, HIGH, (items, 3))
    return Assortment(
        name=f"assortment, {items} items, {show} shown, seed {seed}",
        prices=drawn[:, 0],
        item_features=drawn[:, 1:],
        limit=min(show, items),
        horizon=horizon,
        discount=discount,
        names=[f"item {number}" for number in np.arange(items)],
    )
