"""Weeks planned at once against days planned one by one: what they earn, under the same luck.

``python benchmarks/weeks.py [--programmes 10] [--weeks 2] [--ways …]``: 30 people in three
groups whose transitions are known, with three workers. Four ways to plan, each with a database of
its own, and what is seen at visits recorded every evening:

- ``days``: each morning one day, for what is known then;
- ``week``: each Monday five days at once, carried out as they are;
- ``kept``: each morning the days that are left of the week, what is published staying unless a
  change gains more than 0.1 for each visit it drops;
- ``program``: each Monday one mixed-integer program over five days (whom on which days, and by
  whom), its rewards after the week priced as those of all other plans, and carried
  out as it is.
"""

import argparse
import contextlib
import io
import itertools
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_array

from sequoia.evaluation.intervals import estimate
from sequoia_programme.creating import Beginning, create
from sequoia_programme.importing import import_sheets
from sequoia_programme.recording import record
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.situation import find_situation
from sequoia_programme.today import Planning, plan_today, publish_all
from sequoia_programme.week import plan_week

PEOPLE, DAYS = 30, 5
START = date(2026, 11, 2)
STATES = {"lapsed": 0.0, "at risk": 0.5, "good": 1.0}
GROUPS = ("a", "b", "c")
WAYS = ("days", "week", "kept", "program")
# A program is cut off then.
SECONDS = 20.0


def kernels(rng: np.random.Generator) -> np.ndarray:
    """Draw transitions by group and dose, ``(3, 2, 3, 3)``; a visit makes good states likelier."""
    left = rng.dirichlet((1.0, 1.0, 1.0), size=(3, 3))
    left = 0.7 * np.eye(3) + 0.3 * left * np.array([1.6, 1.0, 0.4])
    left /= left.sum(axis=2, keepdims=True)
    lift = rng.uniform(0.2, 0.6, (3, 3, 1))
    better = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 1]], dtype=float)
    return np.stack([left, (1 - lift) * left + lift * better], axis=1)


def begin(folder: Path, truth: np.ndarray, rng: np.random.Generator):
    """Make a programme; return it, and everybody's group."""
    programme = create(
        folder / "clinic",
        Beginning("clinic", START, STATES, days=("Mon", "Tue", "Wed", "Thu", "Fri"), reported=0.0),
    )
    group = rng.integers(3, size=PEOPLE)
    costs = rng.choice([20, 30, 45], PEOPLE)
    rows = [f"P{i},{GROUPS[group[i]]},{costs[i]}" for i in range(PEOPLE)]
    (folder / "r.csv").write_text("name,group,cost\n" + "\n".join(rows))
    (folder / "s.csv").write_text("name,capacity\nAnna,60\nBo,60\nChi,45\n")
    names = list(STATES)
    lines = [
        f"{GROUPS[g]},{('none', 'visit')[d]},{names[s]},{','.join(map(str, truth[g, d, s]))}"
        for g, d, s in itertools.product(range(3), range(2), range(3))
    ]
    head = f"group,dose,state,{','.join(names)}\n"
    (programme.folder / "transitions.csv").write_text(head + "\n".join(lines))
    import_sheets(programme, {ARM: folder / "r.csv", WORKER: folder / "s.csv"})
    return programme, group


def planned_by_program(programme, days) -> list[set[int]]:
    """Return who is visited on each day, by one program over all days."""
    situation = find_situation(programme, days[0])
    planner = Planning(situation, "price").planner
    original, model = situation.believed.original.arms, situation.problem.arms.model
    moves, rewards = original.kernels[model], original.rewards[model]
    size, count = len(situation.arms), len(days)
    patterns = [p for r in range(count + 1) for p in itertools.combinations(range(count), r)]
    worth = np.zeros((size, len(patterns)))
    for number, pattern in enumerate(patterns):
        belief = situation.belief.copy()
        for day in range(count):
            belief = np.einsum("js,jst->jt", belief, moves[:, int(day in pattern)])
            worth[:, number] += (belief * rewards).sum(axis=1)
        ends = situation.believed.nodes(belief)
        worth[:, number] += planner.prices.weights(ends, count).max(axis=1)
    capacity = situation.problem.space.base.capacities
    cost = np.array([float(one.facts["cost"]) for one in situation.arms])
    workers, first = len(capacity), size * len(patterns)
    total = first + size * workers * count

    def visit(arm: int, worker: int, day: int) -> int:
        return first + (arm * workers + worker) * count + day

    rows = lil_array((size + size * count + workers * count, total))
    low, high = np.zeros(rows.shape[0]), np.zeros(rows.shape[0])
    for arm in range(size):
        rows[[arm], arm * len(patterns) : (arm + 1) * len(patterns)] = 1.0
        low[arm] = high[arm] = 1.0
        for day in range(count):
            row = size + arm * count + day
            for number, pattern in enumerate(patterns):
                if day in pattern:
                    rows[row, arm * len(patterns) + number] = -1.0
            for worker in range(workers):
                rows[row, visit(arm, worker, day)] = 1.0
                rows[size + size * count + worker * count + day, visit(arm, worker, day)] = cost[
                    arm
                ]
    high[size + size * count :] = np.repeat(capacity, count)
    objective = np.concatenate([-worth.ravel(), np.zeros(total - first)])
    found = milp(
        objective,
        integrality=np.ones(total),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(rows.tocsr(), low, high),
        options={"time_limit": SECONDS, "mip_rel_gap": 1e-4},
    )
    chosen = found.x[first:].reshape(size, workers, count) > 0.5
    return [set(np.flatnonzero(chosen[:, :, day].any(axis=1)).tolist()) for day in range(count)]


def visited(plan) -> set[int]:
    return {int(task.who[1:]) for task in plan.tasks}


def play(way: str, seed: int, weeks: int) -> tuple[float, float]:
    """Return what a day earned, and the seconds of the longest plan."""
    rng = np.random.default_rng(seed)
    truth = kernels(rng)
    with tempfile.TemporaryDirectory() as room:
        programme, group = begin(Path(room), truth, rng)
        state = rng.integers(3, size=PEOPLE)
        names, worth = list(STATES), np.array(list(STATES.values()))
        earned, slowest = 0.0, 0.0
        coming: list[set[int]] = []
        for number in range(weeks * DAYS):
            day = START + timedelta(days=7 * (number // DAYS) + number % DAYS)
            left = [day + timedelta(days=n) for n in range(DAYS - number % DAYS)]
            began = time.perf_counter()
            if way == "days":
                today = visited(
                    plan_today(find_situation(programme, day), {}, policy="price").stored
                )
            elif way == "kept":
                made = plan_week(programme, left, policy="price")
                publish_all(programme, left)
                today = visited(made.days[0].plan)
            else:
                if number % DAYS == 0:
                    coming = (
                        [
                            visited(one.plan)
                            for one in plan_week(programme, left, policy="price").days
                        ]
                        if way == "week"
                        else planned_by_program(programme, left)
                    )
                today = coming[number % DAYS]
            slowest = max(slowest, time.perf_counter() - began)
            seen = [f"P{i}={names[state[i]]}" for i in sorted(today)]
            if seen:
                record(programme, seen, day)
            is_visited = np.isin(np.arange(PEOPLE), sorted(today)).astype(int)
            odds = truth[group, is_visited, state].cumsum(axis=1)
            luck = np.random.default_rng((seed, number)).random(PEOPLE)
            state = np.minimum((luck[:, None] >= odds).sum(axis=1), 2)
            earned += worth[state].sum()
    return earned / (weeks * DAYS), slowest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programmes", type=int, default=10)
    parser.add_argument("--weeks", type=int, default=2)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    options = parser.parse_args()
    earned: dict[str, list[float]] = {way: [] for way in options.ways}
    slowest = dict.fromkeys(options.ways, 0.0)
    for seed in range(options.programmes):
        for way in options.ways:
            with contextlib.redirect_stdout(io.StringIO()):
                each, seconds = play(way, seed, options.weeks)
            earned[way].append(each)
            slowest[way] = max(slowest[way], seconds)
        print(seed, *(f"{way} {earned[way][-1]:.3f}" for way in options.ways), flush=True)
    days = np.array(earned[options.ways[0]])
    for way in options.ways:
        own = np.array(earned[way])
        behind = estimate(own - days)
        print(
            f"{way:<8} {own.mean():.3f} a day; against {options.ways[0]} {behind}; "
            f"the longest plan took {slowest[way]:.1f} s"
        )


if __name__ == "__main__":
    main()
