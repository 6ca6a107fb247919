"""A published rule for arms that infect each other: fewest infectious edges."""

from sequoia.errors import ProblemError
from sequoia.policies.policy import LinearPolicy, Style
from sequoia.problem import Problem
from sequoia.problem.environment import States
from sequoia.validation import FloatArray

# Ranks an infectious arm without healthy neighbours before one that is not infectious at all.
_LEAST = 1e-3


class Lrie(LinearPolicy):
    """Treats the infectious arms whose cure removes most infectious edges (LRIE).

    The score of an infectious arm is how strongly it presses on neighbours that are not infectious,
    less how strongly those that are press on it. Scaman, Kalogeratos and Vayatis, A greedy approach
    for dynamic control of diffusion processes in networks, ICTAI 2015.
    """

    name = "lrie"
    words = "cures whoever has most healthy and fewest ill neighbours (LRIE, 2015)"
    objective = "for the next infections"
    style = Style("#8C6BB1", "v")

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        if problem.contagion is None:
            raise ProblemError(f"lrie needs arms that infect each other; {problem.name} has none.")
        self._neighbours, self._sources = problem.contagion.neighbours, problem.contagion.sources

    def table(self, state: States, step: int, episode: int) -> FloatArray:
        """Return the score of treatment, and of more treatment as much, ``(J, L)``."""
        is_ill = self._sources[state] > 0
        edges = self._neighbours.T @ ~is_ill - self._neighbours @ is_ill
        # Scores are shifted above 0, so that treatments that are left go to the ill.
        score = is_ill * (edges - edges.min() + _LEAST)
        worth: FloatArray = score[:, None] * (self._problem.arms.doses[0] > 0)
        return worth
