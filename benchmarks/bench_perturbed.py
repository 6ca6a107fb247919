"""What plans lose when the model is wrong: ``python benchmarks/bench_perturbed.py``.

Policies plan by a problem and are played in worlds whose transitions, or neighbours, differ by
a share (`perturbed`). In per cent of what `price` earns that knows the world, under the same luck.
``--picture FILE.png`` draws it.
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np

from sequoia.evaluation import evaluate
from sequoia.evaluation.intervals import estimate
from sequoia.policies import make_policy
from sequoia.problem import Problem
from sequoia.problem.families import make
from sequoia.problem.perturbed import perturbed

SHARES = (0.0, 0.1, 0.2, 0.3, 0.5)
SETTINGS = {
    "standard": {"arms": 20},
    "capacity": {"arms": 12, "workers": 3},
    "scheduling": {"arms": 10},
    "epidemic, neighbours": {"arms": 10},
}
POLICIES = {
    "standard": ("price", "robust", "price-update", "whittle", "myopic"),
    "capacity": ("price", "robust", "price-update", "myopic"),
    "scheduling": ("price", "robust", "price-update", "myopic"),
    "epidemic, neighbours": ("price", "lookahead", "myopic"),
}


def lost(setting: str, share: float, worlds: int, episodes: int) -> dict[str, np.ndarray]:
    """Return what each policy earns in each world, in per cent of the one that was told."""
    found: dict[str, list[float]] = {name: [] for name in POLICIES[setting]}
    family = setting.partition(",")[0]
    for seed in range(worlds):
        problem = make(family, **SETTINGS[setting], seed=seed, horizon=20)
        is_graph = family == "epidemic"
        world = perturbed(problem, 0 if is_graph else share, seed, graph=share * is_graph)
        makers = {name: partial(planned, name, problem) for name in found}
        makers["told"] = partial(make_policy, "price")
        earned = evaluate(world, makers, episodes, seed, bound="none", progress=False)
        for name in found:
            found[name].append(100 * earned.mean(name).mean / earned.mean("told").mean)
    return {name: np.array(values) for name, values in found.items()}


def planned(name: str, problem: Problem, world: Problem):
    """Make a policy that does not know the world it is played in."""
    del world
    return make_policy(name, problem, rollouts=64)


def main() -> None:
    parser = argparse.ArgumentParser(description="Play plans of wrong models.")
    parser.add_argument("--worlds", type=int, default=6)
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--picture", type=Path)
    chosen = parser.parse_args()
    table: dict[str, dict[str, list[float]]] = {}
    for setting, names in POLICIES.items():
        table[setting] = {name: [] for name in names}
        print(f"{setting}: {', '.join(names)}", flush=True)
        for share in SHARES:
            found = lost(setting, share, chosen.worlds, chosen.episodes)
            print(
                f"  {share:g}: " + ", ".join(str(estimate(own)) for own in found.values()),
                flush=True,
            )
            for name, own in found.items():
                table[setting][name].append(float(own.mean()))
    if chosen.picture is not None:
        draw(table, chosen.picture)


def draw(table: dict[str, dict[str, list[float]]], path: Path) -> None:
    import matplotlib.pyplot as plt

    from sequoia.plots.canvas import colour_of, marker_of

    figure, axes = plt.subplots(1, len(table), figsize=(11, 3), sharey=True, layout="constrained")
    for ax, (setting, curves) in zip(axes, table.items(), strict=True):
        for name, values in curves.items():
            look = {"color": colour_of(name, []), "marker": marker_of(name, [])}
            line = ":" if name == "robust" else "-"
            ax.plot([100 * share for share in SHARES], values, line, label=name, **look)
        ax.set_title(setting, fontsize=10)
        ax.set_xlabel("error of the model, %")
        ax.legend(fontsize=7)
    axes[0].set_ylabel("% of the price policy\nthat knows the world")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
