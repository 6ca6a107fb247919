"""A decision as tasks: who goes where, when, to do what."""

from typing import NamedTuple


class Task(NamedTuple):
    """One line of a plan that a person carries out; what does not apply is empty."""

    who: str
    when: str
    where: str
    do: str
