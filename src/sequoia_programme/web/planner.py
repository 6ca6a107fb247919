"""Plans are made in a process of their own, so that pages answer while one is computed."""

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from sequoia.planning.planner import Why
from sequoia_programme.drafts import Overrides, Wished
from sequoia_programme.proposal import Proposal, explain, propose
from sequoia_programme.settings import read_programme
from sequoia_programme.situation import find_situation
from sequoia_programme.today import Planning
from sequoia_programme.trained import with_own_model
from sequoia_programme.web.processes import OwnProcess
from sequoia_programme.web.waiting import Progress, StillComputing, WaitingLine
from sequoia_programme.wishes import ways_out

__all__ = ["PlannerProcess", "StillComputing"]

# Where the version is in the key of an answer.
_VERSION = 2
# Days that the process has in mind.
_MOST_DAYS = 3


class PlannerProcess:
    """Asks the process, and remembers its answers as long as nothing changes.

    Parameters
    ----------
    make_pool
        Starts the process, and starts it again when it ended.
    """

    def __init__(self, folder: Path, make_pool: Callable[[], Executor] | None = None) -> None:
        self._folder = folder
        self.line = WaitingLine(make_pool or OwnProcess)

    def proposal(
        self, day: date, version: str, overrides: Overrides, patience: float, account: str = ""
    ) -> Proposal:
        """Return the plan for some wishes, which an account asks for.

        Raises
        ------
        StillComputing
            When it is not ready after ``patience`` seconds; whoever asks again gets it then.
        """
        found: Proposal = self._ask(_propose, day, version, overrides, "", patience, account)
        return found

    def progress(self, day: date, version: str, overrides: Overrides) -> Progress:
        """Return how far the plan for some wishes is."""
        return self.line.progress(_key(_propose, day, version, overrides, ""))

    def cancel(self, day: date, version: str, overrides: Overrides, account: str) -> bool:
        """Stop to make a plan that an account asked for; return whether that was done."""
        return self.line.cancel(_key(_propose, day, version, overrides, ""), account)

    def why(
        self,
        day: date,
        version: str,
        overrides: Overrides,
        who: str,
        patience: float,
        account: str = "",
    ) -> Why:
        """Return what it would cost to drop or to include somebody."""
        found: Why = self._ask(_explain, day, version, overrides, who, patience, account)
        return found

    def ways_out(
        self,
        day: date,
        version: str,
        overrides: Overrides,
        newest: Wished,
        patience: float,
        account: str = "",
    ) -> list[Wished]:
        """Return each wish without which the others can be met."""
        found: list[Wished] = self._ask(
            _ways_out, day, version, overrides, ":".join(newest), patience, account
        )
        return found

    def close(self) -> None:
        """End the process."""
        self.line.close()

    def _ask(
        self,
        work: Callable[..., Any],
        day: date,
        version: str,
        overrides: Overrides,
        who: str,
        patience: float,
        account: str,
    ) -> Any:
        # Nobody wants plans of how things stood before.
        self.line.drop(lambda key: key[_VERSION] != version)
        key = _key(work, day, version, overrides, who)
        task = partial(work, self._folder, day, version, dict(overrides), who)
        return self.line.ask(key, account, task, patience)


def _key(
    work: Callable[..., Any], day: date, version: str, overrides: Overrides, who: str
) -> tuple[str, ...]:
    asked = sorted((option, *sorted(texts)) for option, texts in overrides.items() if texts)
    return (work.__name__, str(day), version, repr(asked), who)


# In the process: how things stand on the days that were asked for last.
_days: OrderedDict[tuple[Path, date, str], Planning] = OrderedDict()


def _planning(folder: Path, day: date, version: str) -> Planning:
    key = (folder, day, version)
    if key not in _days:
        situation, q = with_own_model(
            find_situation(read_programme(folder), day, today=date.today())
        )
        _days[key] = Planning(situation, q=q)
        while len(_days) > _MOST_DAYS:
            _days.popitem(last=False)
    _days.move_to_end(key)
    return _days[key]


def _propose(folder: Path, day: date, version: str, overrides: Overrides, _who: str) -> Proposal:
    return propose(_planning(folder, day, version), overrides)


def _explain(folder: Path, day: date, version: str, overrides: Overrides, who: str) -> Why:
    return explain(_planning(folder, day, version), overrides, who)


def _ways_out(
    folder: Path, day: date, version: str, overrides: Overrides, newest: str
) -> list[Wished]:
    option, _, text = newest.partition(":")
    return ways_out(_planning(folder, day, version).situation, overrides, (option, text))
