"""Compute one cell."""

import time
from pathlib import Path

import numpy as np

from sequoia.errors import ProblemError, TooLarge
from sequoia.evaluation.evaluate import REFERENCE, evaluate
from sequoia.evaluation.evaluation import Evaluation
from sequoia.problem import Problem
from sequoia.solvers import using_solver
from sequoia.sweep.cell import Cell, Entry
from sequoia.sweep.models import Model, trained_model
from sequoia.sweep.result import CellResult, PolicyNumbers, PolicyTimes
from sequoia.validation import FloatArray


def run_cell(cell: Cell, work: Path) -> CellResult:
    """Make the problem, train what is to be trained, and play every policy.

    Parameters
    ----------
    work
        A folder for finished pieces; a cell that was interrupted goes on from there.
    """
    with using_solver(cell.solver):
        return _run_cell(cell, work)


def _run_cell(cell: Cell, work: Path) -> CellResult:
    began = time.perf_counter()
    problem = cell.problem()
    reference = _evaluate(cell, problem, REFERENCE, None, work)
    numbers, times = {}, {}
    for entry in cell.entries:
        model = _model(cell, entry, problem, work)
        try:
            found = _evaluate(cell, problem, entry.policy, model, work)
        except (ProblemError, TooLarge) as error:
            numbers[entry.name] = PolicyNumbers(reason=str(error))
            continue
        numbers[entry.name] = PolicyNumbers(rewards=_per_episode(found.rewards[0]))
        times[entry.name] = _times(found, model)
    bound = reference.bound
    return CellResult(
        problem=problem.name,
        fingerprint=problem.fingerprint,
        steps=problem.horizon,
        random=_per_episode(reference.random),
        bound=None if bound is None else bound.per_step,
        numbers=numbers,
        times=times,
        bound_seconds=None if bound is None else bound.seconds,
        bound_stopped_by=None if bound is None else bound.stopped_by,
        seconds=time.perf_counter() - began,
    )


def _model(cell: Cell, entry: Entry, problem: Problem, work: Path) -> Model | None:
    """Return the trained model of an entry; entries with the same training share it."""
    how = entry.training
    if how is None:
        return None
    folder = work / f"model-{how.digest}"
    return trained_model(problem, how.preset, how.overrides, cell.seed, folder)


def _evaluate(
    cell: Cell, problem: Problem, policy: str, model: Model | None, work: Path
) -> Evaluation:
    return evaluate(
        problem,
        [policy],
        cell.episodes,
        cell.seed,
        q=None if model is None else model.q,
        bound=cell.bound if policy == REFERENCE else "none",
        seconds=cell.decision_seconds,
        work=work,
    )


def _per_episode(rewards: FloatArray) -> tuple[float, ...]:
    return tuple(rewards.mean(axis=1).tolist())


def _times(found: Evaluation, model: Model | None) -> PolicyTimes:
    seconds = found.seconds
    median, slow, slowest = np.percentile(seconds, [50, 95, 100]).tolist()
    return PolicyTimes(
        decisions=seconds.size,
        at_limit=int(found.is_at_limit.sum()),
        mean=float(seconds.mean()),
        median=median,
        slow=slow,
        slowest=slowest,
        training=None if model is None else model.seconds,
    )
