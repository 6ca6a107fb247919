"""Environments that a command may be about: a problem, RDDL, or one of the user's own."""

import importlib.util
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sequoia.errors import FileError, ProblemError
from sequoia.problem import (
    Environment,
    Problem,
    capabilities_of,
    check_environment,
    load_any,
)

_RDDL = "rddl:"
_OWN = ".py:"

AnyFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A problem: FILE.npz, or a folder of TOML and CSV; RDDL: rddl:DOMAIN/INSTANCE of "
        "rddlrepository, or DOMAIN.rddl; an environment of your own: FILE.py:NAME.",
    ),
]
Instance = Annotated[
    Path | None,
    typer.Argument(
        metavar="[INSTANCE]", help="The instance, after DOMAIN.rddl.", show_default=False
    ),
]


def load_environment(file: Path, instance: Path | None = None) -> Environment:
    """Return what a file, or a name, stands for.

    Raises
    ------
    FileError
        One line: what cannot be read.
    """
    text = str(file)
    if text.startswith(_RDDL) or file.suffix == ".rddl":
        # Here, because few need what it imports.
        from sequoia.interop.rddl import from_rddl

        return from_rddl(text, instance)
    if instance is not None:
        raise FileError(f"{instance} is one too many: only DOMAIN.rddl has an instance beside it.")
    return _own(*text.rsplit(":", 1)) if is_own(file) else load_any(file)


def is_named(file: Path) -> bool:
    """Say whether an argument is a name and not a path."""
    return str(file).startswith(_RDDL) or is_own(file)


def is_own(file: Path) -> bool:
    """Say whether an argument names an environment of the user's own."""
    return _OWN in str(file)


def require_problem_for(environment: Environment, what: str) -> Problem:
    """Return a problem of arms, or say that ``what`` needs one."""
    problem = capabilities_of(environment).problem
    if problem is None:
        raise ProblemError(f"{what} needs a problem of arms; {environment.name} has none.")
    return problem


def _own(file: str, name: str) -> Environment:
    """Return the environment called ``name`` in a Python file; a class or function is called."""
    if not Path(file).is_file():
        raise FileError(f"{file} does not exist.")
    spec = importlib.util.spec_from_file_location(f"_own_{Path(file).stem}", file)
    if spec is None or spec.loader is None:
        raise FileError(f"{file} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
        member: Any = getattr(module, name, None)
        # A class has a space of its own, too; what is made already has steps to take.
        is_made = not isinstance(member, type) and hasattr(member, "step")
        made = member() if callable(member) and not is_made else member
    except Exception as error:
        raise FileError(f"{file} cannot be used: {type(error).__name__}: {error}") from None
    if made is None:
        raise FileError(f"{file} has no {name!r}; an environment, or what makes one, is wanted.")
    check_environment(made)
    environment: Environment = made
    return environment
