"""Figures, tables and one page from the cells of a sweep."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from sequoia.errors import FileError
from sequoia.io import write_text
from sequoia.paper.figures import paper_figures
from sequoia.paper.results import Results
from sequoia.paper.tables import ALL, Table, all_tables, claims
from sequoia.plots import save_plot
from sequoia.problem.names import count
from sequoia.report.html import embedded, page, quiet

REPORT = "report.html"
_FORMATS = ("png", "svg", "pdf")
_FIGURES = {
    "settings": "The paper's main figure: mean reward by setting and size, random = 1; whiskers "
    "are standard errors over seeds, dashed lines are bounds that no policy exceeds on average",
    "trap": "The counterexample with two arms, on which looking one step ahead goes wrong",
    "ablations": "SEQUOIA without some of its parts, in per cent of the bound",
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
    return target


def _page(headline: str, shown: Mapping[str, str], tables: Sequence[Table]) -> str:
    """Put figures, as HTML, and tables in order."""
    by_name = {table.name: table for table in tables}
    order = {
        "settings": ("Rewards in all settings", "rewards"),
        "claims": ("Headline claims", "claims"),
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
