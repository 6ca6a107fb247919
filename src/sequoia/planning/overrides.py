"""What is special today, in the words of the command: ``worker:3``, ``arm:Ada``."""

from collections.abc import Iterable, Sequence

import numpy as np

from sequoia.errors import ProblemError
from sequoia.problem import Floor, Problem, Rules
from sequoia.problem.names import closest, composed


def todays_rules(
    problem: Problem,
    absent: Iterable[str] = (),
    must: Iterable[str] = (),
    never: Iterable[str] = (),
) -> Rules:
    """Return today's rules.

    Parameters
    ----------
    absent
        Workers who are off, such as ``"worker:3"`` or ``"worker:Nurse Anna"``.
    must, never
        Arms to act on, or not to, such as ``"arm:7"``; ``"action:2"`` where actions are not arms.
    """
    rules = Rules(absent=[find_worker(problem, text) for text in absent])
    for text in must:
        rules = rules.and_also(including(problem, text))
    for text in never:
        rules = rules.and_also(leaving_out(problem, text))
    return rules


def find_worker(problem: Problem, text: str) -> str:
    """Return the name of the worker that ``text`` means."""
    names: Sequence[str] = getattr(problem.space.base, "worker_names", ())
    if not names:
        raise ProblemError(
            f"{text!r} names a worker, but a {problem.space.base.kind} problem has none."
        )
    return names[_find(text, {"worker": names})[1]]


def columns_of(problem: Problem, text: str) -> tuple[str, list[str]]:
    """Return what ``text`` means, by name, and the action columns that act on it."""
    kinds = {"arm": problem.arms.names, "action": problem.space.names}
    kind, index = _find(text, kinds)
    if kind == "action":
        return problem.space.names[index], [problem.space.names[index]]
    matrix = problem.influence
    reaching = matrix.indices[matrix.indptr[index] : matrix.indptr[index + 1]]
    return problem.arms.names[index], [problem.space.names[c] for c in np.sort(reaching).tolist()]


def including(problem: Problem, text: str) -> Rules:
    """Return the rule that ``text`` is acted on, by at least one column."""
    name, columns = columns_of(problem, text)
    if not columns:
        raise ProblemError(f"no action reaches {name}, so it cannot be acted on.")
    if len(columns) == 1:
        return Rules(must=columns)
    group = f"what reaches {name}"
    return Rules(groups={group: columns}, floors=[Floor(group, count=1)])


def leaving_out(problem: Problem, text: str) -> Rules:
    """Return the rule that ``text`` is not acted on, by any column."""
    return Rules(never=columns_of(problem, text)[1])


def _find(text: str, kinds: dict[str, Sequence[str]]) -> tuple[str, int]:
    """Return the kind and the number of what ``text`` names; a name goes before a number."""
    text = composed(text)
    prefix, colon, rest = text.partition(":")
    given = prefix.strip().lower()
    if colon and given in kinds:
        kinds, wanted = {given: kinds[given]}, rest.strip()
    else:
        wanted = text.strip()
    for kind, names in kinds.items():
        if wanted in names:
            return kind, list(names).index(wanted)
    for kind, names in kinds.items():
        if wanted.isdecimal() and int(wanted) < len(names):
            return kind, int(wanted)
    kind, names = next(iter(kinds.items()))
    raise ProblemError(
        f"{text!r} names no {kind}; {kind}: and a number from 0 to {len(names) - 1} is wanted, or "
        f"a name such as {names[0]!r}{closest(wanted, names)}."
    )
