"""Objects that show themselves: a few lines in a console, a small table in a notebook."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from numpy.typing import NDArray

# Values by the name of their column, all columns of equal length.
Columns = Mapping[str, Sequence[Any] | NDArray[Any]]

# More than this no longer fits a screen beside the cell that made it.
_MOST_ROWS, _MOST_COLUMNS = 12, 10


class Shown:
    """An object that shows itself: in a console as one to three lines, in a notebook as a table.

    A class says its lines in `_lines` and, where a table helps, its columns in `_shown_table`.
    """

    def _lines(self) -> list[str]:
        """Return one to three lines that say what this is."""
        return [type(self).__name__]

    def _shown_table(self) -> Columns:
        """Return the table of a notebook; nothing for none."""
        return {}

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        first, *others = self._lines()
        head = f"<b>{escape(first)}</b>" + "".join(f"<br>{escape(line)}" for line in others)
        return f"<p>{head}</p>{html_table(self._shown_table())}"


def html_table(columns: Columns) -> str:
    """Return a table in HTML: the first rows and columns, and how many more there are."""
    if not columns:
        return ""
    names = list(columns)[:_MOST_COLUMNS]
    rows = zip(*(list(columns[name][:_MOST_ROWS]) for name in names), strict=True)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    more = [
        f"{number} more {what}"
        for number, what in (
            (len(columns[names[0]]) - _MOST_ROWS, "rows"),
            (len(columns) - _MOST_COLUMNS, "columns"),
        )
        if number > 0
    ]
    note = f"<p>… and {' and '.join(more)}</p>" if more else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "<td></td>"
    text = str(value) if isinstance(value, str) else f"{value:.4g}"
    return f"<td>{escape(text)}</td>"
