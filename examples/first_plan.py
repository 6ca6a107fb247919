# %% [markdown]
# # A first plan
#
# Twenty patients, five nurses, one day. Each patient is in one of four states, from 0 (poor) to 3
# (good). A visit makes it likely that a patient moves up; left alone, a patient mostly moves down.
# A visit takes some units of time, and each nurse has only so many.
#
# Whom do the nurses visit today?

# %%
import matplotlib.pyplot as plt

import sequoia
from sequoia.plots import plot_decision

problem = sequoia.make("capacity", arms=20, workers=5, seed=1)
print(problem.name)

# %% [markdown]
# Most patients are poor today, a few are better. The plan is the best one at *prices*: what each
# visit is worth in the long run, until the horizon. No training is needed for that.

# %%
today = [0, 1, 0, 2, 0, 0, 3, 1, 0, 0, 1, 0, 0, 2, 0, 0, 1, 0, 0, 0]
plan = sequoia.plan(problem, today)
for line in problem.space.describe(plan.decision):
    print(line)

# %% [markdown]
# What is it worth? The reward of the next day, and of all days to the horizon, beside those of
# doing nothing. The gap says how much better another plan could be at most, by the same measure.

# %%
gain = plan.worth - plan.idle
print(f"tomorrow: {plan.worth.next_step:.1f}, {gain.next_step:.1f} more than without visits")
print(f"{problem.horizon} days: {gain.long_run:.0f} more than without visits today")
print(f"another plan is better by at most {100 * plan.gap:.2g} %")

# %% [markdown]
# The same as a picture: which nurse visits whom.

# %%
_, axes = plt.subplots(figsize=(7, 4))
plot_decision(problem, plan.decision, ax=axes)
plt.show()

# %% [markdown]
# How far is that from the best that anybody could do over the whole horizon? Play it, and compare
# with a number that no policy can beat.

# %%
found = sequoia.evaluate(problem, ["random", "myopic", "price"], episodes=20)
for name in found.names:
    print(f"{name:>8}: {found.mean(name).mean:5.2f} per day, {found.percent_of_bound(name):.0f} %")
print(f"no policy earns more than {found.bound.per_step:.2f} per day on average")
