"""The calendar of a programme: which dates are steps, and how people write dates."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np

from sequoia.errors import ProblemError
from sequoia.validation import IntArray

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
STEPS = ("day", "week")
ORDERS = ("", "day first", "month first")
# Steps are counted from a Monday long before any record, so that no count is negative.
_EPOCH = date(1900, 1, 1)
EARLIEST = _EPOCH + timedelta(days=1)
# Nothing is planned or recorded after it: date arithmetic ends in the year 9999.
LAST = date(2199, 12, 31)
_WEEK = 7
# More are a matter of the rhythm of visits, and no longer of who comes on which day.
MOST_DAYS = 31

# A time of day after a date, with its zone.
_CLOCK = re.compile(
    r"(T|,? )\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp][Mm])?( ?(Z|UTC|GMT|[+-]\d{2}:?\d{2}))?$"
)
_SLASHED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-]\d{4}")
# 2 Nov 2026, 2-Nov-2026, 2. November 2026, 2 de noviembre de 2026, Nov 2, 2026.
_NAMED = re.compile(
    r"((?P<day>\d{1,2})(st|nd|rd|th|er)?[. -]*(de )?(?P<first>[^\W\d]+)"
    r"|(?P<second>[^\W\d]+)[. -]+(?P<later>\d{1,2})(st|nd|rd|th)?),?[. -]*(de )?(?P<year>\d{4})"
)
# How names of months begin, without accents, in English, French, Spanish, Portuguese and German.
_MONTHS = (
    ("jan", "ene"),
    ("feb", "fev"),
    ("mar",),
    ("apr", "avr", "abr"),
    ("may", "mai"),
    ("jun", "juin"),
    ("jul", "juil"),
    ("aug", "aou", "ago"),
    ("sep", "set"),
    ("oct", "okt", "out"),
    ("nov",),
    ("dec", "dez", "dic"),
)


class UnreadableDate(ValueError):
    """A text is no date; the message says what is wanted."""


@dataclass(frozen=True)
class Calendar:
    """Numbers the steps of a programme; step 0 has the date ``start``.

    Attributes
    ----------
    start
        A date of the first step.
    step
        What a step is: ``"day"`` or ``"week"``.
    days
        Which days of the week are steps, such as ``("Mon", "Tue")``; weeks do not look at them.
    holidays
        Dates that are no steps.
    order
        Whether ``3/4/2026`` begins with its ``"day first"`` or its ``"month first"``; nothing where
        nobody said.
    """

    start: date
    step: str = "day"
    days: tuple[str, ...] = WEEKDAYS
    holidays: tuple[date, ...] = ()
    order: str = ""

    def steps_of(self, dates: Sequence[date]) -> IntArray:
        """Return the step of each date.

        A date between two steps belongs to the later one: what is seen on Saturday is how things
        stand when Monday is planned.
        """
        counted = self._counted([self.start, *dates])
        steps: IntArray = counted[1:] - counted[0]
        return steps

    def step_of(self, day: date) -> int:
        """Return the step of a date; before the start it is negative."""
        return int(self.steps_of([day])[0])

    def date_of(self, step: int) -> date:
        """Return the first date of a step; where that is long after `LAST`, some date after it."""
        step = min(step, (LAST - self.start).days // (_WEEK if self.step == "week" else 1))
        if self.step == "week":
            return self.start - timedelta(days=self.start.weekday()) + timedelta(weeks=step)
        first = np.busday_offset(
            np.datetime64(self.start, "D"),
            step,
            roll="forward",
            weekmask=self._mask,
            holidays=self._closed,
        )
        found: date = first.astype("datetime64[D]").item()
        return found

    def _counted(self, dates: Sequence[date]) -> IntArray:
        """Return how many steps begin before each date."""
        days, epoch = np.array(dates, dtype="datetime64[D]"), np.datetime64(_EPOCH, "D")
        if self.step == "week":
            weeks: IntArray = (days - epoch).astype(np.int64) // _WEEK
            return weeks
        counted: IntArray = np.busday_count(
            epoch, days, weekmask=self._mask, holidays=self._closed
        ).astype(np.int64)
        return counted

    @property
    def _mask(self) -> str:
        return "".join("1" if day in self.days else "0" for day in WEEKDAYS)

    @property
    def _closed(self) -> list[np.datetime64]:
        return [np.datetime64(day, "D") for day in self.holidays]

    def read_date(self, text: str, *, is_end: bool = False) -> date:
        """Read ``2026-11-02``, ``2.11.2026`` or, where the order is known, ``2/11/2026``.

        Parameters
        ----------
        is_end
            Whether it may be long after `LAST`: other systems write 9999-12-31 for no end.
        """
        found = self._read(text)
        if found <= _EPOCH:
            raise UnreadableDate(f"{text.strip()!r} is long ago; a date after {_EPOCH} is wanted")
        if found > LAST and not is_end:
            raise UnreadableDate(f"{text.strip()!r} is far away; a date up to {LAST} is wanted")
        return found

    def _read(self, text: str) -> date:
        # Other systems add the time of day, and where on earth it is; the date is as written.
        text = _CLOCK.sub("", text.strip())
        if re.fullmatch(r"\d{4}([-/])\d{1,2}\1\d{1,2}", text):
            return _date(text, *map(int, re.split("[-/]", text)))
        if re.fullmatch(r"\d{1,2}\.\d{1,2}\.\d{4}", text):
            day, month, year = map(int, text.split("."))
            return _date(text, year, month, day)
        if re.fullmatch(r"\d{1,2}([/-])\d{1,2}\1\d{4}", text):
            first, second, year = map(int, re.split("[/-]", text))
            return self._with_slashes(text, first, second, year)
        named = _NAMED.fullmatch(text)
        number = None if named is None else _month(named["first"] or named["second"])
        if named is not None and number is not None:
            return _date(text, int(named["year"]), number, int(named["day"] or named["later"]))
        raise UnreadableDate(f"{text!r} is no date; one such as 2026-11-02 is wanted")

    def of_column(self, texts: Sequence[str]) -> "Calendar":
        """Return this calendar with the order of dates that some of ``texts`` leave no doubt of.

        Where nobody said the order, and ``13/4/2026`` stands beside ``3/4/2026``, days come first.
        """
        if self.order:
            return self
        orders = set()
        for text in texts:
            parts = _SLASHED.match(text.strip())
            if parts is not None and max(int(parts[1]), int(parts[2])) > 12:
                orders.add("day first" if int(parts[1]) > 12 else "month first")
        return replace(self, order=orders.pop()) if len(orders) == 1 else self

    def _with_slashes(self, text: str, first: int, second: int, year: int) -> date:
        order = self.order
        if not order and first != second and max(first, second) <= 12:
            raise UnreadableDate(
                f'{text!r} may mean two dates; say dates = "day first" or "month first" under '
                "[calendar], or write 2026-11-02"
            )
        if not order:
            order = "day first" if first >= second else "month first"
        day, month = (first, second) if order == "day first" else (second, first)
        return _date(text, year, month, day)


def days_of(calendar: Calendar, first: date, last: date) -> list[date]:
    """Return the first date of each step in a range of dates."""
    if last < first:
        raise ProblemError(f"the days end on {last}, before they begin on {first}.")
    begin, end = calendar.step_of(first), calendar.step_of(last)
    if calendar.date_of(end) > last:
        end -= 1
    if not 0 <= end - begin < MOST_DAYS:
        raise ProblemError(
            f"from {first} to {last} there are {max(0, end - begin + 1)} days to plan; "
            f"1 to {MOST_DAYS} are wanted."
        )
    return [calendar.date_of(step) for step in range(begin, end + 1)]


def _month(name: str) -> int | None:
    """Return the number of a month by the beginning of its name."""
    plain = unicodedata.normalize("NFD", name.casefold())
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    if len(plain) < 3:
        return None
    return next(
        (
            number
            for number, begins in enumerate(_MONTHS, start=1)
            if any(plain.startswith(begin) for begin in begins)
        ),
        None,
    )


def _date(text: str, year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise UnreadableDate(f"{text!r} is not in the calendar; a date is wanted") from None
