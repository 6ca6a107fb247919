"""Sweeps: problems × seeds × policies, on one machine or on a cluster."""

from sequoia.sweep.driver import Swept, sweep
from sequoia.sweep.executor import run_locally
from sequoia.sweep.folder import ResultsFolder, Status, status
from sequoia.sweep.plan import Plan, make_plan, read_plan

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
