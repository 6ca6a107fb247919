"""What a model knows its arms by, so that it can be used when the problem has moved on."""

from dataclasses import dataclass

from sequoia.problem import Problem


@dataclass(frozen=True)
class Meaning:
    """The arms of a problem, as far as a model's weights are about them.

    Attributes
    ----------
    states, doses
        How many each arm has.
    names, groups
        The name and the model of each arm.
    acts_on_arms
        Whether each action is one arm.
    is_coupled
        Whether arms depend on each other's states.
    """

    states: int
    doses: int
    names: list[str]
    groups: list[str]
    acts_on_arms: bool
    is_coupled: bool


def meaning_of(problem: Problem) -> Meaning:
    """Return what a model of ``problem`` is about."""
    arms = problem.arms
    return Meaning(
        states=arms.n_states,
        doses=arms.n_doses,
        names=list(arms.names),
        groups=[arms.model_names[model] for model in arms.model.tolist()],
        acts_on_arms=problem.is_identity,
        is_coupled=not problem.is_decoupled,
    )
