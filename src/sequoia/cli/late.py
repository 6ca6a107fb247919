"""A command that is imported when it is called."""

from typing import NamedTuple


class Late(NamedTuple):
    """The place of a command, and the first line of its help."""

    module: str
    name: str
    words: str
