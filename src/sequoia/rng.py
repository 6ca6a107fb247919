"""Random streams keyed by name, so that adding one never shifts another."""

import hashlib

import numpy as np

from sequoia.errors import ProblemError


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the generator that belongs to ``name`` under ``seed``.

    Two names give independent streams; the same pair gives the same stream on every machine.
    """
    if seed < 0:
        raise ProblemError(f"the seed is {seed}; at least 0 is wanted.")
    digest = hashlib.sha256(name.encode()).digest()
    key = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def streams(seed: int, *names: str) -> list[np.random.Generator]:
    """Return one generator per name, as `stream` does."""
    return [stream(seed, name) for name in names]
