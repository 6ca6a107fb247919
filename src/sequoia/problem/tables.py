"""A problem as options and tables: the one form that every file format stores."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sequoia.errors import FileError
from sequoia.validation import BoolArray, FloatArray, IntArray

_MAX_INTEGER = 2**53

Column = NDArray[Any] | Sequence[str]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length by name.

    Cells may be numbers or, when read from CSV, text; the typed readers convert and check.

    Attributes
    ----------
    where
        File name used in error messages.
    """

    where: str
    columns: Mapping[str, Column]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def floats(self, name: str) -> FloatArray:
        """Return a column of numbers."""
        return self._read(name, float, np.float64, "a number")

    def integers(self, name: str) -> IntArray:
        """Return a column of whole numbers."""
        return self._read(name, _integer, np.int64, "a whole number")

    def booleans(self, name: str) -> BoolArray:
        """Return a column of 0 and 1."""
        return self._read(name, _boolean, np.bool_, "0 or 1")

    def strings(self, name: str) -> list[str]:
        """Return a column of text."""
        return [str(cell) for cell in self._column(name)]

    def matrix(self, names: Sequence[str]) -> FloatArray:
        """Return several columns of numbers side by side, ``(rows, len(names))``."""
        if not names:
            return np.empty((len(self), 0))
        return np.stack([self.floats(name) for name in names], axis=1)

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

    def _column(self, name: str) -> Column:
        if name not in self.columns:
            raise FileError(
                f"{self.where} has no column {name!r}; it has {', '.join(self.columns) or 'none'}."
            )
        return self.columns[name]

    def _read(
        self, name: str, convert: Callable[[Any], Any], dtype: type[Any], wanted: str
    ) -> NDArray[Any]:
        column = self._column(name)
        if isinstance(column, np.ndarray) and column.dtype == dtype:
            return column
        values = np.empty(len(column), dtype=dtype)
        for row, cell in enumerate(column):
            try:
                values[row] = convert(cell)
            except (ValueError, OverflowError):
                raise FileError(
                    f"{self.where} row {row + 1}, column {name!r}: {str(cell)!r} is not {wanted}."
                ) from None
        return values


def _integer(cell: Any) -> int:
    return int(cell) if isinstance(cell, str) else int(np.int64(cell))


def _boolean(cell: Any) -> bool:
    if str(cell) in ("0", "1"):
        return str(cell) == "1"
    raise ValueError


@dataclass(frozen=True, eq=False)
class TableSet:
    """Options, as in TOML, and tables, as in CSV."""

    options: Mapping[str, Any]
    tables: Mapping[str, Table] = field(default_factory=dict)
    where: str = "problem"

    def table(self, name: str) -> Table:
        """Return a table, or say that it is missing."""
        if name not in self.tables:
            raise FileError(f"{self.where} has no table {name!r}; it has {', '.join(self.tables)}.")
        return self.tables[name]

    def option(self, name: str, kind: type[Any], default: Any = None) -> Any:
        """Return an option of the given type; without a default it must be there."""
        value = self.options.get(name, default)
        if value is None:
            raise FileError(f"{self.where} has no option {name!r}.")
        if type(value) is int and abs(value) >= _MAX_INTEGER:
            raise FileError(f"{self.where}, option {name!r} is larger than {_MAX_INTEGER}.")
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise FileError(
                f"{self.where}, option {name!r} is {value!r}; a value of type {kind.__name__} "
                "is wanted."
            )
        return value

    def section(self, name: str) -> "TableSet":
        """Return the options under ``name`` together with all tables."""
        return TableSet(self.option(name, dict), self.tables, f"{self.where} [{name}]")

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
        """Raise an error for an option that nobody reads."""
        unknown = sorted(set(self.options) - options)
        if unknown:
            raise FileError(
                f"{self.where} has an unknown option {unknown[0]!r}; "
                f"known: {', '.join(sorted(options))}."
            )


def table(name: str, /, **columns: Column) -> dict[str, Table]:
    """Return one named table, ready to be merged with others."""
    return {name: Table(f"{name}.csv", columns)}
