"""``[space.rules]`` in the text of the settings: changed without losing what somebody wrote."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_WHERE = ["space", "rules"]
# A text, which may hold a #, or a comment.
_TEXT_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|\'[^\']*\'|(?P<comment>#.*)')


@dataclass(frozen=True)
class _Statement:
    """Some lines that belong together: a head, one value, a comment or an empty line.

    Attributes
    ----------
    place
        The table that it stands in, or begins.
    key
        Of a value; nothing otherwise.
    """

    lines: Sequence[str]
    place: list[str]
    key: str = ""
    is_head: bool = False

    @property
    def rule(self) -> str:
        """Which of the rules it belongs to; nothing where to none."""
        if self.place[:2] != _WHERE:
            return ""
        return self.place[2] if len(self.place) > len(_WHERE) else self.key

    @property
    def comments(self) -> list[str]:
        """The comments in it."""
        found = (one for line in self.lines for one in _TEXT_OR_COMMENT.finditer(line))
        return [one["comment"] for one in found if one["comment"]]


def write_rules(text: str, rules: Mapping[str, Any]) -> str:
    """Return the settings with other rules.

    Rules that are as they were keep their lines. What is written anew keeps its comments, above it.
    """
    old = tomllib.loads(text).get("space", {}).get("rules", {})
    kept = {key for key, value in rules.items() if key in old and old[key] == value}
    new = {key: f"{_key(key)} = {_value(value)}" for key, value in rules.items() if key not in kept}
    lines: list[str] = []
    end: int | None = None
    for one in _statements(text):
        if not one.rule or one.rule in kept:
            lines += one.lines
        else:
            lines += one.comments
            if one.place == _WHERE and one.rule in new:
                lines.append(new.pop(one.rule))
        if one.place == _WHERE and any(line.strip() for line in one.lines):
            end = len(lines)
    if end is None and new:
        lines = ["\n".join(lines).rstrip(), "", f"[{'.'.join(_WHERE)}]"]
        end = len(lines)
    if end is not None:
        lines[end:end] = new.values()
    return _without_empty_head("\n".join(lines)).rstrip() + "\n"


def _statements(text: str) -> Iterator[_Statement]:
    place: list[str] = []
    waiting: list[str] = []
    for line in text.splitlines():
        if not waiting and (not line.strip() or line.lstrip().startswith("#")):
            yield _Statement([line], place)
            continue
        waiting.append(line)
        try:
            found = tomllib.loads("\n".join(waiting))
        except tomllib.TOMLDecodeError:
            continue  # a value goes on in the next line
        is_head = line.lstrip().startswith("[") and len(waiting) == 1
        place = _path(found) if is_head else place
        yield _Statement(waiting, place, "" if is_head else next(iter(found)), is_head)
        waiting = []
    if waiting:
        yield _Statement(waiting, place)


def _path(found: Any) -> list[str]:
    """Return the keys of a table in which there is one key each."""
    path = []
    while found:
        found = found[0] if isinstance(found, list) else found
        for key in found:
            path.append(key)
            found = found[key]
            break
        else:
            break
    return path


def _without_empty_head(text: str) -> str:
    """Drop the head of the rules where nothing follows it."""
    statements = list(_statements(text))
    lines: list[str] = []
    for index, one in enumerate(statements):
        if one.is_head and one.place == _WHERE:
            rest = [two for two in statements[index + 1 :] if any(map(str.strip, two.lines))]
            if not one.comments and (not rest or rest[0].is_head):
                continue
        lines += one.lines
    return "\n".join(lines)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    """Return a value as TOML: texts are written as in JSON, tables in one line."""
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
