# %% [markdown]
# # A simulator of your own
#
# Eight stations wear out; two can be serviced a day, and a worn one wears out its neighbour. You
# have a function that steps many copies at once, in NumPy or JAX. Fifteen lines make it a problem
# that can be learned: how it starts, how it steps, which actions are allowed.

# %%
import numpy as np

import sequoia


def step(wear, service, luck):
    """Return rewards, ``(B,)``, and the next wear, ``(B, 8)``; all luck comes from ``luck``."""
    wear = np.where(service == 1, 0, wear)
    worn = (wear >= 2) | (np.roll(wear, 1, axis=1) >= 3)
    return (wear < 3).mean(axis=1), np.minimum(wear + (luck < 0.1 + 0.3 * worn), 3)


def start(rng, count):
    """Return first states, ``(count, 8)``."""
    return rng.integers(0, 4, (count, 8))


stations = sequoia.Simulator("stations", sequoia.Budget(np.ones(8), 2), start, step, n_noise=8)
trained = sequoia.train(stations, seconds=3)
print(trained)

# %% [markdown]
# Of a simulator nothing is known, so there is no certified bound unless you ask for an estimate,
# and that is said. Compare what was learned with chance and with looking ahead by rollouts.

# %%
found = sequoia.evaluate(stations, ["random", "idle", "sequoia"], episodes=40, model=trained.model)
print(found)
print(found.summary().round(3).to_string())
