"""A decision in one state of any environment, and what is proven about it."""

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sequoia.defaults import DECISION_SECONDS, planning_policy
from sequoia.policies import QFunction, make_policy
from sequoia.policies.registry import policy_called
from sequoia.problem import Decision, Environment, space_at
from sequoia.problem.environment import States
from sequoia.problem.names import count
from sequoia.problem.spaces.base import Task
from sequoia.proof import Proof
from sequoia.rng import stream
from sequoia.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Shown):
    """A plan for one state.

    Attributes
    ----------
    problem
        The environment that it is for.
    state
        ``(D,)``.
    policy
        The name of the policy that made it.
    proof
        What is proven by what the policy itself maximises; ``None`` where that is nothing.
    """

    problem: Environment
    state: States
    policy: str
    decision: Decision
    proof: Proof | None
    seconds: float

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks: a worker, a place, a time, and an action each."""
        return self.problem.space.tasks(self.decision)

    @property
    def proof_in_words(self) -> str:
        """The proof as one sentence."""
        if self.proof is None:
            return f"Nothing is proven about {self.policy} plans."
        return self.proof.words

    def _lines(self) -> list[str]:
        """Return how much there is to do, and how good it is."""
        tasks = count(len(self.tasks), "task")
        return [f"Plan of {self.problem.name!r} by {self.policy}: {tasks}", self.proof_in_words]


def plan_state(
    environment: Environment,
    state: States | None = None,
    policy: str | None = None,
    *,
    model: QFunction | None = None,
    seconds: float = DECISION_SECONDS,
) -> Plan:
    """Plan one step of any environment.

    Parameters
    ----------
    state
        ``(D,)``; the first one unless given.
    policy
        A name known to `make_policy`; unless given, ``"sequoia"`` with a model and ``"lookahead"``
        without one.
    seconds
        Longest time for the decision; a last resort.
    """
    name = policy or planning_policy(environment, has_model=model is not None, has_prices=False)
    if state is None:
        state = environment.draw_start(np.random.default_rng(0), 1)[0]
    began = time.perf_counter()
    acting = make_policy(name, environment, model, seconds=seconds)
    acting.reset(1)
    made = acting.act(state[None], 0, [stream(0, f"policy:{name}:plan")])
    decision = space_at(environment, state, 0).certify(made.actions[0])
    proof = made.proof(policy_called(name).objective)
    return Plan(environment, state, name, decision, proof, time.perf_counter() - began)
