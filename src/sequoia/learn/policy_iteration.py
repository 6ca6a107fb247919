"""SEQUOIA by policy iteration on paired rollouts, top to bottom.

Each round: [1] visit states with the current policy; [2] for each, take feasible neighbours of its
action; [3] play both under the same luck, following the policy afterwards; [4] fit the difference
in what they earn, ``sum_i (a_i - b_i) u_i(s)``, by one network that all columns share; [5] the next
policy is ``argmax_a sum_i a_i u_i(s)`` over the space, exactly; [6] keep the best policy seen, in
held-out episodes. The first policy is the myopic one, or what is guessed: by a factored value
function, or by an environment that knows what brings its goals nearer; whichever is better. In the
end, what doses are worth together is added to what was learned, where that is better and decisions
stay quick; see `final_choice`.

Policy iteration with rollouts: Lagoudakis and Parr 2003; Bertsekas 2020. Differences under the same
luck carry far more signal than temporal differences where what an action changes is small against
all that happens. Where arms are decoupled, prices know more from the start: see `q_learning`.
"""

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
import torch

from sequoia.evaluation.intervals import Estimate, estimate
from sequoia.learn.final_choice import Finalist, final_choice
from sequoia.learn.graph_fit import Lessons, first_parameters, fit
from sequoia.learn.greedy_model import GreedyModel
from sequoia.learn.held_out import HeldOut
from sequoia.learn.learner import Learner, Round, Tensors, under
from sequoia.learn.milestones import Milestones
from sequoia.learn.policy_iteration_config import PolicyIterationConfig
from sequoia.learn.price_start import factored_start
from sequoia.learn.round_sizes import RoundSizes
from sequoia.learn.selection import Selection
from sequoia.models.graph_model import GraphModel, neighbourhood_of
from sequoia.models.graph_network import Parameters
from sequoia.models.next_step import next_step_of
from sequoia.optimize.auto import RolloutAuto, within_limits
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Environment, Problem, limits_of
from sequoia.problem.dependencies import dependencies_of, require_dependencies
from sequoia.problem.environment import States
from sequoia.rng import stream
from sequoia.simulate.credit import Credit, LocalCredit, WholeCredit
from sequoia.simulate.paired_rollouts import (
    Candidates,
    compare,
    drops_for,
    neighbours,
    that_matter,
)
from sequoia.validation import ActionArray, FloatArray, IntArray

# Candidates that are looked at for one that is played, where that costs no solver.
_LOOKED_AT = 3
# Where fewer comparisons than this share show any difference, milestones are learned, too.
_LEAST_TELLING = 0.1
# So are they after so many first rounds that brought nothing. A factory pays after two or three: in
# Manufacturer 2 and 3 of 2018, milestones after one round earn 0 and 65, after three 290 and 335.
_IN_VAIN = 3
# Rounds beyond those of the settings where none was better than the first policy so far: in
# AcademicAdvising 11 of 2018 the eighth is the first.
_MORE = 8


class PolicyIteration(Learner[PolicyIterationConfig]):
    """Everything that changes while SEQUOIA learns by policy iteration."""

    name: ClassVar[str] = "policy-iteration"

    def __init__(self, environment: Environment, config: PolicyIterationConfig, seed: int) -> None:
        super().__init__(environment, config, seed)
        self.rng = stream(seed, "policy iteration")
        self._encoding = ActionEncoding.of(environment)
        self._argmax = RolloutAuto(self._encoding)
        self._dependencies = dependencies_of(environment)
        if self._dependencies is not None and not isinstance(environment, Problem):
            require_dependencies(environment, self._dependencies)
        self._factored, self.bound = factored_start(environment, config.start)
        self._neighbourhood = neighbourhood_of(environment, self._encoding, self._factored)
        self._next_step = next_step_of(environment, self._encoding)
        own = config.network
        self._first = first_parameters(self._neighbourhood, own.hidden, own.layers, self.rng)
        self.parameters: Parameters = self._first
        self.scale = 1.0 if self._factored is None else self._factored.unit
        self.lessons: list[Lessons] = []
        self._sizes = RoundSizes(
            environment, config, self._encoding, self._argmax, self._next_step, self._dependencies
        )
        self._held_out = HeldOut(environment, self._sizes.held_out, seed)
        self.selection: Selection[Parameters] = Selection(self.parameters)
        self._chosen: tuple[Parameters, Finalist] | None = None
        self.has_milestones = self.is_silent = False

    @property
    def is_done(self) -> bool:
        """Whether all rounds are done, or the last ones brought nothing.

        Where none brought anything, milestones have just begun to count: some more are played.
        """
        if self._is_fruitless and not self.is_late:
            return self.rounds >= self.config.rounds + _MORE
        enough = self.selection.tries_since_best >= self.config.patience
        return self.is_last or enough

    def begin(self) -> Round:
        """See how good the first policies are: myopic, or none, and what is guessed.

        A guess is what a factored value proposes, or what an environment says of progress towards
        the goals of its reward. Learning starts from the better one.
        """
        first = self._report(0.0)
        plain = (self._neighbourhood, self._first)
        if getattr(self.environment, "progress", None) is not None:
            self._be_guided()
        if not self._neighbourhood.is_guessed:
            return first
        self.parameters = self._guess
        second = self._report(0.0)
        self.selection.start_from_best()
        self.parameters = self.selection.best
        if self.parameters is not plain[1]:
            return second
        self._neighbourhood, self._first = plain
        return replace(first, best=second.best)

    def _be_guided(self) -> None:
        """See what the environment itself says of progress; all else stays as it is."""
        own, before = self._encoding, self._first
        self._neighbourhood = neighbourhood_of(self.environment, own, is_guided=True)
        kinds, hidden = self._neighbourhood.outlets.n_kinds, before["in"].shape[1]
        unseen = np.zeros((kinds, hidden), dtype=np.float32)
        guess = np.zeros(kinds, dtype=np.float32)
        self._first = {**before, "in": np.concatenate([before["in"], unseen]), "guess": guess}

    def play_round(self) -> Round:
        """Improve the policy once."""
        states, steps = self._visit()  # [1]
        had_milestones = self.has_milestones
        self.has_milestones = self.is_silent or self._is_fruitless
        self.lessons.append(self._compare(states, steps))  # [2], [3]
        self.lessons = self.lessons[-self.config.fit.keep_rounds :]
        if not self.rounds or self.has_milestones != had_milestones:
            self.lessons = self.lessons[-1:]
            self._rescale(self.lessons[0].size)
        loss = self._fit()  # [4]
        self.count_round()
        return self._report(loss)  # [5], [6]

    def _rescale(self, scale: float) -> None:
        """Learn in other units: those of the first comparisons. What is guessed stays the same."""
        share = np.float32(self.scale / scale)
        self.parameters, self.selection.best = (
            {name: value * share if name == "guess" else value for name, value in own.items()}
            for own in (self.parameters, self.selection.best)
        )
        self.scale = scale

    # ------------------------------------------------------------------ a round

    def _act(self, states: States, steps: IntArray, luck: FloatArray) -> ActionArray:
        """Return the actions of the current policy."""
        limits = limits_of(self.environment, states, steps)
        return self._argmax.best(self._weights(states, steps, luck), limits)

    def _weights(self, states: States, steps: IntArray, luck: FloatArray) -> FloatArray:
        """Return the weights of the inputs, ``(B, I)``.

        Before the first round, and where nothing tells what to do, the policy is random: the same
        uniforms, ``(B, N)``, give the same action.
        """
        if self.rounds or self._knows_first:
            return self.model(self.parameters).weights(states, steps)
        weights = np.zeros((len(states), self._encoding.n_inputs))
        weights[:, : luck.shape[1]] = luck
        return weights

    @property
    def _knows_first(self) -> bool:
        """Whether the first policy knows something: the next step, or what is progress."""
        return self._next_step.is_known or self._is_guided

    @property
    def _is_guided(self) -> bool:
        """Whether the environment's own guess was better than doing nothing."""
        return self._factored is None and self._neighbourhood.is_guessed

    def _visit(self) -> tuple[States, IntArray]:
        """Return states that the current policy meets, ``(K, D)``, and their steps [1]."""
        environment, rng, count = self.environment, self.rng, self._sizes.states
        columns = environment.space.n_actions
        episodes = max(4, -(-2 * count // environment.horizon))
        states = environment.draw_start(rng, episodes)
        met = []
        for step in range(environment.horizon):
            met.append(states)
            steps = np.full(episodes, step)
            luck = rng.random((episodes, columns))
            weights = self._weights(states, steps, luck)
            strays = rng.random(episodes) < self.config.comparisons.epsilon
            weights[strays, :columns] = luck[strays]
            weights[strays, columns:] = 0.0
            noise = rng.random((episodes, environment.n_noise))
            actions = self._argmax.best(weights, limits_of(environment, states, steps))
            _, states = environment.step(states, actions, noise)
        every = np.concatenate(met)
        when = np.repeat(np.arange(environment.horizon), episodes)
        picked = rng.choice(len(every), min(count, len(every)), replace=False)
        return every[picked], when[picked]

    def _compare(self, states: States, steps: IntArray) -> Lessons:
        """Return what neighbours of the policy's actions earn more or less [2], [3]."""
        own, rng = self.config.comparisons, self.rng
        weights = self._weights(states, steps, rng.random((len(states), self._n_columns)))
        best = within_limits(self._argmax, limits_of(self.environment, states, steps))
        actions = best(weights, np.arange(len(states)))
        changes = self._sizes.changes
        looked_at = _LOOKED_AT if self._argmax.is_batched and changes == 1 else 1
        many = looked_at * own.candidates
        tried = neighbours(weights, actions, best, many, changes, rng, self._drops)
        tried = that_matter(self.environment, states, actions, tried, own.candidates, rng)
        shared = changes > 1
        credit = self._local(actions, tried) if shared else WholeCredit(len(tried.state))
        world = self._milestones if self.has_milestones else self.environment
        self._play_pairs(world, states, steps, actions, tried, credit)
        if not shared and self._is_silent(credit.values):
            self.has_milestones = self.is_silent = True
            credit = WholeCredit(len(tried.state))
            self._play_pairs(self._milestones, states, steps, actions, tried, credit)
        values = credit.values / own.rollouts
        candidate, inputs, apart = self._differences(actions, tried)
        # Known without any rollout: what the difference earns in the first step.
        if shared:
            known = self._first_weights(states)[tried.state[candidate], inputs] * apart
            return Lessons.one_by_one(
                states,
                steps,
                tried.state[candidate],
                inputs,
                apart,
                values[candidate, inputs] - known,
            )
        where = tried.state
        rest = values - self._next_step.gains(states[where], actions[where], tried.actions)
        return Lessons(states, steps, tried.state, candidate, inputs, apart, rest)

    @property
    def _drops(self) -> float:
        """The share of candidates that only leave out.

        None before a round has brought something: under a poor policy whatever is done seems
        wasted, and what pays only in the end would never be begun.
        """
        has_begun = self.rounds > 0 or self._is_guided
        is_better = has_begun and self.selection.tries_since_best == 0
        return drops_for(self.environment) if is_better else 0.0

    def _play_pairs(
        self,
        world: Environment,
        states: States,
        steps: IntArray,
        actions: ActionArray,
        tried: Candidates,
        credit: Credit,
    ) -> None:
        own = self.config.comparisons
        luck = (own.rollouts, own.depth, self.rng)
        compare(world, self._act, states, steps, actions, tried, credit, *luck)

    def _is_silent(self, values: FloatArray) -> bool:
        """Whether next to no comparison shows any difference, so that there is nothing to learn."""
        if isinstance(self.environment, Problem) or not len(values):
            return False
        return bool((values != 0).mean() < _LEAST_TELLING)

    @property
    def _is_fruitless(self) -> bool:
        """Whether some rounds were played, and none was better than the first policy.

        Where every step costs and only the end pays, the next round would learn to do nothing. A
        first policy that knows what to do needs no milestones.
        """
        is_in_vain = _IN_VAIN <= self.rounds <= self.selection.tries_since_best
        return is_in_vain and not self._knows_first

    @cached_property
    def _milestones(self) -> Environment:
        return cast(Environment, Milestones(self.environment, self._argmax))

    def _differences(
        self, actions: ActionArray, tried: Candidates
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Return in which inputs candidates differ: candidate, input, by how much."""
        encode = self._encoding.encode
        apart = encode(tried.actions) - encode(actions[tried.state])
        candidate, where = np.nonzero(apart)
        return candidate, where, apart[candidate, where]

    @property
    def _n_columns(self) -> int:
        return self.environment.space.n_actions

    def _first_weights(self, states: States) -> FloatArray:
        """Return the weights of the next step alone, ``(B, I)``."""
        return self._next_step.weights(states, np.zeros((len(states), self._encoding.n_inputs)))

    def _local(self, actions: ActionArray, tried: Candidates) -> LocalCredit:
        assert self._dependencies is not None
        changed = tried.actions - actions[tried.state]
        costs = self.environment.space.knapsack[0]
        return LocalCredit(self.environment, self._dependencies, changed, costs)

    def _fit(self) -> float:
        """Fit the network to the last rounds and return its mean squared error [4]."""
        own = self.config.fit
        batch, rate = self._sizes.batch(len(self.lessons[-1].values))
        self.parameters, loss = fit(
            self._neighbourhood,
            self.parameters,
            self.lessons,
            self.scale,
            own.gradient_steps,
            batch,
            rate,
            self.rng,
        )
        return loss

    # ------------------------------------------------------------------ which policy is kept

    def model(self, parameters: Parameters) -> GraphModel:
        """Return the model of ``parameters``."""
        return GraphModel(
            self.environment,
            self._encoding,
            self._neighbourhood,
            self._next_step,
            parameters,
            self.scale,
            self._factored,
        )

    @property
    def _guess(self) -> Parameters:
        """Parameters that score what is guessed of columns, one by one."""
        return {**self._first, "guess": np.ones_like(self._first["guess"])}

    def _play(self, model: GraphModel) -> FloatArray:
        """Return what a model earns per step in each held-out episode, ``(E,)``."""
        return self._held_out.play(GreedyModel(model, self._argmax))

    def _report(self, loss: float) -> Round:
        rewards = self._play(self.model(self.parameters))
        self.selection.see(self.parameters, rewards)
        epsilon = self.config.comparisons.epsilon
        best = self.result_reward if self.is_done else self.selection.best_reward
        return Round(self.rounds, epsilon, loss, self.selection.last_reward, best)

    @property
    def _result(self) -> Finalist:
        """What `final_choice` makes of the best policy seen."""
        best = self.selection.best
        if self._chosen is None or self._chosen[0] is not best:
            learned = Finalist(self.model(best), self.selection.best_rewards)
            guess = None
            if self._factored is not None:
                guess = replace(self.model(self._guess), scale=self._factored.unit)
            found = final_choice(learned, guess, self._play)
            self._chosen = best, found
        return self._chosen[1]

    def result(self) -> GraphModel:
        """Return the best model seen."""
        return self._result.model

    @property
    def result_reward(self) -> float:
        """What it earned per step."""
        return float(self._result.rewards.mean())

    @property
    def gain(self) -> Estimate | None:
        """Over the first policy, in the same held-out episodes."""
        return estimate(self._result.rewards - self.selection.start_rewards)

    # ------------------------------------------------------------------ checkpoints

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Return everything that changes."""
        arrays = {f"now.{name}": value for name, value in self.parameters.items()}
        arrays |= {f"best.{name}": value for name, value in self.selection.best.items()}
        for number, lessons in enumerate(self.lessons):
            arrays |= {f"lessons.{number}.{name}": a for name, a in lessons.to_arrays().items()}
        facts = {
            "rounds": self.rounds,
            "scale": self.scale,
            "lessons": len(self.lessons),
            "selection": self.selection.facts(),
            "has_milestones": self.has_milestones,
            "is_silent": self.is_silent,
            "is_guided": self._is_guided,
            "rng": self.rng.bit_generator.state,
        }
        return {
            name: torch.from_numpy(np.ascontiguousarray(a)) for name, a in arrays.items()
        }, facts

    def restore(self, tensors: Tensors, facts: dict[str, Any]) -> None:
        """Take over what `state` returned."""
        arrays = {name: value.numpy() for name, value in tensors.items()}
        if facts["is_guided"]:
            self._be_guided()
        self.parameters = under(arrays, "now.")
        self.selection.restore(under(arrays, "best."), facts["selection"])
        self.lessons = [
            Lessons(**under(arrays, f"lessons.{number}.")) for number in range(facts["lessons"])
        ]
        self.rounds, self.scale = facts["rounds"], facts["scale"]
        self.has_milestones, self.is_silent = facts["has_milestones"], facts["is_silent"]
        self.rng.bit_generator.state = facts["rng"]
