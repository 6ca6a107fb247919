"""Compute one cell; what it found."""

import time
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from sequoia.errors import ProblemError, TooLarge
from sequoia.evaluation.evaluate import REFERENCE, evaluate
from sequoia.evaluation.evaluation import Evaluation
from sequoia.problem import Environment
from sequoia.solvers import using_solver
from sequoia.sweep.cell import Cell, Entry, Model, trained_model
from sequoia.validation import FloatArray
from sequoia.version import commit


class PolicyNumbers(BaseModel):
    """The rewards of a policy.

    Attributes
    ----------
    rewards
        Mean reward per step of each episode; empty where the policy does not apply.
    reason
        Why it does not apply.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rewards: tuple[float, ...] = ()
    reason: str | None = None


class PolicyTimes(BaseModel):
    """The time that a policy took.

    Attributes
    ----------
    decisions, at_limit
        How many there were, and how many a limit cut off: these may depend on the machine.
    mean, median, slowest
        Of the time of one decision, in seconds; the slowest 5 % take longer than ``slow``.
    training
        Processor seconds of training, where there is any.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    decisions: int
    at_limit: int
    mean: float
    median: float
    slow: float
    slowest: float
    training: float | None = None


class CellResult(BaseModel):
    """Everything a cell found; times are apart, because they differ from run to run.

    Attributes
    ----------
    problem, fingerprint
        Name and content of the problem.
    steps
        Steps of an episode.
    random
        What acting at random earns per step, in each episode.
    bound
        What no policy exceeds per step, on average; ``bound_stopped_by`` as in `Bound`.
    numbers, times
        By the names of the policies.
    seconds
        Processor time of the whole cell; of one that was interrupted, since it was taken up again.
    commit
        Of the code that computed it; empty where that is not known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    problem: str
    fingerprint: str
    steps: int
    random: tuple[float, ...]
    bound: float | None
    numbers: dict[str, PolicyNumbers]
    times: dict[str, PolicyTimes]
    bound_seconds: float | None
    bound_stopped_by: str | None = None
    seconds: float
    commit: str = ""


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
    began = time.process_time()
    problem = cell.problem()
    reference = _evaluate(cell, problem, REFERENCE, None, work)
    numbers, times = {}, {}
    for entry in cell.entries:
        try:
            model = _model(cell, entry, problem, work)
            evaluation = _evaluate(cell, problem, entry.policy, model, work)
        except (ProblemError, TooLarge) as error:
            numbers[entry.name] = PolicyNumbers(reason=str(error))
            continue
        numbers[entry.name] = PolicyNumbers(rewards=_per_episode(evaluation.rewards[0]))
        times[entry.name] = _times(evaluation, model)
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
        seconds=time.process_time() - began,
        commit=commit(),
    )


def _model(cell: Cell, entry: Entry, problem: Environment, work: Path) -> Model | None:
    """Return the trained model of an entry; entries with the same training share it."""
    how = entry.training
    if how is None:
        return None
    folder = work / f"model-{how.digest}"
    return trained_model(problem, how.preset, how.overrides, cell.seed, folder)


def _evaluate(
    cell: Cell, problem: Environment, policy: str, model: Model | None, work: Path
) -> Evaluation:
    return evaluate(
        problem,
        [policy],
        cell.episodes,
        cell.seed,
        model=None if model is None else model.q,
        progress=False,
        bound=cell.bound if policy == REFERENCE else "none",
        seconds=cell.decision_seconds,
        work=work,
    )


def _per_episode(rewards: FloatArray) -> tuple[float, ...]:
    return tuple(rewards.mean(axis=1).tolist())


def _times(evaluation: Evaluation, model: Model | None) -> PolicyTimes:
    seconds = evaluation.seconds
    median, slow, slowest = np.percentile(seconds, [50, 95, 100]).tolist()
    return PolicyTimes(
        decisions=seconds.size,
        at_limit=int(evaluation.is_at_limit.sum()),
        mean=float(seconds.mean()),
        median=median,
        slow=slow,
        slowest=slowest,
        training=None if model is None else model.seconds,
    )
