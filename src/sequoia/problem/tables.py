"""A problem as options and tables: the one form that every file format stores."""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sequoia.errors import FileError, ProblemError
from sequoia.problem.names import closest, few, flaw_of, unknown
from sequoia.validation import TOO_LARGE, BoolArray, FloatArray, IntArray, is_moderate

_MAX_INTEGER = 2**53
_SUM_TOLERANCE = 1e-9

Column = NDArray[Any] | Sequence[str]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length by name.

    Cells may be numbers or, when read from CSV, text. The typed readers convert and check; what is
    wrong with a cell is noted, so that all of it can be said at once, and something else stands in
    its place.

    Attributes
    ----------
    where
        File name used in error messages.
    rows
        The number of each row as a spreadsheet shows it; from 2 on unless given.
    has_decimal_commas
        Whether ``0,5`` is a half.
    found
        What is wrong so far.
    """

    where: str
    columns: Mapping[str, Column]
    rows: Sequence[int] = ()
    has_decimal_commas: bool = False
    found: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def noting_in(self, found: list[str]) -> "Table":
        """Return the same table, which notes what is wrong in ``found``."""
        return replace(self, found=found)

    def only(self, kept: Sequence[int]) -> "Table":
        """Return some rows, which keep their numbers."""
        numbers = self.rows or range(2, len(self) + 2)
        return replace(
            self,
            columns={name: [column[row] for row in kept] for name, column in self.columns.items()},
            rows=[numbers[row] for row in kept],
        )

    def place(self, row: int) -> str:
        """Say where a row is."""
        return f"{self.where} row {self.rows[row] if len(self.rows) else row + 2}"

    def floats(
        self,
        name: str,
        holds: Callable[[FloatArray], BoolArray] = np.isfinite,
        wanted: str = "a number is wanted",
    ) -> FloatArray:
        """Return a column of numbers, finite unless ``holds`` says otherwise; ``nan`` if wrong."""
        values, is_read = self._read(name, self._float, np.float64, np.nan, "a number")
        self.require(name, values, holds(values) | ~is_read, wanted)
        self.require(name, values, is_moderate(values), TOO_LARGE)
        return values

    def integers(self, name: str, least: int | None = None) -> IntArray:
        """Return a column of whole numbers, of at least ``least`` if that is given; 0 if wrong."""
        values, is_read = self._read(name, self._integer, np.int64, 0, "a whole number")
        if least is not None:
            self.require(name, values, (values >= least) | ~is_read, f"at least {least} is wanted")
        return values

    def booleans(self, name: str) -> BoolArray:
        """Return a column of 0 and 1."""
        return self._read(name, self._boolean, np.bool_, False, "0 or 1")[0]

    def strings(self, name: str) -> list[str]:
        """Return a column of text."""
        return [str(cell) for cell in self._column(name)]

    def names(self, name: str) -> list[str]:
        """Return a column of different names."""
        names = self.strings(name)
        rows: dict[str, int] = {}
        for row, text in enumerate(names):
            flaw = flaw_of(text)
            if flaw:
                self.found.append(f"{self.place(row)}, column {name!r} is {text!r}; {flaw}.")
            elif rows.setdefault(text, row) != row:
                before = self.rows[rows[text]] if len(self.rows) else rows[text] + 2
                self.found.append(
                    f"{self.place(row)}, column {name!r} repeats {text!r} of row {before}; names "
                    "must differ."
                )
        return names

    def places(self, name: str, known: Sequence[str]) -> IntArray:
        """Return which of ``known`` each cell of a column names; 0 if none."""
        index = {text: place for place, text in enumerate(known)}
        places = np.array([index.get(text.strip(), -1) for text in self.strings(name)], np.int64)
        wrong = np.flatnonzero(places < 0).tolist()
        below = ""
        if len(wrong) > 1 and len(wrong) == len(self):
            # The table is about something else; one line says so as well as many.
            wrong, below = wrong[:1], " and below"
        for row in wrong:
            text = str(self.columns[name][row])
            self.found.append(unknown(f"{self.place(row)}{below}", known, text))
        return np.maximum(places, 0)

    def numbers(self, name: str, noun: str, names: Sequence[str]) -> IntArray:
        """Return a column that says, by number or by name, which of ``names`` is meant."""
        column = self._column(name)
        if isinstance(column, np.ndarray):
            values = self.integers(name)
        else:
            index = {text: place for place, text in enumerate(names)}
            values = np.full(len(column), -1, dtype=np.int64)
            for row, cell in enumerate(column):
                text = cell.strip()
                values[row] = index[text] if text in index else _whole_or(text, -1)
        fine = (values >= 0) & (values < len(names))
        wrong, below = np.flatnonzero(~fine).tolist(), ""
        if len(wrong) > 1 and len(wrong) == len(self):
            # Other words are used throughout; one line says so as well as many.
            wrong, below = wrong[:1], " and below"
        for row in wrong:
            hint = closest(str(column[row]), names)
            self.found.append(
                f"{self.place(row)}{below}, column {name!r} is {str(column[row])!r}; {noun}s run "
                f"from 0 to {len(names) - 1}{hint}."
            )
        return np.where(fine, values, 0)

    def matrix(self, names: Sequence[str]) -> FloatArray:
        """Return several columns of numbers side by side, ``(rows, len(names))``."""
        if not names:
            return np.empty((len(self), 0))
        return np.stack([self.floats(name) for name in names], axis=1)

    def odds(self, names: Sequence[str]) -> FloatArray:
        """Return columns of probabilities that sum to 1 in each row, ``(rows, len(names))``."""

        def holds(values: FloatArray) -> BoolArray:
            inside: BoolArray = (values >= 0) & (values <= 1 + _SUM_TOLERANCE)
            return inside

        chances = [self.floats(name, holds, "a probability is wanted") for name in names]
        values = np.stack(chances, axis=1)
        sums = values.sum(axis=1)
        sum_words = " + ".join(names if len(names) <= 4 else [*names[:2], "…", names[-1]])
        for row in np.flatnonzero(np.abs(sums - 1) > _SUM_TOLERANCE).tolist():
            self.found.append(
                f"{self.place(row)}: {sum_words} is {sums[row]:.6g}; a row must sum to 1."
            )
        return values

    def numbered(self, prefix: str) -> list[str]:
        """Return the columns ``prefix_0``, ``prefix_1``, … that exist; at least one is wanted."""
        names: list[str] = []
        while f"{prefix}_{len(names)}" in self.columns:
            names.append(f"{prefix}_{len(names)}")
        if not names:
            raise FileError(
                f"{self.where} has no column {prefix}_0; columns {prefix}_0, "
                f"{prefix}_1, … are wanted."
            )
        return names

    def require(self, name: str, values: NDArray[Any], holds: BoolArray, wanted: str) -> None:
        """Note every row of a column for which ``holds`` is false."""
        for row in np.flatnonzero(~holds).tolist():
            self.found.append(f"{self.place(row)}, column {name!r} is {values[row]}; {wanted}.")

    def _column(self, name: str) -> Column:
        if name not in self.columns:
            raise FileError(
                f"{self.where} has no column {name!r}; it has "
                f"{few(list(self.columns)) or 'none'}{closest(name, list(self.columns))}."
            )
        return self.columns[name]

    def _read(
        self,
        name: str,
        convert: Callable[[Any], Any],
        dtype: type[Any],
        instead: Any,
        wanted: str,
    ) -> tuple[NDArray[Any], BoolArray]:
        """Return the values of a column, and which of them could be read."""
        column = self._column(name)
        is_read = np.ones(len(column), dtype=np.bool_)
        if isinstance(column, np.ndarray) and column.dtype == dtype:
            return column, is_read
        values = np.full(len(column), instead, dtype=dtype)
        for row, cell in enumerate(column):
            try:
                values[row] = convert(cell)
            except (ValueError, OverflowError):
                is_read[row] = False
                self.found.append(
                    f"{self.place(row)}, column {name!r}: {str(cell)!r} is not {wanted}."
                )
        return values, is_read

    def filled(self, name: str) -> IntArray:
        """Return the rows that have something in a column."""
        return np.flatnonzero([bool(text.strip()) for text in self.strings(name)])

    def at(self, rows: IntArray) -> "Table":
        """Return some rows, which keep their numbers, and note what is wrong where this does."""
        picked: dict[str, Column] = {
            name: column[rows]
            if isinstance(column, np.ndarray)
            else [column[row] for row in rows.tolist()]
            for name, column in self.columns.items()
        }
        numbers = self.rows if len(self.rows) else range(2, len(self) + 2)
        return replace(self, columns=picked, rows=[numbers[row] for row in rows.tolist()])

    def _float(self, cell: Any) -> float:
        if self.has_decimal_commas and isinstance(cell, str):
            cell = cell.replace(",", ".")
        return float(cell)

    def _integer(self, cell: Any) -> int:
        if isinstance(cell, str):
            with suppress(ValueError):
                return int(cell)
        # Spreadsheets write 1 as 1.0.
        number = self._float(cell)
        if not number.is_integer() or abs(number) >= _MAX_INTEGER:
            raise ValueError
        return int(number)

    def _boolean(self, cell: Any) -> bool:
        # Spreadsheets make TRUE and FALSE of some columns.
        text = str(cell).lower()
        if text in ("true", "false"):
            return text == "true"
        number = self._integer(cell)
        if number not in (0, 1):
            raise ValueError
        return number == 1


def _whole_or(text: str, otherwise: int) -> int:
    try:
        number = float(text)
    except ValueError:
        return otherwise
    return int(number) if number.is_integer() and abs(number) < _MAX_INTEGER else otherwise


_EMPTY: dict[type[Any], Any] = {int: 0, float: 0.0, str: "", bool: False, list: [], dict: {}}


@dataclass(frozen=True, eq=False)
class TableSet:
    """Options, as in TOML, and tables, as in CSV.

    What is wrong is noted in ``found``, which all sections and tables share, and said at the end.
    """

    options: Mapping[str, Any]
    tables: Mapping[str, Table] = field(default_factory=dict)
    where: str = "problem"
    found: list[str] = field(default_factory=list)

    def table(self, name: str) -> Table:
        """Return a table, or say that it is missing."""
        if name not in self.tables:
            raise FileError(f"{self.where} has no table {name!r}; it has {', '.join(self.tables)}.")
        return self.tables[name].noting_in(self.found)

    def option(
        self,
        name: str,
        kind: type[Any],
        default: Any = None,
        least: float = -math.inf,
        most: float = math.inf,
    ) -> Any:
        """Return an option of the given type and range; without a default it must be there."""
        value = self.options.get(name, default)
        flaw = ""
        if value is None:
            flaw = f"{self.where} has no option {name!r}."
        elif type(value) is int and abs(value) >= _MAX_INTEGER:
            flaw = f"{self.where}, option {name!r} is larger than {_MAX_INTEGER}."
        else:
            if kind is float and type(value) is int:
                value = float(value)
            if type(value) is not kind:
                flaw = (
                    f"{self.where}, option {name!r} is {value!r}; a value of type "
                    f"{kind.__name__} is wanted."
                )
            elif kind in (int, float) and not least <= value <= most:
                wanted = (
                    f"from {least:.15g} to {most:.15g}"
                    if most < math.inf
                    else f"at least {least:g}"
                )
                flaw = f"{self.where}, option {name!r} is {value}; {wanted} is wanted."
        if not flaw:
            return value
        self.found.append(flaw)
        return _EMPTY[kind]

    def section(self, name: str) -> "TableSet":
        """Return the options under ``name`` together with all tables."""
        return self.part(self.option(name, dict), f"{self.where} [{name}]")

    def part(self, options: Mapping[str, Any], where: str = "") -> "TableSet":
        """Return other options together with all tables."""
        return TableSet(options, self.tables, where or self.where, self.found)

    def attempt(self, read: Callable[[], T]) -> T | None:
        """Return what ``read`` gives, or note what it raises and go on with ``None``."""
        before = len(self.found)
        try:
            return read()
        except FileError as error:
            self.found.extend(text for text in error.args if text not in self.found)
        except ProblemError as error:
            # What was noted about cells is the reason, if anything was.
            if len(self.found) == before:
                self.found.extend(error.args)
        return None

    def settle(self) -> None:
        """Raise a `FileError` that says everything that was noted, if anything was."""
        if self.found:
            raise FileError(*self.found)

    def fingerprint(self) -> str:
        """Return a hash of everything in here; equal content gives an equal hash everywhere."""
        digest = hashlib.sha256(json.dumps(self.options, sort_keys=True).encode())
        for name in sorted(self.tables):
            for column, cells in self.tables[name].columns.items():
                digest.update(f"\0{name}\0{column}\0".encode())
                if isinstance(cells, np.ndarray):
                    digest.update((cells.astype("<f8") + 0.0).tobytes())
                else:
                    digest.update("\0".join(cells).encode())
        return digest.hexdigest()[:16]

    def known(self, options: set[str]) -> None:
        """Note every option that nobody reads."""
        for name in sorted(set(self.options) - options):
            self.found.append(
                f"{self.where} has an unknown option {name!r}; "
                f"known: {', '.join(sorted(options))}{closest(name, sorted(options))}."
            )


def table(name: str, /, **columns: Column) -> dict[str, Table]:
    """Return one named table, ready to be merged with others."""
    return {name: Table(f"{name}.csv", columns)}
