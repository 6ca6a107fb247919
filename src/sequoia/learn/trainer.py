"""SEQUOIA: deep Q-learning whose best actions come from an exact or a fast argmax (algorithm 1)."""

from dataclasses import dataclass

import numpy as np

from sequoia.learn.config import TrainConfig
from sequoia.learn.learner import Learner, StateBatch
from sequoia.learn.replay import Replay
from sequoia.learn.start import loosened, priced
from sequoia.learn.target_network import Single, Tensors
from sequoia.learn.warm_start import Samples, first_samples, flipped, more_samples
from sequoia.optimize.auto import Auto
from sequoia.optimize.cache import ArgmaxCache
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.rng import stream
from sequoia.simulate import Scenarios
from sequoia.validation import ActionArray, FloatArray, IntArray

_HIDDEN = (16,)
_MYOPIC = 500
_MEASURED = 100
# Shares of the actions that are learned by the critic: the best one, one with flips, the own one.
_BEST, _OWN = 0.2, 0.7


@dataclass(frozen=True)
class Round:
    """What one round did.

    Attributes
    ----------
    reward
        Mean reward per step in the held-out episodes; ``None`` when they were not played.
    best
        The largest of these so far.
    loss
        Mean squared surprise of the round.
    hit_rate
        Share of best actions that were remembered.
    """

    round: int
    epsilon: float
    loss: float
    reward: float | None
    best: float
    hit_rate: float


class Trainer:
    """Everything that changes while SEQUOIA learns.

    Parameters
    ----------
    environment
        What to plan in; nothing but the `Environment` protocol is used, and prices where the
        environment has them.
    """

    def __init__(self, environment: Environment, config: TrainConfig, seed: int) -> None:
        practice = loosened(environment) if config.loose_rules else environment
        columns = ActionEncoding.of(practice)
        engine = Auto(columns, gap=None)
        if config.hidden is None:
            hidden = _HIDDEN if engine.lists_actions else ()
            config = config.model_copy(update={"hidden": hidden})
        self.environment, self.config, self.seed = environment, config, seed
        self.rng = stream(seed, "train")
        self._space = practice.space
        found = priced(environment, config)
        self.bound = None if found is None else found.bound.per_step
        prices = None if found is None else found.part
        self.learner = Learner(environment, columns, config, self.rng, prices)
        self.replay = Replay(environment, config.memory, config.priority)
        self.cache = ArgmaxCache(engine)
        self._judge = (
            Auto(ActionEncoding.of(environment), gap=None) if config.loose_rules else engine
        )
        self._held_out = Scenarios.sample(environment, config.validate_episodes, seed + 1_000_003)
        self.rounds = 0
        self.best: Tensors = {}
        self.best_reward = -np.inf
        self.tries_since_best = 0
        self.steps = 0

    @property
    def is_done(self) -> bool:
        """Whether there is nothing more to learn."""
        enough = self.config.keep_best and self.tries_since_best >= self.config.patience
        return self.rounds >= self.config.rounds or enough

    @property
    def may_be_kept(self) -> bool:
        """Whether nothing is remembered that a checkpoint would miss."""
        return self.rounds % self.config.memo_rounds == 0

    def begin(self) -> Round:
        """Warm up, and see how good that is already."""
        if self.learner.has_prices:
            self._measure()
        elif self.config.warm_samples:
            self._warm_up()
        return self._report([], self.validate())

    def _measure(self) -> None:
        """Let the network's values be of the size of what prices miss."""
        if not self.config.normalise:
            return
        environment = self.environment
        samples = first_samples(environment, self._space, _MEASURED, False, self.rng)
        after = self._after(samples.following, samples.steps)
        best = self.greedy(after.states, after.steps)
        self.learner.scale = float(np.abs(self.learner.worth_by_action(after, best)).mean()) or 1.0
        self.cache.forget()

    def _warm_up(self) -> None:
        """Fit the reward of the next step, and keep what was tried."""
        environment, config, rng = self.environment, self.config, self.rng
        count, strange = config.warm_samples, config.warm_infeasible
        samples = first_samples(environment, self._space, count, strange, rng)
        if config.normalise:
            size = np.abs(samples.rewards).mean() * environment.horizon / 4
            self.learner.scale = float(size) or 1.0
        self._fit_rewards(samples)
        if config.warm_myopic:
            few = samples.only(rng.permutation(len(samples))[:_MYOPIC])
            best = self.greedy(few.states, few.steps)
            tried = more_samples(environment, few, best, config.warm_perturbed, rng)
            samples = samples.join(tried)
            self._fit_rewards(samples)
        self.learner.q.follow()
        self.replay.add(
            samples.states, samples.steps, samples.actions, samples.rewards, samples.following
        )
        self.cache.forget()

    def _fit_rewards(self, samples: Samples) -> None:
        batch = min(self.config.batch, len(samples))
        ones = np.ones(batch)
        for _ in range(self.config.warm_epochs):
            order = self.rng.permutation(len(samples))
            for first in range(0, len(order) - batch + 1, batch):
                few = order[first : first + batch]
                now = self.learner.see(samples.states[few], samples.steps[few])
                self.learner.fit_q(now, samples.actions[few], samples.rewards[few], ones)

    def play_round(self) -> Round:
        """Play episodes side by side, learning after every step."""
        states = self.environment.draw_start(self.rng, self.config.episodes)
        losses = []
        for step in range(self.environment.horizon):
            steps = np.full(len(states), step)
            actions = self._explore(self.greedy(states, steps))
            noise = self.rng.random((len(states), self.environment.n_noise))
            rewards, following = self.environment.step(states, actions, noise)
            self.replay.add(states, steps, actions, rewards, following)
            states = following
            self.steps += len(states)
            losses += [self.learn() for _ in range(self.config.gradient_steps)]
        self.rounds += 1
        is_last = self.rounds == self.config.rounds
        due = self.rounds % self.config.validate_every == 0 or is_last
        return self._report(losses, self.validate() if due else None)

    def learn(self) -> float:
        """Learn one batch and return its mean squared surprise."""
        progress = min(1.0, self.rounds / max(1, self.config.rounds))
        places, weights = self.replay.sample(self.rng, self.config.batch, 0.4 + 0.6 * progress)
        if self.config.critic:
            td_errors = self._learn_by_critic(places, weights)
        else:
            td_errors = self._learn_by_action(places, weights)
        self.replay.update(places, td_errors)
        return float((td_errors**2).mean())

    def _learn_by_action(self, places: IntArray, weights: FloatArray) -> Single:
        """Learn transitions as they were; the next states are worth their best actions."""
        replay, learner = self.replay, self.learner
        steps = replay.steps[places]
        after = self._after(replay.following[places], steps)
        ahead = learner.worth_by_action(after, self.greedy(after.states, after.steps))
        targets = learner.targets(steps, replay.rewards[places], ahead)
        now = learner.see(replay.states[places], steps)
        return learner.fit_q(now, replay.actions[places], targets, weights)

    def _learn_by_critic(self, places: IntArray, weights: FloatArray) -> Single:
        """Learn states by their best actions, and actions by where they lead when tried anew."""
        replay, learner, rng = self.replay, self.learner, self.rng
        now = learner.see(replay.states[places], replay.steps[places])
        best = self.greedy(now.states, now.steps)
        learner.fit_critic(now, learner.worth_by_action(now, best))
        kind = rng.random((len(places), 1))
        tried = np.where(kind < _BEST, best, flipped(rng, best))
        tried = np.where(kind > _OWN, replay.actions[places], tried)
        noise = rng.random((len(places), self.environment.n_noise))
        rewards, following = self.environment.step(now.states, tried, noise)
        ahead = learner.worth_by_critic(self._after(following, now.steps))
        targets = learner.targets(now.steps, rewards, ahead)
        return learner.fit_q(now, tried, targets, weights)

    def _after(self, following: States, steps: IntArray) -> StateBatch:
        """Return the states after ``steps``; those after the last count for nothing."""
        return self.learner.see(following, np.minimum(steps + 1, self.environment.horizon - 1))

    def greedy(self, states: States, steps: IntArray) -> ActionArray:
        """Return the best known action of each state, remembered or solved for."""
        version = self.rounds // self.config.memo_rounds
        if not self.config.clock:
            return self.cache.best(states, version, self._fold_states).actions
        keys = np.column_stack([states, steps])
        return self.cache.best(keys, version, self._fold_keys).actions

    def validate(self) -> float:
        """Play the held-out episodes without exploring and return the mean reward per step."""
        model = self.learner.model()
        states = self._held_out.start
        total = 0.0
        for step in range(self.environment.horizon):
            net = model.fold(states, np.full(len(states), step))
            actions = self._judge.best(net).actions
            luck = self._held_out.noise[:, step]
            rewards, states = self.environment.step(states, actions, luck)
            total += float(rewards.mean())
        return total / self.environment.horizon

    def _fold_states(self, states: States) -> ReluNet:
        return self._fold(states, np.zeros(len(states), np.int64))

    def _fold_keys(self, keys: States) -> ReluNet:
        return self._fold(keys[:, :-1], keys[:, -1].astype(np.int64))

    def _fold(self, states: States, steps: IntArray) -> ReluNet:
        parameters = self.learner.q.online if self.config.double else self.learner.q.target
        return self.learner.model(parameters).fold(states, steps)

    def _explore(self, actions: ActionArray) -> ActionArray:
        chosen = actions.copy()
        for row in np.flatnonzero(self.rng.random(len(actions)) < self.epsilon):
            chosen[row] = self._space.sample(self.rng).action
        return chosen

    @property
    def epsilon(self) -> float:
        """The chance of a random action now."""
        config = self.config
        left = np.exp(-self.steps / config.epsilon_decay)
        return float(config.epsilon_end + (config.epsilon_start - config.epsilon_end) * left)

    def _report(self, losses: list[float], reward: float | None) -> Round:
        if reward is not None:
            if reward > self.best_reward:
                self.best_reward, self.tries_since_best = reward, 0
                self.best = self.learner.q.copy()
            else:
                self.tries_since_best += 1
        return Round(
            self.rounds,
            self.epsilon,
            float(np.mean(losses)) if losses else 0.0,
            reward,
            self.best_reward,
            self.cache.hit_rate,
        )
