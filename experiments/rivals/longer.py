"""What rivals learn in more time than the experiment gives them.

    python -m experiments.rivals --seeds 3 -o out/rivals
    python -m experiments.rivals --seeds 3 --seconds 200 --rivals ppo-scores,srl -o out/rivals

The experiment (`python -m experiments.paper`) trains each rival for the same time everywhere, while
SEQUOIA takes as long as it takes. The first command gives rivals the mean of SEQUOIA's times of the
same setting and size, where that is longer; the second a time of its own, in all settings at their
smallest size. Problems, episodes and luck are those of docs/results. Interrupted, it goes on where
it stopped.
"""

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from experiments.paper.experiment import DECISION_SECONDS, RIVAL_SECONDS, RIVALS
from sequoia.sweep import Plan, run_locally, sweep
from sequoia.sweep.plan import make_plan
from sequoia.sweep.tables import read_rows

# Arms, or items of the assortment.
SMALLEST = "20"
RESULTS = Path("docs/results")
# Family, arms and items; of the last two one is empty.
Place = tuple[str, str, str]


def main() -> None:
    """Train rivals, and print what that brings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=int, help="as long as SEQUOIA unless given")
    parser.add_argument("--rivals", default=",".join(RIVALS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, default=Path("out/rivals"))
    given = parser.parse_args()
    own = sequoias_seconds()
    if given.seconds is None:
        seconds = {place: time for place, time in own.items() if time > RIVAL_SECONDS}
    else:
        seconds = {place: given.seconds for place in own if SMALLEST in place}
    plan = longer(seconds, given.seeds, given.rivals.split(","))
    swept = sweep(plan, given.output, partial(run_locally, jobs=given.jobs), given.jobs, print)
    print(*swept.failed.values())
    show(given.output)


def place_of(row: Mapping[str, str]) -> Place:
    """Return where a row of results belongs."""
    return row["family"], row.get("arms", ""), row.get("items", "")


def sequoias_seconds() -> dict[Place, int]:
    """Mean time that SEQUOIA trained in each place."""
    times = defaultdict[Place, list[float]](list)
    for row in read_rows(RESULTS / "times.csv"):
        if row["policy"] == "sequoia":
            times[place_of(row)].append(float(row["training_seconds"]))
    return {place: round(mean(found)) for place, found in times.items()}


def longer(seconds: Mapping[Place, int], seeds: int, rivals: Sequence[str]) -> Plan:
    """Plan rivals with these times; names say how long, so that they differ."""
    trained: list[dict[str, Any]] = []
    problems: list[dict[str, Any]] = []
    for (family, arms, items), budget in seconds.items():
        names = {rival: f"{rival} for {budget} s" for rival in rivals}
        trained += [
            {"name": name, "policy": RIVALS[rival], "preset": rival}
            | {"rounds": 100_000, "seconds": float(budget)}
            for rival, name in names.items()
            if name not in {one["name"] for one in trained}
        ]
        size = {"arms": int(arms)} if arms else {"items": int(items)}
        problems.append({"family": family, **size, "policies": list(names.values())})
    content = {"trained": trained, "problems": problems, "seeds": seeds, "bound": "none"}
    return make_plan(
        {**content, "policies": ["random"], "episodes": 50, "decision_seconds": DECISION_SECONDS},
        "rivals that train longer",
    )


def show(folder: Path) -> None:
    """Print, for each place, what rivals earn in per cent of SEQUOIA with either time."""
    short = {
        (row["problem"], row["policy"]): float(row["mean"])
        for row in read_rows(RESULTS / "numbers.csv")
        if not row["does_not_apply"]
    }
    found = defaultdict[tuple[Place, str], list[tuple[float, float]]](list)
    for row in read_rows(folder / "numbers.csv"):
        if not row["does_not_apply"] and row["policy"] != "random":
            rival = row["policy"].split()[0]
            ours = short[row["problem"], "sequoia"]
            pair = short[row["problem"], rival] / ours, float(row["mean"]) / ours
            found[place_of(row), row["policy"]].append(pair)
    for ((family, arms, items), name), pairs in found.items():
        before, after = (100 * mean(column) for column in zip(*pairs, strict=True))
        where = f"{family} {arms or items}"
        print(
            f"{where:18} {name:24} {len(pairs)} seeds: {after:5.1f} % of SEQUOIA, "
            f"{before:5.1f} % with {RIVAL_SECONDS:.0f} s; each {[round(100 * b) for _, b in pairs]}"
        )


if __name__ == "__main__":
    main()
