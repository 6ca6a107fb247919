"""Names of arms, workers and slots, and how to say several of them, numbers or times."""

import difflib
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import ProblemError

_MOST_COMPARED = 5_000
# More names than a line holds help nobody.
_MOST_NAMED = 12
# Two letters swapped in a word of three are a slip of the finger; less alike is another word.
_ALIKE = 0.66
# From which time on the next unit is clearer: "1.5 min" says more than "90 s".
_UNITS = (
    ("ms", 1e-3, 1.0),
    ("s", 1.0, 90.0),
    ("min", 60.0, 90.0 * 60),
    ("h", 3600.0, float("inf")),
)
# What a clock cannot tell.
_SHORTEST = 1e-7


class Numbered(Sequence[str]):
    """The default names ``"arm 0"``, ``"arm 1"``, …; made when asked for, so a million are free."""

    def __init__(self, noun: str, size: int) -> None:
        self.noun = noun
        self._range = range(size)

    def __len__(self) -> int:
        return len(self._range)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [f"{self.noun} {i}" for i in self._range[index]]
        return f"{self.noun} {self._range[index]}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash((self.noun, len(self)))


def checked_names(where: str, names: Sequence[str] | None, noun: str, size: int) -> Sequence[str]:
    """Return ``names`` if they are ``size`` different strings; the default names for ``None``."""
    if names is None or isinstance(names, Numbered):
        names = Numbered(noun, size) if names is None else names
        if len(names) != size:
            raise ProblemError(
                f"{where} has {count(len(names), 'entry', 'entries')}; {size} are wanted."
            )
        return names
    names = tuple(str(name) for name in names)
    if len(names) != size:
        raise ProblemError(
            f"{where} has {count(len(names), 'entry', 'entries')}; {size} are wanted."
        )
    places: dict[str, int] = {}
    for index, name in enumerate(names):
        flaw = flaw_of(name)
        if flaw:
            raise ProblemError(f"{where}[{index}] is {name!r}; {flaw}.")
        if places.setdefault(name, index) != index:
            raise ProblemError(f"{where}[{index}] repeats {name!r}; names must differ.")
    return names


def _wrong_number(where: str, given: int, wanted: int) -> ProblemError:
    words = count(given, "entry", "entries")
    return ProblemError(f"{where} has {words}; {wanted} are wanted.")


def flaw_of(name: str) -> str:
    """Say what is wanted instead of a text that cannot be a name; nothing if it can."""
    is_seen = name.isprintable() or all(map(_is_seen, name, " " + name))
    if name.strip() and name == name.strip() and is_seen:
        return ""
    return "a name without outer blanks, control or invisible characters is wanted"


def _is_seen(letter: str, before: str) -> bool:
    """Whether a letter shows; joiners shape the letters of some scripts, which are not ASCII."""
    is_joiner = letter in "\u200c\u200d" and not before.isascii()
    return letter.isprintable() or unicodedata.category(letter) == "Zs" or is_joiner


def index_of(where: str, names: Sequence[str], wanted: str) -> int:
    """Return the position of ``wanted`` in ``names``, or raise an error that says where."""
    for spelling in (wanted, composed(wanted)):
        with suppress(ValueError):
            return names.index(spelling)
    raise ProblemError(unknown(where, names, wanted))


def composed(text: str) -> str:
    """Return ``text`` with each accent in one piece with its letter (NFC), as names are read."""
    return unicodedata.normalize("NFC", text)


def composed_options(value: Any) -> Any:
    """Return options, as in TOML, with every text composed."""
    if isinstance(value, str):
        return composed(value)
    if isinstance(value, dict):
        return {composed(key): composed_options(option) for key, option in value.items()}
    return [composed_options(option) for option in value] if isinstance(value, list) else value


def unknown(where: str, names: Sequence[str], wanted: str) -> str:
    """Say that ``wanted`` is none of ``names``, and which of them may be meant."""
    if not len(names):
        return f"{where} names {wanted!r}, but there are no names to choose from."
    return (
        f"{where} names {wanted!r}, which is unknown; names run from {names[0]!r} to "
        f"{names[-1]!r}{closest(wanted, names)}."
    )


def nearest(wanted: str, known: Sequence[str]) -> str | None:
    """Return which of ``known`` is nearly ``wanted``, if one is."""
    # Comparing takes a while, and among very many names the nearest is a matter of luck.
    spelling = {name.casefold(): name for name in known[:_MOST_COMPARED]}
    near = difflib.get_close_matches(wanted.casefold(), spelling, n=1, cutoff=_ALIKE)
    return spelling[near[0]] if near else None


def closest(wanted: str, known: Sequence[str]) -> str:
    """Say which of ``known`` may be meant: ``"; perhaps 'Ada' is meant"``, or nothing."""
    near = nearest(wanted, known)
    return "" if near is None else f"; perhaps {near!r} is meant"


def count(number: int, noun: str, several: str = "") -> str:
    """Say a number of things: ``"1 row"``, ``"3 rows"``; ``several`` where an s will not do."""
    return f"{number} {noun}" if number == 1 else f"{number} {several or noun + 's'}"


def between(values: ArrayLike) -> str:
    """Say a range: ``"2 to 6"``, or ``"3"`` when all values are equal."""
    values = np.asarray(values, dtype=np.float64)
    if not values.size:
        return "none"
    low, high = values.min(), values.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def few(names: Sequence[str]) -> str:
    """Name some of very many: ``"a, b, c, … (1,000 in all)"``."""
    if len(names) <= _MOST_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:_MOST_NAMED])}, … ({len(names):,} in all)"


def say(items: Iterable[str]) -> str:
    """Join names in words: ``"arm 4, arm 7 and arm 11"``, shortened to ``"arms 4, 7 and 11"``."""
    items = list(items)
    if not items:
        return "nothing"
    nouns = {item.rpartition(" ")[0] for item in items}
    numbers = [item.rpartition(" ")[2] for item in items]
    if len(items) > 1 and len(nouns) == 1 and "" not in nouns and all(map(str.isdigit, numbers)):
        return f"{nouns.pop()}s {', '.join(numbers[:-1])} and {numbers[-1]}"
    if len(items) == 1:
        return items[0]
    return f"{', '.join(items[:-1])} and {items[-1]}"


def duration(seconds: float) -> str:
    """Say a time in two digits: ``"0.4 ms"``, ``"8.3 s"``, ``"5 min"``, ``"2.5 h"``."""
    if 0 < seconds < _SHORTEST:
        return "under 0.0001 ms"
    name, size = next((name, size) for name, size, end in _UNITS if seconds < end)
    amount = seconds / size
    return f"{amount:,.0f} {name}" if amount >= 10 else f"{amount:.2g} {name}"


def roughly(seconds: float) -> str:
    """Say a time that is only expected, in whole seconds or more: ``"about 40 s"``."""
    return f"about {duration(max(1.0, round(seconds)))}"
