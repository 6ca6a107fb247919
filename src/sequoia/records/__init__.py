"""From a log of visits and sightings to models, beliefs and plans."""

from sequoia.records.fit import FittedModel, fit, with_kernels
from sequoia.records.log import Log, Seen, groups_of, simulate_log
from sequoia.records.structure import Structure

__all__ = [
    "FittedModel",
    "Log",
    "Seen",
    "Structure",
    "fit",
    "groups_of",
    "simulate_log",
    "with_kernels",
]
