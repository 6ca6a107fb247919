"""The transitions of a programme: given in a sheet, or estimated from its log and kept."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Any

import numpy as np
import sqlalchemy as sql

from sequoia.errors import FileError, ProblemError
from sequoia.problem import Arms
from sequoia.problem.names import count, unknown
from sequoia.problem.tables import TableSet
from sequoia.records.calibration import Calibration, calibrate
from sequoia.records.fit import FittedModel, fit
from sequoia.records.log import Log, Words
from sequoia.records.structure import Structure
from sequoia.validation import FloatArray
from sequoia_programme.arrays import from_bytes, to_bytes
from sequoia_programme.given import FILE, read_given
from sequoia_programme.members import members
from sequoia_programme.schema import ARM, fits
from sequoia_programme.settings import Programme
from sequoia_programme.store import note
from sequoia_programme.to_log import DatedLog, to_log

# With so many more rows than when they were made, estimates are worth renewing.
_WORTH_RENEWING = 0.1
# Visits per group below which a log says nothing of what a visit does.
_FEW_VISITS = 5


@dataclass(frozen=True, eq=False)
class Estimates:
    """Transitions by group, dose and state, ``(G, L, S, S)``.

    Attributes
    ----------
    fitted
        How they were estimated; ``None`` where they are given.
    words
        Where they come from.
    remark
        What is worth a look; else empty.
    """

    groups: Sequence[str]
    kernels: FloatArray
    fitted: FittedModel | None
    words: str
    remark: str = ""


def find_estimates(programme: Programme, day: date) -> Estimates:
    """Return the transitions that are given, or those that were estimated last.

    Where there are none, or for other groups, states or doses, they are estimated now.
    """
    dated = _dated(programme, day)
    given = read_given(programme, dated.groups)
    if given is not None:
        return Estimates(dated.groups, given, None, f"given in {programme.folder / FILE}")
    kept = _kept(programme, dated)
    if kept is None:
        return estimate(programme, day)
    made, fitted = kept
    more = dated.log.n_rows - fitted.n_rows
    remark = _remark(dated)
    if more > _WORTH_RENEWING * max(fitted.n_rows, 1):
        remark = (
            f"{count(more, 'row')} came since the transitions were estimated; "
            f"sequoia programme fit {programme.folder} renews them."
        )
    return Estimates(dated.groups, fitted.kernels, fitted, _words(fitted, made), remark)


def last_kernels(programme: Programme, group: str) -> FloatArray | None:
    """Return the transitions of a group that were given or estimated last, ``(L, S, S)``.

    ``None`` where there are none, or for other states or doses.
    """
    given = read_given(programme, [group])
    if given is not None:
        known: FloatArray = given[0]
        return known
    chosen = sql.select(fits).order_by(fits.c.id.desc()).limit(1)
    with programme.store.open().reading() as connection:
        found = connection.execute(chosen).mappings().one_or_none()
        names = {} if found is None else found["names"]
        if found is None or group not in names["groups"]:
            return None
        if (names["states"], names["doses"]) != (programme.states, list(programme.doses)):
            return None
        fitted = _from_bytes(found["arrays"], _names_of(programme, names["groups"]))
        kernels: FloatArray = fitted.kernels[names["groups"].index(group)]
        return kernels


def estimate(programme: Programme, day: date) -> Estimates:
    """Estimate transitions from the log up to ``day``, and keep them."""
    dated = _dated(programme, day)
    if not dated.groups:
        raise FileError("the roster is empty; sequoia programme import fills it.")
    fitted = fit_log(programme, dated, dated.log)
    with programme.store.writing() as connection:
        connection.execute(
            fits.insert().values(date=day, names=_names(programme, dated), arrays=_to_bytes(fitted))
        )
        note(connection, f"Estimated transitions from {count(fitted.n_rows, 'row')} of the log.")
    return Estimates(dated.groups, fitted.kernels, fitted, _words(fitted, day), _remark(dated))


def is_new(dated: DatedLog) -> bool:
    """Whether the log has too few visits to tell what one does."""
    return len(dated.log.visits) < _FEW_VISITS * len(dated.groups)


def _remark(dated: DatedLog) -> str:
    if not is_new(dated):
        return ""
    return (
        f"The log has {count(len(dated.log.visits), 'visit')}, too few to tell what one does; "
        "until it tells, plans are made to find out, as if visits never hurt."
    )


def fit_log(programme: Programme, dated: DatedLog, log: Log) -> FittedModel:
    """Fit a log of the programme, or the first steps of it.

    States go in from the worst to the best, as the rule that doses never hurt wants it. Where the
    log has hardly any visits, doses are taken never to hurt, whatever the settings say.
    """
    order = np.argsort(list(programme.rewards.values()), kind="stable")
    place = np.argsort(order)
    known = read_structure(programme)
    assert known.allowed is not None
    seen = log.sightings.copy()
    seen[:, 2] = place[seen[:, 2]]
    fitted = fit(
        Log(log.group, log.n_steps, seen, log.visits, log.joined, log.left),
        len(order),
        1 + len(programme.doses),
        n_groups=len(dated.groups),
        structure=Structure(
            known.allowed[np.ix_(order, order)],
            known.never_hurts or is_new(dated),
            known.same_moves,
        ),
        features=read_features(programme, dated),
    )

    def back(moves: FloatArray) -> FloatArray:
        return moves[..., place, :][..., place]

    return replace(
        fitted,
        kernels=back(fitted.kernels),
        draws=back(fitted.draws),
        counts=back(fitted.counts),
        mode=back(fitted.mode),
        # Where moves are the same from every state, one row stands for all.
        worth=fitted.worth if known.same_moves else fitted.worth[..., place],
        words=_names_of(programme, dated.groups),
    )


def hold_out(programme: Programme, day: date) -> Calibration:
    """Foresee the last fifth of the log from the rest."""
    dated = _dated(programme, day)

    def refit(log: Log) -> FittedModel:
        return fit_log(programme, dated, log)

    return calibrate(dated.log, len(programme.states), refit)


def as_arms(programme: Programme, groups: Sequence[str], kernels: FloatArray) -> Arms:
    """Return an arm for each group, with the names of everything."""
    return Arms(
        rewards=[programme.rewards_of(group) for group in groups],
        doses=[[0.0, *programme.doses.values()]] * len(groups),
        kernels=kernels,
        model=range(len(groups)),
        names=groups,
        model_names=groups,
        state_names=programme.states,
        dose_names={dose: name for name, dose in programme.doses.items()},
    )


def read_structure(programme: Programme) -> Structure:
    """Read what is known of transitions: states that stay, moves that never happen or are alike."""
    content = TableSet(programme.known, where=f"{programme.where} [known]")
    content.known({"stays", "impossible", "never_hurts", "same_moves", "features"})
    states = programme.states
    allowed = np.ones((len(states), len(states)), dtype=np.bool_)

    def place(name: Any) -> int:
        if name in states:
            return states.index(name)
        content.found.append(unknown(content.where, states, str(name)))
        return 0

    for name in content.option("stays", list, []):
        allowed[place(name)] = False
        allowed[place(name), place(name)] = True
    for pair in content.option("impossible", list, []):
        if type(pair) is not list or len(pair) != 2:
            content.found.append(
                f"{content.where}, option 'impossible' has {pair!r}; pairs of states, from and to, "
                "are wanted."
            )
        else:
            allowed[place(pair[0]), place(pair[1])] = False
    never_hurts = content.option("never_hurts", bool, False)
    same_moves = content.option("same_moves", bool, False)
    content.settle()
    try:
        return Structure(allowed, never_hurts, same_moves)
    except ProblemError as error:
        raise FileError(f"{content.where}: {error}") from None


def read_features(programme: Programme, dated: DatedLog) -> FloatArray | None:
    """Return the mean of the columns that ``[known] features`` names, by group, ``(G, F)``.

    Groups are then shrunk towards what groups with such features do. Somebody whose cell is empty
    counts for nothing.
    """
    content = TableSet(programme.known, where=f"{programme.where} [known]")
    wanted = content.option("features", list, [])
    features = np.zeros((len(dated.groups), len(wanted)))
    for column, name in enumerate(wanted):
        said = [(one, one.facts[name]) for one in dated.arms if one.facts.get(name)]
        for group, of in enumerate(dated.groups):
            own = [_number(content, one.name, name, text) for one, text in said if one.group == of]
            if not own:
                content.found.append(
                    f"{content.where} features: nobody in {of} has a number in column {name!r} of "
                    "the roster."
                )
            features[group, column] = np.mean(own or [0.0])
    content.settle()
    return features if wanted else None


def _number(content: TableSet, who: str, column: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        content.found.append(
            f"{content.where} features: {who} has {text!r} in column {column!r} of the roster; a "
            "number is wanted."
        )
        return 0.0


def _dated(programme: Programme, day: date) -> DatedLog:
    with programme.store.open().reading() as connection:
        return to_log(programme, connection, members(connection, ARM), day)


def _names(programme: Programme, dated: DatedLog) -> dict[str, Any]:
    """Return what the axes of the estimates mean."""
    return {
        "groups": list(dated.groups),
        "states": programme.states,
        "doses": list(programme.doses),
        "is_new": is_new(dated),
        "known": {key: programme.known[key] for key in sorted(programme.known)},
    }


def _kept(programme: Programme, dated: DatedLog) -> tuple[date, FittedModel] | None:
    """Return when the last estimates were made, and these, if they mean the same still."""
    chosen = sql.select(fits).order_by(fits.c.id.desc()).limit(1)
    with programme.store.reading() as connection:
        found = connection.execute(chosen).mappings().one_or_none()
        if found is None or found["names"] != _names(programme, dated):
            return None
        return found["date"], _from_bytes(found["arrays"], _names_of(programme, dated.groups))


def _to_bytes(fitted: FittedModel) -> bytes:
    kept = (one.name for one in fields(fitted) if one.name != "words")
    return to_bytes(**{name: getattr(fitted, name) for name in kept})


def _from_bytes(content: bytes, words: Words) -> FittedModel:
    """Return estimates; their names are kept beside them."""
    values = from_bytes(content)
    arrays = {name: a if a.ndim else a.item() for name, a in values.items()}
    return FittedModel(**arrays, words=words)


def _names_of(programme: Programme, groups: Sequence[str]) -> Words:
    return Words(groups, programme.states, [0.0, *programme.doses.values()])


def _words(fitted: FittedModel, day: date) -> str:
    return f"estimated from {count(fitted.n_rows, 'row')} of the log on {day}"
