"""The usual choices: the policy, preset, bound and budget of whoever asks for no other."""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sequoia.problem import Environment
    from sequoia.problem.capabilities import Capabilities

# Longest time for the proof of one decision: a last resort.
DECISION_SECONDS = 10.0
# The same for a plan, which somebody at a desk waits for: routes of many people take as long.
PLANNING_SECONDS = 20.0
# The same where many decisions are compared by playing.
PLAYED_SECONDS = 1.0
# Rollouts of one decision: with 16 candidates, gains of a tenth of their spread are significant.
ROLLOUTS = 512
# Longest time for a bound: a last resort, too.
BOUND_SECONDS = 3_600.0
# Scenarios of a clairvoyant bound: leaves a margin of 0.2 % at 20 nodes of an epidemic, 0.5 % at 8.
BOUND_SCENARIOS = 40
# Episodes of a comparison: paired, they tell apart policies that differ by a percent.
EPISODES = 50
# Episodes where only differences that matter are looked for.
FEW_EPISODES = 10
# Settings of the learner.
PRESET = "default"

# By name, in the order of preference: of policies as good as each other, the first is used.
PLANNERS = ("sequoia", "price", "whittle", "myopic")
# By name, what is compared where there are arms, and where there are none.
COMPARED = ("idle", "random", "sampling", "myopic", "price")
COMPARED_WITHOUT_ARMS = ("idle", "random", "lookahead")


def planning_policy(environment: "Environment", *, has_model: bool, has_prices: bool) -> str:
    """Return the policy that plans: the model's, by prices, or the best for the next step."""
    if has_model:
        return "sequoia"
    if _abilities(environment).problem is None:
        return "lookahead"
    return "price" if has_prices else "myopic"


def compared_policies(environment: "Environment", *, has_model: bool) -> list[str]:
    """Return the policies that are compared."""
    has_arms = _abilities(environment).problem is not None
    named = COMPARED if has_arms else COMPARED_WITHOUT_ARMS
    return [*named, "sequoia"] if has_model else [*named]


def model_rivals(environment: "Environment") -> list[str]:
    """Return the policies that a trained model is best compared with at first."""
    others = ("random", "myopic", "price", "lookahead")
    return [name for name in compared_policies(environment, has_model=False) if name in others]


def bound_kind(environment: "Environment") -> Literal["lp", "factored", "clairvoyant"]:
    """Return the kind of bound: by arms, by clusters of arms that interact, or by scenarios."""
    problem = _abilities(environment).problem
    if problem is None:
        return "clairvoyant"
    return "lp" if problem.is_decoupled else "factored"


def _abilities(environment: "Environment") -> "Capabilities":
    # Commands that record read the numbers above, and need no spaces.
    from sequoia.problem import capabilities_of

    return capabilities_of(environment)
