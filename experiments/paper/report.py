"""Figures, tables and one page from the cells of a sweep."""

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from experiments.paper.experiment import BEYOND, RIVALS, SETTINGS
from experiments.paper.figures import paper_figures
from experiments.paper.results import Results
from experiments.paper.tables import ALL, Table, all_tables, claims
from sequoia.errors import FileError
from sequoia.io import write_text
from sequoia.plots import save_plot
from sequoia.problem.names import count, say
from sequoia.report.html import embedded, page, quiet
from sequoia.sweep.folder import NUMBERS, TIMES
from sequoia.sweep.tables import read_rows
from sequoia.version import __version__

REPORT = "report.html"
SUMMARY = "README.md"
# What the summary shows of figures and tables; all are in files.
_SHOWN = ("settings", "field", "ablations", "claims", "training")
_FORMATS = ("png", "svg", "pdf")
_FIGURES = {
    "settings": "The paper's main figure: mean reward by setting and size, random = 1; whiskers "
    "are standard errors over seeds, dashed lines are bounds that no policy exceeds on average",
    "field": "What other policies and the learners of other papers earn in per cent of SEQUOIA; "
    "lines are intervals over seeds that hold for all comparisons together; hollow is a tie, and "
    "without a line there are too few seeds to tell",
    "trap": "The counterexample with two arms, on which looking one step ahead goes wrong",
    "ablations": "SEQUOIA without some of its parts, in per cent of the whole; whiskers are "
    "standard errors over seeds",
    "sigmoid": "How arms respond to several interventions at once",
    "underground": "The London Underground with the nested subsets of stations",
}


def write_report(folder: Path) -> Path:
    """Write all figures and tables of what is done, and a page with all of them.

    Parameters
    ----------
    folder
        Where a sweep wrote its tables.

    Raises
    ------
    FileError
        When nothing is done yet.
    """
    results = Results.read(folder)
    if not results.records:
        raise FileError(f"{folder} has no finished cell to draw.")
    figures = paper_figures(results)
    tables = all_tables(results)
    for sub in ("figures", "tables"):
        (folder / sub).mkdir(exist_ok=True)
    for name, ax in figures.items():
        for form in _FORMATS:
            save_plot(ax, folder / "figures" / f"{name}.{form}")
    for table in tables:
        write_text(folder / "tables" / f"{table.name}.csv", table.csv())
        write_text(folder / "tables" / f"{table.name}.tex", table.latex())
    shown = {
        name: embedded(ax, _FIGURES[name]) + quiet(f"{_FIGURES[name]}.")
        for name, ax in figures.items()
    }
    target = folder / REPORT
    write_text(target, _page(_headline(results), shown, tables))
    write_text(folder / SUMMARY, summary(folder, results, tables, list(figures)))
    return target


def summary(folder: Path, results: Results, tables: Sequence[Table], figures: Sequence[str]) -> str:
    """Return figures and tables as Markdown, with what computed them: ``docs/results``."""
    rows = read_rows(folder / TIMES)
    hours = sum({row["problem"] + row["cell_seconds"]: _hours(row) for row in rows}.values())
    done = "; ".join(
        f"{words}: {', '.join(_seeds(results, family, arms) for arms in results.sizes(family))}"
        for family, words in {**SETTINGS, **BEYOND}.items()
        if results.sizes(family)
    )
    parts = [
        "# Results of the paper's experiment",
        f"Written by `python -m experiments.paper`, version {__version__}, "
        f"{commits(rows)}, {platform.machine()}, Python {platform.python_version()}; "
        f"{hours:.1f} hours of core time. Do not edit: the next run replaces it. The same command "
        "goes on from here to the whole plan; with `--dry-run` it says what that costs.",
        f"What was run: {done}.",
    ]
    parts += [f"![{_FIGURES[name]}](figures/{name}.png)" for name in figures if name in _SHOWN]
    for table in tables:
        if table.name in _SHOWN:
            parts += [f"## {table.title}", table.markdown(), table.note]
    files = ", ".join(f"[{name}]({name})" for name in (NUMBERS, TIMES))
    named = ", ".join(f"[{table.name}](tables/{table.name}.csv)" for table in tables)
    parts += ["## Files", f"{files} hold every policy of every problem; all tables: {named}."]
    return "\n\n".join(filter(None, parts)) + "\n"


def commits(rows: Sequence[Mapping[str, str]]) -> str:
    """Say of which commit most numbers are, and which policies' are of another."""
    by_commit: dict[str, Counter[str]] = {}
    for row in rows:
        own = by_commit.setdefault(row.get("commit", "") or "unknown", Counter())
        own[row["policy"]] += 1
    first, *others = sorted(by_commit, key=lambda name: -by_commit[name].total())
    return f"commit {first}" + "".join(
        f" ({say(sorted(by_commit[name]))}: commit {name})" for name in others
    )


def _hours(row: Mapping[str, str]) -> float:
    return float(row["cell_seconds"]) / 3600


def _seeds(results: Results, family: str, arms: int) -> str:
    """Say how many seeds of a size are done, by SEQUOIA and by the rivals."""
    ours = len(results.of(family, arms, "sequoia"))
    theirs = max(len(results.of(family, arms, name)) for name in RIVALS)
    return f"{arms} with {count(ours, 'seed')} (rivals {theirs})"


def _page(headline: str, shown: Mapping[str, str], tables: Sequence[Table]) -> str:
    """Put figures, as HTML, and tables in order."""
    by_name = {table.name: table for table in tables}
    order = {
        "settings": ("Rewards in all settings", "rewards"),
        "claims": ("Headline claims", "claims"),
        "field": ("Everybody against SEQUOIA", "field"),
        "differences": ("All comparisons", "differences"),
        "trap": ("Where looking one step ahead goes wrong", None),
        "ablations": ("Ablations", "ablations"),
        "training": ("Time of training, in minutes", "training"),
        "decisions": ("Time of a decision, in milliseconds", "decisions"),
        "sigmoid": ("Links from dose to effect", None),
        "underground": ("The map of the path-constrained setting", None),
    }
    sections = []
    for figure, (words, name) in order.items():
        table = by_name.get(name or "")
        content = shown.get(figure, "") + (table.html() if table is not None else "")
        if content:
            sections.append((words, content))
    return page("SEQUOIA: the paper's experiment", headline, sections)


def _headline(results: Results) -> str:
    problems = {(one.family, one.arms, one.seed) for one in results.records}
    seeds = len({one.seed for one in results.records})
    verb = "is" if len(problems) == 1 else "are"
    text = f"{count(len(problems), 'problem')} with up to {count(seeds, 'seed')} {verb} done."
    found = [row for row in claims(results).rows if row[1] == ALL]
    items = "".join(f"<li>{escape(words)}: {escape(said)} %</li>" for words, _, _, said, _ in found)
    return f"<p>{text}</p><ul>{items}</ul>" if items else f"<p>{text}</p>"
