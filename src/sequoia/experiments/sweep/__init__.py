"""Sweeps: problems × seeds × policies, on one machine or on a cluster."""

from sequoia.experiments.sweep.driver import Swept, sweep
from sequoia.experiments.sweep.folder import ResultsFolder
from sequoia.experiments.sweep.local import run_locally
from sequoia.experiments.sweep.plan import Plan, make_plan, read_plan
from sequoia.experiments.sweep.status import Status, status

__all__ = [
    "Plan",
    "ResultsFolder",
    "Status",
    "Swept",
    "make_plan",
    "read_plan",
    "run_locally",
    "status",
    "sweep",
]
