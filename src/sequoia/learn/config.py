"""Settings of a learner: in groups, with names, ranges and one clear line for what is wrong."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sequoia.errors import ConfigError
from sequoia.problem.names import nearest


class Group(BaseModel):
    """Settings that belong together; they do not change, and unknown ones are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Config(Group):
    """Every choice that a learner makes.

    Attributes
    ----------
    learner
        The name of the learner that it is for.
    rounds
        After how many rounds it ends at the latest.
    seconds
        Of processor time: the round in which they are over is the last. A budget that learners of
        every kind can share; what is learned then depends on the machine.
    """

    learner: ClassVar[str]

    rounds: int = Field(default=0, ge=0)
    seconds: float | None = Field(default=None, gt=0)

    @classmethod
    def names(cls) -> list[str]:
        """Return the name of every setting, such as ``"network.hidden"``."""
        return list(_names(cls))

    @classmethod
    def of(cls, changes: Mapping[str, Any]) -> Self:
        """Return the defaults with some values changed.

        Parameters
        ----------
        changes
            By name; the last word of a name is enough where no other has it. A group may be given
            as a mapping.

        Raises
        ------
        ConfigError
            When a name is unknown or a value is out of range, in one line.
        """
        content: dict[str, Any] = {}
        for name, value in cls.full_names(changes).items():
            *groups, last = name.split(".")
            inner = content
            for group in groups:
                inner = inner.setdefault(group, {})
            inner[last] = value
        try:
            return cls(**content)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            said = f"train.{name} is {first['input']!r}: {first['msg'].lower()}."
            raise ConfigError(said) from None

    @classmethod
    def full_names(cls, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``changes`` by the full names of the settings."""
        return {cls._place(name): value for name, value in _flat(changes)}

    @classmethod
    def _place(cls, name: str) -> str:
        """Return the full name of a setting."""
        known = cls.names()
        ends = [full for full in known if full == name or full.endswith(f".{name}")]
        if len(ends) == 1 or name in known:
            return name if name in known else ends[0]
        if ends:
            raise ConfigError(f"train.{name} may be {' or '.join(ends)}; give the full name.")
        words = {full.rpartition(".")[2]: full for full in known}
        close = nearest(name.rpartition(".")[2], list(words))
        hint = f"did you mean {words[close]}? " if close else ""
        raise ConfigError(f"train.{name} is unknown; {hint}known: {', '.join(known)}.")

    def flat(self) -> dict[str, Any]:
        """Return every value by its full name, as JSON holds it."""
        return dict(_flat(self.model_dump(mode="json")))


def _names(group: type[BaseModel], before: str = "") -> Iterator[str]:
    for name, field in group.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Group):
            yield from _names(kind, f"{before}{name}.")
        else:
            yield f"{before}{name}"


def _flat(content: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value
