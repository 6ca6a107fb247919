"""One colour and marker per policy, the same in every picture."""

from collections.abc import Sequence

from sequoia.plots import canvas

# Neighbours in a legend differ in lightness as well as in hue; markers differ besides.
_COLOURS = (
    canvas.GREY,
    "#7A7A7A",
    canvas.SKY,
    canvas.ORANGE,
    canvas.GREEN,
    canvas.PURPLE,
    canvas.VERMILION,
    canvas.BLUE,
    "#882255",
    "#000000",
    "#44AA99",
)
_MARKERS = "osv^<DP*XHd"
_KNOWN = (
    "idle",
    "random",
    "sampling",
    "iterative-myopic",
    "myopic",
    "iterative-dqn",
    "sequoia",
    "price",
    "price-update",
    "exact",
    "whittle",
)


def colour_of(name: str, names: Sequence[str]) -> str:
    """Return the colour of a policy; one of your own gets one by its position."""
    return _COLOURS[_position(name, names)]


def marker_of(name: str, names: Sequence[str]) -> str:
    """Return the marker of a policy."""
    return _MARKERS[_position(name, names)]


def line_of(name: str, names: Sequence[str]) -> str:
    """Return the line style of a policy, so that two that run together are both seen."""
    return "-" if _position(name, names) != _KNOWN.index("price-update") else "--"


def _position(name: str, names: Sequence[str]) -> int:
    if name in _KNOWN:
        return _KNOWN.index(name)
    return (len(_KNOWN) - 1 - list(names).index(name)) % len(_KNOWN)
