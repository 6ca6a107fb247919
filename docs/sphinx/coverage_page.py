"""Write ``docs/coverage.md`` from what ``make coverage`` measured.

python docs/sphinx/coverage_page.py out/coverage.json docs/coverage.md
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

from sequoia.version import commit

# Files below it are listed with the lines that no test runs.
LISTED_BELOW = 90.0


def main(measured: Path, page: Path) -> None:
    """Write the page."""
    content = json.loads(measured.read_text(encoding="utf-8"))
    files = {name.partition("sequoia/")[2]: found for name, found in content["files"].items()}
    rooms = defaultdict[str, list[dict[str, int]]](list)
    for name, found in files.items():
        rooms[name.partition("/")[0] if "/" in name else "(beside the rooms)"].append(
            found["summary"]
        )
    day = content["meta"]["timestamp"][:10]
    parts = [
        "# Coverage",
        f"The tests run **{content['totals']['percent_covered']:.1f} %** of the "
        f"{content['totals']['num_statements']:,} statements of the library "
        f"(commit {commit()}, {day}). `make coverage` measures it, fails below 90 %, writes every "
        "line into `out/coverage/index.html`, and this page. What other processes run "
        "(workers of sweeps, commands that a test kills) is not seen: the truth is somewhat more.",
        "| room | statements | run |\n|---|--:|--:|\n"
        + "\n".join(
            f"| {room} | {total(found, 'num_statements'):,} | {share(found):.1f} % |"
            for room, found in sorted(rooms.items())
        ),
        "## What is not covered",
        f"Files of which less than {LISTED_BELOW:.0f} % is run, with the lines that are not:",
        "| file | run | lines |\n|---|--:|---|\n"
        + "\n".join(
            f"| `{name}` | {found['summary']['percent_covered']:.0f} % | "
            f"{spans(found['missing_lines'])} |"
            for name, found in sorted(files.items())
            if found["summary"]["percent_covered"] < LISTED_BELOW
        ),
    ]
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def total(found: list[dict[str, int]], what: str) -> int:
    """Return a sum over files."""
    return sum(summary[what] for summary in found)


def share(found: list[dict[str, int]]) -> float:
    """Return the percentage of statements that are run."""
    return 100 * total(found, "covered_lines") / max(total(found, "num_statements"), 1)


def spans(lines: list[int]) -> str:
    """Return ``1–3, 7`` for 1, 2, 3, 7."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][1] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
