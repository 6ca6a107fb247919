"""From a log of visits and sightings to models, beliefs and plans."""

from sequoia.records.belief import BeliefProblem, belief_problem, say_belief
from sequoia.records.calibration import Calibration, calibrate
from sequoia.records.fit import FittedModel, fit, with_kernels
from sequoia.records.fit_table import fit_rows, fit_words
from sequoia.records.log import Log, Seen, groups_of, simulate_log
from sequoia.records.regret import Regret, regret
from sequoia.records.structure import Structure
from sequoia.records.uncertain import cautious

__all__ = [
    "BeliefProblem",
    "Calibration",
    "FittedModel",
    "Log",
    "Regret",
    "Seen",
    "Structure",
    "belief_problem",
    "calibrate",
    "cautious",
    "fit",
    "fit_rows",
    "fit_words",
    "groups_of",
    "regret",
    "say_belief",
    "simulate_log",
    "with_kernels",
]
