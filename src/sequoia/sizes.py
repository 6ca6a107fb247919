"""How large things may be. What would need more is refused before it is begun, with its size.

Every limit is here, so that one place says what a machine with 2 GiB of free memory can hold.
"""

from sequoia.errors import TooLarge

# One thing at a time is made, and copied at most once.
MOST_BYTES = 2**30
# A column of a space's rows costs about 400 bytes: its entries, its name and that of its rows.
MOST_COLUMNS = 2_000_000
# An occupancy of the linear relaxation costs the solver about 1.5 kB (measured on the trap).
MOST_OCCUPANCIES = 1_000_000
# Ten years of hours; with a tenth of a millisecond for a decision, ten seconds for an episode.
MOST_STEPS = 100_000
# At a second each, two weeks and a day.
MOST_CELLS, MOST_EPISODES = 100_000, 1_000_000
# A worker who made a visit in every second would need eleven days.
MOST_VISITS = 1_000_000
# Whole numbers may be larger than any float; more than this need not be said.
_MANY = 1e300


def require_at_most(what: str, count: float, noun: str, most: float) -> None:
    """Raise `TooLarge` when ``what`` has a larger ``count`` of things than ``most``."""
    if count > most:
        raise TooLarge(
            f"{what} would have {_number(count)} {noun}; at most {_number(most)} are allowed."
        )


def require_memory(what: str, numbers: float) -> None:
    """Raise `TooLarge` when ``what`` holds more ``numbers``, of 8 bytes each, than are allowed."""
    if 8 * numbers > MOST_BYTES:
        raise TooLarge(
            f"{what} would need {_gib(8 * numbers)} of memory; at most {_gib(MOST_BYTES)} is "
            "allowed."
        )


def _number(count: float) -> str:
    return f"{int(count):,}" if count < 1e12 else f"{min(count, _MANY):.3g}"


def _gib(size: float) -> str:
    gib = min(size, _MANY) / 2**30
    return f"{gib:,.3g} GiB" if gib < 1e6 else f"{gib:.3g} GiB"
