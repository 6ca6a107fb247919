"""The one learner: policy improvement on paired advantages, top to bottom.

Each round: [1] play the policy, some actions at random; [2] fit a critic, what states are worth;
[3] compare the policy's action with other feasible ones under the same luck,
``y = sum_{k < d} g^k (r'_k - r_k) + g^d (V(s'_d) - V(s_d))``; [4] fit scores of columns to these
differences; [5] the next policy is the exact argmax of the scores over the rules; [6] it is kept if
it wins a paired test on fresh luck. Rounds that win nothing make the next ones look closer: first
at the state as a whole, by networks; then at what follows an action, by deeper comparisons.
Approximate policy iteration (Lagoudakis and Parr 2003; Scherrer et al. 2015) with common random
numbers (Glasserman and Yao 1992).

Nothing is needed but `Environment`: `step` and the rules. What an environment says beyond that is
used: prices, rewards of components, who depends on whom. What it does not say is found out.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch

from sequoia.evaluation.intervals import Estimate, estimate
from sequoia.learn.actor import fit_scores
from sequoia.learn.base import Learner, Round, Tensors, under
from sequoia.learn.bases import find_bases
from sequoia.learn.candidates import candidates, random_actions
from sequoia.learn.critic import Critic, displacement, fit_critic
from sequoia.learn.guard import Guard
from sequoia.learn.improvement_config import ImprovementConfig
from sequoia.learn.network_fit import (
    Returns,
    SumCritic,
    fit_joint_part,
    fit_score_network,
    fit_value_network,
    may_be_whole,
)
from sequoia.learn.pairs import Pairs, compare
from sequoia.learn.play import Play, play
from sequoia.learn.potential import Potential
from sequoia.learn.reward_shares import find_shares
from sequoia.learn.sizes import ROLLOUTS, Sizes
from sequoia.learn.structure import discover
from sequoia.models.joint_part import JointPart
from sequoia.models.learned_model import LearnedModel
from sequoia.models.network import Network
from sequoia.models.sight import Sight
from sequoia.optimize.auto import RolloutAuto
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Environment, limits_of
from sequoia.problem.capabilities import capabilities_of, dependencies_of
from sequoia.problem.environment import States
from sequoia.problem.names import count
from sequoia.rng import stream
from sequoia.validation import ActionArray, FloatArray, IntArray

# The chance of a random action in play: without, nothing is seen of what the policy avoids.
_EXPLORE = 0.2
# Plays that a critic is fitted to; rounds whose comparisons are kept. Deep ones follow a policy of
# their time, so fewer of them; a critic's opinion of single steps is asked anew in every round.
_PLAYS, _ROUNDS, _DEEP_ROUNDS = 2, 6, 3
# An episode whose end counts for less than this counts its steps by the discount; else alike.
_LEAST_END = 0.05
# How deep comparisons go where one step and a critic do not see enough: what an action changes has
# mostly passed by then, and luck has not.
_DEEP = 12
# With so many actions, trying all of them in a network takes about as long as a linear argmax.
_FEW_ACTIONS = 512
# States in which it is asked what a chosen column takes from others.
_PRICED = 2_000
# Networks go on from what they learned, so they are given this many times the rounds.
_SLOWER = 2
# Rewards are sums over components where these explain so much of their variance.
_EXPLAINED = 0.999
# Batches of episodes that judge the result.
_FINAL = 4


@dataclass(frozen=True)
class Effort:
    """How closely a round looks.

    Attributes
    ----------
    depth
        Steps of a comparison; 0 where nothing is compared: it is only tried what doses that are
        known to matter together add.
    has_networks
        Whether networks are fitted.
    has_goals
        Whether lasting changes count as worth something: where rewards are rare.
    """

    depth: int
    has_networks: bool
    has_goals: bool = False

    def __str__(self) -> str:
        if not self.depth:
            return "doses together"
        parts = [f"depth {self.depth}"]
        parts += ["networks"] * self.has_networks + ["goals"] * self.has_goals
        return ", ".join(parts)


class PolicyImprovement(Learner[ImprovementConfig]):
    """Everything that changes while a policy is improved.

    Attributes
    ----------
    discount
        How much a step counts against the one before: 1 where an episode ends before discounting
        matters, as in evaluations.
    sight, structure
        What is seen of a state; who depends on whom, declared or found.
    base, kept, current
        The best base policy; the policy that won last; the one that the next round starts from.
    effort, misses
        Which of `efforts` is made now, and how many rounds of it won nothing since the last win.
    """

    name: ClassVar[str] = "policy-improvement"
    settings = ImprovementConfig

    def __init__(self, environment: Environment, config: ImprovementConfig, seed: int) -> None:
        super().__init__(environment, config, seed)
        self._encoding = ActionEncoding.of(environment)
        self._argmax = RolloutAuto(self._encoding)
        self._sizes = Sizes.of(environment, self._argmax)
        ends = environment.discount**environment.horizon
        self.discount = environment.discount if ends < _LEAST_END else 1.0
        self._guard = Guard(environment, self._sizes.guard, self.discount)
        self.pairs: list[Pairs] = []
        self.effort = self.misses = 0
        self._networks: dict[str, Network] = {}
        self._joint: JointPart | None = None
        self._finals: tuple[LearnedModel, FloatArray, FloatArray] | None = None
        self._look()

    # ------------------------------------------------------------------ before the rounds

    def _look(self) -> None:
        """Play at random, find out the structure, and ask what is known."""
        environment, rng = self.environment, stream(self.seed, "look")
        first = play(environment, self._random, self._random, 0.0, self._sizes.episodes, rng)
        self.plays = [first]
        declared = dependencies_of(environment)
        self.is_declared = declared is not None
        if declared is None:
            declared = discover(environment, self._argmax, first, rng)
        self.structure = declared
        is_timeless = self.discount < 1
        self.sight = Sight.of(first.states, declared, environment.horizon, is_timeless)
        self.prices = np.zeros((self.sight.n_columns, self.sight.n_times))
        self._potential = None
        if capabilities_of(environment).problem is None:
            self._potential = Potential.of(environment, first, ~self.sight.is_number)
        self._explained = find_shares(environment, first, self.sight, rng).explained
        self._bases = bases = find_bases(environment, self._encoding, is_timeless)
        self.bound, self.bound_stopped_by = bases.bound, bases.bound_stopped_by
        self._starts = [
            LearnedModel(
                environment,
                self._encoding,
                known,
                self.sight,
                prices=bases.prices,
                part=bases.part,
            )
            for known in bases.known
        ]

    def begin(self) -> Round:
        """Choose the best base policy."""
        earned = [
            self._guard.earned(self._act_by(start), stream(self.seed, "bases"))[0]
            for start in self._starts
        ]
        order = np.argsort([-own.mean() for own in earned], kind="stable").tolist()
        self._choose(order[0], next(n for n in order if self._starts[n].known.takes_scores))
        self.held = estimate(earned[order[0]])
        return self._report(f"base policy {self.base.known.name}", None)

    def _choose(self, base: int, start: int) -> None:
        self._chosen = base, start
        self.base, self._start = self._starts[base], self._starts[start]
        self.kept = self.current = self.base

    @cached_property
    def efforts(self) -> list[Effort]:
        """What rounds may look like, one after the other: the quickest first.

        Where the state is small and actions are few, a network is as quick as a sum over
        components, and comes first: a sum may lead to a policy that play does not lead away from.
        """
        found = [Effort(1, False)]
        if self._is_whole:
            found.insert(0, Effort(1, True))
        deep = min(_DEEP, self.environment.horizon) if self._sizes.states_at(_DEEP) else 1
        if deep > 1 and self.sight.graph.nnz and not self._is_whole:
            found.append(Effort(deep, True))
        if self._potential is not None:
            found.append(Effort(deep, True, has_goals=True))
        if self._bases.together is not None:
            found.append(Effort(0, False))
        return found

    @cached_property
    def _is_whole(self) -> bool:
        """Whether networks of the whole state may help.

        Where components go their own ways, and rewards are sums over them, there is nothing to see.
        """
        is_sum = self._explained >= _EXPLAINED and not self.sight.graph.nnz
        count = self._argmax.n_actions
        are_few = count is not None and count <= _FEW_ACTIONS
        return may_be_whole(self.sight) and are_few and not is_sum

    @property
    def is_done(self) -> bool:
        """Whether all rounds are done, or the closest looks won nothing."""
        return self.is_last or self.effort >= len(self.efforts)

    # ------------------------------------------------------------------ a round

    def play_round(self) -> Round:
        """Improve the policy once."""
        rng = stream(self.seed, f"round:{self.rounds}")
        effort = self.efforts[self.effort]
        critic = None
        if effort.depth:
            if self.rounds:
                self._play(rng)  # [1]
            critic = self._fit_critic(effort, rng)  # [2]
            self._compare(effort, rng)  # [3]
            challenger = self._fit_actor(critic, effort, rng)  # [4], [5]
        else:
            together = self._bases.together or self._start.known
            challenger = replace(self.kept, known=together, joint=None)
        self.count_round()
        won = self._judge(challenger, critic)  # [6]
        patience = self.config.patience * (_SLOWER if effort.has_networks else 1)
        patience *= _SLOWER if effort.has_goals else 1
        if not effort.depth or (won is None and self.misses >= patience):
            self.effort, self.misses = self.effort + 1, 0
            self.current = self.kept
        return self._report(str(effort), won)

    def _play(self, rng: np.random.Generator) -> None:
        """Play the current policy, some actions at random [1]."""
        episodes = self._sizes.episodes
        played = play(self.environment, self._act, self._random, _EXPLORE, episodes, rng)
        self.plays = [*self.plays, played][-_PLAYS:]

    def _fit_critic(self, effort: Effort, rng: np.random.Generator) -> Critic:
        """Return the critic that errs least in episodes kept back [2]."""
        shares = find_shares(self.environment, self.plays[-1], self.sight, rng)
        if self.rounds:
            self._find_prices(rng)
        local = fit_critic(self.plays, self.sight, shares, self.prices, self.discount)
        if effort.has_goals and self._potential is not None:
            return SumCritic([local], self.sight, self._potential)
        if not (effort.has_networks and self._is_whole):
            return local
        returns = Returns.of(self.plays, self.sight, self.discount)
        before = self._networks.get("value")
        network = fit_value_network(returns, self.sight, before, rng)
        self._networks["value"] = network
        choices: list[Critic] = [local, SumCritic([network], self.sight)]
        errors = [returns.errors(returns.values(critic)).mean() for critic in choices]
        return choices[int(np.argmin(errors))]

    def _find_prices(self, rng: np.random.Generator) -> None:
        """Ask what chosen columns take from others: half from now, half from rounds before."""
        played = self.plays[-1]
        few = rng.permutation(len(played.steps))[: min(_PRICED, 2 * self._sizes.states)]
        states, steps = played.states[few], played.steps[few]
        weights = self.current.weights(states, steps)
        limits = limits_of(self.environment, states, steps)
        found = displacement(
            self.sight,
            steps,
            weights,
            lambda actions: (weights * self._encoding.encode(actions)).sum(axis=1),
            lambda own: self._argmax.best(own, limits),
            rng,
        )
        self.prices = (self.prices + found) / 2 if self.prices.any() else found

    def _compare(self, effort: Effort, rng: np.random.Generator) -> None:
        """Play candidates and the policy's actions in some states [3]."""
        environment, played, depth = self.environment, self.plays[-1], effort.depth
        few = rng.permutation(len(played.steps))[: self._sizes.states_at(depth)]
        states, steps = played.states[few], played.steps[few]
        actions = self._act(states, steps, rng)
        tried = candidates(environment, self._argmax, self.current, states, steps, actions, rng)
        luck = (depth, ROLLOUTS, self.discount, rng)
        found = compare(environment, self._act, states, steps, actions, tried, *luck)
        kept = [own for own in self.pairs if own.depth == depth]
        self.pairs = [*kept, found][-(_ROUNDS if depth == 1 else _DEEP_ROUNDS) :]

    def _fit_actor(self, critic: Critic, effort: Effort, rng: np.random.Generator) -> LearnedModel:
        """Return the policy whose scores explain comparisons [4]."""
        start, pairs = self._start, [own for own in self.pairs if len(own.state)]
        if not pairs:
            return self.kept  # no other action changes anything
        y = [self._beyond(own, own.advantages(critic, self.discount)) for own in pairs]
        if effort.has_networks and self._is_whole:
            self._joint = fit_joint_part(self.sight, pairs, y, self._joint, rng)
            return replace(start, joint=self._joint)
        if effort.has_networks and effort.depth > 1 and self.sight.graph.nnz:
            before = self._networks.get("scores")
            network = fit_score_network(self.sight, pairs, y, before, rng)
            self._networks["scores"] = network
            return replace(start, network=network)
        return replace(start, linear=fit_scores(self.sight, pairs, y))

    def _beyond(self, pairs: Pairs, advantages: FloatArray) -> FloatArray:
        """Return advantages less what is known of them."""
        at = pairs.state
        states, steps, actions = pairs.states[at], pairs.steps[at], pairs.actions[at]
        return advantages - self._start.known.gains(states, steps, actions, pairs.tried)

    # ------------------------------------------------------------------ policies

    def _act_by(self, model: LearnedModel) -> Callable[[States, IntArray], ActionArray]:
        """Return the policy of a model: the exact argmax [5]."""

        def act(states: States, steps: IntArray) -> ActionArray:
            limits = limits_of(self.environment, states, steps)
            return self._argmax.best_of(model.fold(states, steps), limits)

        return act

    def _act(self, states: States, steps: IntArray, rng: np.random.Generator) -> ActionArray:
        """Return the actions of the current policy."""
        return self._act_by(self.current)(states, steps)

    def _random(self, states: States, steps: IntArray, rng: np.random.Generator) -> ActionArray:
        """Return random feasible actions."""
        return random_actions(self.environment, self._argmax, states, steps, rng)

    # ------------------------------------------------------------------ which policy is kept

    def _judge(self, challenger: LearnedModel, critic: Critic | None) -> Estimate | None:
        """Keep the challenger if it wins; return by how much, ``None`` if it does not [6].

        The next round goes on from it in either case: playing it shows where it errs.
        """

        def luck(batch: int) -> np.random.Generator:
            return stream(self.seed, f"test:{self.rounds}:{batch}")

        challenged, held = self._act_by(challenger), self._act_by(self.kept)
        won, gain, earned = self._guard.test(challenged, held, critic, luck)
        self.held = estimate(earned)
        self.current = challenger
        if not won:
            self.misses += 1
            return None
        self.kept, self.misses = challenger, 0
        self.held = estimate(earned + gain.mean)
        return gain

    def _report(self, did: str, won: Estimate | None) -> Round:
        value, gain = self.held.mean, None if won is None else won.mean
        return Round(
            self.rounds, _EXPLORE, 0.0, value, value, half=self.held.half, won=gain, did=did
        )

    def result(self) -> LearnedModel:
        """Return the policy that is kept, or its base where that earns no less in the end."""
        return self._final[0]

    @property
    def result_reward(self) -> float:
        """What it earns per step, on luck of its own."""
        return float(self._final[1].mean())

    @property
    def gain(self) -> Estimate:
        """By how much it earns more than the base policy, under the same luck."""
        _, earned, base = self._final
        return estimate(earned - base)

    @property
    def _final(self) -> tuple[LearnedModel, FloatArray, FloatArray]:
        """The result, and what it and the base policy earn in the same fresh episodes.

        Many tests are made in a training, and one may err; episodes that no test has seen say so.
        """
        if self._finals is None or self._finals[0] is not self.kept:
            earned, base = (
                np.concatenate(
                    [
                        self._guard.earned(
                            self._act_by(model), stream(self.seed, f"final:{batch}")
                        )[0]
                        for batch in range(_FINAL)
                    ]
                )
                for model in (self.kept, self.base)
            )
            self._finals = self.kept, earned, base
        _, earned, base = self._finals
        return self._finals if earned.mean() > base.mean() else (self.base, base, base)

    @property
    def base_name(self) -> str:
        """The best base policy."""
        return self.base.known.name

    @property
    def structure_in_words(self) -> str:
        """What was found out, or declared, of who depends on whom."""
        sight, edges = self.sight, self.structure.components.nnz
        how = "declared" if self.is_declared else "found by asking step"
        return (
            f"Structure, {how}: {count(sight.n_components, 'component')}, each depending on "
            f"{edges / sight.n_components:.1f} others; {count(sight.n_columns, 'column')}, each "
            f"moving {len(sight.node) / sight.n_columns:.1f}."
        )

    # ------------------------------------------------------------------ checkpoints

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Return everything that changes; what `_look` found is found again."""
        arrays: dict[str, Any] = {"prices": self.prices}
        facts: dict[str, Any] = {
            "rounds": self.rounds,
            "effort": [self.effort, self.misses],
            "chosen": self._chosen,
            "held": [self.held.mean, self.held.low, self.held.high],
            "sizes": [len(self.plays), len(self.pairs)],
            "depth": self.pairs[-1].depth if self.pairs else 0,
            "scales": {name: own.scale for name, own in self._all_networks.items()},
        }
        for name, model in (("kept", self.kept), ("current", self.current)):
            own, facts[name] = model.learned_arrays()
            arrays |= {f"{name}.{key}": value for key, value in own.items()}
        for name, network in self._all_networks.items():
            arrays |= {f"net.{name}.{key}": value for key, value in network.parameters.items()}
        for number, played in enumerate(self.plays):
            arrays |= {f"plays.{number}.{key}": value for key, value in vars(played).items()}
        for number, own_pairs in enumerate(self.pairs):
            content = {key: value for key, value in vars(own_pairs).items() if key != "depth"}
            arrays |= {f"pairs.{number}.{key}": value for key, value in content.items()}
        return {
            name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()
        }, facts

    def restore(self, tensors: Tensors, facts: dict[str, Any]) -> None:
        """Take over what `state` returned."""
        arrays = {name: value.numpy() for name, value in tensors.items()}
        self.rounds = facts["rounds"]
        self.effort, self.misses = facts["effort"]
        self._choose(*facts["chosen"])
        self.held = Estimate(*facts["held"])
        self.prices = arrays["prices"]
        self.kept = self._restored("kept", arrays, facts)
        self.current = self._restored("current", arrays, facts)
        for name, scale in facts["scales"].items():
            own = under(arrays, f"net.{name}.")
            if name == "joint":
                self._joint = JointPart(self.sight, own, scale)
            else:
                is_whole = name.startswith("value")
                self._networks[name] = Network(self.sight, is_whole, own, scale)
        plays, pairs = facts["sizes"]
        self.plays = [Play(**under(arrays, f"plays.{number}.")) for number in range(plays)]
        self.pairs = [
            Pairs(**under(arrays, f"pairs.{number}."), depth=facts["depth"])
            for number in range(pairs)
        ]

    @property
    def _all_networks(self) -> dict[str, Network | JointPart]:
        """Networks that go on from what they learned, by name."""
        joint = {} if self._joint is None else {"joint": self._joint}
        return {**self._networks, **joint}

    def _restored(self, name: str, arrays: dict[str, Any], facts: dict[str, Any]) -> LearnedModel:
        """Return a model as it was: a base policy, or what was learned on top of the start."""
        about = facts[name]
        start = next(own for own in self._starts if own.known.name == about["known"])
        if about["units"] and self._bases.together is not None:
            start = replace(start, known=self._bases.together)
        return start.with_learned(under(arrays, f"{name}."), about)
