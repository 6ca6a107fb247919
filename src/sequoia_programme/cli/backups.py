"""``sequoia programme backup`` and ``restore``: everything in one file, and back."""

from pathlib import Path
from typing import Annotated

import typer

from sequoia.cli.common import Force
from sequoia.problem.names import count
from sequoia_programme.cli.options import Folder


def backup(
    folder: Folder,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write: FILE.zip.")
    ],
    force: Force = False,
) -> None:
    """Write everything that is kept into one file, while others go on working."""
    from sequoia_programme.backup import backup as write_backup
    from sequoia_programme.settings import read_programme

    number = write_backup(read_programme(folder), output, force)
    typer.echo(f"Wrote {output}: {count(number, 'file')}, read back and whole.")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")],
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to; it must not be there yet.")
    ],
) -> None:
    """Bring a programme back from a backup."""
    from sequoia_programme.backup import restore as read_backup

    number = read_backup(file, folder)
    typer.echo(f"Restored {folder}: {count(number, 'file')}.")
