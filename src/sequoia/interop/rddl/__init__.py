"""RDDL as a front end: instances of the planning competitions as environments."""

from sequoia.interop.rddl.environment import RddlEnvironment, from_rddl
from sequoia.interop.rddl.reading import repository

__all__ = ["RddlEnvironment", "from_rddl", "repository"]
