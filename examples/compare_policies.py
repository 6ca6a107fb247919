# %% [markdown]
# # Compare policies
#
# Which policy is best for a problem, and is the difference more than luck? Every policy plays the
# same episodes: the same starts, and the same random number for every arm and step.

# %%
import matplotlib.pyplot as plt

import sequoia
from sequoia.plots import plot_comparison, plot_paired, plot_reward_over_time

problem = sequoia.make("scheduling", arms=12, workers=3, seed=2)
found = sequoia.evaluate(
    problem, ["random", "sampling", "myopic", "price"], episodes=20, seed=0, bound="hull"
)

# %% [markdown]
# The mean reward per step, with a 95 % confidence interval over episodes, beside a number that no
# policy can beat on average.

# %%
for name in found.names:
    own, share = found.mean(name), found.percent_of_bound(name)
    print(f"{name:>9}: {own.mean:5.2f} ± {own.half:.2f}   {share:5.1f} % of the bound")

_, axes = plt.subplots(figsize=(7, 3.5))
plot_comparison(found, ax=axes)
plt.show()

# %% [markdown]
# Because luck is shared, the *difference* of two policies is known better than either mean: what a
# lucky episode gives, it gives to both. Where the interval of a difference contains 0, the two
# cannot be told apart, and more episodes are needed.

# %%
for name in ("random", "sampling", "myopic"):
    gain = found.paired("price", name)
    verdict = "better" if gain.mean > gain.half else "not told apart"
    print(f"price against {name:>8}: {gain.mean:+.2f} ± {gain.half:.2f}, {verdict}")

_, axes = plt.subplots(figsize=(7, 3.5))
plot_paired(found, ax=axes)
plt.show()

# %% [markdown]
# When is the reward earned? A policy that looks ahead gives up a little at first.

# %%
_, axes = plt.subplots(figsize=(7, 3.5))
plot_reward_over_time(found, ax=axes)
plt.show()
