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
from sequoia.models.known import factored, known_parts, priced
from sequoia.models.learned_model import LearnedModel, under
from sequoia.models.model import Model
from sequoia.models.price_part import PricePart
from sequoia.models.sight import Sight
from sequoia.optimize.encoding import ActionEncoding
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
    if states is not None:
        before = replace(before, states=now.states)
    why_not = _why_not(before, now, kind, facts)
    if why_not:
        raise FileError(
            f"{folder} was trained for {about.get('problem')}; {why_not}: train a model for "
            f"{problem.name} as it is now."
        )
    model = _moved(problem, arrays, facts, _origins(before, now))
    remark = _remark(before, now)
    if states is not None and any((own != np.arange(len(own))).any() for own in states.values()):
        # Weights of states that are others now mean nothing; prices of now do.
        return Adopted(
            replace(_by_prices(model), linear=None, network=None),
            f"{remark}; it acts by them alone",
        )
    return Adopted(model, remark)


def _by_prices(model: LearnedModel) -> LearnedModel:
    """Return a model that acts by prices of now, where there are any."""
    if model.prices is None:
        return model
    return replace(model, known=priced(model.encoding, model.prices))


def _moved(
    problem: Problem,
    arrays: Mapping[str, NDArray[Any]],
    facts: Mapping[str, Any],
    origins: Sequence[Sequence[int]],
) -> LearnedModel:
    """Return the model for other arms: each with weights of its own, or the mean of its group."""
    encoding = ActionEncoding.of_problem(problem)
    then = Sight.from_arrays(under(arrays, "sight."))
    like = np.array([own[0] for own in origins])
    sight = then.for_others(like, problem.dependencies, problem.horizon)
    known = {own.name: own for own in known_parts(problem, encoding)}
    prices = part = None
    if problem.is_decoupled:
        prices = PricePart.of(relax(problem).prices, problem.horizon)
        known["price"] = priced(encoding, prices)
    elif "factored" in facts:
        own = facts["factored"]
        part, _ = FactoredPart.of(problem, own["table"], own["rounds"])
        known["price"] = factored(problem, encoding, part, bool(facts["units"]))
    carried = dict(arrays)
    if "linear.weights" in arrays and not _is_in_place(origins, len(then.node)):
        # Each action is one arm, so outlets and columns are arms.
        for name in ("linear.weights", "linear.bias"):
            carried[name] = np.stack([arrays[name][list(own)].mean(axis=0) for own in origins])
    model = LearnedModel(problem, encoding, known[facts["known"]], sight, prices=prices, part=part)
    return model.with_learned(carried, facts)


def _is_in_place(origins: Sequence[Sequence[int]], outlets: int) -> bool:
    """Whether every arm is in the place where it was; then outlets are, too."""
    return [list(own) for own in origins] == [[arm] for arm in range(len(origins))] or not outlets


def _trained_for(folder: Path, about: Mapping[str, Any]) -> Meaning:
    try:
        return Meaning(**about["meaning"])
    except (KeyError, TypeError):
        raise FileError(
            f"{folder / ABOUT} does not say which arms it knows, and the problem has changed: "
            "train the model again."
        ) from None


def _why_not(before: Meaning, now: Meaning, kind: str, facts: Mapping[str, Any]) -> str:
    """Say why a model means nothing for another problem; nothing where it does."""
    if kind != LearnedModel.kind:
        return f"a model of the kind {kind} cannot be carried to another problem"
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
    if _is_same_roster(before, now):
        return ""
    if "joint" in facts or not (before.acts_on_arms and now.acts_on_arms):
        return "it knows arms one by one, together with their actions, and others came"
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


def _remark(before: Meaning, now: Meaning) -> str:
    came, gone = set(now.names) - set(before.names), set(before.names) - set(now.names)
    who = "the same arms, other numbers or rules"
    if came or gone:
        changes = [f"{len(came)} new"] * bool(came) + [f"{len(gone)} gone"] * bool(gone)
        who = "other names" if _is_same_roster(before, now) else say(changes)
    return f"the model was trained before: {who}; its prices are those of now"
