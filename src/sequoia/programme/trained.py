"""Models that are trained for a programme: the problem to train for, and how a model lives on."""

import io
from pathlib import Path

import numpy as np
import sqlalchemy as sql
from scipy.spatial.distance import cdist

from sequoia.io import refuse_to_replace, write_text
from sequoia.models.adopt import Adopted, adopt_model
from sequoia.models.folder import read_about
from sequoia.problem.files import save
from sequoia.problem.spreadsheet import csv_text
from sequoia.programme.schema import exported
from sequoia.programme.situation import Situation
from sequoia.validation import FloatArray, IntArray


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


def _remember(situation: Situation) -> None:
    arms = situation.believed.original.arms
    content = io.BytesIO()
    np.savez_compressed(content, beliefs=situation.believed.beliefs)
    row = {
        "fingerprint": situation.problem.fingerprint,
        "names": {"groups": list(arms.model_names), "states": list(arms.state_names)},
        "beliefs": content.getvalue(),
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
    arms = situation.believed.original.arms
    if found is None or sorted(found["names"]["states"]) != sorted(arms.state_names):
        return None
    place = [found["names"]["states"].index(name) for name in arms.state_names]
    with np.load(io.BytesIO(found["beliefs"]), allow_pickle=False) as arrays:
        then = dict(zip(found["names"]["groups"], arrays["beliefs"][..., place], strict=True))
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
