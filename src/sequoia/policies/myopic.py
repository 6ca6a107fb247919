"""The best action for the next step, by a mixed-integer program."""

from sequoia.policies.policy import LinearPolicy, Options, Style, require_problem
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.validation import FloatArray


class Myopic(LinearPolicy):
    """The largest expected reward of the next state, over the whole space (paper, section 5).

    Dose levels are tabulated, so the program is exact behind a link function too; the paper
    approximates the link by straight pieces.
    """

    name = "myopic"
    words = "the best decision for the next step"
    objective = "for the next step"
    style = Style("#009E73", "<")

    @classmethod
    def make(cls, environment: Environment, options: Options) -> "Myopic":
        """Make it for a problem of arms."""
        return cls(require_problem(environment, cls.name), seconds=options.seconds)

    def table(self, state: States, step: int, episode: int) -> FloatArray:  # noqa: ARG002
        """Return the expected next reward of every arm by dose level, ``(J, L)``."""
        return self._problem.dose_rewards(state)
