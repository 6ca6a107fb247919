"""Print the figures of all baselines beside the published ones; a minute.

python -m experiments.field.baselines
"""

from experiments.field import cascade, cascade_baselines, maintenance, maintenance_baselines
from experiments.play import no_action

# Episodes and seed of every figure, and draws of the cascades.
_EPISODES, _SEED, _DRAWS = 10_000, 1, range(1, 4)
# Of cascades: as many as behind the figures on the published graph.
_CASCADE_EPISODES = 200


def main() -> None:
    """Print both tables."""
    for k in maintenance_baselines.PUBLISHED:
        for horizon in (maintenance.PUBLISHED_HORIZON, maintenance.HORIZON):
            show_maintenance(k, horizon)
    for seed in _DRAWS:
        show_cascade(seed)


def show_maintenance(k: int, horizon: int) -> None:
    """Print discounted costs of k out of the four published components."""
    environment = maintenance.make(k, horizon=horizon)
    best = maintenance_baselines.best_heuristic(environment)
    published = maintenance_baselines.PUBLISHED[k]
    print(f"{environment.name}, {horizon} steps (published: 20)")
    for name, policy, known in (
        ("nothing", no_action(environment), published.nothing),
        (
            "fail and replace",
            maintenance_baselines.fail_and_replace(environment),
            published.fail_replace,
        ),
        (f"best heuristic: {best}", best, published.heuristic),
    ):
        mean, half = maintenance_baselines.discounted_cost(environment, policy, _EPISODES, _SEED)
        print(f"  {mean:8.2f} ± {half:.2f}  published {known:8.2f}  {name}")
    print(f"  SARSOP, published: {published.sarsop} ({published.lower} to {published.upper})")


def show_cascade(seed: int) -> None:
    """Print lifts over no action in the default village."""
    environment = cascade.make(seed)
    print(f"{environment.name}: lift over no action")
    for name, policy in {
        "random": cascade_baselines.random_nodes(environment),
        "one step ahead": cascade_baselines.by_index(
            environment, cascade_baselines.one_step(environment)
        ),
        "whittle": cascade_baselines.by_index(environment, cascade_baselines.whittle(environment)),
        "mean field": cascade_baselines.by_index(
            environment, cascade_baselines.mean_field(environment)
        ),
    }.items():
        mean, half = cascade_baselines.lift(environment, policy, _CASCADE_EPISODES, _SEED)
        low, high = cascade_baselines.ON_THEIR_GRAPH[name]
        print(f"  {mean:6.1f} ± {half:.1f}  on their graph {low:.0f} to {high:.0f}  {name}")


if __name__ == "__main__":
    main()
