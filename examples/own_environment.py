# %% [markdown]
# # An environment of your own
#
# Six machines stand in a row. The slowest sets the pace of all, and a worn one wears out the next.
# So neither rewards nor moves come machine by machine, and there are no arms. SEQUOIA asks for
# less: a process that can be started and stepped, and an action space.

# %%
import numpy as np

import sequoia
from sequoia import Budget
from sequoia.learn import make_config
from sequoia.policies import FunctionPolicy, Random, Sequoia


class Line:
    """Six machines in a row, each with a wear from 0, like new, to 4, stopped."""

    name = "production line"
    fingerprint = "production line, version 1"  # another line, another text
    space = Budget(np.ones(6), 2, ["saw", "plane", "drill", "mill", "press", "paint"])
    horizon = 20  # days
    discount = 0.95
    n_noise = 6  # a uniform number for each machine and day

    def draw_start(self, rng, count):
        """Draw first states, ``(count, 6)``."""
        return rng.integers(0, 5, (count, 6))

    def features(self, states):
        """Return what the network sees, about 0 to 1."""
        return states / 4

    def step(self, states, actions, noise):
        """Return rewards, ``(B,)``, and next states, ``(B, 6)``."""
        wear = np.where(actions == 1, 0, states)
        output = 4.0 - wear.max(axis=1)  # the slowest sets the pace
        before = np.concatenate([np.zeros((len(wear), 1)), wear[:, :-1]], axis=1)
        is_worse = noise < 0.3 + 0.1 * before
        return output, np.minimum(wear + is_worse, 4)


line = Line()

# %% [markdown]
# Two repairs fit into a day. Learn for three rounds; a real training takes longer.

# %%
trained = sequoia.train(line, make_config("default", rounds=3), seed=0)
print(f"{trained.reward:.2f} per day in held-out episodes")

# %% [markdown]
# Compare it with random repairs, and with a rule of thumb: repair the two most worn machines. All
# meet the same luck, so a difference is a difference in skill. On this line the rule is hard to
# beat; three rounds of learning find out nearly as much without being told.


# %%
def most_worn(state, step, rng):
    """Repair the two machines with the largest wear."""
    action = np.zeros(6, dtype=np.int8)
    action[np.argsort(-state, kind="stable")[:2]] = 1
    return line.space.certify(action)


found = sequoia.evaluate(
    line,
    {
        "random": Random,
        "most worn": lambda _: FunctionPolicy("most worn", most_worn),
        "sequoia": lambda environment: Sequoia(environment, trained.model),
    },
    episodes=40,
)
for name in found.names:
    own = found.mean(name)
    print(f"{name:>10}: {own.mean:.2f} ± {own.half:.2f} per day")
gain = found.paired("sequoia", "most worn")
print(f"sequoia minus most worn: {gain.mean:+.2f} ± {gain.half:.2f}")
