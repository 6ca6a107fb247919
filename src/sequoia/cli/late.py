"""A command that is imported when it is called."""

from typing import NamedTuple


class Late(NamedTuple):
    """Where a command is, and the first line of its own help."""

    module: str
    name: str
    words: str
