"""One competitor in one cell, in a process of its own; one line of JSON per solve.

Run by ``run.py``; the lines go to the file named last, so what was measured survives a crash.
"""

import argparse
import json
import resource
import time
from pathlib import Path
from typing import TextIO

import numpy as np
from cells import BATCH, STATES, Case, Cell
from competitors import COMPETITORS, OURS, Competitor, Found, NotApplicable, Solve, TooBigForLicence

MEMORY = 12 * 2**30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("competitor", choices=COMPETITORS)
    parser.add_argument("setting")
    parser.add_argument("arms", type=int)
    parser.add_argument("network")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--states", type=int, default=6)
    parser.add_argument("--time-limit", type=float, default=20.0)
    parser.add_argument("--cell-seconds", type=float, default=6.0)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    cell = Cell(options.setting, options.arms, options.network, options.seed)
    with options.output.open("w") as file:
        try:
            measure(COMPETITORS[options.competitor], Case.of(cell), options, file)
        except TooBigForLicence:
            write(file, {"stopped": "licence"})
        except NotApplicable as reason:
            write(file, {"stopped": str(reason)})
        except Exception as error:
            first = str(error).splitlines() or [""]
            write(file, {"stopped": f"{type(error).__name__}: {first[0]}"[:200]})
            raise


def measure(competitor: Competitor, case: Case, options: argparse.Namespace, file: TextIO) -> None:
    """Write a line for each solve, until there are enough or the time for this cell is up."""
    began = time.process_time(), time.perf_counter()
    solve = competitor.prepare(case, options.time_limit)
    if competitor.name in OURS:
        solve([0])  # finds what depends on the weights alone
    else:
        warm_up(competitor)
    write(file, {"setup": elapsed(began)})
    began_all = time.perf_counter()
    for states in batches(competitor, options.states):
        for line in solve_timed(solve, case, states):
            write(file, line)
        if time.perf_counter() - began_all > options.cell_seconds:
            break


def batches(competitor: Competitor, n_states: int) -> list[list[int]]:
    """Return which states are solved together; ours solve as many as there is time for."""
    if competitor.is_batched:
        return [list(range(first, first + BATCH)) for first in range(1, STATES, BATCH)]
    last = BATCH if competitor.name in OURS else n_states
    return [[state] for state in range(1, last + 1)]


def warm_up(competitor: Competitor) -> None:
    """Solve something tiny, so that loading libraries is not measured."""
    competitor.prepare(Case.of(Cell("standard", 4, "2-2")), 10.0)([0])


def solve_timed(solve: Solve, case: Case, states: list[int]) -> list[dict[str, object]]:
    began = time.process_time(), time.perf_counter()
    found = solve(states)
    taken = elapsed(began)
    each = {kind: ms / len(states) for kind, ms in taken.items()}
    if not len(found.actions):
        return [{"state": state, **each, "value": None, "gap": None} for state in states]
    return [
        {"state": state, **each, **checked(case, state, found, index)}
        for index, state in enumerate(states)
    ]


def checked(case: Case, state: int, found: Found, index: int) -> dict[str, object]:
    """Return what an answer is really worth, by the rules and by the network."""
    action = found.actions[index]
    net = case.net.only([state])
    gap = float(found.gaps[index])
    return {
        "value": float(net.values(action[None, None].astype(np.float64))[0, 0]),
        "claimed": float(found.claimed[index]),
        "gap": gap if np.isfinite(gap) else None,
        "allowed": bool(case.problem.space.contains(action[None])[0]),
    }


def elapsed(began: tuple[float, float]) -> dict[str, float]:
    """Return milliseconds since ``began``, of the processor and on the clock."""
    return {
        "cpu_ms": 1e3 * (time.process_time() - began[0]),
        "wall_ms": 1e3 * (time.perf_counter() - began[1]),
    }


def write(file: TextIO, line: dict[str, object]) -> None:
    file.write(json.dumps(line) + "\n")
    file.flush()


if __name__ == "__main__":
    main()
