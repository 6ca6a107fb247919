"""Evaluations on disk: JSON that a person can read, with all numbers in full."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sequoia.errors import FileError, SequoiaError
from sequoia.evaluation.evaluation import Evaluation, bound_from_json, number
from sequoia.io import read_json, write_text
from sequoia.problem.environment import States
from sequoia.simulate import Episode
from sequoia.solvers.registry import DEFAULT
from sequoia.validation import ActionArray, BoolArray, FloatArray, frozen, require_moderate

FORMAT = 1
# What values of other types and sizes than were written lead to.
_DAMAGE = (LookupError, TypeError, ValueError, AttributeError, OverflowError)
_MAX_EXAMPLE = 200_000


def save_evaluation(evaluation: Evaluation, path: str | os.PathLike[str]) -> None:
    """Write an evaluation; the file appears complete or not at all.

    It holds what ``sequoia evaluate --json`` prints and, under ``data``, everything else.
    """
    rewards = dict(zip(evaluation.names, evaluation.rewards, strict=True))
    seconds = dict(zip(evaluation.names, evaluation.seconds, strict=True))
    data = {
        "format": FORMAT,
        "seed": evaluation.seed,
        "source": evaluation.source,
        "random": evaluation.random.tolist(),
        "rewards": {name: values.tolist() for name, values in rewards.items()},
        "seconds": {name: values.tolist() for name, values in seconds.items()},
        "at_limit": {
            name: _cut_off(*tables)
            for name, *tables in zip(
                evaluation.names,
                evaluation.gaps,
                evaluation.is_at_limit,
                evaluation.is_late,
                strict=True,
            )
        },
        "columns": max((e.actions.shape[1] for e in evaluation.examples.values()), default=0),
        "examples": {
            name: {"states": example.states.tolist(), "actions": _chosen(example.actions)}
            for name, example in evaluation.examples.items()
            if example.states.size + example.actions.size <= _MAX_EXAMPLE
        },
    }
    head = json.dumps(evaluation.to_json(), ensure_ascii=False, indent=2, allow_nan=False)
    rest = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    write_text(Path(path), f'{head.rstrip("}").rstrip()},\n  "data": {rest}\n}}')


def load_evaluation(path: str | os.PathLike[str]) -> Evaluation:
    """Read what `save_evaluation` wrote."""
    source = Path(path)
    content = read_json(source)
    try:
        if content["data"]["format"] != FORMAT:
            raise FileError(f"its format is {content['data']['format']}; {FORMAT} is read")
        return _parse(content)
    except (*_DAMAGE, SequoiaError) as error:
        what = str(error) if isinstance(error, SequoiaError) else repr(error)
        raise FileError(
            f"{source} is not an evaluation that sequoia evaluate wrote: {what}."
        ) from None


def _parse(content: dict[str, Any]) -> Evaluation:
    data, names = content["data"], list(content["policies"])
    random = frozen("data.random", data["random"], np.float64, (None, None))
    shape = (len(names), *random.shape)

    def table(key: str) -> FloatArray:
        values = frozen(f"data.{key}", [data[key][name] for name in names], np.float64, shape)
        require_moderate(f"data.{key}", values)
        return values

    bound = content["bound"]
    rewards = table("rewards")
    # Files of version 0.1 do not say which decisions were cut off.
    gaps, is_at_limit, is_late = _gaps(data.get("at_limit", {}), names, random.shape)
    return Evaluation(
        problem=str(content["problem"]),
        fingerprint=str(content["fingerprint"]),
        seed=int(data["seed"]),
        names=names,
        rewards=rewards,
        seconds=table("seconds"),
        gaps=gaps,
        is_at_limit=is_at_limit,
        is_late=is_late,
        random=random,
        bound=None if bound is None else bound_from_json(bound),
        examples={
            name: Episode(
                _states(f"data.examples.{name}.states", episode["states"]),
                _actions(episode["actions"], int(data["columns"])),
                rewards[names.index(name), 0],
            )
            for name, episode in data["examples"].items()
        },
        source=data["source"],
        # Files of version 0.1 do not say; there was no choice.
        solver=str(content.get("solver", DEFAULT)),
    )


def _states(where: str, states: object) -> States:
    """Return the states of an episode: whole numbers, or numbers of an environment of one's own."""
    numbers = frozen(where, states, np.float64, (None, None))  # type: ignore[arg-type]
    # What no whole number can hold is none.
    with np.errstate(invalid="ignore"):
        whole = numbers.astype(np.int64)
    return whole if np.array_equal(whole, numbers) else numbers


def _cut_off(
    gaps: FloatArray, is_at_limit: BoolArray, is_late: BoolArray
) -> list[list[float | str | None]]:
    """Return episode, step and gap of each decision that a limit cut off, and which limit."""
    return [
        [episode, step, number(gaps[episode, step]), "clock" if is_late[episode, step] else "work"]
        for episode, step in np.argwhere(is_at_limit).tolist()
    ]


def _gaps(
    listed: dict[str, list[list[Any]]], names: Sequence[str], shape: tuple[int, ...]
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return what `_cut_off` listed as tables, ``(P, E, H)`` each."""
    gaps = np.full((len(names), *shape), np.nan)
    is_at_limit, is_late = np.zeros((2, *gaps.shape), dtype=np.bool_)
    for row, name in enumerate(names):
        # Files of version 0.1 do not say which limit it was.
        for episode, step, gap, *limit in listed.get(name, ()):
            gaps[row, episode, step] = np.inf if gap is None else gap
            is_at_limit[row, episode, step] = True
            is_late[row, episode, step] = limit == ["clock"]
    return gaps, is_at_limit, is_late


def _chosen(actions: ActionArray) -> list[list[int]]:
    """Return the chosen columns of each action."""
    return [np.flatnonzero(action).tolist() for action in actions]


def _actions(chosen: Sequence[Sequence[int]], columns: int) -> ActionArray:
    actions = np.zeros((len(chosen), columns), dtype=np.int8)
    for row, places in zip(actions, chosen, strict=True):
        row[list(places)] = 1
    return actions
