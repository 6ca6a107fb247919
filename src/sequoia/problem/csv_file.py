"""Tables as people save them: with commas, semicolons or tabs, in UTF-8 or as Windows does."""

import codecs
import csv
import io
import unicodedata
from pathlib import Path

from sequoia.errors import FileError
from sequoia.io import read_bytes
from sequoia.problem.names import count
from sequoia.problem.tables import Table

_SEPARATORS = (",", ";", "\t")


def read_csv(path: Path, found: list[str] | None = None) -> Table:
    """Read a table; names in it are composed (NFC), and rows of empty cells are left out.

    Parameters
    ----------
    found
        Where the table notes what is wrong with its cells, shared with others.
    """
    text = _decoded(path)
    separator = _separator(text)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise FileError(f"{path} cannot be read: {error}.") from None
    table = as_table(path, rows, separator == ";")
    return table if found is None else table.noting_in(found)


def as_table(path: Path, rows: list[list[str]], has_decimal_commas: bool = False) -> Table:
    """Return rows of text, the first with the names of the columns, as a table."""
    if not rows:
        raise FileError(f"{path} is empty; a first row with column names is wanted.")
    names = rows[0]
    if len(set(names)) != len(names):
        raise FileError(f"{path} names a column twice: {', '.join(names)}.")
    # As a spreadsheet shows them: the names of the columns stand in row 1.
    numbered = [(number, row) for number, row in enumerate(rows[1:], start=2) if any(row)]
    wrong = [
        f"{path} row {number} has {count(len(row), 'cell')}; {len(names)} are wanted."
        for number, row in numbered
        if len(row) != len(names)
    ]
    if wrong:
        raise FileError(*wrong)
    columns = {name: [row[i] for _, row in numbered] for i, name in enumerate(names)}
    return Table(str(path), columns, [number for number, _ in numbered], has_decimal_commas)


def _decoded(path: Path) -> str:
    """Return the text of a file: in UTF-8, in UTF-16 if it says so, or else as Windows writes."""
    content = read_bytes(path)
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if is_wide else ("utf-8-sig", "cp1252"):
        try:
            return unicodedata.normalize("NFC", content.decode(encoding))
        except ValueError:
            continue
    raise FileError(f"{path} cannot be read: it is no text; CSV in UTF-8 is wanted.")


def _separator(text: str) -> str:
    """Return what separates the names of most columns; a comma unless another does better."""
    head = text.partition("\n")[0]
    return max(_SEPARATORS, key=head.count)
