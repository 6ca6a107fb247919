"""Domains and instances of RDDL, from files or by name from rddlrepository."""

import contextlib
import hashlib
import io
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sequoia.errors import FileError
from sequoia.problem.names import closest

PREFIX = "rddl:"
_INSTALL = 'RDDL needs more packages; pip install "sequoia-plan[rddl]".'


@dataclass(frozen=True, eq=False)
class RddlModel:
    """A domain with one of its instances, as pyRDDLGym reads it.

    Attributes
    ----------
    name
        Domain and instance.
    fingerprint
        Of the text of both.
    lifted
        pyRDDLGym's model: types, fluents, expressions.
    start
        First value of every fluent and the value of every non-fluent, by name.
    order
        Fluents in an order in which they can be evaluated.
    cases
        Says in which order the cases of ``switch`` and ``Discrete`` stand.
    """

    name: str
    fingerprint: str
    lifted: Any
    start: dict[str, Any]
    order: list[str]
    cases: Any


def read_model(domain: Path | str, instance: Path | str) -> RddlModel:
    """Read a domain and an instance from files.

    Raises
    ------
    FileError
        One line: what cannot be read, where, or what is not installed.
    """
    _require()
    from pyRDDLGym.core.compiler.initializer import RDDLValueInitializer
    from pyRDDLGym.core.compiler.levels import RDDLLevelAnalysis
    from pyRDDLGym.core.compiler.model import RDDLLiftedModel
    from pyRDDLGym.core.compiler.tracer import RDDLObjectsTracer
    from pyRDDLGym.core.parser.reader import RDDLReader

    for file in (domain, instance):
        if not Path(file).is_file():
            raise FileError(f"{file} does not exist.")
    where = f"{domain} with {instance}"
    with _in_one_line(where):
        text = RDDLReader(str(domain), str(instance)).rddltxt
        lifted = RDDLLiftedModel(_parser().parse(text))
        levels = RDDLLevelAnalysis(lifted, allow_synchronous_state=True).compute_levels()
        cases = RDDLObjectsTracer(lifted, cpf_levels=levels).trace()
        start = RDDLValueInitializer(lifted).initialize()
    return RddlModel(
        f"{lifted.domain_name} {lifted.instance_name}",
        hashlib.sha256(text.encode()).hexdigest()[:16],
        lifted,
        start,
        [name for level in levels.values() for name in level],
        cases,
    )


def find_model(name: str) -> tuple[Path, Path]:
    """Return the files of an instance of rddlrepository, such as ``SysAdmin_MDP_ippc2011/1``."""
    _require()
    from rddlrepository.core.manager import RDDLRepoManager

    domain, _, instance = name.partition("/")
    known = RDDLRepoManager().list_problems()
    if domain not in known:
        raise FileError(
            f"rddlrepository has no domain {domain!r}{closest(domain, known)}; "
            "sequoia.interop.rddl.repository() lists all."
        )
    problem = RDDLRepoManager().get_problem(domain)
    if instance not in problem.list_instances():
        raise FileError(
            f"{domain} has no instance {instance!r}; known: {', '.join(problem.list_instances())}."
        )
    return Path(problem.get_domain()), Path(problem.get_instance(instance))


def repository() -> dict[str, list[str]]:
    """Return the instances of every domain of rddlrepository."""
    _require()
    from rddlrepository.core.manager import RDDLRepoManager

    manager = RDDLRepoManager()
    return {
        name: list(manager.get_problem(name).list_instances()) for name in manager.list_problems()
    }


def _require() -> None:
    """Say in one line what to install."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pyRDDLGym  # noqa: F401
            import rddlrepository  # noqa: F401
    except ImportError:
        raise FileError(_INSTALL) from None


@cache
def _parser() -> Any:
    """Return the parser; making its tables takes half a second."""
    from pyRDDLGym.core.parser.parser import RDDLParser

    parser = RDDLParser(lexer=None, verbose=False)
    parser.build(debug=False, write_tables=False)
    return parser


@contextlib.contextmanager
def _in_one_line(where: str) -> Iterator[None]:
    """Turn what pyRDDLGym raises, prints and warns of into one line, or into nothing."""
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        raise FileError(f"{where}: {_first_words(error)}") from None


def _first_words(error: Exception) -> str:
    """Return the message of an error without colours, line breaks and what surrounds it."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)) or type(error).__name__
    marked = re.search(r">>(.*)", text)
    first = " ".join(text.split("\n...")[0].split())
    if marked:
        first = f"{first.rstrip(':')}: {' '.join(marked.group(1).split())}"
    return first if first.endswith(".") else f"{first}."
