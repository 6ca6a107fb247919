"""The paper's experiment as a plan."""

from collections.abc import Sequence
from typing import Any

from sequoia.errors import ProblemError
from sequoia.sweep.plan import Plan, make_plan

# In the order of the paper's figure.
SETTINGS = {
    "interventions": "Multiple interventions",
    "scheduling": "Scheduling",
    "capacity": "Capacity constraints",
    "routing": "Path constraints",
}
POLICIES = (
    "idle",
    "random",
    "sampling",
    "iterative-myopic",
    "myopic",
    "iterative-dqn",
    "sequoia",
    "price",
    "price-update",
)
TRAP_POLICIES = ("idle", "random", "myopic", "sequoia", "exact")
# Learners of other papers, and the policy that plays each.
RIVALS = {
    "ppo-scores": "sequoia",
    "ppo-masked": "one-by-one",
    "srl": "sequoia",
    "cascade-dqn": "iterative-dqn",
    "lsflow": "sequoia",
}
# Those that share a cell; one that is added gets cells of its own, so that what is computed stays.
_RIVAL_CELLS = (("ppo-scores", "ppo-masked", "srl", "cascade-dqn"), ("lsflow",))
# Processor seconds that each of them trains: about what SEQUOIA takes on the machine of
# docs/results, on average 8 to 10 at 20 arms, 12 to 34 at 40 and 16 to 37 at 100, but 51 in the
# assortment and 237 in routing with 100 arms; experiments/rivals/longer.py gives rivals as much.
# The same for all, so that a slow learner has fewer rounds.
RIVAL_SECONDS, _QUICK_RIVAL_SECONDS = 20.0, 2.0
# Rounds without an end but that.
_RIVAL_ROUNDS = 100_000
# Where arms interact, and where there are none.
BEYOND = {"epidemic": "Epidemic", "assortment": "Dynamic assortment"}
EPIDEMIC_POLICIES = ("random", "iterative-myopic", "myopic", "price", "lookahead", "sequoia")
ASSORTMENT_POLICIES = ("random", "myopic", "sequoia")
EPIDEMIC_ARMS = (20, 100)
ARMS = (20, 40, 100)
SEEDS = 10
ABLATION_SEEDS = 2
DECISION_SECONDS = 1.0

# What costs up to a second a decision is left to small problems.
_SLOW = ("price-update",)
_MOST_ARMS_FOR_SLOW = 20

ABLATIONS: dict[str, dict[str, Any]] = {
    "base policy alone": {"preset": "default", "rounds": 0},
    "as in the paper": {"preset": "paper"},
}
_QUICK_ABLATIONS = ("base policy alone",)


def paper_plan(
    quick: bool = False,
    arms: Sequence[int] = (),
    seeds: Sequence[int] = (),
    episodes: int | None = None,
    parts: Sequence[str] = (),
) -> Plan:
    """Return the plan of the paper's experiment, and of what stands beside it.

    Parameters
    ----------
    quick
        A small one: 20 arms, 2 seeds and 10 episodes.
    arms
        Numbers of arms; the paper's unless given.
    seeds
        Number of seeds, for all sizes or one for each.
    episodes
        Episodes of each policy; 50 unless given, 10 if quick.
    parts
        Some of `PARTS`; all unless given, or those of the paper alone if quick.
    """
    sizes = tuple(arms) or (ARMS[:1] if quick else ARMS)
    counts = tuple(seeds) or (2 if quick else SEEDS,)
    if len(counts) not in (1, len(sizes)):
        raise ProblemError(
            f"there are {len(counts)} numbers of seeds for {len(sizes)} sizes; one is wanted, or "
            "one for each."
        )
    wanted = tuple(parts) or (("main", "ablations") if quick else PARTS)
    for part in wanted:
        if part not in PARTS:
            raise ProblemError(f"there is no part {part!r}; known: {', '.join(PARTS)}.")
    pairs = list(zip(sizes, counts * len(sizes) if len(counts) == 1 else counts, strict=True))
    names = _QUICK_ABLATIONS if quick else tuple(ABLATIONS)
    grids = {
        "main": [_TRAP, *(_main(*pair, family) for pair in pairs for family in SETTINGS)],
        "rivals": [
            grid
            for size, count in pairs
            for family in SETTINGS
            for grid in _rivals(family=family, arms=size, seeds=count)
        ],
        "beyond": [grid for pair in pairs for grid in _beyond(*pair)],
        "ablations": _ablations(*pairs[0], names, quick),
    }
    trained = [{"name": name, "policy": "sequoia", **ABLATIONS[name]} for name in names]
    budget = {"rounds": _RIVAL_ROUNDS, "seconds": _QUICK_RIVAL_SECONDS if quick else RIVAL_SECONDS}
    trained += [
        {"name": name, "policy": own, "preset": name, **budget} for name, own in RIVALS.items()
    ]
    return make_plan(
        {
            "policies": POLICIES,
            "episodes": episodes or (10 if quick else 50),
            "decision_seconds": DECISION_SECONDS,
            "trained": trained,
            "problems": [grid for part in PARTS if part in wanted for grid in grids[part]],
        },
        "the paper's experiment",
    )


PARTS = ("main", "rivals", "beyond", "ablations")
_TRAP = {"family": "trap", "policies": TRAP_POLICIES, "seeds": [1], "episodes": 10}


def _main(size: int, count: int, family: str) -> dict[str, Any]:
    names = [n for n in POLICIES if size <= _MOST_ARMS_FOR_SLOW or n not in _SLOW]
    return {"family": family, "arms": size, "seeds": count, "bound": "hull", "policies": names}


def _rivals(**problems: Any) -> list[dict[str, Any]]:
    """Leave the bound to the main part, which is of the same problems."""
    return [{**problems, "policies": names, "bound": "none"} for names in _RIVAL_CELLS]


def _beyond(size: int, count: int) -> list[dict[str, Any]]:
    """Return epidemics of the smallest and the largest size, and the assortment once."""
    grids: list[dict[str, Any]] = []
    if size in EPIDEMIC_ARMS:
        own: dict[str, Any] = {"family": "epidemic", "arms": size, "seeds": count}
        grids.append({**own, "policies": EPIDEMIC_POLICIES})
        grids += _rivals(**own)
    if size == ARMS[0]:
        own = {"family": "assortment", "items": 20, "seeds": count}
        grids.append({**own, "policies": ASSORTMENT_POLICIES, "bound": "none"})
        grids += _rivals(**own)
    return grids


def _ablations(size: int, count: int, names: Sequence[str], quick: bool) -> list[dict[str, Any]]:
    """Take the network apart on the smallest problems; quickly, in two settings with one seed."""
    families = ("interventions", "scheduling") if quick else tuple(SETTINGS)
    seeds = 1 if quick else min(count, ABLATION_SEEDS)
    return [
        {"family": family, "arms": size, "seeds": seeds, "policies": names, "bound": "hull"}
        for family in families
    ]
