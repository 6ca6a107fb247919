"""How far a decision can be from the best, and what ended the search for a better one."""

from dataclasses import dataclass
from typing import Literal

# The end of the search, a limit of work, or the clock; then it depends on the machine.
StoppedBy = Literal["optimum", "work", "clock"]

# A proof leaves no more than this share of the value: what solvers promise by default.
PROOF_GAP = 1e-6


@dataclass(frozen=True)
class Proof:
    """How good a decision is by what its policy maximises.

    Attributes
    ----------
    objective
        What that is, in words that go on from "no plan is better".
    gap
        No decision is better by more, relatively.
    stopped_by
        What ended the search for a better one.
    """

    objective: str
    gap: float
    stopped_by: StoppedBy = "optimum"

    @property
    def is_at_limit(self) -> bool:
        """Whether a limit of time or work cut the search off."""
        return self.stopped_by != "optimum"

    @property
    def words(self) -> str:
        """The proof as one sentence."""
        if self.gap <= PROOF_GAP:
            return f"Proven: no plan is better {self.objective}."
        limit = "the clock" if self.stopped_by == "clock" else "a limit"
        cut_off = f" ({limit} cut the proof off)" if self.is_at_limit else ""
        return f"No plan is better {self.objective} by more than {100 * self.gap:.2g} %{cut_off}."


def what_stopped(is_at_limit: bool, is_late: bool) -> StoppedBy:
    """Return what ended a search, from whether a limit did and whether that was the clock."""
    if not is_at_limit:
        return "optimum"
    return "clock" if is_late else "work"
