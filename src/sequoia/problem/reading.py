"""Read a problem from its options and tables; everything that is wrong is said at once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sequoia.errors import FileError, ProblemError
from sequoia.problem.arms import Arms
from sequoia.problem.contagion import Contagion
from sequoia.problem.names import Numbered, count
from sequoia.problem.problem import FORMAT, Problem
from sequoia.problem.promises import Promises
from sequoia.problem.purse import SpendingLimit, read_limits
from sequoia.problem.spaces import read_space
from sequoia.problem.tables import Table, TableSet
from sequoia.sizes import MOST_STEPS
from sequoia.validation import FloatArray, IntArray

# Every table that some problem reads, and those that may be left out of any.
OPTIONAL_TABLES = frozenset({"influence", "states", "doses", "visitors", "places", "promises"})
TABLES = OPTIONAL_TABLES | {
    *("arms", "rewards", "transitions", "neighbours", "contagion"),
    *("items", "actions", "workers", "edges", "travel", "plan", "rows", "coefficients"),
}


class _Names(NamedTuple):
    """The names of models, states and doses; numbers where they have none."""

    models: Sequence[str]
    states: Sequence[str]
    doses: dict[float, str]


def in_todays_words(content: TableSet) -> TableSet:
    """Return the same content, where a file of version 0.1 calls a walk a path."""
    space = content.options.get("space")
    if not isinstance(space, dict) or space.get("kind") != "path":
        return content
    return content.part({**content.options, "space": {**space, "kind": "walk"}})


def read_problem(content: TableSet) -> Problem:
    """Build a problem from options and tables.

    Raises
    ------
    FileError
        One line for each thing that is wrong, by file, row and column.
    """
    content = in_todays_words(content)
    content.known(
        {"format", "name", "horizon", "discount", "space", "contagion", "promises", "budgets"}
    )
    file_format = content.option("format", int)
    if file_format != FORMAT and not content.found:
        raise FileError(f"{content.where} has format {file_format}; this version reads {FORMAT}.")
    name = content.option("name", str)
    horizon = content.option("horizon", int, least=1, most=MOST_STEPS)
    discount = content.option("discount", float)
    space = content.attempt(lambda: read_space(content.section("space")))
    names = content.attempt(lambda: _read_names(content))
    arms = None if names is None else content.attempt(lambda: _read_arms(content, names))
    start = None if names is None else content.attempt(lambda: _read_start(content, names.states))
    influence = contagion = None
    if arms is not None and space is not None:
        influence = content.attempt(lambda: _influence(content, arms.names, space.names))
    if arms is not None and names is not None and "contagion" in content.options:
        among = content.section("contagion")
        contagion = content.attempt(lambda: Contagion.from_tables(among, arms.names, names.models))
    promises = None
    if arms is not None and ("promises" in content.tables or "promises" in content.options):
        section = content.part(content.option("promises", dict, {}), f"{content.where} promises")
        promises = content.attempt(lambda: Promises.from_tables(section, arms.names))
    budgets: list[SpendingLimit] = []
    if space is not None and "budgets" in content.options:
        given = content.option("budgets", list)
        budgets = content.attempt(lambda: read_limits(content, given, space.names)) or []
    content.settle()
    assert arms is not None
    assert space is not None
    assert start is not None
    try:
        problem = Problem(name, arms, space, start, influence, horizon, discount, contagion)
        problem = problem if promises is None else problem.with_promises(promises)
        return problem.with_budgets(budgets) if budgets else problem
    except ProblemError as error:
        raise FileError(f"{content.where}: {error}") from None


def _read_names(content: TableSet) -> _Names:
    rewards = content.table("rewards")
    n_states = len(rewards.numbered("reward"))
    models: Sequence[str] = Numbered("model", len(rewards))
    if not all(map(_is_number, rewards.strings("model"))):
        models = rewards.names("model")
    states: Sequence[str] = Numbered("state", n_states)
    if "states" in content.tables:
        listed = content.table("states")
        order = listed.integers("state")
        if not np.array_equal(np.sort(order), np.arange(n_states)):
            raise FileError(
                f"{listed.where}, column 'state': 0 to {n_states - 1}, each once, is wanted, as "
                f"{rewards.where} has {count(n_states, 'state')}."
            )
        listed_names = listed.names("name")
        states = [listed_names[row] for row in np.argsort(order).tolist()]
    doses: dict[float, str] = {}
    if "doses" in content.tables:
        listed = content.table("doses")
        doses = dict(zip(listed.floats("dose").tolist(), listed.names("name"), strict=True))
        if len(doses) != len(listed):
            raise FileError(f"{listed.where} names a dose twice.")
    return _Names(models, states, doses)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_arms(content: TableSet, names: _Names) -> Arms:
    who, rewards, moves = map(content.table, ("arms", "rewards", "transitions"))
    arm_names = who.names("name")
    model = who.numbers("model", "model", names.models)
    reward = rewards.matrix(rewards.numbered("reward"))
    models, states = reward.shape
    order = _order_of_models(rewards, names.models)
    doses, kernels = _read_transitions(moves, rewards, names, (models, states))
    content.settle()
    return Arms(
        rewards=reward[order],
        doses=doses,
        kernels=kernels,
        model=model,
        names=arm_names,
        model_names=names.models,
        state_names=names.states,
        dose_names=names.doses,
    )


def _order_of_models(rewards: Table, models: Sequence[str]) -> IntArray:
    """Return the row of each model."""
    if not isinstance(models, Numbered):
        return np.arange(len(models))
    numbers = rewards.integers("model")
    if not np.array_equal(np.sort(numbers), np.arange(len(models))):
        rewards.found.append(
            f"{rewards.where}, column 'model': 0 to {len(models) - 1}, each once, is wanted."
        )
    return np.argsort(numbers, kind="stable")


def _read_transitions(
    moves: Table, rewards: Table, names: _Names, shape: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """Return doses, ``(G, L)``, and kernels, ``(G, L, S, S)``."""
    models, states = shape
    columns = moves.numbered("to")
    if len(columns) != states:
        raise FileError(
            f"{moves.where} has {count(len(columns), 'column')} to_0, to_1, …; {states} are "
            f"wanted, as {rewards.where} has {count(states, 'state')}."
        )
    before = len(moves.found)
    whose = moves.numbers("model", "model", names.models)
    state = moves.numbers("state", "state", names.states)
    dose = _with_numbers(moves, names.doses).floats("dose")
    has_places = len(moves.found) == before
    target = moves.odds(columns)
    if not has_places:
        # Rows without a place cannot be told from rows that are missing.
        raise FileError(*moves.found)
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
        raise FileError(*_missing_transitions(moves.where, whose, dose, state, models, names))
    doses = dose[rows].reshape(blocks)[:, :, 0]
    for wrong in np.flatnonzero(doses[:, 0] != 0).tolist():
        moves.found.append(
            f"{moves.where}: the smallest dose of {_say_model(wrong, names)} is "
            f"{doses[wrong, 0]:g}; 0, which is doing nothing, is wanted."
        )
    return doses, target[rows].reshape(*blocks, states)


def _with_numbers(moves: Table, names: dict[float, str]) -> Table:
    """Return the table with numbers for doses that are called by name."""
    number = {name: repr(dose) for dose, name in names.items()}
    column = moves.columns.get("dose")
    if column is None or isinstance(column, np.ndarray) or not number:
        return moves
    cells = [number.get(cell, cell) for cell in column]
    columns = {**moves.columns, "dose": cells}
    return Table(moves.where, columns, moves.rows, moves.has_decimal_commas, moves.found)


def _missing_transitions(
    where: str, whose: IntArray, dose: FloatArray, state: IntArray, models: int, names: _Names
) -> list[str]:
    """Name each model, dose and state that is missing or repeated."""
    wanted = len(set(dose[whose == 0].tolist()))
    texts = []
    for model in range(models):
        mine = whose == model
        given = sorted(set(dose[mine].tolist()))
        who = _say_model(model, names)
        if len(given) != wanted:
            texts.append(
                f"{where}: {who} has {count(len(given), 'dose')}; {wanted} are wanted, as for "
                f"{_say_model(0, names)}."
            )
            continue
        for d in given:
            for s, name in enumerate(names.states):
                times = int((mine & (dose == d) & (state == s)).sum())
                if times != 1:
                    words = name if name == f"state {s}" else f"state {name!r}"
                    texts.append(
                        f"{where}: {who}, dose {d:g}, {words} is there {count(times, 'time')}; "
                        "once is wanted."
                    )
    return texts


def _say_model(model: int, names: _Names) -> str:
    name = names.models[model]
    return name if name == f"model {model}" else f"model {name!r}"


def _read_start(content: TableSet, states: Sequence[str]) -> FloatArray:
    who, n_states = content.table("arms"), len(states)
    columns = who.numbered("start")
    if len(columns) != n_states:
        raise FileError(
            f"{who.where} has {count(len(columns), 'column')} start_0, start_1, …; {n_states} are "
            f"wanted, as {content.table('rewards').where} has {count(n_states, 'state')}."
        )
    return who.odds(columns)


def _influence(content: TableSet, arms: Sequence[str], actions: Sequence[str]) -> csr_array:
    if "influence" in content.tables:
        return _read_influence(content.table("influence"), arms, actions)
    return _same_names(arms, actions)


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
    before = len(entries.found)
    arm, action = entries.places("arm", arms), entries.places("action", actions)
    weights = entries.floats("weight")
    if len(entries.found) == before:
        places: dict[tuple[int, int], int] = {}
        for row, pair in enumerate(zip(arm.tolist(), action.tolist(), strict=True)):
            if places.setdefault(pair, row) != row:
                entries.found.append(
                    f"{entries.place(row)} names the arm and the action of row "
                    f"{entries.place(places[pair]).rpartition(' ')[2]} again."
                )
    return csr_array((weights, (arm, action)), shape=(len(arms), len(actions)))
