"""Types of columns that say when a database holds what nobody of ours has written.

SQLite keeps no checksum of a cell: where a disk changed a byte, a date may be no date, and JSON no
JSON.
"""

from datetime import date, datetime
from typing import Any

import sqlalchemy as sql
from sqlalchemy.types import TypeDecorator

# No record is older: dates that people write are after it.
_FIRST = date(1900, 1, 1)


class Damaged(Exception):
    """A cell does not hold what its column is for."""


class _Sound(TypeDecorator[Any]):
    """A type that reads what its column is for, or raises `Damaged`."""

    impl: Any = sql.String
    cache_ok = True
    kinds: tuple[type, ...] = (str,)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # SQLAlchemy looks for it in each class.
        cls.cache_ok = True

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        """Return what reads a cell."""
        convert = super().result_processor(dialect, coltype)

        def read(value: Any) -> Any:
            try:
                found = value if convert is None else convert(value)
            except (ValueError, TypeError):
                raise Damaged(self._flaw(value)) from None
            if found is not None and not (isinstance(found, self.kinds) and self.holds(found)):
                raise Damaged(self._flaw(value))
            return found

        return read

    def holds(self, _: Any) -> bool:
        """Whether a value of the right kind can be in the column."""
        return True

    def _flaw(self, value: Any) -> str:
        return f"{str(value)[:40]!r} stands where a {self.kinds[0].__name__} is wanted"


class Text(_Sound):
    """Text."""


class Whole(_Sound):
    """A whole number."""

    impl = sql.Integer
    kinds = (int,)


class Number(_Sound):
    """A number."""

    impl = sql.Float
    kinds = (float, int)


class Truth(_Sound):
    """True or false."""

    impl = sql.Boolean
    kinds = (bool,)


class Day(_Sound):
    """A date."""

    impl = sql.Date
    kinds = (date,)

    def holds(self, value: date) -> bool:
        """Whether the date is not long ago."""
        return value >= _FIRST


class Time(_Sound):
    """A time of a date, in UTC."""

    impl = sql.DateTime
    kinds = (datetime,)


class Facts(_Sound):
    """Values by name, as JSON."""

    impl = sql.JSON
    kinds = (dict,)


class Bytes(_Sound):
    """Bytes."""

    impl = sql.LargeBinary
    kinds = (bytes,)
