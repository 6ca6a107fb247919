"""``sequoia verify``: whether what a certificate claims holds."""

from pathlib import Path
from typing import Annotated

import typer

from sequoia.cli.environments import load_environment
from sequoia.errors import FileError
from sequoia.io import read_bytes
from sequoia_verify import NotVerified, Unreadable
from sequoia_verify import verify as verified

# A claim that does not hold is no mistake of the caller's.
_NOT_VERIFIED = 1


def verify(
    files: Annotated[list[Path], typer.Argument(metavar="FILE.json...", help="Certificates.")],
    problem: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also say whether they are about this problem."),
    ] = None,
) -> None:
    """Say whether what certificates claim holds.

    The checker shares no code with what made them, writes the rules anew from their words, and
    computes in exact fractions. The exit code is 1 where a claim does not hold.
    """
    words = None
    if problem is not None:
        # Here, because a certificate alone is checked without the library.
        from sequoia.certificates.claims import words_of

        words = words_of(load_environment(problem, None))
    is_wrong = False
    for file in files:
        try:
            lines = verified(read_bytes(file).decode("utf-8"), words)
            typer.echo("\n".join((str(file), *(f"  {line}" for line in lines))))
        except NotVerified as error:
            typer.echo(f"{file}\n  NOT VERIFIED: {error}")
            is_wrong = True
        except (Unreadable, UnicodeDecodeError) as error:
            raise FileError(f"{file}: {error}") from None
    if is_wrong:
        raise typer.Exit(_NOT_VERIFIED)
