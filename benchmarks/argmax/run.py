"""Best action of a Q-network: our engines against others, one process each.

``python benchmarks/argmax/run.py`` from the root of the repository; ``make bench-argmax`` also
installs the competitors. Times are per solve, build included, with the network and the rules known
beforehand. See ``--help`` for a smaller or larger run.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import report
import training
from cells import FOLDER, NETWORKS, SETTINGS, SIZES, Cell
from competitors import COMPETITORS

HERE = Path(__file__).parent
PACKAGES = (
    "highspy", "gurobipy", "gurobi-machinelearning", "pyscipopt", "PySCIPOpt-ML", "omlt", "pyomo",
    "torch", "numpy", "scipy",
)  # fmt: skip
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
START_UP = 60.0


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Our argmax engines against others.")
    parser.add_argument("--settings", nargs="+", default=SETTINGS, choices=SETTINGS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="numbers of arms")
    parser.add_argument("--networks", nargs="+", default=NETWORKS, help="such as 32-32")
    parser.add_argument("--competitors", nargs="+", default=COMPETITORS, choices=COMPETITORS)
    parser.add_argument("--states", type=int, default=6, help="states per cell, at most 64")
    parser.add_argument("--time-limit", type=float, default=20.0, help="seconds for one solve")
    parser.add_argument(
        "--cell-seconds", type=float, default=6.0, help="begin no other solve after so long"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time; more disturb")
    parser.add_argument("--seed", type=int, default=1, help="of problems, networks and states")
    parser.add_argument("--output", type=Path, default=FOLDER / "argmax.json")
    parser.add_argument("--markdown", type=Path, help="write the tables here, too")
    parser.add_argument("--report", action="store_true", help="only print what was measured last")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    if chosen.report:
        measured = json.loads(chosen.output.read_text())
    else:
        measured = measure_all(chosen)
        chosen.output.write_text(json.dumps(measured, indent=1))
    text = report.markdown(measured)
    print(text)
    if chosen.markdown:
        chosen.markdown.write_text(text)


def measure_all(chosen: argparse.Namespace) -> dict[str, object]:
    """Train what is not on disk, then measure cell by cell."""
    began = time.perf_counter()
    FOLDER.mkdir(parents=True, exist_ok=True)
    training.ensure(Cell("standard", 4, "2-2"))  # every competitor warms up on it
    cells = [
        Cell(*chosen_cell, chosen.seed)
        for chosen_cell in product(chosen.settings, chosen.sizes, chosen.networks)
    ]
    losses = {cell: training.ensure(cell) for cell in cells}
    tasks = [
        (name, cell) for cell in cells for name in chosen.competitors if takes_part(name, cell)
    ]
    with ThreadPoolExecutor(chosen.jobs) as pool:
        rows = list(pool.map(lambda task: measure(*task, chosen), tasks))
    for row, (_, cell) in zip(rows, tasks, strict=True):
        row["loss"] = losses[cell]
    return {
        "date": datetime.date.today().isoformat(),
        "command": " ".join(["python", *sys.argv]),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}",
        "packages": {name: version(name) for name in PACKAGES},
        "time_limit": chosen.time_limit,
        "minutes": (time.perf_counter() - began) / 60,
        "rows": rows,
    }


def takes_part(name: str, cell: Cell) -> bool:
    settings = COMPETITORS[name].settings
    return not settings or cell.setting in settings


def measure(name: str, cell: Cell, chosen: argparse.Namespace) -> dict[str, object]:
    """Let one competitor solve one cell in a process of its own, and read what it wrote."""
    file = FOLDER / "lines" / f"{cell.name}-{name}.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_text("")
    command = [sys.executable, str(HERE / "worker.py"), name, cell.setting, str(cell.arms)]
    command += [cell.network, "--seed", str(cell.seed), "--states", str(chosen.states)]
    command += ["--time-limit", str(chosen.time_limit), "--cell-seconds", str(chosen.cell_seconds)]
    command += ["--output", str(file)]
    patience = START_UP + chosen.cell_seconds + 2 * chosen.time_limit
    began = time.perf_counter()
    ended = finish(command, file.with_suffix(".log"), patience)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    stopped = next((line["stopped"] for line in lines if "stopped" in line), None)
    row = {
        "setting": cell.setting,
        "arms": cell.arms,
        "network": cell.network,
        "competitor": name,
        "setup": next((line["setup"] for line in lines if "setup" in line), None),
        "stopped": stopped or ended,
        "seconds": time.perf_counter() - began,
        "solves": [line for line in lines if "state" in line],
    }
    print(f"{cell.name}: {report.progress(row)}", file=sys.stderr, flush=True)
    return row


def finish(command: list[str], log: Path, patience: float) -> str | None:
    """Run a process to its end; return what went wrong, if anything."""
    with log.open("w") as output:
        try:
            done = subprocess.run(
                command,
                env=os.environ | ONE_THREAD,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=patience,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"stopped after {patience:.0f} s"
    return None if done.returncode == 0 else f"ended with code {done.returncode}"


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    main()
