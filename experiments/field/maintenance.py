"""A k-out-of-n system that is inspected and replaced under noisy observation.

The benchmark of imprl (Bhustali, Morato, Papakonstantinou and Andriotis, arXiv 2603.11884), written
from its description. Components wear out unseen. A system works while at least ``k`` of its ``n``
components do. What is known is a belief, and the belief is the state.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from experiments.fingerprint import fingerprint
from sequoia.errors import ProblemError
from sequoia.problem import Rules
from sequoia.problem.spaces import ActionSpace, Budget, with_rules
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

# Damage of a component: 0 is none, 1 is some, 2 is failed.
DAMAGES, FAILED = 3, 2
# The four components of arXiv 2603.11884: wear from damage 0 and from damage 1, the probability
# that a replacement succeeds, the accuracy of an inspection, and the costs of both.
WEAR = (
    ((0.82, 0.18, 0.0), (0.0, 0.87, 0.13)),
    ((0.72, 0.28, 0.0), (0.0, 0.78, 0.22)),
    ((0.79, 0.21, 0.0), (0.0, 0.85, 0.15)),
    ((0.72, 0.28, 0.0), (0.0, 0.78, 0.22)),
)
REPLACE_SUCCESS = (0.95, 0.9, 0.98, 1.0)
ACCURACY = (0.8, 0.85, 0.9, 0.9)
REPLACE_COST = (50.0, 30.0, 80.0, 90.0)
INSPECT_COST = (5.0, 3.0, 8.0, 4.0)
# The belief about each component at the start, the cost of doing anything at all, and the cost of a
# failed system as a multiple of the sum of replacement costs; same source.
START = (0.6, 0.4, 0.0)
MOBILISATION = 4.0
FAILURE_FACTOR = 3.0
DISCOUNT = 0.8
# The published episodes end after 20 steps; what comes after 40 weighs 0.8^40 = 0.01 %.
PUBLISHED_HORIZON, HORIZON = 20, 40
# Rounding in sums of probabilities that a caller gives.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Maintenance:
    """An `Environment` whose state is the belief about each component, ``(B, 3 n)``.

    Order of a step: the cost is due on the belief as it is; what is replaced becomes as new, with
    some probability; every component wears; what is inspected gives a reading; beliefs follow by
    Bayes' rule. Without an inspection nothing is seen. Beliefs about components are independent,
    as wear and readings are.

    An action has ``2 n`` columns: replace each component, then inspect each component; of a
    component at most one of both.

    Attributes
    ----------
    k
        The system works while so many components do.
    wear
        Next damage from damage 0 and from damage 1, ``(n, 2, 3)``; a failed component stays so.
    replace_success
        Probability that a replaced component is as new; otherwise it stays as it is, ``(n,)``.
        It is also the probability that an inspection sees a failed component as failed.
    accuracy
        Probability that an inspection sees damage 0 and damage 1 as what it is, ``(n,)``.
    replace_cost, inspect_cost
        ``(n,)``.
    failure_cost
        Cost of a step in which the system has failed.
    mobilisation
        Cost of a step in which anything is done.
    start
        The first belief about every component, ``(3,)``.
    """

    name: str
    k: int
    wear: FloatArray
    replace_success: FloatArray
    accuracy: FloatArray
    replace_cost: FloatArray
    inspect_cost: FloatArray
    failure_cost: float
    mobilisation: float = MOBILISATION
    discount: float = DISCOUNT
    horizon: int = HORIZON
    start: FloatArray = field(default_factory=lambda: np.array(START))

    def __post_init__(self) -> None:
        wear = frozen("wear", self.wear, np.float64, (None, FAILED, DAMAGES))
        count = len(wear)
        arrays = {
            name: frozen(name, getattr(self, name), np.float64, (count,))
            for name in ("replace_success", "accuracy", "replace_cost", "inspect_cost")
        }
        start = frozen("start", self.start, np.float64, (DAMAGES,))
        for name, chances in (("wear", wear), ("start", start)):
            total = np.broadcast_to(chances.sum(axis=-1, keepdims=True), chances.shape)
            fine = (chances >= 0) & (np.abs(total - 1) <= _ROUNDING)
            require(name, chances, fine, "probabilities that add up to 1 are wanted")
        for name in ("replace_success", "accuracy"):
            fine = (arrays[name] >= 0) & (arrays[name] <= 1)
            require(name, arrays[name], fine, "a probability is wanted")
        if not 0 < self.discount <= 1:
            raise ProblemError(f"discount is {self.discount}; (0, 1] is wanted.")
        set_fields(
            self,
            k=whole("k", self.k, 1, count),
            wear=wear,
            start=start,
            horizon=whole("horizon", self.horizon, 1),
            failure_cost=real("failure_cost", self.failure_cost, 0),
            mobilisation=real("mobilisation", self.mobilisation, 0),
            **arrays,
        )

    @property
    def n_components(self) -> int:
        """``n``."""
        return len(self.wear)

    @property
    def n_noise(self) -> int:
        """One uniform for the reading of each component."""
        return self.n_components

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the content."""
        arrays = (self.wear, self.replace_success, self.accuracy, self.start)
        costs = (self.replace_cost, self.inspect_cost, self.failure_cost, self.mobilisation)
        return fingerprint(self.name, self.k, self.discount, self.horizon, *arrays, *costs)

    @cached_property
    def space(self) -> ActionSpace:
        """Replace or inspect each component, or neither."""
        numbers = range(1, self.n_components + 1)
        pairs = [[f"replace {number}", f"inspect {number}"] for number in numbers]
        names = [pair[0] for pair in pairs] + [pair[1] for pair in pairs]
        # The limit follows from the pairs. It is there because a budget with groups knows its best
        # action without a solver.
        budget = Budget(np.ones(len(names)), self.n_components, names)
        return with_rules(budget, Rules(at_most_one=pairs))

    @cached_property
    def moves(self) -> FloatArray:
        """Damage at the end of a step, without and with a replacement, ``(2, n, 3, 3)``."""
        wear = np.zeros((self.n_components, DAMAGES, DAMAGES))
        wear[:, :FAILED] = self.wear
        wear[:, FAILED, FAILED] = 1.0
        renew = np.eye(DAMAGES) * (1 - self.replace_success)[:, None, None]
        renew[:, :, 0] += self.replace_success[:, None]
        return np.stack([wear, renew @ wear])

    @cached_property
    def sight(self) -> FloatArray:
        """Probability of each reading, by damage, ``(n, 3, 3)``."""
        right, failed = self.accuracy, self.replace_success
        wrong, never = 1 - right, np.zeros_like(right)
        rows = [[right, wrong, never], [wrong / 2, right, wrong / 2], [never, 1 - failed, failed]]
        return np.moveaxis(np.array(rows), 2, 0)

    def draw_start(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Return the first belief, which is known, ``(count, 3 n)``."""
        return np.tile(self.start, (count, self.n_components))

    def features(self, states: FloatArray) -> FloatArray:
        """Return the beliefs."""
        return np.asarray(states, dtype=np.float64)

    def beliefs(self, states: FloatArray) -> FloatArray:
        """Return the probability of each damage of each component, ``(B, n, 3)``."""
        return np.asarray(states, dtype=np.float64).reshape(-1, self.n_components, DAMAGES)

    def failure_probability(self, states: FloatArray) -> FloatArray:
        """Return the probability that fewer than ``k`` components work, ``(B,)``."""
        failed = self.beliefs(states)[:, :, FAILED].T
        # The probability of each number of working components, those beyond k - 1 left out.
        working = np.zeros((len(states), self.k))
        working[:, 0] = 1.0
        for chance in failed:
            more = working[:, :-1] * (1 - chance)[:, None]
            working *= chance[:, None]
            working[:, 1:] += more
        result: FloatArray = working.sum(axis=1)
        return result

    def step(
        self, states: FloatArray, actions: ActionArray, noise: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return minus the expected costs of the step, ``(B,)``, and the next beliefs."""
        replaced, inspected = self._chosen(actions)
        predicted = self.predict(self.beliefs(states), replaced)
        readings = self.read(predicted, noise)
        following = np.where(inspected[:, :, None], self.update(predicted, readings), predicted)
        spent = replaced @ self.replace_cost + inspected @ self.inspect_cost
        spent += self.mobilisation * (replaced | inspected).any(axis=1)
        cost = spent + self.failure_cost * self.failure_probability(states)
        return -cost, following.reshape(len(predicted), -1)

    def predict(self, beliefs: FloatArray, replaced: BoolArray) -> FloatArray:
        """Return beliefs after replacing, ``(B, n)``, and wear, before readings, ``(B, n, 3)``."""
        usual, renewed = np.einsum("bni,anij->abnj", beliefs, self.moves)
        predicted: FloatArray = np.where(replaced[:, :, None], renewed, usual)
        return predicted

    def read(self, predicted: FloatArray, noise: FloatArray) -> IntArray:
        """Draw what an inspection of each component would read, ``(B, n)``."""
        chances = np.einsum("bni,nio->bno", predicted, self.sight)
        reading: IntArray = (noise[:, :, None] >= chances.cumsum(axis=2)[:, :, :-1]).sum(axis=2)
        return reading

    def update(self, predicted: FloatArray, readings: IntArray) -> FloatArray:
        """Return beliefs after readings, ``(B, n, 3)``, by Bayes' rule."""
        seen = self.sight[np.arange(self.n_components), :, readings]
        joint = predicted * seen
        total = joint.sum(axis=2, keepdims=True)
        # Rounding may draw a reading that is impossible; then nothing is learnt from it.
        learnt: FloatArray = np.divide(joint, total, out=predicted.copy(), where=total > 0)
        return learnt

    def _chosen(self, actions: ActionArray) -> tuple[BoolArray, BoolArray]:
        """Return which components are replaced and which are inspected, ``(B, n)`` each."""
        chosen = np.asarray(actions) == 1
        return chosen[:, : self.n_components], chosen[:, self.n_components :]


def make(
    k: int = 1,
    n: int = 4,
    *,
    mobilisation: float = MOBILISATION,
    failure_factor: float = FAILURE_FACTOR,
    horizon: int = HORIZON,
    discount: float = DISCOUNT,
) -> Maintenance:
    """Return the published system; beyond four components they repeat in turn.

    The published variants without mobilisation are ``mobilisation=0``; those of four components
    also have ``failure_factor=1.5``.
    """
    place = np.arange(n) % len(WEAR)
    costs = np.array(REPLACE_COST)[place]
    return Maintenance(
        name=f"maintenance of {k} out of {n}",
        k=k,
        wear=np.array(WEAR)[place],
        replace_success=np.array(REPLACE_SUCCESS)[place],
        accuracy=np.array(ACCURACY)[place],
        replace_cost=costs,
        inspect_cost=np.array(INSPECT_COST)[place],
        failure_cost=failure_factor * float(costs.sum()),
        mobilisation=mobilisation,
        discount=discount,
        horizon=horizon,
    )


def draw(seed: int, k: int, n: int, *, horizon: int = HORIZON) -> Maintenance:
    """Draw another member of the family; ranges are about those of the published components."""
    rng = stream(seed, f"maintenance of {k} out of {n}")
    leave = rng.uniform((0.15, 0.1), (0.3, 0.25), (n, FAILED))
    wear = np.zeros((n, FAILED, DAMAGES))
    for damage in range(FAILED):
        wear[:, damage, damage] = 1 - leave[:, damage]
        wear[:, damage, damage + 1] = leave[:, damage]
    costs = np.round(rng.uniform(30, 90, n))
    return Maintenance(
        name=f"maintenance of {k} out of {n}, draw {seed}",
        k=k,
        wear=wear,
        replace_success=rng.uniform(0.9, 1.0, n),
        accuracy=rng.uniform(0.8, 0.9, n),
        replace_cost=costs,
        # An inspection of the published components costs 4 to 10 % of a replacement.
        inspect_cost=np.round(costs * rng.uniform(0.04, 0.1, n), 1),
        failure_cost=FAILURE_FACTOR * float(costs.sum()),
        horizon=horizon,
    )
