"""Times as people say them."""

# From which time on the next unit is clearer: "1.5 min" says more than "90 s".
_UNITS = (
    ("ms", 1e-3, 1.0),
    ("s", 1.0, 90.0),
    ("min", 60.0, 90.0 * 60),
    ("h", 3600.0, float("inf")),
)

# What a clock cannot tell.
_SHORTEST = 1e-7


def duration(seconds: float) -> str:
    """Say a time in two digits: ``"0.4 ms"``, ``"8.3 s"``, ``"5 min"``, ``"2.5 h"``."""
    if 0 < seconds < _SHORTEST:
        return "under 0.0001 ms"
    name, size = next((name, size) for name, size, end in _UNITS if seconds < end)
    amount = seconds / size
    return f"{amount:,.0f} {name}" if amount >= 10 else f"{amount:.2g} {name}"


def roughly(seconds: float) -> str:
    """Say a time that is only expected, in whole seconds or more: ``"about 40 s"``."""
    return f"about {duration(max(1.0, round(seconds)))}"
