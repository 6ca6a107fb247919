"""The command: the only place that prints."""

import sys
from collections.abc import Sequence
from typing import NoReturn

from sequoia.cli.interrupts import ending_at_once


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command on ``arguments``, those of the process unless given, and exit."""
    with ending_at_once():
        from sequoia.cli.app import app
        from sequoia.cli.errors import run
    sys.exit(run(app, arguments))


__all__ = ["main"]
