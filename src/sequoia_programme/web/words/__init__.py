"""The words of the page, a file for each language."""

import datetime as dt
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sequoia_programme.promised import DUE
from sequoia_programme.rules import FLOORS, WrittenRule

LANGUAGES = {"en": "English", "de": "Deutsch"}
USUAL = "en"
_BELIEF = re.compile(
    r"((?P<how>likely|perhaps) (?P<likely>.*) \((?P<percent>\d+) %\)|(?P<state>.*)), "
    r"((?P<never>never seen)|seen now|last seen (?P<n>\d+) (?P<unit>day|week)s? ago)"
)
# In what the library says: names that stand for numbers and dates, and what is between several.
_NUMBERS, _DATES = ("n", "m"), ("day", "first", "last")
_DATE = r"\d{4}-\d\d-\d\d"
# Longer texts stay as they are: what fits nearly everywhere takes the cube of its length.
_LONGEST = 500
_BETWEEN = {"list": r"[;,] | and ", "parts": "; ", "rules": r" \| "}


@dataclass(frozen=True)
class Words:
    """The words of one language, by key."""

    language: str
    texts: Mapping[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """Return a text; where ``n`` is 1 and a key ends in ``.one``, that one."""
        if values.get("n") == 1 and f"{key}.one" in self.texts:
            key = f"{key}.one"
        return self.texts[key].format(**values)

    def date(self, day: dt.date) -> str:
        """Say a date in full."""
        weekday = self.texts["weekdays"].split()[day.weekday()]
        month = self.texts["months"].split()[day.month - 1]
        return self("long date", weekday=weekday, day=day.day, month=month, year=day.year)

    def day(self, day: dt.date) -> str:
        """Say a date in short."""
        weekday = self.texts["short weekdays"].split()[day.weekday()]
        month = self.texts["months"].split()[day.month - 1][:3]
        return self("short date", weekday=weekday, day=day.day, month=month)

    def time(self, at: dt.datetime) -> str:
        """Say a time of a day, in UTC."""
        return f"{at:%Y-%m-%d %H:%M} UTC"

    def belief(self, text: str) -> str:
        """Say in this language what `say_belief` says of a state."""
        text, sign, due = text.partition(DUE)
        if sign:
            return self(
                "belief.expected", what=self.belief(text), day=self.day(dt.date.fromisoformat(due))
            )
        found = _BELIEF.fullmatch(text)
        if found is None:
            return text
        what = found["state"]
        if found["percent"]:
            what = self(f"belief.{found['how']}", state=found["likely"], percent=found["percent"])
        if found["unit"]:
            return self(f"belief.{found['unit']}", what=what, n=int(found["n"]))
        return self("belief.never" if found["never"] else "belief.now", what=what)

    def said(self, text: str) -> str:
        """Say in this language what the library says; what is not in its list stays as it is."""
        if self.language == USUAL or len(text) > _LONGEST:
            return text
        for key, pattern in _sayings().items():
            found = pattern.fullmatch(text)
            if found is not None:
                return self(
                    key, **{name: self._part(name, found[name]) for name in found.groupdict()}
                )
        return text

    def _part(self, name: str, text: str) -> str:
        """Say what stands in braces."""
        if name in _NUMBERS:
            return text.replace(".", self.texts["decimal"])
        between = _BETWEEN.get(name.partition("_")[0])
        if between is None:
            return self.said(text)
        return ("; " if name == "parts" else ", ").join(map(self.said, re.split(between, text)))

    def wish(self, option: str, text: str) -> tuple[str, str]:
        """Say a wish: about whom, and what."""
        about, _, value = text.rpartition("=")
        if option == "lock" and about:
            return value, self("wish.lock by", by=about)
        if option == "hours" and about:
            return about, self("wish.hours so", n=value)
        return text, self(f"wish.{option}")

    def column(self, name: str) -> str:
        """Say what a column of a sheet is, if the library knows it."""
        return self.texts.get(f"column.{name}", name)

    def rule(self, rule: WrittenRule) -> str:
        """Say a rule of a programme."""
        names = ", ".join(rule.names)
        if rule.kind != FLOORS:
            return self(f"rule.{rule.kind}", names=names)
        if rule.count:
            return self("rule.count", names=names, n=rule.count)
        return self("rule.share", names=names, n=f"{100 * rule.share:g}")

    def number(self, value: float, digits: int = 2, *, signed: bool = False) -> str:
        """Say a number."""
        text = f"{value:{'+' if signed else ''}.{digits}f}"
        if float(text) == 0:
            text = text.lstrip("+-")
        text = text.replace("-", "−")
        return text.replace(".", self.texts["decimal"])

    def short(self, value: float) -> str:
        """Say a number with as few digits as it needs."""
        return f"{value:g}".replace(".", self.texts["decimal"])


@cache
def _sayings() -> Mapping[str, re.Pattern[str]]:
    """Return what the library says, by key, as patterns."""

    def group(found: re.Match[str]) -> str:
        name = found[1]
        what = r"[\d.]+(?: ± [\d.]+)?" if name in _NUMBERS else ".+?"
        return f"(?P<{name}>{_DATE if name in _DATES else what})"

    texts = {key: text for key, text in words_in(USUAL).texts.items() if key.startswith("said.")}
    return {
        key: re.compile(re.sub(r"\\{(\w+)\\}", group, re.escape(text)), re.DOTALL)
        for key, text in texts.items()
    }


@cache
def words_in(language: str) -> Words:
    """Return the words of a language."""
    text = files(__package__).joinpath(f"{language}.toml").read_text(encoding="utf-8")
    return Words(language, _flat(tomllib.loads(text)))


def _flat(content: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in content.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = str(value)
    return flat


def choose_language(asked: str, accepted: str) -> str:
    """Return the language that was chosen, or the first that a browser accepts and we have."""
    if asked in LANGUAGES:
        return asked
    for part in accepted.split(","):
        name = part.partition(";")[0].strip().lower()[:2]
        if name in LANGUAGES:
            return name
    return USUAL
