"""A problem: arms, what actions do to them, and which actions are allowed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.arrays import FloatArray, IntArray, frozen, require
from sequoia.errors import FileError, ProblemError
from sequoia.problem.arms import Arms
from sequoia.problem.numbers import whole
from sequoia.problem.rules import Rules
from sequoia.problem.sheets import Column, Sheets, Table, table
from sequoia.problem.spaces import ActionSpace, read_space, with_rules, write_space

_DOSE_TOLERANCE = 1e-9
_MAX_WEIGHT = 1e6
_MAX_DOSES = 100_000
FORMAT = 1


@dataclass(frozen=True, eq=False)
class Problem:
    """What evolves, what an action does, and what is allowed.

    Attributes
    ----------
    influence
        Dose that each action column gives to each arm, ``(J, N)``, sparse; the identity unless
        given. ``dose = influence @ action``.
    start
        Distribution of each arm's first state, ``(J, S)``.
    horizon
        Number of steps of an episode.
    discount
        Weight of the next step against this one, in (0, 1].
    """

    name: str
    arms: Arms
    space: ActionSpace
    start: FloatArray
    influence: csr_array = None
    horizon: int = 20
    discount: float = 0.99

    def __post_init__(self) -> None:
        arms, columns = self.arms.n_arms, self.space.n_actions
        if not _is_one_line(self.name):
            raise ProblemError(f"problem.name is {self.name!r}; one line of text is wanted.")
        start = frozen("problem.start", self.start, np.float64, (arms, self.arms.n_states))
        require("problem.start", start, start >= 0, "a probability is wanted")
        sums = start.sum(axis=1)
        require("problem.start.sum(1)", sums, np.abs(sums - 1) < 1e-9, "each row must sum to 1")
        if not 0 < self.discount <= 1:
            raise ProblemError(f"problem.discount is {self.discount}; (0, 1] is wanted.")
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "horizon", whole("problem.horizon", self.horizon, 1))
        object.__setattr__(self, "discount", float(self.discount))
        object.__setattr__(self, "influence", _influence(self.influence, arms, columns))
        self._check_doses()

    def _check_doses(self) -> None:
        """Every dose that any action, feasible or not, can give must be in the arm's table."""
        matrix = self.influence
        doses = self.arms.doses[self.arms.model]
        weights = np.diff(matrix.indptr)
        single = np.flatnonzero(weights == 1)
        reached = matrix.data[matrix.indptr[single]]
        gap = np.abs(doses[single] - reached[:, None]).min(axis=1, initial=np.inf)
        wrong = np.flatnonzero(gap > _DOSE_TOLERANCE)
        if len(wrong):
            raise self._missing_dose(int(single[wrong[0]]), reached[wrong[0]])
        for arm in np.flatnonzero(weights > 1).tolist():
            sums = np.zeros(1)
            for weight in matrix.data[matrix.indptr[arm] : matrix.indptr[arm + 1]]:
                sums = np.unique(np.round(np.concatenate([sums, sums + weight]), 9))
                if len(sums) > _MAX_DOSES:
                    raise ProblemError(
                        f"problem.influence[{arm}] can give more than {_MAX_DOSES} different doses."
                    )
            far = np.abs(doses[arm][:, None] - sums).min(axis=0) > _DOSE_TOLERANCE
            if far.any():
                raise self._missing_dose(arm, sums[far][0])

    def _missing_dose(self, arm: int, dose: float) -> ProblemError:
        known = ", ".join(f"{d:g}" for d in self.arms.doses[self.arms.model[arm]])
        return ProblemError(
            f"problem.influence[{arm}] can give {self.arms.names[arm]} a dose of {dose:g}; "
            f"arms.doses has {known}."
        )

    @cached_property
    def is_identity(self) -> bool:
        """Whether each action column is one arm and doses are 0 or 1."""
        matrix = self.influence
        arms, columns = matrix.shape
        return bool(
            arms == columns
            and matrix.nnz == arms
            and (matrix.indices == np.arange(arms)).all()
            and (matrix.data == 1).all()
        )

    @cached_property
    def _influence_columns(self) -> csr_array:
        return csr_array(self.influence.T)

    def levels(self, actions: ArrayLike) -> IntArray:
        """Return the dose level that each arm gets from each action, ``(B, J)``.

        ``actions`` is ``(B, N)`` and need not be feasible.
        """
        actions = np.asarray(actions)
        doses = actions if self.is_identity else actions @ self._influence_columns
        return self.arms.levels(doses)

    def with_rules(self, rules: Rules) -> "Problem":
        """Return this problem with extra rules on its actions."""
        return replace(self, space=with_rules(self.space, rules))

    @cached_property
    def fingerprint(self) -> str:
        """A stable name for the content of this problem: the same in memory and in any file."""
        return self.to_sheets().fingerprint()

    def to_sheets(self) -> Sheets:
        """Return the options and tables that define this problem."""
        arms, space = self.arms, self.space
        models, levels, states = arms.n_models, arms.n_doses, arms.n_states
        to_columns = arms.kernels.reshape(-1, states).T
        tables = (
            table("arms", name=arms.names, model=arms.model, **_numbered("start", self.start.T))
            | table("rewards", model=np.arange(models), **_numbered("reward", arms.rewards.T))
            | table(
                "transitions",
                model=np.repeat(np.arange(models), levels * states),
                dose=np.repeat(arms.doses.reshape(-1), states),
                state=np.tile(np.arange(states), models * levels),
                **_numbered("to", to_columns),
            )
        )
        if not self.is_identity or list(arms.names) != list(space.names):
            entries = self.influence.tocoo()
            tables |= table(
                "influence",
                arm=[arms.names[j] for j in entries.row],
                action=[space.names[i] for i in entries.col],
                weight=entries.data,
            )
        space_sheets = write_space(space)
        options = {
            "format": FORMAT,
            "name": self.name,
            "horizon": self.horizon,
            "discount": self.discount,
            "space": space_sheets.options,
        }
        return Sheets(options, tables | dict(space_sheets.tables))

    @classmethod
    def from_sheets(cls, sheets: Sheets) -> "Problem":
        """Build a problem from options and tables."""
        sheets.known({"format", "name", "horizon", "discount", "space"})
        found = sheets.option("format", int)
        if found != FORMAT:
            raise FileError(f"{sheets.where} has format {found}; this version reads {FORMAT}.")
        who = sheets.table("arms")
        space = read_space(sheets.section("space"))
        names = who.strings("name")
        arms = _read_arms(sheets, who.integers("model"), names)
        if "influence" in sheets.tables:
            influence = _read_influence(sheets.table("influence"), arms.names, space.names)
        else:
            influence = _same_names(arms.names, space.names)
        start = who.matrix(who.numbered("start"))
        return cls(
            sheets.option("name", str),
            arms,
            space,
            start,
            influence,
            sheets.option("horizon", int),
            sheets.option("discount", float),
        )


def _is_one_line(text: str) -> bool:
    fine = all(c >= " " and not "\ud800" <= c <= "\udfff" for c in text)
    return fine and bool(text.strip())


def _numbered(prefix: str, columns: FloatArray) -> dict[str, Column]:
    return {f"{prefix}_{index}": column for index, column in enumerate(columns)}


def _read_arms(sheets: Sheets, model: IntArray, names: Sequence[str]) -> Arms:
    rewards, moves = sheets.table("rewards"), sheets.table("transitions")
    reward = rewards.matrix(rewards.numbered("reward"))
    models, states = reward.shape
    order = np.argsort(rewards.integers("model"), kind="stable")
    if not np.array_equal(rewards.integers("model")[order], np.arange(models)):
        raise FileError(
            f"{rewards.where}, column 'model': 0 to {models - 1}, each once, is wanted."
        )
    whose, state, dose = moves.integers("model"), moves.integers("state"), moves.floats("dose")
    rows = np.lexsort((state, dose, whose))
    levels = len(np.unique(dose[whose == 0]))
    blocks = (models, levels, states)
    fits = len(rows) == models * levels * states
    if fits:
        of_block = dose[rows].reshape(blocks)
        fits = bool(
            (whose[rows].reshape(blocks) == np.arange(models)[:, None, None]).all()
            and (state[rows].reshape(blocks) == np.arange(states)).all()
            and (of_block == of_block[:, :, :1]).all()
        )
    if not fits:
        raise FileError(_missing_transition(moves.where, whose, dose, state, models, states))
    target = moves.matrix(moves.numbered("to"))
    if target.shape[1] != states:
        raise FileError(
            f"{moves.where} has {target.shape[1]} columns to_0, to_1, …; {states} are wanted, as "
            f"{rewards.where} has {states} states."
        )
    kernels = target[rows].reshape(*blocks, states)
    return Arms(reward[order], dose[rows].reshape(blocks)[:, :, 0], kernels, model, names)


def _missing_transition(
    where: str, whose: IntArray, dose: FloatArray, state: IntArray, models: int, states: int
) -> str:
    """Name the first model, dose and state that is missing, repeated or out of place."""
    wanted = sorted(set(dose[whose == 0].tolist()))
    for model in range(models):
        mine = whose == model
        found = sorted(set(dose[mine].tolist()))
        if len(found) != len(wanted):
            return (
                f"{where}: model {model} has {len(found)} doses; {len(wanted)} are wanted, as for "
                "model 0."
            )
        for d in found:
            for s in range(states):
                times = int((mine & (dose == d) & (state == s)).sum())
                if times != 1:
                    return (
                        f"{where}: model {model}, dose {d:g}, state {s} is there {times} times; "
                        "once is wanted."
                    )
    return f"{where} has rows for a model or state that does not exist."


def _same_names(arms: Sequence[str], actions: Sequence[str]) -> csr_array:
    """Return the influence of actions that act each on the arm of the same name."""
    for here, there, file, other in (
        (arms, actions, "arms", "actions"),
        (actions, arms, "actions", "arms"),
    ):
        missing = sorted(set(here) - set(there))
        if missing:
            raise FileError(
                f"{file}.csv names {missing[0]!r}, which is not in {other}.csv; without "
                "influence.csv, each action acts on the arm of the same name."
            )
    index = {name: column for column, name in enumerate(actions)}
    columns = np.array([index[name] for name in arms], dtype=np.int64)
    ones = np.ones(len(columns))
    return csr_array((ones, (np.arange(len(columns)), columns)), shape=(len(arms), len(actions)))


def _read_influence(entries: Table, arms: Sequence[str], actions: Sequence[str]) -> csr_array:
    arm_index = {name: j for j, name in enumerate(arms)}
    action_index = {name: i for i, name in enumerate(actions)}
    places = []
    for row, (arm, action) in enumerate(
        zip(entries.strings("arm"), entries.strings("action"), strict=True), start=1
    ):
        if arm not in arm_index or action not in action_index:
            raise FileError(f"{entries.where} row {row}: {arm!r} or {action!r} is unknown.")
        places.append((arm_index[arm], action_index[action]))
    if len(set(places)) != len(places):
        raise FileError(f"{entries.where} names a pair of arm and action twice.")
    place = np.array(places, dtype=np.int64).reshape(-1, 2)
    weights = entries.floats("weight")
    return csr_array((weights, (place[:, 0], place[:, 1])), shape=(len(arms), len(actions)))


def _influence(matrix: object, arms: int, columns: int) -> csr_array:
    if matrix is None:
        if arms != columns:
            raise ProblemError(
                f"problem.influence is missing; with {arms} arms and {columns} action columns, "
                "say which action reaches which arm."
            )
        matrix = sparse.eye_array(arms)
    try:
        result = csr_array(matrix, dtype=np.float64, copy=True)
    except (TypeError, ValueError):
        raise ProblemError("problem.influence is not a matrix of numbers.") from None
    if result.shape != (arms, columns):
        raise ProblemError(
            f"problem.influence has shape {result.shape}; ({arms}, {columns}) is wanted."
        )
    result.sum_duplicates()
    result.eliminate_zeros()
    result.sort_indices()
    fine = np.abs(result.data) <= _MAX_WEIGHT
    require("problem.influence.data", result.data, fine, f"at most {_MAX_WEIGHT:g} is wanted")
    for part in (result.data, result.indices, result.indptr):
        part.setflags(write=False)
    return result
