"""SEQUOIA by Q-learning: the paper's algorithm 1, top to bottom.

Deep Q-learning (Mnih et al. 2015) whose maxima over actions come from an exact or a fast argmax
over the combinatorial space. Numbers in brackets are lines of algorithm 1.

The defaults are the preset ``paper``: the experiment as the paper describes it.
"""

from functools import partial
from typing import Any, ClassVar

import numpy as np

from sequoia.evaluation.intervals import Estimate
from sequoia.learn.base import Learner, Round, Tensors, under
from sequoia.learn.held_out import HeldOut
from sequoia.learn.q_learning_config import QLearningConfig
from sequoia.learn.q_network import QNetwork, StateBatch
from sequoia.learn.replay import Replay
from sequoia.learn.selection import Selection
from sequoia.learn.target_network import Single
from sequoia.learn.warm_start import (
    Samples,
    first_samples,
    more_samples,
    strategic_samples,
)
from sequoia.models.q_model import QModel
from sequoia.optimize.auto import Auto
from sequoia.optimize.by_state import ByState
from sequoia.optimize.cache import ArgmaxCache
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.result import ArgmaxResult
from sequoia.policies import Policy
from sequoia.problem import Environment, limits_of, sample_actions
from sequoia.problem.environment import States
from sequoia.rng import stream
from sequoia.simulate import Decisions
from sequoia.validation import ActionArray, FloatArray, IntArray

# States in which the first network's own actions are tried: a tenth of the samples is enough.
_MYOPIC = 500
# Importance sampling is corrected from here to 1 in full (Schaul et al. 2016, section 3.4).
_BETA = 0.4


class QLearning(Learner[QLearningConfig]):
    """Everything that changes while SEQUOIA learns by Q-learning.

    Nothing but the `Environment` protocol is used, and prices where the environment has them.
    """

    name: ClassVar[str] = "q-learning"
    settings = QLearningConfig

    def __init__(self, environment: Environment, config: QLearningConfig, seed: int) -> None:
        super().__init__(environment, config, seed)
        self.rng = stream(seed, "train")
        encoding = ActionEncoding.of(environment)
        self._engine = engine = ByState(encoding, partial(Auto, gap=None))
        self.learned = QNetwork(environment, encoding, config, self.rng)  # [1]
        self.replay = Replay(environment, config.replay.buffer_size, config.replay.alpha)
        self.cache = ArgmaxCache()
        self._greedy: Policy = _Greedy(self.learned, engine)
        self._held_out = HeldOut(environment, config.selection.n_eval_episodes, seed)
        self.steps = 0
        self.selection: Selection[Tensors] = Selection({})

    @property
    def is_done(self) -> bool:
        """Whether all rounds are done, or the last tries brought nothing."""
        own = self.config.selection
        enough = own.keep_best and self.selection.tries_since_best >= own.patience
        return self.is_last or enough

    @property
    def may_be_kept(self) -> bool:
        """Whether no best action is remembered, which a checkpoint would miss."""
        return self.rounds % self.config.cache_rounds == 0

    # ------------------------------------------------------------------ before the episodes

    def begin(self) -> Round:
        """Warm up, and see how good that is already."""
        if self.config.warm_start.samples:
            self._warm_up()
        return self._report([], self.validate())

    def _warm_up(self) -> None:
        """Fit the reward of the next step, and keep what was tried: lines [2] to [4]."""
        environment, own, rng = self.environment, self.config.warm_start, self.rng
        # Where states limit actions, one that is not allowed may lead where nothing is.
        first = environment.draw_start(stream(0, "warm start"), 1)
        is_free = limits_of(environment, first, np.zeros(1, np.int64)) is None
        samples = strategic_samples(environment, own.samples, rng) if is_free else None  # [2]
        if samples is None:
            samples = first_samples(environment, own.samples, is_free, rng)  # [2]
        if self.config.network.normalise:
            size = np.abs(samples.rewards).mean() * environment.horizon / 4
            self.learned.scale = float(size) or 1.0
        self._fit_rewards(samples)  # [3]
        few = samples.only(rng.permutation(len(samples))[:_MYOPIC])
        best = self.greedy(few.states, few.steps)
        samples = samples.join(more_samples(environment, few, best, is_free, rng))  # [2]
        self.learned.q.follow()  # [4]
        samples = samples.only(rng.permutation(len(samples))[: own.kept])
        self.replay.add(
            samples.states, samples.steps, samples.actions, samples.rewards, samples.following
        )
        self.cache.forget()

    def _fit_rewards(self, samples: Samples) -> None:
        batch = min(self.config.batch_size, len(samples))
        ones = np.ones(batch)
        for epoch in range(self.config.warm_start.epochs):
            self.learned.q.slow_down(self.config.lr_decay**epoch)
            order = self.rng.permutation(len(samples))
            for first in range(0, len(order) - batch + 1, batch):
                few = order[first : first + batch]
                now = self.learned.see(samples.states[few], samples.steps[few])
                self.learned.fit(now, samples.actions[few], samples.rewards[few], ones)

    # ------------------------------------------------------------------ the episodes

    def play_round(self) -> Round:
        """Play episodes side by side, learning after every step: lines [6] to [14]."""
        self.learned.q.slow_down(self.config.lr_decay**self.rounds)
        states = self.environment.draw_start(self.rng, self.config.episodes)
        losses = []
        for step in range(self.environment.horizon):
            steps = np.full(len(states), step)
            actions = self._explore(states, steps, self.greedy(states, steps))  # [8], [9]
            noise = self.rng.random((len(states), self.environment.n_noise))
            rewards, following = self.environment.step(states, actions, noise)  # [10]
            self.replay.add(states, steps, actions, rewards, following)  # [11]
            states = following
            self.steps += len(states)
            losses += [self.learn() for _ in range(self.config.gradient_steps)]  # [12] to [15]
        self.count_round()
        due = self.rounds % self.config.selection.eval_freq == 0 or self.is_last
        return self._report(losses, self.validate() if due else None)

    def _explore(self, states: States, steps: IntArray, actions: ActionArray) -> ActionArray:
        """Replace some actions by random feasible ones [8]."""
        chosen = actions.copy()
        rows = np.flatnonzero(self.rng.random(len(actions)) < self.epsilon)
        chosen[rows] = sample_actions(self.environment, states[rows], steps[rows], self.rng)
        return chosen

    @property
    def epsilon(self) -> float:
        """The chance of a random action now."""
        own = self.config.exploration
        left = np.exp(-self.steps / own.decay)
        return float(own.final_eps + (own.initial_eps - own.final_eps) * left)

    def greedy(self, states: States, steps: IntArray) -> ActionArray:
        """Return ``argmax_a Q(s, a)`` of each state, remembered or solved for [9]."""
        version = self.rounds // self.config.cache_rounds
        if not self.config.network.time_feature:
            # Where limits depend on the step, so do answers.
            first = np.zeros(1, np.int64)
            if limits_of(self.environment, states[:1], first) is None:
                return self.cache.best(
                    states, version, lambda own: self._solve(own, np.zeros(len(own), np.int64))
                ).actions
        keys = np.column_stack([states, steps])
        return self.cache.best(
            keys, version, lambda own: self._solve(own[:, :-1], own[:, -1].astype(np.int64))
        ).actions

    def _solve(self, states: States, steps: IntArray) -> ArgmaxResult:
        """Ask the networks over actions, by the online weights for double Q-learning."""
        net = self.learned.model().fold(states, steps)
        return self._engine.best(net, limits_of(self.environment, states, steps))

    # ------------------------------------------------------------------ learning from a batch

    def learn(self) -> float:
        """Learn one batch and return its mean squared TD error: lines [12] to [15]."""
        progress = min(1.0, self.rounds / max(1, self.config.rounds))
        beta = _BETA + (1 - _BETA) * progress
        places, weights = self.replay.sample(self.rng, self.config.batch_size, beta)  # [12]
        td_errors = self._learn(places, weights)
        self.replay.update(places, td_errors)
        return float((td_errors**2).mean())

    def _learn(self, places: IntArray, weights: FloatArray) -> Single:
        """Learn transitions as they were; the next states are worth their best actions.

        ``y = r + gamma * Q_target(s', argmax_a Q(s', a))`` [13], then a step towards it [14].
        """
        replay, learned = self.replay, self.learned
        steps = replay.steps[places]
        after = self._after(replay.following[places], steps)
        ahead = learned.worth(after, self.greedy(after.states, after.steps))
        targets = learned.targets(steps, replay.rewards[places], ahead)
        now = learned.see(replay.states[places], steps)
        return learned.fit(now, replay.actions[places], targets, weights)

    def _after(self, following: States, steps: IntArray) -> StateBatch:
        """Return the states after ``steps``; those after the last count for nothing."""
        return self.learned.see(following, np.minimum(steps + 1, self.environment.horizon - 1))

    # ------------------------------------------------------------------ which network is kept

    def validate(self) -> FloatArray:
        """Play the held-out episodes without exploring; return the mean reward per step of each."""
        return self._held_out.play(self._greedy)

    def _report(self, losses: list[float], rewards: FloatArray | None) -> Round:
        if rewards is not None:
            self.selection.see(self.learned.q.copy(), rewards)
        reward = None if rewards is None else self.selection.last_reward
        loss = float(np.mean(losses)) if losses else 0.0
        best, hits = self.selection.best_reward, self.cache.hit_rate
        return Round(self.rounds, self.epsilon, loss, reward, best, hits)

    def result(self) -> QModel:
        """Return the best network seen, or the last one [18]."""
        keeps = self.config.selection.keep_best
        return self.learned.model(self.selection.best if keeps else self.learned.q.online)

    @property
    def result_reward(self) -> float:
        """What `result` earned when it was last played."""
        own = self.selection
        return own.best_reward if self.config.selection.keep_best else own.last_reward

    @property
    def gain(self) -> Estimate | None:
        """Of the best network, in the same held-out episodes."""
        return self.selection.gain if self.config.selection.keep_best else None

    # ------------------------------------------------------------------ checkpoints

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Return everything that changes."""
        learned, replay = self.learned, self.replay
        tensors = {f"q.{name}": value for name, value in learned.q.state().items()}
        tensors |= {f"best.{name}": value for name, value in self.selection.best.items()}
        tensors |= {f"replay.{name}": value for name, value in replay.state().items()}
        facts = {
            "rounds": self.rounds,
            "steps": self.steps,
            "selection": self.selection.facts(),
            "batches": learned.q.batches,
            "scale": learned.scale,
            "replay": replay.count,
            "cache": [self.cache.hits, self.cache.misses],
            "rng": self.rng.bit_generator.state,
        }
        return tensors, facts

    def restore(self, tensors: Tensors, facts: dict[str, Any]) -> None:
        """Take over what `state` returned."""
        self.rounds, self.steps = facts["rounds"], facts["steps"]
        self.selection.restore(under(tensors, "best."), facts["selection"])
        self.learned.q.restore(under(tensors, "q."), facts["batches"])
        self.learned.scale = facts["scale"]
        self.replay.restore(under(tensors, "replay."), facts["replay"])
        self.cache.hits, self.cache.misses = facts["cache"]
        self.rng.bit_generator.state = facts["rng"]


class _Greedy(Policy):
    """The policy of the network as it is now, on a batch of states and without plans."""

    name = "greedy"

    def __init__(self, learned: QNetwork, engine: ByState[Auto]) -> None:
        self._learned, self._engine = learned, engine

    def act(self, states: States, step: int, rngs: Any) -> Decisions:
        """Return the best action of each state."""
        model, steps = self._learned.model(), np.full(len(states), step)
        limits = limits_of(model.environment, states, steps)
        return Decisions.of_actions(self._engine.best(model.fold(states, steps), limits).actions)
