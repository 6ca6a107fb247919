"""A networked restless bandit with cascades.

The benchmark NRMAB of Zhang, Sun and Wang (arXiv 2512.06274), written from its description. People
are active or not; each moves by itself, and then activity spreads along ties.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from experiments.field.village import read_ties, village
from experiments.fingerprint import fingerprint
from sequoia.errors import ProblemError
from sequoia.problem.spaces import Budget
from sequoia.rng import stream
from sequoia.validation import (
    ActionArray,
    BoolArray,
    FloatArray,
    IntArray,
    frozen,
    real,
    require,
    set_fields,
    whole,
)

# Acts in a step, probability that a tie passes activity on, steps: arXiv 2512.06274.
LIMIT, SPREAD, HORIZON = 10, 0.05, 30


@dataclass(frozen=True, eq=False)
class Cascade:
    """An `Environment` whose state is who is active, ``(B, n)``, 0 or 1; at first nobody is.

    In a step each node moves by itself. Then an independent cascade runs: each active node
    activates each inactive neighbour with probability ``spread``, once, and those newly active go
    on within the step. The reward is the value of all nodes that are active at the end.

    An independent cascade is percolation (Kempe, Kleinberg and Tardos 2003): draw for each tie
    whether it is live, and whoever is joined to an active node by live ties becomes active. One
    draw for a tie is enough, because of its two ends only the one that is active first has an
    inactive neighbour there.

    Attributes
    ----------
    ties
        Two nodes each, in both directions, ``(E, 2)``.
    chances
        Probability that a node's own move leaves it active, by whether it is active and whether it
        is acted on, ``(n, 2, 2)``.
    values
        What an active node is worth in a step, ``(n,)``.
    limit
        How many nodes are acted on in a step.
    """

    name: str
    ties: IntArray
    chances: FloatArray
    values: FloatArray
    limit: int = LIMIT
    spread: float = SPREAD
    horizon: int = HORIZON
    discount: float = 1.0

    def __post_init__(self) -> None:
        values = frozen("values", self.values, np.float64, (None,))
        chances = frozen("chances", self.chances, np.float64, (len(values), 2, 2))
        ties = frozen("ties", self.ties, np.int64, (None, 2))
        require("chances", chances, (chances >= 0) & (chances <= 1), "a probability is wanted")
        require("ties", ties, (ties >= 0) & (ties < len(values)), "the number of a node is wanted")
        if not 0 < self.discount <= 1:
            raise ProblemError(f"discount is {self.discount}; (0, 1] is wanted.")
        set_fields(
            self,
            ties=ties,
            chances=chances,
            values=values,
            limit=whole("limit", self.limit, 1, len(values)),
            spread=real("spread", self.spread, 0, 1),
            horizon=whole("horizon", self.horizon, 1),
        )

    @property
    def n_nodes(self) -> int:
        """``n``."""
        return len(self.values)

    @property
    def n_noise(self) -> int:
        """One uniform for the own move of each node, and one for each tie: ``n + E``."""
        return self.n_nodes + len(self.ties)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the content."""
        numbers = (self.limit, self.spread, self.horizon, self.discount)
        return fingerprint(self.name, *numbers, self.ties, self.chances, self.values)

    @cached_property
    def space(self) -> Budget:
        """Act on at most ``limit`` nodes."""
        names = [f"node {node}" for node in range(self.n_nodes)]
        return Budget(np.ones(self.n_nodes), self.limit, names)

    def draw_start(self, rng: np.random.Generator, count: int) -> IntArray:
        """Return states in which nobody is active, ``(count, n)``."""
        return np.zeros((count, self.n_nodes), dtype=np.int64)

    def features(self, states: IntArray) -> FloatArray:
        """Return the states."""
        return np.asarray(states, dtype=np.float64)

    def step(
        self, states: IntArray, actions: ActionArray, noise: FloatArray
    ) -> tuple[FloatArray, IntArray]:
        """Return the values of all who are active at the end, ``(B,)``, and the next states."""
        nodes = np.arange(self.n_nodes)
        before, acted = np.asarray(states, dtype=np.int64), np.asarray(actions, dtype=np.int64)
        moved = noise[:, : self.n_nodes] < self.chances[nodes, before, acted]
        active = self.cascade(moved, noise[:, self.n_nodes :] < self.spread)
        return active @ self.values, active.astype(np.int64)

    def cascade(self, active: BoolArray, live: BoolArray) -> BoolArray:
        """Return who is active, ``(B, n)``, when activity has run along live ties, ``(B, E)``.

        A round per generation of the cascade, over those live ties with no active end yet.
        """
        reached = active.copy()
        row, tie = np.nonzero(live)
        one, other = self.ties[tie].T
        while True:
            first, second = reached[row, one], reached[row, other]
            passes = first != second
            if not passes.any():
                return reached
            reached[row[passes], one[passes]] = True
            reached[row[passes], other[passes]] = True
            waits = ~(first | second)
            row, one, other = row[waits], one[waits], other[waits]


def make(
    seed: int = 0,
    graph: Path | None = None,
    *,
    limit: int = LIMIT,
    spread: float = SPREAD,
    horizon: int = HORIZON,
    discount: float = 1.0,
) -> Cascade:
    """Draw chances and values of nodes; the graph is `village`, or the ties of a file.

    An active node stays so with U(0.8, 1) when acted on, and with U(0.7, that) otherwise. An
    inactive one becomes active with U(0.5, 1) when acted on, and with U(0, that) otherwise. Values
    are U(1, 2). All from arXiv 2512.06274. The graph is the same for every seed.
    """
    ties = village() if graph is None else read_ties(graph)
    nodes = int(ties.max()) + 1
    rng = stream(seed, "cascade nodes")
    stay, rise = rng.uniform(0.8, 1.0, nodes), rng.uniform(0.5, 1.0, nodes)
    alone = [rng.uniform(0.0, rise), rng.uniform(0.7, stay)]
    chances = np.stack([np.stack(alone, axis=1), np.stack([rise, stay], axis=1)], axis=2)
    place = "a village" if graph is None else graph.stem
    return Cascade(
        name=f"cascades in {place}, draw {seed}",
        ties=ties,
        chances=chances,
        values=rng.uniform(1.0, 2.0, nodes),
        limit=limit,
        spread=spread,
        horizon=horizon,
        discount=discount,
    )
