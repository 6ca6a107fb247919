"""Who knows whom in a village: a seeded graph, or a file of ties."""

from pathlib import Path

import numpy as np

from sequoia.errors import FileError, ProblemError
from sequoia.problem.families.networks import small_world
from sequoia.rng import stream
from sequoia.validation import IntArray

# The village of arXiv 2512.06274 has 202 people and 692 ties.
PEOPLE, TIES = 202, 692
# Neighbours on the ring, and the share of those ties that are shortcuts: Watts and Strogatz's small
# worlds lie between 0.01 and 0.1. The other ties make some people popular.
_RING, _REWIRED = 4, 0.1
# Standard deviation of the logarithm of popularity. With 1, degrees run from 2 or 3 to about 35;
# clustering is above 0.2, and the mean path has 3 ties.
_POPULARITY = 1.0


def village(seed: int = 0, people: int = PEOPLE, ties: int = TIES) -> IntArray:
    """Draw the ties of a village, ``(E, 2)``: two different people each, the lower number first.

    A small world of ``2 people`` ties, and the rest between people who are drawn in proportion to
    their popularity, which is lognormal.
    """
    if people <= _RING or not _RING * people // 2 <= ties <= people * (people - 1) // 4:
        raise ProblemError(
            f"a village of {people} with {ties} ties is wanted; more than {_RING} people, and from "
            "2 ties each to half of all pairs are possible."
        )
    rng = stream(seed, "village")
    graph = small_world(people, _RING, _REWIRED, rng)
    number = {name: place for place, name in enumerate(graph)}
    known = {_pair(number[one], number[other]) for one, other in graph.edges}
    popularity = np.exp(_POPULARITY * rng.standard_normal(people))
    share = popularity / popularity.sum()
    while len(known) < ties:
        one, other = rng.choice(people, 2, replace=False, p=share).tolist()
        known.add(_pair(one, other))
    return np.array(sorted(known), dtype=np.int64)


def read_ties(path: Path) -> IntArray:
    """Read ties from a file with two numbers a line, ``(E, 2)``.

    Between them are blanks or a comma; what follows ``#`` is a comment. People are numbered from 0
    on in the order of their numbers in the file. A tie goes both ways and counts once.
    """
    known = set()
    for place, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        cells = line.split("#")[0].replace(",", " ").split()
        if not cells:
            continue
        if len(cells) != 2 or not all(cell.isdecimal() for cell in cells):
            raise FileError(f"{path}, line {place} is {line.strip()!r}; two numbers are wanted.")
        one, other = map(int, cells)
        if one == other:
            raise FileError(f"{path}, line {place} ties {one} to itself; two people are wanted.")
        known.add(_pair(one, other))
    if not known:
        raise FileError(f"{path} has no ties.")
    ends = np.array(sorted(known), dtype=np.int64)
    numbers: IntArray = np.unique(ends, return_inverse=True)[1].reshape(ends.shape)
    return numbers


def _pair(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)
