"""Names in pictures: wrapped and shrunk until they fit; whatever still does not fit is counted."""

import textwrap
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from numpy.typing import ArrayLike

from sequoia.plots.canvas import figure_of, is_narrow

# Below the smallest, print is hard to read.
_SIZES = (8.0, 7.0, 6.0, 5.5)
_LABEL = 10.0
_LINE = 24
_MOST_LINES = 3
# Height of a line, and width of a usual letter, at font size 1.
_HEIGHT, _LETTER = 1.25, 0.6
# Small letters are moved to whole pixels, which makes a line longer than its outline.
_HINTING = 1.06
# What title, labels, bars of colour and ticks take of a figure; the share of a lone picture.
_INCHES_BESIDE, _INCHES_ABOVE_AND_BELOW, _SHARE = 1.1, 1.2, 0.77


def short_names(names: Sequence[str]) -> tuple[str, list[str]]:
    """Split ``arm 0``, … or ``node 0-0``, … into noun and numbers; other names are wrapped."""
    nouns = {name.rpartition(" ")[0] for name in names}
    numbers = [name.rpartition(" ")[2] for name in names]
    are_numbers = all(each.replace("-", "").isdigit() for each in numbers)
    if len(nouns) == 1 and "" not in nouns and are_numbers:
        return f"{nouns.pop()}s", numbers
    return "", [wrapped(name) for name in names]


def wrapped(name: str, width: int = _LINE, lines: int = _MOST_LINES) -> str:
    """Break a long name into lines; of one that is longer still, show the beginning and the end."""
    if len(name) <= width:
        return name
    for most in range(min(len(name), width * lines), width, -1):
        broken = textwrap.wrap(shortened(name, most), width)
        if len(broken) <= lines:
            return "\n".join(broken)
    return shortened(name, width)


def shortened(name: str, most: int) -> str:
    """Return the beginning and the end of a name that is longer than ``most`` letters."""
    if len(name) <= most:
        return name
    end = (most - 1) // 2
    return f"{name[: most - 1 - end]}…{name[len(name) - end :] if end else ''}"


@cache
def text_width(line: str) -> float:
    """Return the width of a line of text at font size 1."""
    outline = TextPath((0, 0), line, size=10, prop=FontProperties()).get_extents()
    return _HINTING * float(outline.width) / 10


def room(ax: Axes, axis: str, below: float = 0.0) -> float:
    """Return about how long an axis will be, in points, once the figure is laid out.

    ``below`` is what names under the picture take of its height, in inches.
    """
    width, height = figure_of(ax).get_size_inches()
    share = ax.get_position(original=True)
    if axis == "x":
        return 72.0 * float(0.9 * width * share.width / _SHARE - _INCHES_BESIDE)
    return 72.0 * float(max(0.3, height * share.height / _SHARE - _INCHES_ABOVE_AND_BELOW - below))


def upright_inches(names: Sequence[str]) -> float:
    """Return how high names are when they stand upright below a picture; numbers lie."""
    noun, texts = short_names(names)
    lines = [line for text in texts for line in text.split("\n")]
    return 0.0 if noun else _SIZES[0] * max(map(text_width, lines), default=0.0) / 72.0


def tick_names(axis: Any, places: ArrayLike, names: Sequence[str], below: float = 0.0) -> str:
    """Label ticks with names; return what to say about them: their noun, or how many are left out.

    Numbers leave some out where there are many, as on any axis. Words are made smaller first, and
    put on one line. ``below`` is as in `room`.
    """
    noun, texts = short_names(names)
    length = room(axis.axes, axis.axis_name, below)
    size, every, texts = fit(texts, length, axis.axis_name == "x", bool(noun))
    axis.set_ticks(np.asarray(places)[::every], texts[::every], fontsize=size)
    if axis.axis_name == "x" and not noun:
        axis.set_tick_params(rotation=90)
    return noun or left_out(len(names) - len(texts[::every]), len(names))


class Group(NamedTuple):
    """Things side by side on an axis.

    Attributes
    ----------
    places
        Where they are.
    names
        What they are called.
    noun
        What they are, where the names do not say.
    what
        What is drawn of them.
    """

    places: ArrayLike
    names: Sequence[str]
    noun: str
    what: str = ""


def tick_groups(ax: Axes, *groups: Group) -> None:
    """Label the x-axis with the names of several groups, and below with what these are."""
    shorter = [short_names(group.names) for group in groups]
    are_numbers = all(noun for noun, texts in shorter if texts)
    every_text = [text for _, texts in shorter for text in texts]
    size, every, every_text = fit(every_text, 0.95 * room(ax, "x"), True, are_numbers)
    ticks, shown, total = [], [], len(every_text)
    for group in groups:
        texts, every_text = every_text[: len(group.names)], every_text[len(group.names) :]
        ticks += np.asarray(group.places)[::every].tolist()
        shown += texts[::every]
    ax.set_xticks(ticks, shown, fontsize=size, rotation=0 if are_numbers else 90)
    lines = [line for text in shown for line in text.split("\n")]
    below = 19 + (0 if are_numbers else size * max(map(text_width, lines), default=0.0))
    missing = "" if are_numbers else left_out(total - len(shown), total)
    for group, (noun, texts) in zip(groups, shorter, strict=True):
        if texts:
            note = missing if group is groups[-1] else ""
            words = "\n".join(filter(None, (f"{noun or group.noun}{group.what}", note)))
            ax.annotate(
                words,
                (float(np.mean(np.asarray(group.places, dtype=np.float64))), 0.0),
                (0, -below),
                xycoords=ax.get_xaxis_transform(),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=9,
            )


def write_inside(
    ax: Axes, place: tuple[float, float], text: str, width: float, height: float
) -> bool:
    """Write ``text`` in the middle of a box, sizes in points; return whether it is there in full.

    It is broken into lines and made smaller until it fits; else it is cut.
    """
    text = " ".join(text.split())
    lines = max(1, int(height / (_HEIGHT * _SIZES[-1])))
    choices = [(size, _broken(text, width / size, lines)) for size in _SIZES]
    fitting = [
        (size, broken)
        for size, broken in choices
        if size * _HEIGHT * (broken.count("\n") + 1) <= height
        and max(map(text_width, broken.split("\n"))) * size <= width
    ]
    size, shown = fitting[0] if fitting else (_SIZES[-1], _cut(text, width / _SIZES[-1]))
    ax.text(*place, shown, ha="center", va="center", fontsize=size, linespacing=1.0)
    return bool(fitting)


def name_x(ax: Axes, text: str) -> None:
    """Write what the x-axis shows, in as many lines as it needs."""
    letters = int(room(ax, "x") / (0.9 * _LABEL * _LETTER))
    ax.set_xlabel(textwrap.fill(text, letters), fontsize=_LABEL)


def name_policies(ax: Axes, names: Sequence[str]) -> None:
    """Write names of policies down the y-axis, from 0 on."""
    texts = [wrapped(name, 16 if is_narrow(ax) else _LINE, 2) for name in names]
    ax.set_yticks(np.arange(len(names)), texts, fontsize=9, linespacing=0.95)


def left_out(number: int, total: int, what: str = "do not fit") -> str:
    """Say how many names do not fit, or are cut; nothing where all are there."""
    return f"{number} of {total} names {what}" if number else ""


def fit(
    texts: Sequence[str], length: float, is_across: bool, are_numbers: bool
) -> tuple[float, int, list[str]]:
    """Return the font size, of how many labels one is written, and the labels.

    Parameters
    ----------
    length
        Of the axis, in points.
    is_across
        Whether the axis is horizontal: numbers stand side by side there, words upright.
    """
    if not texts:
        return _SIZES[0], 1, []
    if are_numbers:
        along = _LETTER * max(map(len, texts)) + 0.5 if is_across else _HEIGHT
        every = int(np.ceil(len(texts) * _SIZES[0] * along / length))
        return _SIZES[0], max(1, every), list(texts)
    lines = max(text.count("\n") for text in texts) + 1
    for size in _SIZES:
        if len(texts) * size * _HEIGHT * lines <= length:
            return size, 1, list(texts)
    short = [shortened(" ".join(text.split("\n")), _LINE) for text in texts]
    for size in _SIZES:
        if len(texts) * size * _HEIGHT <= length:
            return size, 1, short
    return _SIZES[-1], int(np.ceil(len(texts) * _SIZES[-1] * _HEIGHT / length)), short


def _broken(text: str, width: float, lines: int) -> str:
    """Break a text into lines of at most ``width``, at font size 1, and at most so many."""
    letters = max(1, int(width / _LETTER))
    if text_width(text) <= width:
        return text
    return "\n".join(textwrap.wrap(text, letters, break_long_words=False)[: lines + 1])


def _cut(text: str, width: float) -> str:
    """Return as much of ``text`` as fits into ``width``, at font size 1."""
    return shortened(text, max(1, int(width / _LETTER)))
