"""A trained model for a problem that has moved on: other names, other rules, another roster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sequoia.bounds.lagrangian.relax import relax
from sequoia.errors import FileError
from sequoia.models.factored_part import FactoredPart
from sequoia.models.folder import (
    ABOUT,
    Meaning,
    load_model,
    meaning_of,
    read_about,
    read_model,
    require_format,
)
from sequoia.models.graph_model import GraphModel
from sequoia.models.model import Model
from sequoia.models.price_part import PricePart
from sequoia.models.q_model import QModel
from sequoia.problem import Problem
from sequoia.problem.names import count, say
from sequoia.validation import IntArray


@dataclass(frozen=True, eq=False)
class Adopted:
    """A model, and what is different from when it was trained; nothing where nothing is."""

    model: Model
    remark: str


def adopt_model(
    folder: Path, problem: Problem, states: Mapping[str, IntArray] | None = None
) -> Adopted:
    """Read a model for ``problem``, which may have changed since it was trained.

    A model keeps its meaning as long as arms have the states and doses that it knows and follow
    models, or groups, that were there in training. An arm keeps its own weights; one that is new
    gets the mean of its group's. Prices are those of the problem as it is now.

    Parameters
    ----------
    states
        By group, the state of training that each state of now is most like, ``(S,)``; the same
        states unless given.

    Raises
    ------
    FileError
        One line: why the model means nothing here, and what to do.
    """
    about = read_about(folder)
    if about.get("fingerprint") == problem.fingerprint:
        return Adopted(load_model(folder, problem), "")
    require_format(folder, about)
    before, now = _trained_for(folder, about), meaning_of(problem)
    kind, arrays, facts = read_model(folder)
    then = before.states if facts.get("indicators") else 1
    if states is not None and kind == QModel.kind and facts["indicators"]:
        before = replace(before, states=now.states)
    else:
        states = None
    why_not = _why_not(before, now, kind)
    if why_not:
        raise FileError(
            f"{folder} was trained for {about.get('problem')}; {why_not}: train a model for "
            f"{problem.name} as it is now."
        )
    if kind == GraphModel.kind:
        if "factored" in facts:
            own = facts["factored"]
            part, _ = FactoredPart.of(problem, own["table"], own["rounds"])
            arrays = {**arrays, "factored": part.to_array()}
        return Adopted(GraphModel.from_arrays(problem, arrays, facts), _remark(before, now))
    if states is not None or not _is_same_roster(before, now):
        like = [np.arange(then) if states is None else states[group] for group in now.groups]
        arrays = _carried(arrays, _origins(before, now), like, then)
    model = QModel.from_arrays(problem, arrays, facts)
    if model.prices is not None:
        model = replace(model, prices=PricePart.of(relax(problem).prices, problem.horizon))
    return Adopted(model, _remark(before, now))


def _trained_for(folder: Path, about: Mapping[str, Any]) -> Meaning:
    try:
        return Meaning(**about["meaning"])
    except (KeyError, TypeError):
        raise FileError(
            f"{folder / ABOUT} does not say which arms it knows, and the problem has changed: "
            "train the model again."
        ) from None


def _why_not(before: Meaning, now: Meaning, kind: str) -> str:
    """Say why a model means nothing for another problem; nothing where it does."""
    for what, old, new in (
        ("state", before.states, now.states),
        ("dose", before.doses, now.doses),
    ):
        if old != new:
            return f"arms had {count(old, what)} then and have {new} now"
    if before.is_coupled != now.is_coupled:
        return "arms depend on each other either then or now, and not both"
    new_groups = sorted(set(now.groups) - set(before.groups))
    if new_groups:
        return f"nobody of {say(new_groups)} was there then"
    if _is_same_roster(before, now) or kind == GraphModel.kind:
        return ""
    if now.is_coupled or not (before.acts_on_arms and now.acts_on_arms):
        return (
            "it knows arms one by one, together with their neighbours or actions, and others came"
        )
    return ""


def _is_same_roster(before: Meaning, now: Meaning) -> bool:
    """Whether each arm is the one of then in its place, perhaps under another name."""
    known = set(before.names)
    return before.groups == now.groups and all(
        old == new or new not in known for old, new in zip(before.names, now.names, strict=True)
    )


def _origins(before: Meaning, now: Meaning) -> list[list[int]]:
    """Return the arms of training whose mean weights each arm gets: itself, or its group."""
    if _is_same_roster(before, now):
        return [[arm] for arm in range(len(now.names))]
    place = {
        (name, group): arm
        for arm, (name, group) in enumerate(zip(before.names, before.groups, strict=True))
    }
    return [
        [place[name, group]]
        if (name, group) in place
        else [arm for arm, old in enumerate(before.groups) if old == group]
        for name, group in zip(now.names, now.groups, strict=True)
    ]


def _carried(
    arrays: Mapping[str, NDArray[Any]],
    origins: Sequence[Sequence[int]],
    states: Sequence[IntArray],
    then: int,
) -> dict[str, NDArray[Any]]:
    """Return the weights of a network for other arms.

    Features are an indicator for each arm and state, then the time; inputs are arms. ``states`` are
    those of training, ``then`` many, that the states of each arm are like.
    """
    carried = {}
    one = [np.arange(1)] * len(origins)
    for name, array in arrays.items():
        part = name.removeprefix("network.")
        if part in ("value.in", "state", "linear.state"):
            array = _take(array, origins, axis=1, states=states, then=then)
        if part in ("linear.state", "linear.bias", "linear.hidden"):
            array = _take(array, origins, axis=0, states=one)
        if part == "action":
            array = _take(array, origins, axis=1, states=one)
        carried[name] = array
    return carried


def _take(
    array: NDArray[Any],
    origins: Sequence[Sequence[int]],
    axis: int,
    states: Sequence[IntArray],
    then: int = 1,
) -> NDArray[Any]:
    """Return means over the origins of each arm along an axis of arms, times states.

    There were ``then`` states. What stands behind the arms, such as the time, stays.
    """
    last = np.moveaxis(array, axis, -1)
    size = last.shape[-1] // then
    rest = last[..., size * then :]
    by_arm = last[..., : size * then].reshape(*last.shape[:-1], size, then)
    taken = [
        by_arm[..., list(own), :].mean(axis=-2)[..., like]
        for own, like in zip(origins, states, strict=True)
    ]
    moved: NDArray[Any] = np.moveaxis(np.concatenate([*taken, rest], axis=-1), -1, axis)
    return np.ascontiguousarray(moved.astype(array.dtype))


def _remark(before: Meaning, now: Meaning) -> str:
    came, gone = set(now.names) - set(before.names), set(before.names) - set(now.names)
    who = "the same arms, other numbers or rules"
    if came or gone:
        changes = [f"{len(came)} new"] * bool(came) + [f"{len(gone)} gone"] * bool(gone)
        who = "other names" if _is_same_roster(before, now) else say(changes)
    return f"the model was trained before: {who}; its prices are those of now"
