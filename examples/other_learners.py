# %% [markdown]
# # Learners of other people
#
# Every problem is a Gymnasium environment too. Two wrappers let learners act here that know nothing
# of rules: with scores, any learner of continuous actions; with one column at a time and a mask,
# any learner of masked choices. No action ever breaks a rule. This example needs
# sb3-contrib, which brings Stable-Baselines3.

# %%
import gymnasium
import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO

import sequoia
from sequoia.interop.gym import OneByOne, ScoresToAction


def new_env() -> gymnasium.Env:
    """Return the problem as an environment."""
    return gymnasium.make("sequoia/capacity-v0", arms=6, workers=2, horizon=10, seed=3)


# %% [markdown]
# `ScoresToAction` takes a score per column. The action is the feasible one with the largest sum of
# scores, found exactly.

# %%
by_scores = ScoresToAction(new_env())
ppo = PPO("MlpPolicy", by_scores, n_steps=256, batch_size=64, seed=0)
ppo.learn(1_024)

# %% [markdown]
# `OneByOne` builds an action column by column; its last choice carries the action out. A day takes
# several choices, so nothing is discounted between them.

# %%
by_columns = OneByOne(new_env())
masked = MaskablePPO("MlpPolicy", by_columns, n_steps=256, batch_size=64, gamma=1.0, seed=0)
masked.learn(1_024)

# %% [markdown]
# What they learned in these few steps, beside the prices of `sequoia`, which need no training, and
# the bound.


# %%
def played(env: gymnasium.Env, choose, episodes: int = 20) -> float:
    """Return the mean reward per day."""
    total = 0.0
    for episode in range(episodes):
        seen, _ = env.reset(seed=1_000 + episode)
        is_over = False
        while not is_over:
            seen, reward, _, is_over, _ = env.step(choose(env, seen))
            total += float(reward)
    return total / episodes / 10


def masked_choice(env: gymnasium.Env, seen: np.ndarray) -> int:
    """Return the next column, or the order to carry the action out."""
    return int(masked.predict(seen, action_masks=env.action_masks(), deterministic=True)[0])


problem = sequoia.make("capacity", arms=6, workers=2, horizon=10, seed=3)
found = sequoia.evaluate(problem, ["random", "price"], episodes=50)
print(f"at random   {found.mean('random').mean:.2f} per day")
print(f"PPO         {played(by_scores, lambda _, s: ppo.predict(s, deterministic=True)[0]):.2f}")
print(f"MaskablePPO {played(by_columns, masked_choice):.2f}")
print(f"prices      {found.mean('price').mean:.2f}")
print(f"bound       {sequoia.bound(problem).per_step:.2f}")
