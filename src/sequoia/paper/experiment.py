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
ARMS = (20, 40, 100)
SEEDS = 30
ABLATION_SEEDS = 2
DECISION_SECONDS = 1.0
# Beyond this size the tighter bound takes minutes and hardly differs.
_MOST_ARMS_FOR_HULL = 40

# What costs up to a second a decision is left to small problems.
_SLOW = ("price-update",)
_MOST_ARMS_FOR_SLOW = 20

_FROZEN = {"target_update_interval": 1, "tau": 1e-6}
ABLATIONS: dict[str, dict[str, Any]] = {
    "prices alone": {"preset": "default", "rounds": 0},
    "no critic": {"preset": "default", "critic": 0},
    "frozen target": {"preset": "default", **_FROZEN},
    "no price part": {"preset": "default", "prices": "none"},
    "no price part, no warm start": {"preset": "default", "prices": "none", "epochs": 0},
    "no price part, frozen target": {"preset": "default", "prices": "none", **_FROZEN},
    "as in the paper": {"preset": "paper"},
}
_QUICK_ABLATIONS = ("no price part", "no price part, no warm start", "no price part, frozen target")


def paper_plan(
    quick: bool = False,
    arms: Sequence[int] = (),
    seeds: Sequence[int] = (),
    episodes: int | None = None,
) -> Plan:
    """Return the plan of the paper's experiment.

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
    """
    sizes = tuple(arms) or (ARMS[:1] if quick else ARMS)
    counts = tuple(seeds) or (2 if quick else SEEDS,)
    if len(counts) not in (1, len(sizes)):
        raise ProblemError(
            f"there are {len(counts)} numbers of seeds for {len(sizes)} sizes; one is wanted, or "
            "one for each."
        )
    per_size = counts * len(sizes) if len(counts) == 1 else counts
    grids = [
        {
            "family": family,
            "arms": size,
            "seeds": count,
            "bound": _bound(size),
            "policies": _policies(size),
        }
        for size, count in zip(sizes, per_size, strict=True)
        for family in SETTINGS
    ]
    names = _QUICK_ABLATIONS if quick else tuple(ABLATIONS)
    trap = {"family": "trap", "policies": TRAP_POLICIES, "seeds": [1], "episodes": 10}
    return make_plan(
        {
            "policies": POLICIES,
            "episodes": episodes or (10 if quick else 50),
            "decision_seconds": DECISION_SECONDS,
            "trained": [{"name": name, "policy": "sequoia", **ABLATIONS[name]} for name in names],
            "problems": [trap, *grids, *_ablation_grids(sizes[0], per_size[0], names, quick)],
        },
        "the paper's experiment",
    )


def _ablation_grids(
    size: int, count: int, names: Sequence[str], quick: bool
) -> list[dict[str, Any]]:
    """Take the network apart on the smallest problems; quickly, in two settings with one seed."""
    families = ("interventions", "scheduling") if quick else tuple(SETTINGS)
    seeds = 1 if quick else min(count, ABLATION_SEEDS)
    return [
        {"family": family, "arms": size, "seeds": seeds, "policies": names, "bound": _bound(size)}
        for family in families
    ]


def _policies(size: int) -> tuple[str, ...]:
    is_small = size <= _MOST_ARMS_FOR_SLOW
    return tuple(name for name in POLICIES if is_small or name not in _SLOW)


def _bound(size: int) -> str:
    return "hull" if size <= _MOST_ARMS_FOR_HULL else "lp"
