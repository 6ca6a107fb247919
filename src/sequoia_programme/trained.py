"""Models that are trained for a programme: the problem to train for, and how a model lives on."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import sqlalchemy as sql
from scipy.spatial.distance import cdist

from sequoia.errors import SequoiaError
from sequoia.io import refuse_to_replace, write_text
from sequoia.models.adopt import Adopted, adopt_model
from sequoia.models.folder import ABOUT, Trained, read_about
from sequoia.models.model import Model
from sequoia.problem.files import save
from sequoia.problem.spreadsheet import csv_text
from sequoia.validation import FloatArray, IntArray
from sequoia_programme.arrays import from_bytes, to_bytes
from sequoia_programme.schema import exported
from sequoia_programme.situation import Situation
from sequoia_programme.store import note

if TYPE_CHECKING:
    from sequoia.learn.config import Config

# The folder of the programme's own model.
MODEL = "model"


def export_problem(
    situation: Situation, problem: Path | None, states: Path | None, force: bool = False
) -> list[Path]:
    """Write the problem as it is now, and its states; return what was written.

    What its states mean is kept in the database, for `adopt`.
    """
    if states is not None:
        refuse_to_replace([states], force)
    if problem is not None:
        save(situation.problem, problem, overwrite=force)
        _remember(situation)
    if states is not None:
        names = situation.problem.arms.names
        write_text(states, csv_text([("arm", "state"), *zip(names, situation.state, strict=True)]))
    return [path for path in (problem, states) if path is not None]


def adopt(situation: Situation, folder: Path) -> Adopted:
    """Read a model for the programme as it is now, which has moved on since it was trained.

    Beliefs are the states of the problem, and every estimate of transitions has beliefs of its own.
    The weights of each go to the beliefs of now that are nearest to it.
    """
    return adopt_model(folder, situation.problem, _nearest_then(situation, folder))


def train_own_model(
    situation: Situation, progress: Callable[[float], None], config: "Config | None" = None
) -> Trained:
    """Train a model for the programme as it is now, and keep it in its folder.

    The one that was there stays until the new one is whole.

    Parameters
    ----------
    progress
        Is told how much is done, from 0 to 1.
    config
        From `sequoia.learn.presets`; the one that suits the problem unless given.
    """
    # Torch takes seconds to import, and nothing else here needs it.
    from sequoia.learn.train import TrainProgress, train

    def tell(now: TrainProgress) -> None:
        # Not quite 1 until the model is in its place; nothing is known of the time left at first.
        known = np.isfinite(now.seconds_left)
        progress(0.99 * now.seconds / (now.seconds + now.seconds_left) if known else 0.0)

    target = situation.programme.folder / MODEL
    fresh = target.with_name(f"{MODEL}-in-training")
    _remember(situation)
    trained = train(situation.problem, config, folder=fresh, on_event=tell, progress=False)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)
    with situation.programme.store.open().writing() as connection:
        note(connection, f"Trained a model: {trained.reward:.4g} a step.")
    return trained


def with_own_model(situation: Situation) -> tuple[Situation, Model | None]:
    """Return the model that was trained for this programme, as it fits now, if there is one.

    What there is to say of it is a remark of the situation.
    """
    folder = situation.programme.folder / MODEL
    if not (folder / ABOUT).exists():
        return situation, None
    try:
        found = adopt(situation, folder)
        model, remark = found.model, found.remark and f"The trained model: {found.remark}."
    except SequoiaError as error:
        model, remark = None, f"The trained model is left out: {error.lines[0]}"
    remarks = [*situation.remarks, *([remark] if remark else [])]
    return replace(situation, remarks=remarks), model


def _remember(situation: Situation) -> None:
    arms = situation.believed.original.arms
    row = {
        "fingerprint": situation.problem.fingerprint,
        "names": {"groups": list(arms.model_names), "states": list(arms.state_names)},
        "beliefs": to_bytes(beliefs=situation.believed.beliefs),
    }
    with situation.programme.store.open().writing() as connection:
        own = exported.c.fingerprint == row["fingerprint"]
        if connection.execute(sql.select(exported.c.at).where(own)).first() is None:
            connection.execute(exported.insert().values(**row))


def _nearest_then(situation: Situation, folder: Path) -> dict[str, IntArray] | None:
    """Return the belief of training that is nearest to each of now, by group.

    ``None`` where the problem is the same, was not exported from here, or had other states.
    """
    fingerprint = read_about(folder).get("fingerprint")
    if fingerprint == situation.problem.fingerprint:
        return None
    chosen = sql.select(exported).where(exported.c.fingerprint == str(fingerprint))
    with situation.programme.store.reading() as connection:
        found = connection.execute(chosen).mappings().one_or_none()
        if found is None:
            return None
        beliefs = from_bytes(found["beliefs"])["beliefs"]
    arms = situation.believed.original.arms
    if sorted(found["names"]["states"]) != sorted(arms.state_names):
        return None
    place = [found["names"]["states"].index(name) for name in arms.state_names]
    then = dict(zip(found["names"]["groups"], beliefs[..., place], strict=True))
    return {
        group: _nearest(own, then[group])
        for group, own in zip(arms.model_names, situation.believed.beliefs, strict=True)
        if group in then
    }


def _nearest(now: FloatArray, then: FloatArray) -> IntArray:
    """Return the row of ``then`` that is nearest to each of ``now``.

    Rows of ``now`` that only fill the table get the first.
    """
    nearest = np.zeros(len(now), dtype=np.int64)
    is_belief = np.isfinite(now).all(axis=1)
    nearest[is_belief] = cdist(now[is_belief], then, "cityblock").argmin(axis=1)
    return nearest
