"""Rollouts at decision time: improve on any policy, where the gain is significant."""

from collections.abc import Callable

import numpy as np
from scipy.special import stdtrit

from sequoia.defaults import ROLLOUTS
from sequoia.models.model import QFunction
from sequoia.optimize.auto import RolloutAuto, within_limits
from sequoia.optimize.encoding import ActionEncoding
from sequoia.policies.greedy import what_is_forced
from sequoia.policies.learned import Sequoia
from sequoia.policies.policy import Options, Policy, StatewisePolicy, Style
from sequoia.problem import Decision, Environment, Problem, capabilities_of, limits_of, space_at
from sequoia.problem.capabilities import MakesPlans
from sequoia.problem.environment import States
from sequoia.simulate import Decided, Scenarios, rollout
from sequoia.simulate.paired_rollouts import (
    Act,
    Candidates,
    WholeCredit,
    compare,
    drops_for,
    neighbours,
    that_matter,
)
from sequoia.validation import ActionArray, FloatArray, IntArray

# What inputs are worth, ``(B, I)``, from states and steps.
Weigh = Callable[[States, IntArray], FloatArray]

# Half of the rollouts go to all candidates, half to the few that then look best.
_FINALISTS = 4
_CANDIDATES = 16
# How far ahead; what an action changes has mostly passed by then, and noise has not.
_DEPTH = 20
# The chance of an override that is no gain, for a whole decision.
_LEVEL = 0.05
# Candidates that are looked at for one that is played.
_LOOKED_AT = 3
# Episodes in which plans and a model are compared: where it matters, they are far apart.
_EPISODES = 4


class Lookahead(StatewisePolicy):
    """Plays neighbours of a base policy's action, and takes one that is significantly better.

    Each neighbour and the base action are played under the same luck, following the base policy
    afterwards: the rollout algorithm (Bertsekas 2020). The best few are played again; one is taken
    if its mean gain there is above 0 by a t-test, at a level shared among them. So on top of a good
    policy it changes little, and what it changes is a gain.

    Parameters
    ----------
    base
        Acts in the rollouts, on a batch: from states, steps and uniforms to actions.
    weigh
        What the inputs of the objective are worth by the base: by this, neighbours are found. The
        columns of the base action come first, unless it is given.
    rollouts
        Of one decision, all candidates together: the time that it takes grows with it.
    """

    name = "lookahead"
    words = "the best of a few neighbours of another policy's decision, by rollouts"
    objective = "by rollouts"
    style = Style("#56B4E9", "X")

    def __init__(
        self,
        environment: Environment,
        base: Act,
        weigh: Weigh | None = None,
        *,
        rollouts: int = ROLLOUTS,
        depth: int = _DEPTH,
    ) -> None:
        self._environment, self._base, self._weigh = environment, base, weigh
        self._rollouts, self._depth = rollouts, depth
        self._encoding = ActionEncoding.of(environment)
        self._argmax = RolloutAuto(self._encoding)

    @classmethod
    def make(cls, environment: Environment, options: Options) -> Policy:
        """Look ahead over a trained model; without one over myopic, or over random decisions.

        Where what earns needs preparation, rollouts tell little: there an environment that knows
        what leads to its rewards is asked for plans instead, unless the model earns more.
        """
        encoding = ActionEncoding.of(environment)
        plans = plans_for(environment)
        if plans is not None:
            if options.model is None:
                return plans
            model = Sequoia.make(environment, options)
            if _earned(environment, plans) > _earned(environment, model):
                return plans
        weigh: Weigh | None = None
        if options.model is not None:
            base, weigh = _over_model(options.model, environment, encoding)
        elif (problem := capabilities_of(environment).problem) is not None:
            base, weigh = _over_myopic(problem, encoding)
        else:
            base = _over_random(environment, encoding)
        return cls(environment, base, weigh, rollouts=options.rollouts)

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decided:
        """Return the base action, or a neighbour that is significantly better."""
        space = self._environment.space
        states, steps = state[None], np.array([step])
        action = self._base(states, steps, rng.random((1, space.n_actions)))
        weights = self._weights(states, steps, action, rng)
        best = within_limits(self._argmax, limits_of(self._environment, states, steps))
        drops = drops_for(self._environment)
        tried = neighbours(weights, action, best, _LOOKED_AT * _CANDIDATES, 1, rng, drops)
        tried = that_matter(self._environment, states, action, tried, _CANDIDATES, rng)
        if not len(tried.actions):
            return Decided(space.certify(action[0]))
        others = np.unique(tried.actions, axis=0)
        each = max(2, self._rollouts // (2 * len(others)))
        gains = self._gains(state, step, action, others, each, rng)
        finalists = others[np.argsort(-gains.mean(axis=1), kind="stable")[:_FINALISTS]]
        each = max(2, self._rollouts // (2 * len(finalists)))
        gains = self._gains(state, step, action, finalists, each, rng)
        leader = int(gains.mean(axis=1).argmax())
        chosen = finalists[leader] if is_gain(gains[leader], len(finalists)) else action[0]
        return Decided(space.certify(chosen))

    def _weights(
        self, states: States, steps: IntArray, action: ActionArray, rng: np.random.Generator
    ) -> FloatArray:
        if self._weigh is not None:
            return self._weigh(states, steps)
        weights = np.zeros((1, self._encoding.n_inputs))
        weights[:, : action.shape[1]] = action + 0.5 * rng.random(action.shape)
        return weights

    def _gains(
        self,
        state: States,
        step: int,
        action: ActionArray,
        tried: ActionArray,
        rollouts: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Return what each action earns more than the base's in each rollout, ``(C, R)``."""
        # One copy of the state for each luck, which all candidates share.
        luck = np.repeat(np.arange(rollouts), len(tried))
        rows = Candidates(luck, np.tile(tried, (rollouts, 1)))
        credit = WholeCredit(len(luck))
        compare(
            self._environment,
            self._base,
            np.repeat(state[None], rollouts, axis=0),
            np.full(rollouts, step),
            np.repeat(action, rollouts, axis=0),
            rows,
            credit,
            1,
            self._depth,
            rng,
        )
        return credit.values.reshape(rollouts, len(tried)).T


def _earned(environment: Environment, policy: Policy) -> float:
    """Return what a policy earns in a few episodes, always the same."""
    scenarios = Scenarios.sample(environment, _EPISODES, 0)
    return float(rollout(environment, policy, scenarios).rewards.sum())


def is_gain(gains: FloatArray, tests: int) -> bool:
    """Say whether the mean is above 0, one-sided, at a level shared among so many tests."""
    if len(gains) < 2:
        return False
    count, spread = len(gains), float(gains.std(ddof=1))
    needed = stdtrit(count - 1, 1 - _LEVEL / tests) * spread / np.sqrt(count)
    return bool(gains.mean() > needed)


def over_policy(policy: Policy) -> Act:
    """Return a policy that remembers nothing as what a lookahead can be made over."""

    def act(states: States, steps: IntArray, luck: FloatArray) -> ActionArray:
        # The same luck, the same generator: a random policy meets it in both rollouts of a pair.
        seeds = (luck[:, 0] * 2**53).astype(np.int64)
        actions = np.empty(luck.shape, dtype=np.int8)
        for step in np.unique(steps):
            rows = np.flatnonzero(steps == step)
            rngs = [np.random.default_rng(seeds[row]) for row in rows]
            actions[rows] = policy.act(states[rows], int(step), rngs).actions
        return actions

    return act


def _over_model(
    q: QFunction, environment: Environment, encoding: ActionEncoding
) -> tuple[Act, Weigh]:
    """Return the policy of a trained model, and what a column is worth by it."""
    argmax = RolloutAuto(encoding)

    def act(states: States, steps: IntArray, luck: FloatArray) -> ActionArray:  # noqa: ARG001
        return argmax.best_of(q.fold(states, steps), limits_of(environment, states, steps))

    def weigh(states: States, steps: IntArray) -> FloatArray:
        net = q.fold(states, steps)
        if not net.weights:
            return net.linear
        limits = limits_of(environment, states, steps)
        return net.slopes(encoding.encode(argmax.best_of(net, limits)))

    return act, weigh


def _over_myopic(problem: Problem, encoding: ActionEncoding) -> tuple[Act, Weigh]:
    """Return what is best for the next step."""
    argmax = RolloutAuto(encoding)

    def weigh(states: States, steps: IntArray) -> FloatArray:  # noqa: ARG001
        return encoding.objective(problem.dose_rewards(states))[0]

    def act(states: States, steps: IntArray, luck: FloatArray) -> ActionArray:  # noqa: ARG001
        return argmax.best(weigh(states, steps), limits_of(problem, states, steps))

    return act, weigh


def _over_random(environment: Environment, encoding: ActionEncoding) -> Act:
    """Decide at random: the best by weights that are the luck itself."""
    argmax = RolloutAuto(encoding)

    def act(states: States, steps: IntArray, luck: FloatArray) -> ActionArray:
        weights = np.zeros((len(luck), encoding.n_inputs))
        weights[:, : luck.shape[1]] = luck
        return argmax.best(weights, limits_of(environment, states, steps))

    return act


class ByPlans(StatewisePolicy):
    """Takes the first actions of the best plan, then those of the next that go with them.

    So agents that the best plan does not need follow another one. Plans that are worth nothing are
    not followed; where there is no other, nothing is done but what a state forces.

    Raises
    ------
    InfeasibleDecision
        When what a state forces breaks a rule unless more is done: there is nothing to add to.
    """

    name = "lookahead"

    def __init__(self, environment: MakesPlans) -> None:
        self._environment = environment

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decision:
        """Return what plans begin with."""
        space = space_at(self._environment, state, step)
        action = what_is_forced(self._environment, self.name, state, step).action
        left = self._environment.horizon - step
        for worth, columns in self._environment.relaxed_plans(state, left):
            if worth <= 0:
                break
            for column in columns:
                more = action.copy()
                more[column] = 1
                if space.contains(more[None])[0]:
                    action = more
        return space.certify(action)


def plans_for(environment: Environment) -> ByPlans | None:
    """Return the policy, where plans have something to do in the first step and are worth it."""
    planner = capabilities_of(environment).plans
    if planner is None:
        return None
    first = environment.draw_start(np.random.default_rng(0), 1)[0]
    plans = planner.relaxed_plans(first, environment.horizon)
    is_worth_it = any(worth > 0 and len(columns) > 0 for worth, columns in plans)
    return ByPlans(planner) if is_worth_it else None
