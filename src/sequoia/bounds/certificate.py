"""A number that no policy can beat, and what ended the search for a better one."""

import time
from dataclasses import dataclass
from typing import Literal

from sequoia.proof import StoppedBy
from sequoia.shown import Shown

Kind = Literal["lp", "hull", "factored", "clairvoyant"]


@dataclass(frozen=True, repr=False)
class Bound(Shown):
    """No policy's expected reward exceeds it.

    Attributes
    ----------
    total
        Bound on the expected sum of the rewards of all steps; discounted and without end when
        the question was.
    per_step
        The same per step: divided by the horizon, or by the sum of the discounts.
    kind
        ``"lp"``: the rules hold on average and in fractions. ``"hull"``: they hold on average,
        over whole actions. ``"factored"``: for arms that interact; clusters of arms agree with
        each other and with the rules on average. ``"clairvoyant"``: of one who knows the luck
        beforehand and pays for knowing it; an estimate, with a margin.
    seconds
        Time it took.
    gap
        How far the bound may still be, relatively, from the best of its kind; ``inf`` where that
        is not known. The bound is valid whatever the gap.
    margin
        Half of the 95 % confidence interval of ``total``; 0 where nothing is estimated.
    detail
        What else there is to say about how it was found.
    stopped_by
        What ended the search for a better one. ``"optimum"``: there is none of its kind, within
        the gap asked for. ``"work"``: it had its rounds. ``"clock"``: time was up; only then does
        the number depend on the machine.
    """

    total: float
    per_step: float
    kind: Kind
    seconds: float
    gap: float = float("inf")
    margin: float = 0.0
    detail: str = ""
    stopped_by: StoppedBy = "work"

    def _lines(self) -> list[str]:
        """Return the number, how it was found, and how far it is from the best of its kind."""
        margin = f" ± {self.margin_per_step:.2g}" if self.margin else ""
        lines = [f"No policy earns more than {self.per_step:.5g}{margin} per step"]
        lines.append(f"{self.kind}, {self.total:.6g} in all, {self.seconds:.2g} s")
        if 0 < self.gap < float("inf"):
            lines.append(f"the best of its kind is at most {100 * self.gap:.2g} % lower")
        return lines

    @property
    def margin_per_step(self) -> float:
        """The margin of ``per_step``; of a bound of 0, that of the sum, which is not less."""
        return self.margin * self.per_step / self.total if self.total else self.margin


class Deadline:
    """Until when a search may go on; searches end by their work, unless this comes first.

    Attributes
    ----------
    has_cut
        Whether it ended anything: then the result depends on the machine, and has to say so.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.perf_counter() + seconds
        self.has_cut = False

    @property
    def left(self) -> float:
        """Seconds that are left; never negative."""
        return max(self._end - time.perf_counter(), 0.0)

    def is_over(self) -> bool:
        """Say whether time is up; whoever asks stops then, so that it is noted."""
        self.has_cut |= time.perf_counter() >= self._end
        return self.has_cut
