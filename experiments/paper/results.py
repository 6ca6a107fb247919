"""What a sweep found, by setting, size, policy and seed."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from sequoia.errors import FileError
from sequoia.sweep.folder import NUMBERS, TIMES
from sequoia.sweep.run_cell import PolicyTimes
from sequoia.sweep.tables import read_rows
from sequoia.validation import FloatArray


@dataclass(frozen=True)
class Record:
    """What a policy did on one problem.

    Attributes
    ----------
    arms
        Number of arms, or of items; 0 where the family has no such knob.
    mean, random, bound
        Reward per step: of the policy, at random, and what no policy exceeds on average.
    """

    family: str
    arms: int
    seed: int
    policy: str
    mean: float
    random: float
    bound: float | None
    times: PolicyTimes

    @property
    def relative(self) -> float:
        """Reward as a multiple of random's."""
        return self.mean / self.random


@dataclass(frozen=True)
class Results:
    """Records of everything that is done."""

    records: tuple[Record, ...]

    @classmethod
    def read(cls, path: Path) -> "Results":
        """Read the tables of a sweep; they are all that is needed."""
        table = TIMES
        try:
            times = {_place(row): _times(row) for row in read_rows(path / TIMES)}
            table = NUMBERS
            rows = [row for row in read_rows(path / NUMBERS) if row["mean"]]
            return cls(tuple(_record(row, times[_place(row)]) for row in rows))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise FileError(f"{path / table} is not what a sweep wrote: {error!r}.") from None

    @cached_property
    def _by_place(self) -> dict[tuple[str, int, str], dict[int, Record]]:
        places: dict[tuple[str, int, str], dict[int, Record]] = {}
        for one in self.records:
            places.setdefault((one.family, one.arms, one.policy), {})[one.seed] = one
        return places

    def sizes(self, family: str) -> list[int]:
        """Return the numbers of arms that were done in a setting."""
        return sorted({one.arms for one in self.records if one.family == family})

    def policies(self, family: str, arms: int) -> list[str]:
        """Return the policies that were played there."""
        return [name for place, size, name in self._by_place if (place, size) == (family, arms)]

    def of(self, family: str, arms: int, policy: str) -> dict[int, Record]:
        """Return the records of a policy by seed; empty where there are none."""
        return self._by_place.get((family, arms, policy), {})

    def relative(self, family: str, arms: int, policy: str) -> FloatArray:
        """Return rewards as multiples of random's, one per seed."""
        return _array(one.relative for one in self.of(family, arms, policy).values())

    def bounds(self, family: str, arms: int, policy: str) -> FloatArray:
        """Return bounds as multiples of random's reward, one per seed."""
        own = self.of(family, arms, policy).values()
        return _array(one.bound / one.random for one in own if one.bound is not None)

    def percent_of_bound(self, family: str, arms: int, policy: str) -> FloatArray:
        """Return rewards in per cent of the bound, one per seed."""
        own = self.of(family, arms, policy).values()
        return _array(100 * one.mean / one.bound for one in own if one.bound)

    def percent_over(self, family: str, arms: int, policy: str, *others: str) -> FloatArray:
        """Return by how many per cent a policy earns more than the best of some others, by seed.

        Seeds that one of them lacks are left out; others that do not apply are, too.
        """
        mine = self.of(family, arms, policy)
        theirs = [own for name in others if (own := self.of(family, arms, name))]
        if not theirs:
            return _array(())
        shared = [seed for seed in mine if all(seed in own for own in theirs)]
        return _array(
            100 * (mine[seed].mean / max(own[seed].mean for own in theirs) - 1) for seed in shared
        )


def _place(row: Mapping[str, str]) -> tuple[str, ...]:
    return row["problem"], row["seed"], row["policy"]


def _record(row: Mapping[str, str], times: PolicyTimes) -> Record:
    return Record(
        family=row["family"],
        arms=int(row.get("arms") or row.get("items") or 0),
        seed=int(row["seed"]),
        policy=row["policy"],
        mean=_finite(row["mean"]),
        random=_finite(row["random"]),
        bound=_finite(row["bound"]) if row["bound"] else None,
        times=times,
    )


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number")
    return number


def _times(row: Mapping[str, str]) -> PolicyTimes:
    return PolicyTimes(
        decisions=int(row["decisions"]),
        at_limit=int(row["decisions_at_limit"]),
        mean=float(row["decision_ms_mean"]) / 1000,
        median=float(row["decision_ms_median"]) / 1000,
        slow=float(row["decision_ms_slow"]) / 1000,
        slowest=float(row["decision_ms_slowest"]) / 1000,
        training=float(row["training_seconds"]) if row["training_seconds"] else None,
    )


def standard_error(values: FloatArray) -> float:
    """Return the standard error of a mean; NaN when there is one value."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _array(values: Iterable[float]) -> FloatArray:
    return np.array(list(values), dtype=np.float64)
