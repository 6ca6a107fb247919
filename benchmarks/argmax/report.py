"""From what was measured to tables."""

from typing import Any

import numpy as np
from competitors import COMPETITORS, OURS
from goals import misses
from results import PROVEN, Result, results

_SHORT = {"licence": "licence", "too many actions": "–"}


def markdown(measured: dict[str, Any]) -> str:
    """Return all tables."""
    found = results(measured)
    packages = ", ".join(f"{name} {version}" for name, version in measured["packages"].items())
    parts = [
        f"Measured on {measured['date']} in {measured['minutes']:.0f} minutes with "
        f"`{measured['command']}` on {measured['machine']}; one thread each; {packages}.",
        "Milliseconds of processor time for one solve, building included; the median over states. "
        f"`>`: half of the solves or more reached the limit of {measured['time_limit']:g} s. "
        "`licence`: too big for Gurobi's free licence. `–`: too many actions to try them all.",
    ]
    for network in dict.fromkeys(result.cell[2] for result in found):
        parts += [f"### Network {network}", _overview(found, network)]
    missed = "\n".join(f"- {line}" for line in misses(found)) or "None."
    parts += ["### Goals that are missed", missed, "### Every cell", _LEGEND, _details(found)]
    return "\n\n".join(parts) + "\n"


_LEGEND = (
    "Loss: how far the value of the action, by a forward pass, is below our proven optimum, "
    "relative to it. Claim: how far the solver's objective is from that forward pass. Ratio: "
    "median time over that of auto on the same states. Set-up is once per network."
)


def _overview(found: list[Result], network: str) -> str:
    """Return one row per competitor, one column per setting and size."""
    here = [result for result in found if result.cell[2] == network]
    cells = list(dict.fromkeys(result.cell[:2] for result in here))
    names = {result.name for result in here}
    lines = [
        ["median ms", *(f"{setting} {arms}" for setting, arms in cells)],
        ["---", *("--:" for _ in cells)],
    ]
    for name in filter(names.__contains__, COMPETITORS):
        own = {result.cell[:2]: result for result in here if result.name == name}
        shown = [_median(own[cell]) if cell in own else "" for cell in cells]
        lines.append([COMPETITORS[name].title, *shown])
    return _table(lines)


def _details(found: list[Result]) -> str:
    head = ["cell", "competitor", "solves", "median ms", "p95 ms", "wall ms", "set-up ms", "proven"]
    head += ["largest loss", "mean loss", "largest claim", "ratio to auto", "note"]
    lines = [head, ["---", "---", *("--:" for _ in head[3:]), "---"]]
    for result in found:
        name = " ".join(map(str, result.cell))
        lines.append([name, COMPETITORS[result.name].title, *_measured(result)])
    return _table(lines)


def _measured(result: Result) -> list[str]:
    """Return the columns of one row of the large table."""
    if not result.solves:
        return ["0", _median(result), *[""] * 8, result.row["stopped"] or ""]
    setup = result.row["setup"] if result.name in OURS else None
    return [
        str(len(result.solves)),
        _median(result),
        _number(result.milliseconds(95)),
        _number(result.milliseconds(50, "wall_ms")),
        _number(setup["cpu_ms"]) if setup else "",
        f"{result.n_proven} of {len(result.solves)}",
        f"{max(result.losses):.1e}" if result.losses else "",
        f"{np.mean(result.losses):.1e}" if result.losses else "",
        f"{result.worst_claim:.1e}",
        _ratio(result),
        _note(result),
    ]


def _ratio(result: Result) -> str:
    if result.ratio is None:
        return ""
    return f"{'> ' if result.is_over else ''}{_number(result.ratio)}"


def _note(result: Result) -> str:
    notes = [result.row["stopped"]] if result.row["stopped"] else []
    if result.n_forbidden:
        notes.append(f"{result.n_forbidden} answers break the rules")
    if any(solve["value"] is None for solve in result.solves):
        notes.append("no action found in some states")
    if np.isfinite(result.worst_gap) and result.worst_gap > PROVEN:
        notes.append(f"gap up to {100 * result.worst_gap:.3g} %")
    if not result.is_compared_with_proofs:
        notes.append("some compared with the best found, not proven")
    return "; ".join(notes)


def _median(result: Result) -> str:
    if not result.solves:
        return _SHORT.get(result.row["stopped"], "failed")
    if result.is_over:
        return f"> {result.limit:g} s"
    return _number(result.milliseconds())


def _number(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def _table(lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def progress(row: dict[str, Any]) -> str:
    """Say in one line what was just measured."""
    times = [solve["cpu_ms"] for solve in row["solves"]]
    shown = f"{np.median(times):.1f} ms, {len(times)} solves" if times else "no solve"
    return f"{row['competitor']}: {shown}{'; ' + row['stopped'] if row['stopped'] else ''}"
