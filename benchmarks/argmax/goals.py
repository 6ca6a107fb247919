"""What the engines must show, and where they do not."""

import numpy as np
from competitors import COMPETITORS, LIBRARIES, OURS
from results import OPTIMA, PROVEN, Result

LEAST_RATIO = {"naive-highs": 10.0, "unrolled-highs": 10.0, "naive-gurobi": 1.0}
LEAST_RATIO |= dict.fromkeys(LIBRARIES, 1.0)
MOST_MS = {
    ("standard", 100): 60.0,
    ("interventions", 100): 60.0,
    ("scheduling", 100): 60.0,
    ("capacity", 100): 60.0,
    ("routing", 20): 50.0,
    ("routing", 40): 1000.0,
}
MOST_MS_ENUMERATE = 10.0
MOST_MS_LOCAL = 5.0
MOST_LOSS_LOCAL = 5e-3


def misses(found: list[Result]) -> list[str]:
    """Return one line per goal that is missed in some cell."""
    lines = []
    for result in found:
        if result.solves:
            reasons = [*_too_close(result), *_too_slow(result), *_wrong(result)]
            title = COMPETITORS[result.name].title
            lines += [f"{' '.join(map(str, result.cell))}: {title} {why}" for why in reasons]
    return lines


def _too_close(result: Result) -> list[str]:
    least = LEAST_RATIO.get(result.name)
    if least is None or result.ratio is None or result.ratio >= least:
        return []
    over = " or more, as it ran into its limit" if result.is_over else ""
    return [f"takes {result.ratio:.2g} × the time of auto{over}; {least:g} × is wanted"]


def _too_slow(result: Result) -> list[str]:
    setting, arms, _ = result.cell
    taken = result.milliseconds()
    most = {
        "auto": MOST_MS.get((setting, arms), np.inf),
        "enumerate": MOST_MS_ENUMERATE if arms <= 20 else np.inf,
        "local": MOST_MS_LOCAL,
    }.get(result.name, np.inf)
    return [f"takes {taken:.0f} ms; {most:g} are wanted"] if taken > most else []


def _wrong(result: Result) -> list[str]:
    """Return what ours must never do, and answers of others that beat a proof of ours."""
    lines = []
    size = len(result.solves)
    if result.name in OPTIMA and result.n_proven < size:
        lines.append(f"left {size - result.n_proven} of {size} unproven")
    if result.name == "auto-1%" and result.worst_gap > 0.01 + PROVEN:
        lines.append(f"has a gap of up to {100 * result.worst_gap:.3g} %")
    if result.name in OURS and result.n_forbidden:
        lines.append(f"broke the rules {result.n_forbidden} times")
    if result.name == "local" and result.losses and np.mean(result.losses) > MOST_LOSS_LOCAL:
        lines.append(f"is {100 * np.mean(result.losses):.2g} % below the optimum on average")
    if result.most_above_proof > PROVEN and not result.n_forbidden:
        lines.append(f"found {result.most_above_proof:.1e} more than our exact engines")
    return lines
