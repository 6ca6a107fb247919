"""Decisions for a batch of states, with what is proven about them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sequoia.errors import ProblemError
from sequoia.problem import ActionLimits, ActionSpace, Decision
from sequoia.proof import Proof, StoppedBy, what_stopped
from sequoia.validation import ActionArray, BoolArray, FloatArray


class Decided(NamedTuple):
    """One decision, and what is proven about it.

    Attributes
    ----------
    value
        What it is worth by the objective that it was chosen by; NaN where there is none.
    bound
        By that objective, no feasible decision is worth more; ``inf`` where nothing is proven.
    stopped_by
        What ended the search for a better one.
    """

    decision: Decision
    value: float = float("nan")
    bound: float = float("inf")
    stopped_by: StoppedBy = "optimum"


@dataclass(frozen=True, eq=False)
class Decisions:
    """B decisions.

    Attributes
    ----------
    actions
        ``(B, N)``.
    plans
        The plan of each action, which certifies it; ``None`` where only actions are known.
    values, bounds
        As in `Decided`, ``(B,)`` each.
    is_at_limit
        Whether a limit of time or work ended the search for a better one, ``(B,)``.
    is_late
        Whether it was the clock: then the decision may depend on the machine, ``(B,)``.
    seconds
        Time that each took, ``(B,)``; ``None`` where they were made together.
    """

    actions: ActionArray
    plans: Sequence[ActionArray] | None
    values: FloatArray
    bounds: FloatArray
    is_at_limit: BoolArray
    is_late: BoolArray
    seconds: FloatArray | None = None

    @classmethod
    def of(cls, decided: Iterable[Decided], seconds: Sequence[float] | None = None) -> "Decisions":
        """Put single decisions together."""
        each = list(decided)
        sizes = {len(single.decision.action) for single in each}
        if len(sizes) > 1:
            raise ProblemError(
                f"decisions have {min(sizes)} to {max(sizes)} columns, not as many each."
            )
        return cls(
            np.array([single.decision.action for single in each], dtype=np.int8),
            [single.decision.plan for single in each],
            np.array([single.value for single in each], dtype=np.float64),
            np.array([single.bound for single in each], dtype=np.float64),
            np.array([single.stopped_by != "optimum" for single in each], dtype=np.bool_),
            np.array([single.stopped_by == "clock" for single in each], dtype=np.bool_),
            None if seconds is None else np.array(seconds, dtype=np.float64),
        )

    @classmethod
    def of_actions(cls, actions: ActionArray) -> "Decisions":
        """Return actions, ``(B, N)``, about which nothing is said."""
        size = len(actions)
        nothing, unknown = np.full(size, np.nan), np.full(size, np.inf)
        return cls(actions, None, nothing, unknown, *np.zeros((2, size), dtype=np.bool_))

    def __len__(self) -> int:
        return len(self.actions)

    def __getitem__(self, index: int) -> Decision:
        if self.plans is None:
            raise ProblemError("these decisions have no plans; ask the space to certify an action.")
        return Decision(self.actions[index], self.plans[index])

    @property
    def gaps(self) -> FloatArray:
        """The gap of each to the best, relative to its value, ``(B,)``; NaN if not known."""
        scale = np.maximum(np.abs(self.values), np.finfo(np.float64).tiny)
        gaps = np.maximum(self.bounds - self.values, 0.0) / scale
        return np.where(np.isfinite(self.bounds), gaps, np.nan)

    def proof(self, objective: str | None, row: int = 0, offset: float = 0.0) -> Proof | None:
        """Return what is proven about one decision; ``None`` where that is nothing.

        Parameters
        ----------
        objective
            What it was chosen by, in words; ``None`` where that maximises nothing.
        offset
            What is added to its value, where the gap is said relative to that.
        """
        value, bound = float(self.values[row]), float(self.bounds[row])
        if objective is None or not np.isfinite(bound):
            return None
        gap, scale = max(0.0, bound - value), abs(value + offset)
        stopped_by = what_stopped(bool(self.is_at_limit[row]), bool(self.is_late[row]))
        return Proof(objective, gap / scale if scale else gap, stopped_by)

    def broken(
        self, space: ActionSpace, limits: ActionLimits | None = None
    ) -> tuple[int, str] | None:
        """Return a decision that breaks a rule, and which; ``None`` if all are fine.

        ``limits`` are what is allowed in the state of each.
        """
        broken = self._broken(space)
        if broken is None and limits is not None:
            wrong = np.flatnonzero(~limits.holds(self.actions))
            if len(wrong):
                row = int(wrong[0])
                return row, limits.why_not(row, self.actions[row], space.names)
        return broken

    def _broken(self, space: ActionSpace) -> tuple[int, str] | None:
        if self.plans is None:
            wrong = np.flatnonzero(~space.contains(self.actions))
            return (int(wrong[0]), _why_not(space, self.actions[wrong[0]])) if len(wrong) else None
        for index in range(len(self)):
            violations = space.system.violations(self[index])
            if violations:
                return index, "; ".join(violations)
        return None


def _why_not(space: ActionSpace, action: ActionArray) -> str:
    chosen = ", ".join(space.chosen(action)) or "nothing"
    return f"{chosen} cannot be chosen together"
