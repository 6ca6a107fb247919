"""The result of an evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args

import numpy as np

from sequoia.bounds.certificate import Bound, Kind
from sequoia.errors import ProblemError
from sequoia.evaluation.intervals import Estimate, estimate
from sequoia.frames import Library, frame_of
from sequoia.problem.names import count, say
from sequoia.shown import Columns, Shown
from sequoia.simulate import Episode
from sequoia.solvers.registry import DEFAULT
from sequoia.validation import BoolArray, FloatArray

# A sum of a thousand numbers is exact to about this, relatively.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Shown):
    """Rewards of several policies that had the same starts and the same luck.

    Attributes
    ----------
    problem, fingerprint
        Name and content of the problem.
    seed
        Of the scenarios and of the policies.
    names
        The policies, P of them.
    rewards
        Expected reward of the next state, summed over arms, ``(P, E, H)``.
    seconds
        Time that each decision took, ``(P, E, H)``.
    gaps
        How far each decision may be from the best by its own objective, relatively,
        ``(P, E, H)``; NaN where nothing is proven.
    is_at_limit
        Which decisions a limit of time or work cut off, ``(P, E, H)``.
    is_late
        Which of these the clock cut off, ``(P, E, H)``: only they may depend on the machine.
    random
        Rewards of acting at random, which all others are measured by, ``(E, H)``.
    bound
        No policy earns more on average; ``None`` when it was not asked for.
    examples
        The first episode of each policy.
    source
        The file of the problem, as seen from where this evaluation is saved.
    solver
        Who solved the programs.
    """

    problem: str
    fingerprint: str
    seed: int
    names: Sequence[str]
    rewards: FloatArray
    seconds: FloatArray
    gaps: FloatArray
    is_at_limit: BoolArray
    is_late: BoolArray
    random: FloatArray
    bound: Bound | None = None
    examples: Mapping[str, Episode] = field(default_factory=dict)
    source: str | None = None
    solver: str = DEFAULT

    def _lines(self) -> list[str]:
        """Return which policies earn most, and how far the bound is."""
        best, ties = self.best, self.as_good_as_best[1:]
        tied = f", a tie with {say([n for n in self.as_good_as_best if n != best])}" if ties else ""
        lines = [
            f"Evaluation of {self.problem!r}: {count(len(self.names), 'policy', 'policies')}, "
            f"{count(self.n_episodes, 'episode')}, seed {self.seed}",
            f"best: {best}, {self.mean(best)} per step{tied}",
        ]
        if self.bound is not None:
            lines.append(f"no policy earns more than {per_step(self.bound, 5)} per step")
        return lines

    def _shown_table(self) -> Columns:
        """Return a row for each policy, the best first."""
        order = sorted(self.names, key=lambda name: -self.mean(name).mean)
        means = [self.mean(name) for name in order]
        behind = [self.paired(name, self.best) for name in order]
        columns: dict[str, list[Any]] = {
            "policy": order,
            "mean": [mean.mean for mean in means],
            "low": [mean.low for mean in means],
            "high": [mean.high for mean in means],
            "to_best": [gap.mean for gap in behind],
            "to_best_low": [gap.low for gap in behind],
            "to_best_high": [gap.high for gap in behind],
            "percent_of_bound": [self.percent_of_bound(name) for name in order],
            "ms_per_decision": [self.ms_per_decision(name) for name in order],
        }
        if self.bound is None:
            del columns["percent_of_bound"]
        return columns

    def summary(self, library: Library = "pandas") -> Any:
        """Return a data frame with a row for each policy, the best first.

        ``mean`` is per step, ``low`` and ``high`` end its 95 % interval; ``to_best`` is the paired
        difference to the best policy.
        """
        return frame_of(self._shown_table(), library)

    def to_frame(self, library: Library = "pandas") -> Any:
        """Return a data frame with a row for each decision.

        Its columns are ``policy``, ``episode``, ``step``, ``reward``, ``seconds``, ``gap``,
        ``is_at_limit`` and ``is_late``.
        """
        policy, episode, step = np.indices(self.rewards.shape).reshape(3, -1)
        columns: dict[str, Any] = {
            "policy": [self.names[p] for p in policy.tolist()],
            "episode": episode,
            "step": step,
            "reward": self.rewards.reshape(-1),
            "seconds": self.seconds.reshape(-1),
            "gap": self.gaps.reshape(-1),
            "is_at_limit": self.is_at_limit.reshape(-1),
            "is_late": self.is_late.reshape(-1),
        }
        return frame_of(columns, library)

    @property
    def n_episodes(self) -> int:
        """``E``."""
        return int(self.rewards.shape[1])

    def index(self, name: str) -> int:
        """Return the position of a policy."""
        if name not in self.names:
            raise ProblemError(f"{name!r} was not evaluated; there are {', '.join(self.names)}.")
        return list(self.names).index(name)

    @cached_property
    def _per_episode(self) -> FloatArray:
        """Mean reward per step, ``(P, E)``."""
        means: FloatArray = self.rewards.mean(axis=2)
        return means

    def mean(self, name: str) -> Estimate:
        """Return the mean reward per step with its 95 % confidence interval."""
        return estimate(self._per_episode[self.index(name)])

    def paired(self, name: str, other: str) -> Estimate:
        """Return by how much ``name`` earns more per step than ``other``, episode by episode.

        Both had the same luck in each episode, so the interval is narrower than those of the
        means suggest.
        """
        return self._difference(name, self._per_episode[self.index(other)])

    def over_random(self, name: str) -> Estimate:
        """Return by how much ``name`` earns more per step than random, episode by episode."""
        return self._difference(name, self.random.mean(axis=1))

    def _difference(self, name: str, others: FloatArray) -> Estimate:
        """Estimate the mean difference to rewards of the same episodes, ``(E,)``."""
        rewards = self._per_episode[self.index(name)]
        # Equal rewards that are summed in another order differ in their last digits.
        is_equal = np.isclose(rewards, others, rtol=_ROUNDING, atol=0.0)
        return estimate(np.where(is_equal, 0.0, rewards - others))

    def relative_to_random(self, name: str) -> float | None:
        """Return the mean as a multiple of random's, unless random earns nothing."""
        base = float(self.random.mean(axis=1).mean())
        return self.mean(name).mean / base if base > 0 else None

    def percent_of_bound(self, name: str) -> float | None:
        """Return the mean in per cent of the bound, where there is a positive one."""
        if self.bound is None or self.bound.per_step <= 0:
            return None
        return 100 * self.mean(name).mean / self.bound.per_step

    def ms_per_decision(self, name: str) -> float:
        """Return the mean time of a decision in milliseconds."""
        return float(1000 * self.seconds[self.index(name)].mean())

    def decisions_at_limit(self, name: str) -> int:
        """Return how many decisions of a policy were cut off by a limit."""
        return int(self.is_at_limit[self.index(name)].sum())

    def decisions_by_clock(self, name: str) -> int:
        """Return how many decisions of a policy were cut off by the clock."""
        return int(self.is_late[self.index(name)].sum())

    def gaps_at_limit(self, name: str) -> tuple[float, float] | None:
        """Return the mean and the largest gap of decisions that were cut off, if any were."""
        row = self.index(name)
        gaps = self.gaps[row][self.is_at_limit[row]]
        return (float(gaps.mean()), float(gaps.max())) if len(gaps) else None

    @property
    def best(self) -> str:
        """The policy with the largest mean."""
        return self.names[int(np.argmax(self._per_episode.mean(axis=1)))]

    @cached_property
    def as_good_as_best(self) -> tuple[str, ...]:
        """The best, and those whose difference to it may be luck: its interval includes 0."""
        best = self.best
        return tuple(
            name for name in self.names if name == best or self.paired(name, best).includes_zero
        )

    def to_json(self) -> dict[str, Any]:
        """Return what ``sequoia evaluate --json`` prints."""
        return {
            "problem": self.problem,
            "fingerprint": self.fingerprint,
            "solver": self.solver,
            "bound": None if self.bound is None else bound_to_json(self.bound),
            "policies": {name: self._summary_of(name) for name in self.names},
        }

    def _summary_of(self, name: str) -> dict[str, float | None]:
        mean = self.mean(name)
        gaps = self.gaps_at_limit(name)
        return {
            "mean": mean.mean,
            "low": number(mean.low),
            "high": number(mean.high),
            "percent_of_bound": self.percent_of_bound(name),
            "relative_to_random": self.relative_to_random(name),
            "ms_per_decision": self.ms_per_decision(name),
            "decisions_at_limit": self.decisions_at_limit(name),
            "decisions_by_clock": self.decisions_by_clock(name),
            "mean_gap_at_limit": None if gaps is None else number(gaps[0]),
            "largest_gap_at_limit": None if gaps is None else number(gaps[1]),
        }


def number(value: float) -> float | None:
    """Return a number as JSON can hold it: what is not finite is ``None``."""
    return float(value) if np.isfinite(value) else None


def per_step(bound: Bound, digits: int) -> str:
    """Say a bound per step, with its margin where it is an estimate."""
    text = f"{bound.per_step:.{digits}g}"
    if not bound.margin:
        return text
    return f"{text} ± {bound.margin_per_step:.2g}"


def bound_to_json(bound: Bound) -> dict[str, Any]:
    """Return a bound as ``sequoia bound --json`` prints it."""
    content = {
        "kind": bound.kind,
        "per_step": bound.per_step,
        "total": bound.total,
        "gap": number(bound.gap),
        "stopped_by": bound.stopped_by,
        "seconds": bound.seconds,
    }
    more = {"margin": bound.margin, "detail": bound.detail}
    return content | {key: value for key, value in more.items() if value}


def bound_from_json(content: Mapping[str, Any]) -> Bound:
    """Return a bound from what `bound_to_json` wrote."""
    total, per_step = float(content["total"]), float(content["per_step"])
    margin, detail = float(content.get("margin", 0.0)), str(content.get("detail", ""))
    # Files of version 0.1 say neither.
    gap, stopped_by = content.get("gap"), content.get("stopped_by", "work")
    kind = content["kind"]
    if kind not in get_args(Kind):
        raise ValueError(f"there is no bound of kind {kind!r}")
    return Bound(
        total,
        per_step,
        kind,
        float(content["seconds"]),
        float("inf") if gap is None else float(gap),
        margin,
        detail,
        stopped_by,
    )
