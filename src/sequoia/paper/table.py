"""A table that is written for people, for LaTeX and for programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from sequoia.evaluation.intervals import Estimate
from sequoia.report import html as page
from sequoia.sweep.tables import to_csv

_ESCAPES = str.maketrans(
    {"%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "±": r"$\pm$", "×": r"$\times$", "–": "--"}
)


@dataclass(frozen=True)
class Table:
    """Rows of text under heads.

    Attributes
    ----------
    name
        Of its files.
    note
        What a reader has to know.
    """

    name: str
    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def csv(self) -> str:
        """Return it as CSV."""
        return to_csv([dict(zip(self.heads, row, strict=True)) for row in self.rows])

    def html(self) -> str:
        """Return it as HTML."""
        head = "".join(f"<th>{escape(text)}</th>" for text in self.heads)
        rows = ["".join(f"<td>{escape(text)}</td>" for text in row) for row in self.rows]
        note = page.quiet(self.note) if self.note else ""
        return f'<div class="tight">{page.table(head, rows)}</div>{note}'

    def latex(self) -> str:
        """Return it as a LaTeX table, for the package booktabs."""
        lines = [" & ".join(text.translate(_ESCAPES) for text in row) for row in self.rows]
        head = " & ".join(rf"\textbf{{{text.translate(_ESCAPES)}}}" for text in self.heads)
        body = "\n".join(f"    {line} \\\\" for line in lines)
        return (
            "\\begin{table}[ht]\n  \\centering\n"
            f"  \\caption{{{self.title.translate(_ESCAPES)}. {self.note.translate(_ESCAPES)}}}\n"
            f"  \\begin{{tabular}}{{l{'r' * (len(self.heads) - 1)}}}\n    \\toprule\n"
            f"    {head} \\\\\n    \\midrule\n{body}\n    \\bottomrule\n"
            "  \\end{tabular}\n\\end{table}\n"
        )


def plus_minus(one: Estimate, digits: int = 1) -> str:
    """Say a mean with its interval, where it has one."""
    text = f"{one.mean:.{digits}f}"
    return text if one.half != one.half else f"{text} ± {one.half:.{digits}f}"
