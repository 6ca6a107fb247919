"""Budgets over several steps: what is spent belongs to the state, as the digits of a number."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.errors import ProblemError
from sequoia.problem.action_limits import ActionLimits
from sequoia.problem.arms import Arms
from sequoia.problem.names import Numbered, count, index_of, unknown
from sequoia.problem.tables import TableSet
from sequoia.sizes import MOST_STEPS
from sequoia.validation import ActionArray, FloatArray, IntArray, whole


@dataclass(frozen=True)
class SpendingLimit:
    """At most so many visits in each window of steps.

    Attributes
    ----------
    name
        What it is called, such as ``"visits a month"``.
    most
        Action columns that may be chosen in a window, counted in every step.
    steps
        Length of a window; they follow each other.
    actions
        Which columns count; all of them where none is named.
    spent, into
        What is spent of the first window before the first step, and how many of its steps are over.

    Examples
    --------
    >>> from sequoia import SpendingLimit
    >>> print(SpendingLimit('visits a month', most=20, steps=30))
    visits a month: at most 20 visits in 30 steps
    """

    name: str
    most: int
    steps: int
    actions: Sequence[str] = ()
    spent: int = 0
    into: int = 0

    def __post_init__(self) -> None:
        where = f"budgets[{self.name}]"
        for key, least, most in (
            ("most", 0, 10**9),
            ("steps", 1, MOST_STEPS),
            ("spent", 0, self.most),
            ("into", 0, self.steps - 1),
        ):
            value = whole(f"{where}.{key}", getattr(self, key), least, most)
            object.__setattr__(self, key, value)
        object.__setattr__(self, "actions", tuple(self.actions))

    def __str__(self) -> str:
        whom = f" of {len(self.actions)} actions" if self.actions else ""
        return (
            f"{self.name}: at most {count(self.most, 'visit')}{whom} in {count(self.steps, 'step')}"
        )

    def to_options(self) -> dict[str, Any]:
        """Return this limit as options for TOML."""
        return {**vars(self), "actions": list(self.actions)}


def read_limits(
    content: TableSet, entries: Sequence[Any], names: Sequence[str]
) -> list[SpendingLimit]:
    """Read limits from options, about action columns called ``names``."""
    limits = []
    for index, entry in enumerate(entries):
        part = content.part(
            entry if type(entry) is dict else {}, f"{content.where} budgets[{index}]"
        )
        part.known({"name", "most", "steps", "actions", "spent", "into"})
        actions = part.option("actions", list, [])
        part.found.extend(unknown(part.where, names, name) for name in actions if name not in names)
        given = {key: part.option(key, int, default, least=0) for key, default in _NUMBERS.items()}
        name = part.option("name", str)
        content.settle()
        limits.append(SpendingLimit(name, actions=actions, **given))
    return limits


_NUMBERS: dict[str, int | None] = {"most": None, "steps": None, "spent": 0, "into": 0}


@dataclass(frozen=True, eq=False)
class Purse:
    """Spending so far of each limit, and the place in its window, as states of further arms.

    These arms earn nothing, nothing reaches them, and their state is a digit of a number, to the
    base of the number of states that arms have.

    Attributes
    ----------
    limits
        The budgets, R of them.
    arms
        The arms without digits.
    matrix
        Which columns count for each limit, ``(R, N)``.
    """

    limits: Sequence[SpendingLimit]
    arms: Arms
    matrix: csr_array

    @classmethod
    def of(cls, limits: Sequence[SpendingLimit], arms: Arms, names: Sequence[str]) -> "Purse":
        """Return the purse of a problem with these arms and action columns."""
        if arms.n_states < 2:
            raise ProblemError("budgets over several steps need arms with two states or more.")
        rows = np.zeros((len(limits), len(names)))
        for row, limit in enumerate(limits):
            where = f"budgets[{limit.name}].actions"
            chosen = [index_of(where, names, name) for name in limit.actions]
            rows[row, chosen or slice(None)] = 1.0
        return cls(tuple(limits), arms, csr_array(rows))

    @property
    def n_arms(self) -> int:
        """The number of arms without digits, ``J``."""
        return self.arms.n_arms

    @property
    def base(self) -> int:
        """The number of states of an arm, ``S``."""
        return self.arms.n_states

    @cached_property
    def _sizes(self) -> list[int]:
        """The number of digits of each number: what is spent, then the step, limit by limit."""
        largest = [n for limit in self.limits for n in (limit.most, limit.steps - 1)]
        return [_digits(number, self.base) for number in largest]

    @property
    def n_digits(self) -> int:
        """The number of further arms."""
        return sum(self._sizes)

    def numbers(self, states: IntArray) -> tuple[IntArray, IntArray]:
        """Return what is spent, and the step of the window, by limit, ``(B, R)`` each."""
        digits = states[:, self.n_arms :]
        numbers, first = [], 0
        for size in self._sizes:
            powers = self.base ** np.arange(size)
            numbers.append(digits[:, first : first + size] @ powers)
            first += size
        values = np.array(numbers).T.reshape(len(states), len(self.limits), 2)
        return values[:, :, 0], values[:, :, 1]

    def digits(self, spent: IntArray, step: IntArray) -> IntArray:
        """Return the digits of numbers, ``(B, R)`` each, as states of the further arms."""
        numbers = np.stack([spent, step], axis=2).reshape(len(spent), 2 * len(self.limits))
        parts = [
            number[:, None] // self.base ** np.arange(size) % self.base
            for number, size in zip(numbers.T, self._sizes, strict=True)
        ]
        return np.concatenate(parts, axis=1)

    def first_digits(self) -> IntArray:
        """Return the states of the further arms before the first step, ``(D,)``."""
        spent = np.array([[limit.spent for limit in self.limits]])
        into = np.array([[limit.into for limit in self.limits]])
        first: IntArray = self.digits(spent, into)[0]
        return first

    def after(self, states: IntArray, actions: ActionArray) -> IntArray:
        """Return the digits after a step with ``actions``, ``(B, N)``."""
        spent, step = self.numbers(states)
        most = np.array([limit.most for limit in self.limits])
        length = np.array([limit.steps for limit in self.limits])
        # Training asks what actions beyond a limit would earn; more than all cannot be spent.
        spent = np.minimum(
            spent + (actions.astype(np.float64) @ self.matrix.T).astype(np.int64), most
        )
        is_over = step + 1 >= length
        return self.digits(np.where(is_over, 0, spent), np.where(is_over, 0, step + 1))

    def left(self, states: IntArray) -> IntArray:
        """Return what may still be spent in the window, ``(B, R)``."""
        spent, _ = self.numbers(states)
        left: IntArray = np.array([limit.most for limit in self.limits]) - spent
        return left

    def bounded(
        self, states: IntArray, kept: IntArray, limits: ActionLimits | None, most: float
    ) -> ActionLimits:
        """Return ``limits`` with rows for what is left, less what is ``kept``, ``(B, R)``.

        Rows that bind nobody, because no action has more than ``most`` columns, are left open.
        """
        shape = (len(states), self.matrix.shape[1])
        if limits is None:
            limits = ActionLimits(np.zeros(shape), np.ones(shape))
        upper = np.maximum(self.left(states) - kept, limits.lower @ self.matrix.T)
        counted = np.minimum(np.asarray(self.matrix.sum(axis=1)).reshape(-1), most)
        return ActionLimits(
            limits.lower,
            limits.upper,
            self.matrix,
            None,
            np.where(upper >= counted, np.inf, upper),
            [str(limit) for limit in self.limits],
        )

    def extended(
        self, arms: Arms, start: FloatArray, influence: csr_array
    ) -> tuple[Arms, FloatArray, csr_array]:
        """Return arms, first states and influence with the further arms."""
        size = self.n_digits
        still = np.eye(self.base)[None, None].repeat(arms.n_doses, axis=1)
        names = [*arms.names, *(f"spent, digit {digit}" for digit in range(size))]
        is_numbered = isinstance(arms.model_names, Numbered)
        models = Numbered("model", arms.n_models + 1)
        more = replace(
            arms,
            rewards=np.concatenate([arms.rewards, np.zeros((1, self.base))]),
            doses=np.concatenate([arms.doses, arms.doses[:1]]),
            kernels=np.concatenate([arms.kernels, still]),
            model=np.concatenate([arms.model, np.full(size, arms.n_models)]),
            names=names,
            model_names=models if is_numbered else [*arms.model_names, "spent"],
        )
        first = np.eye(self.base)[self.first_digits()]
        nobody = csr_array((size, influence.shape[1]))
        return more, np.concatenate([start, first]), csr_array(sparse.vstack([influence, nobody]))


def _digits(number: int, base: int) -> int:
    size = 1
    while base**size <= number:
        size += 1
    return size
