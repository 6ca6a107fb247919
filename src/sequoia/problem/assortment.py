"""Dynamic assortment: which items to show to the next customer, who buys at most one.

The benchmark of structured reinforcement learning (Hoppe et al., arXiv 2505.19053). There are no
arms: what is shown decides the distribution of a single draw, and the reward is no sum over items.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import FileError, ProblemError
from sequoia.problem.names import checked_names
from sequoia.problem.spaces import Budget
from sequoia.problem.tables import TableSet, table
from sequoia.sizes import MOST_STEPS
from sequoia.validation import ActionArray, FloatArray, frozen, real, require, set_fields, whole

FORMAT = 1
# The customers' taste in the authors' public code: two fixed features, hype, saturation, price.
TASTE = (0.3, 0.5, 0.6, -0.4, -0.8)
# A purchase makes an item 2 % more hyped at once, and 0.5 % less in each of the next four steps;
# it saturates by 1 %.
_BOOM, _FADE, _MEMORY, _FILL = 0.02, 0.005, 4, 0.01
# Features, hype, saturation and prices are drawn from 1 to 10.
LOW, HIGH = 1.0, 10.0
# Beyond this a taste says that an item is bought for sure, or never.
_MOST_UTILITY = 500.0


@dataclass(frozen=True, eq=False, init=False)
class Assortment:
    """N items, of which at most ``limit`` are shown in each step; an `Environment`.

    A customer buys item ``i`` of those shown, ``S``, with probability
    ``exp(u_i) / (1 + sum_{j in S} exp(u_j))``, or nothing: the multinomial logit model. The
    utility is linear: ``u_i = taste @ (features_i, hype_i, saturation_i, price_i)``. What is bought
    changes hype and saturation, and so what later customers want.

    A state is the hype of each item, its saturation, and the last four purchases: 0 for none, else
    the number of the item from 1 on, the latest first.

    Attributes
    ----------
    prices
        What each item earns when it is bought, ``(N,)``.
    item_features
        What does not change about the items, ``(N, K)``.
    taste
        Weights of features, hype, saturation and price, ``(K + 3,)``.
    """

    name: str
    prices: FloatArray
    item_features: FloatArray
    taste: FloatArray
    space: Budget
    horizon: int
    discount: float

    def __init__(
        self,
        name: str,
        prices: ArrayLike,
        item_features: ArrayLike,
        limit: int,
        taste: ArrayLike = TASTE,
        horizon: int = 80,
        discount: float = 0.99,
        names: Sequence[str] | None = None,
    ) -> None:
        prices = frozen("assortment.prices", prices, np.float64, (None,))
        require("assortment.prices", prices, np.isfinite(prices), "a finite price is wanted")
        features = frozen("assortment.features", item_features, np.float64, (len(prices), None))
        require("assortment.features", features, np.isfinite(features), "finite numbers are wanted")
        size = features.shape[1] + 3
        weights = frozen("assortment.taste", taste, np.float64, (size,))
        require("assortment.taste", weights, np.isfinite(weights), "finite numbers are wanted")
        discount = real("assortment.discount", discount, 0, 1)
        if not discount:
            raise ProblemError("assortment.discount is 0; (0, 1] is wanted.")
        called = checked_names("assortment.names", names, "item", len(prices))
        set_fields(
            self,
            name=name,
            prices=prices,
            item_features=features,
            taste=weights,
            space=Budget(np.ones(len(prices)), whole("assortment.limit", limit, 1), called),
            horizon=whole("assortment.horizon", horizon, 1, MOST_STEPS),
            discount=discount,
        )

    @property
    def n_items(self) -> int:
        """``N``."""
        return len(self.prices)

    @property
    def n_noise(self) -> int:
        """One draw decides what is bought."""
        return 1

    @cached_property
    def fingerprint(self) -> str:
        """A stable name for the content."""
        return self.to_tables().fingerprint()

    @cached_property
    def component_names(self) -> list[str]:
        """The name of each number of a state, as sheets of a state use it."""
        items = self.space.names
        last = [f"bought {ago} ago" for ago in range(1, _MEMORY + 1)]
        return [*(f"hype {n}" for n in items), *(f"saturation {n}" for n in items), *last]

    def draw_start(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw hype and saturation from 1 to 10; nothing was bought yet, ``(count, 2 N + 4)``."""
        drawn = rng.uniform(LOW, HIGH, (count, 2 * self.n_items))
        return np.concatenate([drawn, np.zeros((count, _MEMORY))], axis=1)

    def features(self, states: FloatArray) -> FloatArray:
        """Return hype and saturation over 10, and the share of recent purchases, by item."""
        states = np.asarray(states)
        recent = self._bought(states[:, 2 * self.n_items :]).sum(axis=1) / _MEMORY
        return np.concatenate([states[:, : 2 * self.n_items] / HIGH, recent], axis=1)

    def utilities(self, states: FloatArray) -> FloatArray:
        """Return what each item is worth to a customer, ``(B, N)``."""
        items = self.n_items
        hype, saturation, price = self.taste[-3:]
        fixed = self.item_features @ self.taste[:-3] + price * self.prices
        states = np.asarray(states)
        utilities: FloatArray = (
            fixed + hype * states[:, :items] + saturation * states[:, items : 2 * items]
        )
        return np.clip(utilities, -_MOST_UTILITY, _MOST_UTILITY)

    def chances(self, states: FloatArray, actions: ActionArray) -> FloatArray:
        """Return the probability that each item is bought, ``(B, N)``; nothing takes the rest."""
        utilities = self.utilities(states)
        # Divided by the largest, so that no exponential is too large.
        top = np.maximum(np.where(actions == 1, utilities, 0.0).max(axis=1, keepdims=True), 0.0)
        wanted = np.exp(utilities - top) * (np.asarray(actions) == 1)
        chances: FloatArray = wanted / (np.exp(-top) + wanted.sum(axis=1, keepdims=True))
        return chances

    def expected_reward(self, states: FloatArray, actions: ActionArray) -> FloatArray:
        """Return the revenue that is expected of the next customer, ``(B,)``."""
        revenue: FloatArray = self.chances(states, actions) @ self.prices
        return revenue

    def reward_table(self, states: FloatArray, actions: ActionArray) -> FloatArray:
        """Return the revenue that is expected of every action in every state, ``(B, A)``."""
        utilities, shown = self.utilities(states), np.asarray(actions, dtype=np.float64).T
        # Divided by the largest of all items, so that no exponential is too large; none of those
        # that matter vanishes, because utilities are at most 500.
        top = np.maximum(utilities.max(axis=1, keepdims=True), 0.0)
        wanted = np.exp(utilities - top)
        revenue: FloatArray = (wanted * self.prices) @ shown / (np.exp(-top) + wanted @ shown)
        return revenue

    def step(
        self, states: FloatArray, actions: ActionArray, noise: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return expected revenues, and the states after one purchase is drawn."""
        items = self.n_items
        chances = self.chances(states, actions)
        bought = (noise[:, :1] >= chances.cumsum(axis=1)).sum(axis=1)
        purchase = np.where(bought < items, bought + 1, 0)
        following = np.array(states, dtype=np.float64)
        earlier = following[:, 2 * items :]
        now = self._bought(purchase[:, None])[:, 0]
        following[:, :items] *= 1 + _BOOM * now - _FADE * self._bought(earlier).sum(axis=1)
        following[:, items : 2 * items] *= 1 + _FILL * now
        following[:, 2 * items :] = np.column_stack([purchase, earlier[:, :-1]])
        return chances @ self.prices, following

    def _bought(self, purchases: FloatArray) -> FloatArray:
        """Return an indicator of the item for each purchase, ``(B, M)`` to ``(B, M, N)``."""
        numbers = np.arange(1, self.n_items + 1)
        bought: FloatArray = (np.asarray(purchases)[:, :, None] == numbers).astype(np.float64)
        return bought

    def to_tables(self) -> TableSet:
        """Return options and tables, as files hold them."""
        options = {
            "format": FORMAT,
            "kind": "assortment",
            "name": self.name,
            "horizon": self.horizon,
            "discount": self.discount,
            "limit": int(self.space.limit),
            "taste": self.taste.tolist(),
        }
        columns = {f"feature_{k}": feature for k, feature in enumerate(self.item_features.T)}
        names = list(self.space.names)
        return TableSet(options, table("items", name=names, price=self.prices, **columns))

    @classmethod
    def from_tables(cls, content: TableSet) -> "Assortment":
        """Build it from options and tables.

        Raises
        ------
        FileError
            One line for each thing that is wrong, by file, row and column.
        """
        content.known({"format", "kind", "name", "horizon", "discount", "limit", "taste"})
        if (file_format := content.option("format", int)) != FORMAT and not content.found:
            raise FileError(
                f"{content.where} has format {file_format}; this version reads {FORMAT}."
            )
        name, taste = content.option("name", str), content.option("taste", list)
        horizon = content.option("horizon", int, least=1, most=MOST_STEPS)
        discount = content.option("discount", float)
        limit = content.option("limit", int, least=1)
        items = content.table("items")
        names, prices = items.names("name"), items.floats("price")
        features = items.matrix(items.numbered("feature"))
        content.settle()
        try:
            return cls(name, prices, features, limit, taste, horizon, discount, names)
        except (ProblemError, TypeError, ValueError) as error:
            raise FileError(f"{content.where}: {error}") from None
