# %% [markdown]
# # From a table of people and a log to a plan
#
# You have two tables: who there is, and what was seen and done. This first cell makes them up, 200
# patients over 30 weeks; with your own, it is two lines: `pandas.read_csv("patients.csv")` and
# `pandas.read_csv("log.csv")`.

# %%
import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
names = [f"Patient {number:03}" for number in range(200)]
group = rng.choice(["under 60", "60 and over"], 200)
state, rows = rng.integers(0, 3, 200), []
STATES = ["poor", "fair", "good"]
for week in range(30):
    visited = rng.random(200) < 0.15
    for person in np.flatnonzero(visited):
        rows.append((names[person], week, STATES[state[person]], 1))
    up = np.where(visited, np.where(group == "under 60", 0.75, 0.45), 0.08)
    luck = rng.random(200)
    state = np.clip(state + (luck < up) - (luck > 0.8), 0, 2)
patients = pd.DataFrame(
    {"arm": names, "model": group, "minutes": rng.integers(20, 61, 200)}
).assign(state=[STATES[s] for s in state])
log = pd.DataFrame(rows, columns=["arm", "step", "state", "dose"])
print(patients.head(3).to_string(), log.head(3).to_string(), sep="\n")

# %% [markdown]
# Twelve lines from here to a plan. How likely patients get better or worse, with a visit and
# without, is estimated from the log, although each was seen only when visited.

# %%
import sequoia

known = sequoia.Log.from_frame(log, patients, states=["poor", "fair", "good"])
fitted = sequoia.fit(known)
problem = sequoia.Problem.from_frames(
    patients,
    fitted.to_frame(),
    sequoia.Assignment(patients["minutes"], [420, 420, 300], worker_names=["Ada", "Ben", "Cleo"]),
    rewards={"poor": 0, "fair": 1, "good": 2},
)
plan = sequoia.plan(problem, state=patients)
print(plan.to_frame().head(10).to_string())

# %% [markdown]
# Every result shows itself. What was estimated has intervals; what a visit changes differs between
# the two groups, and prices know that.

# %%
print(problem)
print(fitted)
print(plan)
moves = fitted.to_frame()
print(moves[(moves["state"] == "poor") & (moves["to"] == "fair")].round(2).to_string())
