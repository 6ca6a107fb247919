"""Problems so small that the optimum is known, and the exact value of a policy on them."""

from functools import reduce

import numpy as np

from policy_cases import decide
from sequoia import Arms, Budget, Problem
from sequoia.bounds.exact import joint_states
from sequoia.learn import make_config
from sequoia.learn.q_learning_config import FULL_NETWORK, QLearningConfig

# What every test of Q-learning has in common: small networks that see all there is, steps large
# enough for few of them, and the last network as the result, so that a learner that unlearns is
# found out.
SMALL = FULL_NETWORK | {
    "hidden": (8,),
    "value": 16,
    "gamma": 1.0,
    "initial_eps": 0.1,
    "final_eps": 0.1,
    "lr_decay": 1.0,
    "adam_epsilon": 1e-8,
    "max_grad_norm": 10.0,
    "tau": 1.0,
    "episodes": 16,
    "gradient_steps": 6,
    "batch_size": 64,
    "learning_rate": 5e-3,
    "target_update_interval": 30,
    "cache_rounds": 1,
    "samples": 300,
    "epochs": 30,
    "n_eval_episodes": 5,
    "keep_best": False,
}
# As few steps of everything as there can be.
SHORT = SMALL | {
    "rounds": 4,
    "episodes": 3,
    "gradient_steps": 1,
    "batch_size": 8,
    "buffer_size": 100,
    "samples": 30,
    "epochs": 1,
    "eval_freq": 2,
    "n_eval_episodes": 2,
}


def small(**changes) -> QLearningConfig:
    return make_config("paper", **(SMALL | changes))


def short(**changes) -> QLearningConfig:
    return make_config("paper", **(SHORT | changes))


def tiny(seed: int = 9, arms: int = 3, horizon: int = 4) -> Problem:
    """Return arms of three states with any transitions, of which one at a time is acted on."""
    rng = np.random.default_rng(seed)
    kernels = rng.dirichlet(np.full(3, 0.4), (arms, 2, 3))
    rewards = rng.random((arms, 3)) * [0, 1, 3]
    chains = Arms(rewards, np.tile([0.0, 1.0], (arms, 1)), kernels)
    start = np.full((arms, 3), 1 / 3)
    return Problem("tiny", chains, Budget(np.ones(arms), 1), start, horizon=horizon)


def long_trap() -> Problem:
    """Return a trap whose dip is so long that two steps of foresight do not see its end."""
    tempting, worthy = [0.1, 0.2, 0.3, 0.4, 1.0], [0.2, 0.1, 0.1, 0.1, 10.0]
    arms = Arms.ladder([tempting, worthy], [[0.0, 1.0], [0.0, 1.0]])
    start = np.eye(5)[[0, 0]]
    return Problem("long trap", arms, Budget(np.ones(2), 1), start, horizon=7)


def value_of(problem: Problem, policy) -> float:
    """Return the expected total reward of a policy, by going through every joint state."""
    arms, states = problem.arms, joint_states(problem)
    rng = np.random.default_rng(0)
    following = np.zeros(len(states))
    for step in reversed(range(problem.horizon)):
        actions = np.array([decide(policy, state, step, rng).action for state in states])
        levels = problem.levels(actions)
        chance = np.ones((len(states), 1))
        for arm in range(arms.n_arms):
            own = arms.kernels[arms.model[arm], levels[:, arm], states[:, arm]]
            chance = (chance[:, :, None] * own[:, None, :]).reshape(len(states), -1)
        following = problem.expected_reward(states, actions) + chance @ following
    return float(reduce(np.kron, problem.start) @ following)
