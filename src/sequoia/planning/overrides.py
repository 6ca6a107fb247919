"""Wishes for one day, in the words of the command: ``worker:3``, ``arm:Ada``."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import numpy as np

from sequoia.errors import FileError, ProblemError
from sequoia.problem import Floor, Problem, Rules
from sequoia.problem.names import closest, composed, index_of
from sequoia.problem.rules import Lock, Preference
from sequoia.problem.spaces.base import Task
from sequoia.problem.spreadsheet import read_spreadsheet

# What may be asked for, by the name of its option, in the order in which it is said.
OVERRIDES = ("absent", "must", "never", "lock", "order", "hours")


@dataclass(frozen=True)
class Wish:
    """One thing that is special today.

    Attributes
    ----------
    words
        What it is, as a sentence without its stop: ``"Nurse Anna is off"``.
    rules
        The same as rules on actions.
    """

    words: str
    rules: Rules


@dataclass(frozen=True)
class Offer:
    """Overtime that somebody could work: ``hours`` more, at a ``price`` for each.

    The price is in the unit of rewards.
    """

    worker: str
    hours: float
    price: float

    @property
    def cost(self) -> float:
        """The price of all hours."""
        return self.hours * self.price


def todays_wishes(problem: Problem, overrides: Mapping[str, Iterable[str]]) -> list[Wish]:
    """Return what is asked for, one by one.

    Parameters
    ----------
    overrides
        Texts by option. ``absent``: workers who are off, such as ``"worker:3"`` or
        ``"worker:Nurse Anna"``. ``must``, ``never``: arms to act on, or not to, such as
        ``"arm:7"``; ``"action:2"`` where actions are not arms. ``lock``: visits that are settled,
        such as ``"Anna=Ada"``, ``"Anna=Ada@Mon"`` or ``"Ada@Mon"``. ``order``: arms that follow
        each other straight on one route, such as ``"Ada > Ben"``. ``hours``: those that a worker
        has today, such as ``"Anna=4"``.
    """
    wishes = []
    for option, of in _READERS.items():
        wishes += [of(problem, text) for text in overrides.get(option, ())]
    given = [worker for wish in wishes for worker in wish.rules.hours]
    for worker in given:
        if given.count(worker) > 1:
            raise ProblemError(f"the hours of {worker} are given twice; once is wanted.")
    return wishes


def together(wishes: Iterable[Wish]) -> Rules:
    """Return all wishes as rules."""
    return reduce(Rules.and_also, (wish.rules for wish in wishes), Rules())


def todays_rules(
    problem: Problem,
    absent: Iterable[str] = (),
    must: Iterable[str] = (),
    never: Iterable[str] = (),
) -> Rules:
    """Return who is off and what is acted on, or not, as rules; see `todays_wishes`."""
    return together(todays_wishes(problem, {"absent": absent, "must": must, "never": never}))


def read_offer(problem: Problem, text: str) -> Offer:
    """Return the overtime that a text such as ``"Anna=2@0.5"`` offers."""
    given, _, price = text.rpartition("@")
    worker, _, hours = given.rpartition("=")
    try:
        more, each = float(hours), float(price)
    except ValueError:
        more = each = np.nan
    if not (0 < more < np.inf and 0 <= each < np.inf):
        raise ProblemError(
            f"{text!r} is no overtime; a worker, hours and a price for each are wanted, such as "
            "'Anna=2@0.5'."
        )
    return Offer(find_worker(problem, worker), more, each)


def read_preferences(path: Path, problem: Problem, bonus: float) -> Rules:
    """Return what it is worth to send whoever came last: a sheet with ``arm`` and ``worker``.

    Arms to whom nobody has come yet are left out.
    """
    sheet = read_spreadsheet(path, heads=("arm", "worker"))
    for column in ("arm", "worker"):
        if column not in sheet.columns:
            raise FileError(f"{path} has no column {column!r}; arm and worker are wanted.")
    arms = sheet.places("arm", problem.bare_arms.names)
    workers = sheet.places("worker", problem.space.base.worker_names)
    if sheet.found:
        raise FileError(*sheet.found)
    names, who = problem.bare_arms.names, problem.space.base.worker_names
    pairs = zip(arms.tolist(), workers.tolist(), strict=True)
    return Rules(
        preferences=[
            Preference(_column_of(problem, f"arm:{names[arm]}"), who[worker], bonus)
            for arm, worker in pairs
        ]
    )


def same_as_last_time(problem: Problem, tasks: Iterable[Task]) -> tuple[int, int]:
    """Return how many visits are by somebody who is preferred, and how many could have been."""
    preferred = {
        (preference.worker, preference.arm) for preference in problem.space.rules.preferences
    }
    arms = {arm for _, arm in preferred}
    given = [(task.who, task.where) for task in tasks if task.where in arms]
    return sum(pair in preferred for pair in given), len(given)


def with_spent(problem: Problem, texts: Iterable[str]) -> Problem:
    """Return a problem of whose budgets over several steps something is spent.

    A text is such as ``"visits a month=12@5"``: twelve visits, in the first five steps.
    """
    texts = list(texts)
    if not texts:
        return problem
    limits = [] if problem.purse is None else list(problem.purse.limits)
    names = [limit.name for limit in limits]
    for text in texts:
        given, _, into = text.rpartition("@")
        name, _, spent = given.rpartition("=")
        if not (spent.strip().isdecimal() and into.strip().isdecimal()):
            raise ProblemError(
                f"{text!r} is not what is spent; a budget, visits and steps are wanted, such as "
                "'visits a month=12@5'."
            )
        place = index_of("what is spent", names, name.strip())
        limits[place] = replace(limits[place], spent=int(spent), into=int(into))
    return problem.with_budgets(limits)


def find_worker(problem: Problem, text: str) -> str:
    """Return the name of the worker that ``text`` means."""
    names = problem.space.base.worker_names
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


def _absent(problem: Problem, text: str) -> Wish:
    worker = find_worker(problem, text)
    return Wish(f"{worker} is off", Rules(absent=[worker]))


def _must(problem: Problem, text: str) -> Wish:
    return Wish(f"{columns_of(problem, text)[0]} is acted on", including(problem, text))


def _never(problem: Problem, text: str) -> Wish:
    return Wish(f"{columns_of(problem, text)[0]} is not acted on", leaving_out(problem, text))


def _lock(problem: Problem, text: str) -> Wish:
    """Read ``worker=arm@slot``, of which the worker or the slot may be left out."""
    who, _, rest = text.rpartition("=")
    slots = problem.space.base.slot_names
    whom, at, when = rest.rpartition("@")
    if not at or rest.strip() in problem.arms.names:
        whom, when = rest, ""
    if not who.strip() and not when.strip():
        raise ProblemError(
            f"{text!r} locks nothing; a worker and an arm, or an arm and a slot, are wanted, such "
            "as 'Anna=Ada' or 'Ada@Mon'."
        )
    worker = find_worker(problem, who) if who.strip() else None
    slot = None
    if when.strip():
        if not slots:
            raise ProblemError(
                f"{text!r} names a slot, but a {problem.space.base.kind} problem has none."
            )
        slot = slots[_find(when, {"slot": slots})[1]]
    lock = Lock(_column_of(problem, whom), worker, slot)
    return Wish(str(lock), Rules(locks=[lock]))


def _order(problem: Problem, text: str) -> Wish:
    arms = [_column_of(problem, part.strip()) for part in text.split(">")]
    if len(set(arms)) < max(2, len(arms)):
        raise ProblemError(
            f"{text!r} is no order; two arms or more are wanted, each once: 'Ada > Ben'."
        )
    return Wish(f"{arms[0]} is followed by {', then '.join(arms[1:])}", Rules(orders=[arms]))


def _hours(problem: Problem, text: str) -> Wish:
    who, _, given = text.rpartition("=")
    try:
        hours = float(given)
    except ValueError:
        hours = np.nan
    if not 0 <= hours < np.inf:
        raise ProblemError(f"{text!r} gives no hours; a number is wanted, such as 'Anna=4'.")
    worker = find_worker(problem, who)
    return Wish(f"{worker} has {hours:g} hours", Rules(hours={worker: hours}))


_READERS = dict(zip(OVERRIDES, (_absent, _must, _never, _lock, _order, _hours), strict=True))


def _column_of(problem: Problem, text: str) -> str:
    """Return the one action column that ``text`` means."""
    name, columns = columns_of(problem, text)
    if len(columns) != 1:
        raise ProblemError(
            f"{len(columns)} actions reach {name}; name one of them to lock it: action: and its "
            "name."
        )
    return columns[0]


def _find(text: str, kinds: Mapping[str, Sequence[str]]) -> tuple[str, int]:
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
