# %% [markdown]
# # Read a proof
#
# Two kinds of numbers come with a proof: a bound on all policies, and the best action of a
# Q-network. What does each of them say, and how can one check it?

# %%
import itertools

import numpy as np

import sequoia
from sequoia.bounds import solve_exactly
from sequoia.optimize import ActionEncoding, Auto, BranchAndBound, ReluNet
from sequoia.solvers import Limits

problem = sequoia.make("standard", arms=4, budget=1, states=3, horizon=8, seed=3)

# %% [markdown]
# ## No policy earns more
#
# Let the rules hold only on average, and put a price $\lambda$ on every dose of every step. Then
# each arm is a small problem of its own. For *any* prices,
#
# $$V^\star \le \sum_j V_j(\lambda) + \sum_t \max_{a \in A} \lambda_t^\top a,$$
#
# so a bound is valid whether or not its prices are the best ones. `lp` and `hull` look for good
# prices in different ways; on a tiny problem the optimum itself is known.

# %%
lp, hull = (sequoia.bound(problem, kind) for kind in ("lp", "hull"))
optimum = solve_exactly(problem).value
print(f"the best policy earns {optimum:.4f}; at most {hull.total:.4f} (hull), {lp.total:.4f} (lp)")
assert optimum <= hull.total + 1e-9
assert hull.total <= lp.total + 1e-9

# %% [markdown]
# A policy that is played cannot beat it either, on average. Its mean is an estimate, so it may lie
# above by luck, within its interval.

# %%
found = sequoia.evaluate(problem, ["price", "exact"], episodes=100, bound="hull")
for name in found.names:
    own = found.mean(name)
    print(f"{name}: {own.low:.3f} to {own.high:.3f} per step; bound {found.bound.per_step:.3f}")

# %% [markdown]
# ## No action is better
#
# In each step SEQUOIA maximises a network over all feasible actions. The answer is an action, its
# *value* by a forward pass, and a *bound*: no feasible action is worth more. Where the two meet,
# the action is proven to be the best.

# %%
nurses = sequoia.make("capacity", arms=14, workers=4, seed=0)
encoding = ActionEncoding.of_space(nurses.space)
rng = np.random.default_rng(0)
network = ReluNet(
    weights=(rng.normal(size=(16, 14)),),  # one hidden layer of sixteen units
    first_bias=rng.normal(size=(1, 16)),
    biases=(),
    output=rng.normal(size=16),
    linear=rng.normal(size=(1, 14)),
    constant=np.zeros(1),
)
answer = Auto(encoding).best(network)
print(f"value {answer.values[0]:.6f}, bound {answer.bounds[0]:.6f}, proven: {answer.is_proven[0]}")

# %% [markdown]
# Here the proof can be checked by hand: there are only $2^{14}$ vectors, so try them all.

# %%
everything = np.array(list(itertools.product([0, 1], repeat=14)), dtype=np.int8)
feasible = everything[nurses.space.contains(everything)]
values = network.values(encoding.encode(feasible)[None])[0]
print(f"{len(feasible)} feasible actions, the best is worth {values.max():.6f}")
assert np.isclose(values.max(), answer.values[0])

# %% [markdown]
# ## What a gap says
#
# A search that is ended before the proof is complete says so: the value is that of the best action
# known, and the bound is what is still possible. Here it may look at one part of the space only.

# %%
cut = BranchAndBound(encoding, Limits(nodes=1)).best(network)
print(f"value {cut.values[0]:.4f}, bound {cut.bounds[0]:.4f}, proven: {cut.is_proven[0]}")
assert cut.values[0] <= values.max() <= cut.bounds[0]
