"""The plan of a sweep: problems × seeds × policies, as TOML."""

import inspect
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from sequoia.defaults import DECISION_SECONDS, EPISODES, PRESET
from sequoia.errors import FileError, SequoiaError
from sequoia.evaluation.evaluate import BoundKind
from sequoia.io import read_toml
from sequoia.policies.registry import policy_called
from sequoia.problem.families import EVERY
from sequoia.problem.names import closest
from sequoia.sizes import MOST_CELLS, MOST_EPISODES, require_at_most
from sequoia.solvers.registry import DEFAULT, require_solver
from sequoia.sweep.cell import Cell, Entry, Training


def _count_from_one(value: object) -> object:
    """Read a number of seeds as the paper does: ``3`` is 1, 2, 3."""
    if type(value) is not int:
        return value
    if value > MOST_CELLS:
        raise ValueError(f"{value} seeds are asked for; at most {MOST_CELLS} are allowed")
    return range(1, value + 1)


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    twice = sorted(value for value, times in Counter(values).items() if times > 1)
    if twice:
        raise ValueError(f"{twice[0]!r} is named twice")
    return values


def _known_solver(name: str) -> str:
    with _with_a_place():
        require_solver(name)
    return name


Seed = Annotated[int, Field(strict=True, ge=0)]
Seeds = Annotated[tuple[Seed, ...], BeforeValidator(_count_from_one), Field(min_length=1)]
Names = Annotated[tuple[str, ...], Field(min_length=1)]
Episodes = Annotated[int, Field(strict=True, ge=1, le=MOST_EPISODES)]
Seconds = Annotated[float, Field(gt=0)]
SolverName = Annotated[str, AfterValidator(_known_solver)]


class TrainedPolicy(BaseModel):
    """A trained policy under a name of its own; further keys override the preset."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    policy: str = "sequoia"
    preset: str = PRESET

    @property
    def training(self) -> Training:
        """The training of its model."""
        return Training(self.preset, dict(self.model_extra or {}))

    @model_validator(mode="after")
    def _check(self) -> "TrainedPolicy":
        with _with_a_place():
            if not policy_called(self.policy).needs_model:
                raise ValueError(f"{self.policy} is not trained; sequoia or iterative-dqn is")
            self.training.settings()
        return self


class ProblemGrid(BaseModel):
    """Problems of one family; further keys are its knobs, and a list of values makes a grid.

    What is left out is as in the plan.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    family: str
    policies: Names | None = None
    seeds: Seeds | None = None
    episodes: Episodes | None = None
    bound: BoundKind | None = None
    decision_seconds: Seconds | None = None
    solver: SolverName | None = None

    @model_validator(mode="after")
    def _check(self) -> "ProblemGrid":
        if self.family not in EVERY:
            hint = closest(self.family, list(EVERY))
            known_families = ", ".join(EVERY)
            raise ValueError(f"there is no family {self.family!r}; known: {known_families}{hint}")
        known = inspect.signature(EVERY[self.family]).parameters
        for name, values in self._lists().items():
            if name == "seed":
                raise ValueError("seed is not a knob here; write seeds = [...]")
            if name not in known:
                others = [knob for knob in known if knob != "seed"]
                wanted = f"{', '.join(others)}{closest(name, others)}"
                raise ValueError(f"{self.family} has no knob {name!r}; known: {wanted}")
            kind: Any = get_args(known[name].annotation)[0]
            TypeAdapter(dict[str, list[kind]]).validate_python({name: values}, strict=True)
        return self

    def _lists(self) -> dict[str, list[Any]]:
        given = self.model_extra or {}
        return {name: v if isinstance(v, list) else [v] for name, v in given.items()}

    @property
    def n_problems(self) -> int:
        """Size of the grid."""
        return math.prod(map(len, self._lists().values()))

    def knobs(self) -> Iterator[dict[str, Any]]:
        """Yield the knobs of every problem of the grid."""
        lists = self._lists()
        for values in itertools.product(*lists.values()):
            yield dict(zip(lists, values, strict=True))


class Plan(BaseModel):
    """A sweep.

    Attributes
    ----------
    seeds
        Of problems, training and episodes; a number means that many, from 1.
    episodes
        Episodes of each policy in each problem.
    policies
        Names known to `make_policy`, or of `trained`.
    bound
        Which upper bound to compute.
    decision_seconds
        Longest time for one decision, where a solver is used.
    solver
        Who solves the programs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    policies: Names
    seeds: Seeds = (1,)
    episodes: Episodes = EPISODES
    bound: BoundKind = "auto"
    decision_seconds: Seconds = DECISION_SECONDS
    solver: SolverName = DEFAULT
    trained: tuple[TrainedPolicy, ...] = ()
    problems: Annotated[tuple[ProblemGrid, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check(self) -> "Plan":
        _distinct(tuple(policy.name for policy in self.trained))
        with _with_a_place():
            for names in (self.policies, *(grid.policies or () for grid in self.problems)):
                self._entries(_distinct(names))
        for seeds in (self.seeds, *(grid.seeds or () for grid in self.problems)):
            _distinct(seeds)
        return self

    def _entries(self, names: tuple[str, ...], family: str | None = None) -> tuple[Entry, ...]:
        """Return what is played; trained as usual in a family where the plan does not say how."""
        known = {
            policy.name: Entry(policy.name, policy.policy, policy.training)
            for policy in self.trained
        }
        return tuple(known.get(name) or _plain(name, family) for name in names)

    @property
    def n_cells(self) -> int:
        """The number of cells; those that are named twice count twice."""
        return sum(grid.n_problems * len(grid.seeds or self.seeds) for grid in self.problems)

    def cells(self) -> list[Cell]:
        """Return all cells, each once, in the order of the plan."""
        require_at_most("the sweep", self.n_cells, "cells", MOST_CELLS)
        cells = [cell for grid in self.problems for cell in self._cells(grid)]
        return list({cell.key: cell for cell in cells}.values())

    def _cells(self, grid: ProblemGrid) -> Iterator[Cell]:
        for knobs in grid.knobs():
            for seed in grid.seeds or self.seeds:
                yield Cell(
                    family=grid.family,
                    knobs=knobs,
                    seed=seed,
                    entries=self._entries(grid.policies or self.policies, grid.family),
                    episodes=grid.episodes or self.episodes,
                    bound=grid.bound or self.bound,
                    decision_seconds=grid.decision_seconds or self.decision_seconds,
                    solver=grid.solver or self.solver,
                )


def _plain(name: str, family: str | None) -> Entry:
    is_trained = policy_called(name).needs_model and family is not None
    return Entry(name, name, Training(PRESET, {}) if is_trained else None)


def read_plan(path: Path) -> Plan:
    """Read a plan, or say in one line what is wrong with it."""
    return make_plan(read_toml(path), str(path))


def make_plan(content: Mapping[str, Any], where: str) -> Plan:
    """Make a plan from what a file holds; ``where`` goes into error messages."""
    try:
        return Plan.model_validate(content)
    except ValidationError as error:
        raise FileError(*(f"{where}: {_said(mistake)}." for mistake in error.errors())) from None


def _said(error: Mapping[str, Any]) -> str:
    """Say one error of pydantic: where it is, what is wrong, and what was found."""
    place = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error["loc"])
    words = error["msg"].removeprefix("Value error, ").rstrip(".")
    input_words = "" if error["type"] in ("value_error", "missing") else f", not {error['input']!r}"
    if error["type"] == "extra_forbidden":
        input_words += closest(str(error["loc"][-1]), list(Plan.model_fields))
    return f"{place[1:]}: {words}{input_words}" if place else f"{words}{input_words}"


@contextmanager
def _with_a_place() -> Iterator[None]:
    """Turn errors of ours into those that pydantic gives a place to."""
    try:
        yield
    except SequoiaError as error:
        raise ValueError(str(error)) from None
