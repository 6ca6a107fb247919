"""From a log of visits and sightings to models, beliefs and plans."""

from sequoia.records.belief import BeliefProblem, belief_problem, say_belief
from sequoia.records.fit import FittedModel, fit, with_kernels
from sequoia.records.log import Log, Seen, groups_of, simulate_log
from sequoia.records.structure import Structure

__all__ = [
    "BeliefProblem",
    "FittedModel",
    "Log",
    "Seen",
    "Structure",
    "belief_problem",
    "fit",
    "groups_of",
    "say_belief",
    "simulate_log",
    "with_kernels",
]
