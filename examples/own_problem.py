# %% [markdown]
# # A problem of your own
#
# Eight water pumps, two technicians. A pump works well (3), works (2), leaks (1) or stands still
# (0). It serves so many people, and that is what it pays. You say three things: what evolves, what
# an action does to it, and which actions are allowed.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

import sequoia
from sequoia import Arms, Assignment, Floor, Problem, Rules
from sequoia.plots import plot_problem

pumps = ["Amber", "Birch", "Cedar", "Dale", "Elm", "Fern", "Grove", "Hazel"]
people = np.array([120, 80, 200, 60, 150, 90, 40, 110])

# %% [markdown]
# **Arms.** On a ladder of states a pump moves one up or one down in each week. Left alone, it moves
# up with probability 0.05; serviced, with probability 0.85. A leaking pump still serves half.

# %%
arms = Arms.ladder(
    rewards=people[:, None] * [0.0, 0.5, 1.0, 1.0],  # (pumps, states)
    up=[[0.05, 0.85]] * 8,  # (pumps, doses): left alone, serviced
    names=pumps,
)

# %% [markdown]
# **What is allowed.** A service takes one to three days, and each technician has four days a week.
# On top come rules by name: at least one of the pumps in the north, and Dale is out of reach.

# %%
space = Assignment(
    costs=[2, 1, 3, 1, 2, 2, 1, 2],
    capacities=[4, 4],
    names=pumps,
    worker_names=["Ada", "Ben"],
)
start = np.tile([0.1, 0.3, 0.3, 0.3], (8, 1))
problem = Problem("pumps", arms, space, start=start, horizon=26, discount=0.98)
problem = problem.with_rules(
    Rules(
        groups={"north": ["Amber", "Elm", "Hazel"]},
        floors=[Floor("north", count=1)],
        never=["Dale"],
    )
)

# %%
_, axes = plt.subplots(figsize=(7, 3.5))
plot_problem(problem, ax=axes)
plt.show()

# %% [markdown]
# **Keep it.** A problem is a folder of TOML and CSV that a person edits, or one archive. Both hold
# the same problem, by its fingerprint.

# %%
with TemporaryDirectory() as place:
    sequoia.save(problem, Path(place, "pumps"))
    print(*sorted(file.name for file in Path(place, "pumps").iterdir()))
    assert sequoia.load(Path(place, "pumps")).fingerprint == problem.fingerprint

# %% [markdown]
# **Use it.** This week's plan, as tasks for each technician; then a comparison of policies over
# half a year.

# %%
plan = sequoia.plan(problem, [2, 0, 1, 3, 1, 3, 0, 2])
for task in plan.tasks:
    print(f"{task.who}: {task.do} {task.where}")

found = sequoia.evaluate(problem, ["random", "myopic", "price"], episodes=20)
for name in found.names:
    print(f"{name:>8}: {found.mean(name).mean:.0f} people served per week")
