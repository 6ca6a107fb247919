"""Arms and their first states from data frames."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sequoia.errors import ProblemError
from sequoia.frames import columns_of, is_frame
from sequoia.problem.arms import Arms
from sequoia.problem.names import count, few
from sequoia.problem.tables import Table
from sequoia.validation import FloatArray, IntArray

_START = "start "
# Written with so many digits, probabilities of a row sum to 1 up to this.
_ROUNDED = 1e-6


def framed(where: str, frame: Any, *wanted: str) -> Table:
    """Return a data frame as a table whose rows count from 0, with the columns that are wanted."""
    columns = columns_of(where, frame)
    missing = [name for name in wanted if name not in columns]
    if missing:
        raise ProblemError(
            f"{where} has the columns {few(list(columns)) or 'none'}; {' and '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} wanted."
        )
    size = len(next(iter(columns.values()), ()))
    return Table(where, columns, rows=range(size))


def settle(table: Table) -> None:
    """Raise a `ProblemError` that says everything that is wrong with a table, if anything is."""
    if table.found:
        raise ProblemError(*table.found)


def read_arms(
    arms: Any, transitions: Any, rewards: Any, dose_names: Mapping[float, str] | None
) -> tuple[Arms, FloatArray]:
    """Return the arms of `Problem.from_frames`, and the distribution of their first states."""
    who = framed("arms", arms, "arm")
    moves = framed("transitions", transitions, "dose", "state", "to", "probability")
    models = _models(moves)
    states, reward = _read_rewards(rewards, models)
    names = who.names("arm")
    model = np.zeros(len(names), dtype=np.int64)
    if "model" in who.columns:
        model = who.places("model", models)
    elif len(models) > 1:
        raise ProblemError(
            f"arms has no column 'model'; transitions has {count(len(models), 'model')}."
        )
    start = _read_start(who, states)
    settle(who)
    doses, kernels = _read_kernels(moves, models, states)
    read = Arms(reward, doses, kernels, model, names, models, states, dose_names)
    return read, start


def states_of(given: Any, arms: Arms) -> IntArray:
    """Return the state of every arm, ``(J,)``, by number or by name.

    ``given`` lists states in the order of arms, or names them by arm: ``{"Ada": "well"}``, or a
    data frame with the columns ``arm`` and ``state``.
    """
    if isinstance(given, Mapping) and set(given) != {"arm", "state"}:
        given = {"arm": list(given), "state": list(given.values())}
    if not (isinstance(given, Mapping) or is_frame(given)):
        table = framed("state", {"state": list(given)})
        if len(table) != arms.n_arms:
            raise ProblemError(
                f"state has {count(len(table), 'entry', 'entries')}; {arms.n_arms} are wanted, "
                "one for each arm."
            )
        places = np.arange(arms.n_arms)
    else:
        table = framed("state", given, "arm", "state")
        table.names("arm")
        places = table.places("arm", arms.names)
    known = table.numbers("state", "state", arms.state_names)
    settle(table)
    missing = np.setdiff1d(np.arange(arms.n_arms), places).tolist()
    if missing:
        raise ProblemError(
            f"state does not have {few([arms.names[arm] for arm in missing])}; every arm is wanted."
        )
    states = np.empty(arms.n_arms, dtype=np.int64)
    states[places] = known
    return states


def _models(moves: Table) -> list[str]:
    """Return the names of models in the order of their first rows."""
    if "model" not in moves.columns:
        return ["every arm"]
    return list(dict.fromkeys(moves.strings("model")))


def _read_rewards(rewards: Any, models: list[str]) -> tuple[list[str], FloatArray]:
    """Return the names of states, and rewards ``(G, S)``."""
    if isinstance(rewards, Mapping) and "state" not in rewards:
        states = [str(state) for state in rewards]
        values = framed("rewards", {"reward": list(rewards.values())})
        reward = values.floats("reward")
        settle(values)
        return states, np.tile(reward, (len(models), 1))
    table = framed("rewards", rewards, "state", "reward")
    states = list(dict.fromkeys(table.strings("state")))
    model = table.places("model", models) if "model" in table.columns else None
    state, value = table.places("state", states), table.floats("reward")
    settle(table)
    reward = np.full((len(models), len(states)), np.nan)
    reward[slice(None) if model is None else model, state] = value
    unpaid = np.argwhere(np.isnan(reward)).tolist()
    if unpaid:
        g, s = unpaid[0]
        raise ProblemError(f"rewards has no row for state {states[s]!r} of model {models[g]!r}.")
    return states, reward


def _read_start(who: Table, states: list[str]) -> FloatArray:
    if "state" in who.columns:
        return np.eye(len(states))[who.numbers("state", "state", states)]
    columns = [_START + state for state in states]
    if not any(column in who.columns for column in columns):
        raise ProblemError(
            f"arms has neither a column 'state' nor {columns[0]!r}, …; say where each arm starts."
        )
    return (
        who.odds([column for column in columns if column in who.columns])
        @ np.eye(len(states))[[column in who.columns for column in columns]]
    )


def _read_kernels(
    moves: Table, models: list[str], states: list[str]
) -> tuple[FloatArray, FloatArray]:
    """Return doses, ``(G, L)``, and kernels, ``(G, L, S, S)``."""
    model = np.zeros(len(moves), dtype=np.int64)
    if "model" in moves.columns:
        model = moves.places("model", models)
    dose, chance = moves.floats("dose"), moves.floats("probability")
    state = moves.numbers("state", "state", states)
    to = moves.numbers("to", "state", states)
    settle(moves)
    doses, level = np.unique(dose, return_inverse=True)
    kernels = np.zeros((len(models), len(doses), len(states), len(states)))
    np.add.at(kernels, (model, level, state, to), chance)
    sums = kernels.sum(axis=-1)
    wrong = np.argwhere(np.abs(sums - 1) > _ROUNDED).tolist()
    if wrong:
        g, a, s = wrong[0]
        raise ProblemError(
            f"transitions from {states[s]!r} of model {models[g]!r} under dose {doses[a]:g} sum "
            f"to {sums[g, a, s]:.6g}; 1 is wanted."
        )
    return np.tile(doses, (len(models), 1)), kernels / sums[..., None]
