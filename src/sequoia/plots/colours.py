"""One colour and marker per policy, the same in every picture."""

from collections.abc import Sequence

from sequoia.policies import POLICIES, Style

_STYLES = [policy.style for policy in POLICIES.values() if policy.style is not None]


def style_of(name: str, names: Sequence[str]) -> Style:
    """Return how a policy is drawn; one of your own gets a look by its position."""
    known = POLICIES[name].style if name in POLICIES else None
    return known or _STYLES[-1 - list(names).index(name) % len(_STYLES)]


def colour_of(name: str, names: Sequence[str]) -> str:
    """Return the colour of a policy."""
    return style_of(name, names).colour


def marker_of(name: str, names: Sequence[str]) -> str:
    """Return the marker of a policy."""
    return style_of(name, names).marker


def line_of(name: str, names: Sequence[str]) -> str:
    """Return the line style of a policy, so that two that run together are both seen."""
    return style_of(name, names).line
