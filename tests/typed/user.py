"""What users write passes ``mypy --strict``: lists go in, arrays come out."""

import numpy as np
from numpy.typing import NDArray

from sequoia import (
    Arms,
    Assignment,
    Budget,
    Contagion,
    Custom,
    Floor,
    Problem,
    Rules,
    Schedule,
    Walk,
)

arms = Arms(
    rewards=[[0, 1]],
    doses=[[0, 1]],
    kernels=[[[[1, 0], [1, 0]], [[0, 1], [0, 1]]]],
    model=[0, 0],
    names=["a", "b"],
    state_names=["ill", "well"],
    dose_names={1: "a visit"},
)
budget = Budget([1, 2], 3)
assignment = Assignment(costs=[2, 3], capacities=[5])
schedule = Schedule([[1, 0]], [[1, 1], [0, 1]], limit=2, visits=1, worker_names=["w"])
walk = Walk([[0, 1]], source=0, length=4, limit=1)
custom = Custom([[1, 1]], [-np.inf], [1], ["a", "b"])
contagion = Contagion([[0, 1], [1, 0]], [1, 0], [[0, 0], [0, 0]])
problem = Problem("two", arms, budget, start=[[1, 0]] * 2, influence=[[1, 0], [0, 1]])
ruled = problem.with_rules(Rules({"g": ["a"]}, [Floor("g", share=0.5)], must=["arm 0"]))

rewards: NDArray[np.float64] = arms.rewards
costs: NDArray[np.float64] = budget.costs
model: NDArray[np.int64] = arms.model
names: str = arms.names[0] + arms.state_names[1] + walk.names[0]
sizes: float = budget.costs.sum() + problem.start[0, 0] + walk.lengths[0]
open_slots: NDArray[np.bool_] = schedule.worker_slots

# A mistake is seen: without one, mypy would call the comment unused.
Budget([1], limit="much")  # type: ignore[arg-type]
