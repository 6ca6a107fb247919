"""Read a problem from its options and tables."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from sequoia.errors import FileError
from sequoia.problem.arms import Arms
from sequoia.problem.contagion import Contagion
from sequoia.problem.problem import FORMAT, Problem
from sequoia.problem.spaces import read_space
from sequoia.problem.tables import Table, TableSet
from sequoia.validation import FloatArray, IntArray

# Every table that some problem reads, and those that may be left out of any.
OPTIONAL_TABLES = frozenset({"influence"})
TABLES = OPTIONAL_TABLES | {
    *("arms", "rewards", "transitions", "neighbours", "contagion"),
    *("actions", "workers", "edges", "plan", "rows", "coefficients"),
}


def in_todays_words(content: TableSet) -> TableSet:
    """Return the same content, where a file of version 0.1 calls a walk a path."""
    space = content.options.get("space")
    if not isinstance(space, dict) or space.get("kind") != "path":
        return content
    options = {**content.options, "space": {**space, "kind": "walk"}}
    return TableSet(options, content.tables, content.where)


def read_problem(content: TableSet) -> Problem:
    """Build a problem from options and tables."""
    content = in_todays_words(content)
    content.known({"format", "name", "horizon", "discount", "space", "contagion"})
    found = content.option("format", int)
    if found != FORMAT:
        raise FileError(f"{content.where} has format {found}; this version reads {FORMAT}.")
    who = content.table("arms")
    space = read_space(content.section("space"))
    names = who.strings("name")
    arms = _read_arms(content, who.integers("model"), names)
    if "influence" in content.tables:
        influence = _read_influence(content.table("influence"), arms.names, space.names)
    else:
        influence = _same_names(arms.names, space.names)
    start = who.matrix(who.numbered("start"))
    contagion = None
    if "contagion" in content.options:
        contagion = Contagion.from_tables(content.section("contagion"), arms.names)
    return Problem(
        content.option("name", str),
        arms,
        space,
        start,
        influence,
        content.option("horizon", int),
        content.option("discount", float),
        contagion,
    )


def _read_arms(content: TableSet, model: IntArray, names: Sequence[str]) -> Arms:
    rewards, moves = content.table("rewards"), content.table("transitions")
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
