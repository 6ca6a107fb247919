"""What the paper's piecewise-linear sigmoid costs the myopic policy, against the exact table.

For each size: both programs choose an action in the same states; the loss is what the action of
the 10-point approximation earns less in the next step, by the true sigmoid.
"""

import numpy as np

from sequoia.policies.myopic import Myopic
from sequoia.problem.families import interventions
from sequoia.rng import stream

SIZES, SEEDS, STATES, BREAKPOINTS = (20, 40, 100), range(5), 20, 10


def losses(arms: int, seed: int) -> list[float]:
    exact = interventions(arms=arms, seed=seed)
    rough = interventions(arms=arms, seed=seed, breakpoints=BREAKPOINTS)
    rng = stream(seed, "bench:myopic")
    best, other = Myopic(exact), Myopic(rough)
    found = []
    for state in rng.integers(0, 4, (STATES, arms)):
        actions = np.array(
            [policy.act(state[None], 0, [rng]).actions[0] for policy in (best, other)]
        )
        earned = exact.expected_reward(np.broadcast_to(state, (2, arms)), actions)
        found.append(float((earned[0] - earned[1]) / earned[0]))
    return found


for size in SIZES:
    every = np.array([loss for seed in SEEDS for loss in losses(size, seed)])
    print(
        f"{size} arms: {100 * every.mean():.2f} % lost on average, {100 * every.max():.2f} % at "
        f"most, another action in {100 * (every > 1e-9).mean():.0f} % of states"
    )
