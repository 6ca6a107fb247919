"""Tables in the files of spreadsheets, read and written: CSV as people save it, and XLSX."""

import codecs
import csv
import io
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from sequoia.errors import FileError, SequoiaError
from sequoia.io import read_bytes, require_unpackable
from sequoia.problem.names import closest, count, few
from sequoia.problem.tables import Table

_SEPARATORS = (",", ";", "\t")
CSV, XLSX = ".csv", ".xlsx"
# A spreadsheet takes a text that begins so for a formula, and may run it; those of East Asia take
# the wide signs for the same. Where it splits at semicolons or tabs, a cell begins after each.
_BEGINS, _SIGNS = r"((?:^|[;\t\r\n])[\s\"]*)", "=+@＝＋－＠﹢﹣﹦﹫-"
_FORMULA = re.compile(rf"{_BEGINS}('*)(?=[{_SIGNS}])")
_DEFUSED = re.compile(rf"{_BEGINS}'('*)(?=[{_SIGNS}])")
# The last row that spreadsheets have.
_LAST_ROW = 1_048_576
# The longest name of a sheet that Excel opens.
_LONGEST_NAME = 31


@dataclass(frozen=True)
class Limits:
    """Limits on what is read of a sheet: a small file can hold more than the memory does.

    Attributes
    ----------
    cells
        Rows times columns; a cell takes about 100 bytes.
    unpacked
        How many bytes a workbook may have inside; a million rows of a log have 250 MB.
    """

    cells: int
    unpacked: int


USUAL = Limits(cells=20_000_000, unpacked=500_000_000)
# What somebody sends to a server takes the memory and the time of all.
SENT = Limits(cells=2_000_000, unpacked=60_000_000)


def read_csv(path: Path, found: list[str] | None = None, limits: Limits = USUAL) -> Table:
    """Read a table; names in it are composed (NFC), and rows of empty cells are left out.

    Parameters
    ----------
    found
        Where the table notes what is wrong with its cells, shared with others.
    """
    text = _decoded(path)
    separator = _separator(text)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        rows = list(_filled(path, enumerate(lines, start=1), limits))
    except csv.Error as error:
        raise FileError(f"{path} cannot be read: {error}.") from None
    table = _as_table(path, rows, separator == ";")
    return table if found is None else table.noting_in(found)


# A row as a spreadsheet shows it: its number, from 1 on, and its cells.
Row = tuple[int, list[str]]


def _filled(path: Path, rows: Iterable[Row], limits: Limits) -> Iterator[Row]:
    """Yield the first row, and others that are not empty, as long as they are not too many."""
    cells = 0
    for number, row in rows:
        cells += len(row)
        if cells > limits.cells:
            raise FileError(f"{path} has more than {limits.cells:,} cells; fewer are wanted.")
        if number == 1 or any(row):
            yield number, row


def _as_table(path: Path, rows: Sequence[Row], has_decimal_commas: bool = False) -> Table:
    """Return rows of text, the first with the names of the columns, as a table."""
    if not rows:
        raise FileError(f"{path} is empty; a first row with column names is wanted.")
    (_, names), *numbered = rows
    if len(set(names)) != len(names):
        doubled = [name or "(none)" for name, times in Counter(names).items() if times > 1]
        raise FileError(f"{path} names a column twice: {few(doubled)}.")
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


Cell = str | float | int | date | None


def read_spreadsheet(
    path: Path, sheet: str = "", heads: Iterable[str] = (), limits: Limits = USUAL
) -> Table:
    """Read a table as text; names of columns and cells lose outer blanks.

    Parameters
    ----------
    sheet
        Which sheet of a workbook, where it has one of that name; else the first.
    heads
        Names that columns may have, whatever their capitals.
    """
    if path.suffix.lower() == XLSX:
        table = _read_xlsx(path, sheet, limits)
    elif path.suffix.lower() in (".xls", ".ods", ".numbers"):
        raise FileError(f"{path} is a {path.suffix} file; save it as .xlsx or .csv.")
    else:
        table = read_csv(path, limits=limits)
    known = {head.casefold(): head for head in heads}
    columns: dict[str, list[str]] = {}
    for name, column in table.columns.items():
        cells = [_undefused(str(cell).strip()) for cell in column]
        head = " ".join(name.split())
        head = known.get(head.casefold(), head)
        if head in columns:
            raise FileError(f"{path} names the column {head} twice.")
        if head or any(cells):
            columns[head] = cells
    return Table(table.where, columns, table.rows, table.has_decimal_commas)


def csv_text(rows: Iterable[Sequence[Cell]]) -> str:
    """Return rows as CSV; no text in it is taken for a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_defused(cell) for cell in row] for row in rows)
    return text.getvalue()


def xlsx_bytes(sheets: Mapping[str, Iterable[Sequence[Cell]]]) -> bytes:
    """Return sheets of rows, the first row the heads, as a workbook; texts stay texts."""
    from openpyxl import Workbook
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        page = book.create_sheet(name[:_LONGEST_NAME])
        widths: dict[int, int] = {}
        for number, row in enumerate(rows, start=1):
            for column, value in enumerate(row, start=1):
                cell = page.cell(number, column)
                if isinstance(value, str):
                    # Set without a guess at its type, which would make a formula of "=…".
                    cell.value = _printable(value)
                    cell.data_type = "s"
                else:
                    cell.value = value
                if number == 1:
                    cell.font = Font(bold=True)
                widths[column] = max(widths.get(column, 0), len(str(value or "")))
        for column, width in widths.items():
            page.column_dimensions[get_column_letter(column)].width = min(max(width + 2, 6), 50)
        page.freeze_panes = "A2"
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _read_xlsx(path: Path, sheet: str, limits: Limits) -> Table:
    from openpyxl import load_workbook

    content = read_bytes(path)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            require_unpackable(path, packed, limits.unpacked)
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        names = {" ".join(name.split()).casefold(): name for name in book.sheetnames}
        page = book[names.get(sheet, book.sheetnames[0])]
        rows = list(_filled(path, _rows_of(path, page), limits))
    except SequoiaError:
        raise
    except Exception as error:  # there is no end to what damaged bytes provoke
        reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        raise FileError(f"{path} cannot be read as a workbook: {reason}.") from None
    if sheet and sheet not in names and len(names) > 1 and closest(sheet, list(names)):
        raise FileError(f"{path} has no sheet {sheet!r}{closest(sheet, list(names))}.")
    # Pages end in columns that somebody once touched.
    width = max(
        (column + 1 for _, row in rows for column, cell in enumerate(row) if cell), default=0
    )
    if width * len(rows) > limits.cells:
        raise FileError(f"{path} has {len(rows)} rows of {width} cells; fewer are wanted.")
    return _as_table(
        path, [(number, (row + [""] * width)[:width]) for number, row in rows] if width else []
    )


def _rows_of(path: Path, page: Any) -> Iterator[Row]:
    """Yield the rows of a sheet, each as wide as it is filled."""
    # What a sheet says of its own size may be wrong.
    page.reset_dimensions()
    # One row more tells whether there are more.
    rows = page.iter_rows(values_only=True, max_row=_LAST_ROW + 1)
    for number, row in enumerate(rows, start=1):
        if number > _LAST_ROW:
            raise FileError(f"{path} has rows after {_LAST_ROW}, the last of a spreadsheet.")
        yield number, [_text(value) for value in row]


def _text(value: Any) -> str:
    """Return a cell as it would stand in CSV."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        return str(value.date()) if value.time() == time() else str(value)
    return unicodedata.normalize("NFC", str(value))


def _printable(text: str) -> str:
    return "".join(c if c >= " " or c in "\n\t" else " " for c in text)


def _defused(cell: Cell) -> Cell:
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return _FORMULA.sub(r"\1'\2", cell) if isinstance(cell, str) else cell


def _undefused(text: str) -> str:
    return _DEFUSED.sub(r"\1\2", text)
