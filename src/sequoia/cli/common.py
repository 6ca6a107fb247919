"""What several commands share: their common options, and how they print."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A problem: FILE.npz, or a folder of TOML and CSV.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]


def print_json(content: dict[str, Any]) -> None:
    """Print JSON."""
    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))


def print_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Print labels and texts in two columns."""
    pairs = list(pairs)
    width = max(len(label) for label, _ in pairs)
    for label, text in pairs:
        typer.echo(f"  {label:<{width}}  {text}")
