"""Names beside points, as many as fit without covering anything."""

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from sequoia.plots.canvas import INK, settle
from sequoia.plots.names import left_out, text_width, wrapped
from sequoia.validation import BoolArray, FloatArray, IntArray

_PLACES = (
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
    (0.8, 0.8, "left", "bottom"),
    (-0.8, 0.8, "right", "bottom"),
    (0.8, -0.8, "left", "top"),
    (-0.8, -0.8, "right", "top"),
    # A little farther away, for those that find nothing nearer.
    (0, 2.2, "center", "bottom"),
    (0, -2.2, "center", "top"),
    (1.6, 1.6, "left", "bottom"),
    (-1.6, 1.6, "right", "bottom"),
    (1.6, -1.6, "left", "top"),
    (-1.6, -1.6, "right", "top"),
)
_NEAR = 8
_ALIGN = {"left": 0.0, "center": -0.5, "right": -1.0, "bottom": 0.0, "top": -1.0}


def label_points(
    ax: Axes,
    points: FloatArray,
    names: Sequence[str],
    edges: IntArray,
    sizes: Iterable[float] = (9.0, 8.0, 7.0, 6.5),
    gap: float = 6.0,
) -> int:
    """Write the names of ``points``, ``(N, 2)``, beside them; return how many fitted.

    The largest font at which all names fit is taken; if there is none, the smallest, and names
    that would cover a point, other text or the edge of the picture are left out, later ones
    first, and counted below. Of the places that are free, the one that crosses the fewest edges
    is taken.
    """
    names = [wrapped(name) for name in names]
    scale = settle(ax).dpi / 72.0
    pixels = ax.transData.transform(points)
    segments = _sampled(pixels, edges)
    written = [text.get_window_extent() for text in ax.texts]
    visible = int(_inside(ax.bbox, pixels).sum())
    placed: list[tuple[int, int]] = []
    size = 0.0
    for size in sizes:
        placed = _place(names, pixels, segments, written, ax.bbox, size * scale, gap * scale)
        if len(placed) == visible:
            break
    else:
        # Once more, around the note that says how many are left out.
        box = _write_note(ax, left_out(visible - len(placed), visible), pixels)
        written.append(box)
        placed = _place(names, pixels, segments, written, ax.bbox, size * scale, gap * scale)
        ax.texts[-1].set_text(left_out(visible - len(placed), visible))
    for index, place in placed:
        dx, dy, across, along = _PLACES[place]
        ax.annotate(
            names[index],
            points[index],
            (dx * gap, dy * gap),
            textcoords="offset points",
            ha=across,
            va=along,
            fontsize=size,
            color=INK,
            path_effects=[withStroke(linewidth=2.0, foreground="white")],
            in_layout=False,
        )
    return len(placed)


def _write_note(ax: Axes, text: str, pixels: FloatArray) -> Bbox:
    """Write a note into the corner that covers the fewest points; return its place in pixels."""
    corners = [(1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    notes = [
        ax.annotate(
            text,
            (x, y),
            (2 - 4 * x, 2 - 4 * y),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right" if x else "left",
            va="top" if y else "bottom",
            fontsize=8,
            style="italic",
            color=INK,
        )
        for x, y in corners
    ]
    boxes = [note.get_window_extent() for note in notes]
    best = int(np.argmin([_inside(box, pixels).sum() for box in boxes]))
    for note in (*notes[:best], *notes[best + 1 :]):
        note.remove()
    return boxes[best]


def _sampled(pixels: FloatArray, edges: IntArray) -> FloatArray:
    """Return points along every edge."""
    along = np.linspace(0.0, 1.0, 15)[:, None, None]
    a, b = pixels[edges[:, 0]], pixels[edges[:, 1]]
    return np.asarray((1 - along) * a + along * b, dtype=np.float64).reshape(-1, 2)


def _place(
    names: Sequence[str],
    pixels: FloatArray,
    segments: FloatArray,
    written: Sequence[Bbox],
    frame: Bbox,
    size: float,
    gap: float,
) -> list[tuple[int, int]]:
    """Return (point, place) pairs that fit, greedily in the order of the points."""
    taken = list(written)
    result = []
    for index, name in enumerate(names):
        best, least = None, np.inf
        for place in range(len(_PLACES)):
            box = _box(name, pixels[index], place, size, gap)
            if not _is_free(box, taken, pixels, frame, gap):
                continue
            crossed = _inside(box, segments).sum() + 0.1 * place + 10 * (place >= _NEAR)
            if crossed < least:
                best, least = (place, box), crossed
        if best is not None:
            result.append((index, best[0]))
            taken.append(best[1])
    return result


def _box(name: str, point: FloatArray, place: int, size: float, gap: float) -> Bbox:
    dx, dy, across, along = _PLACES[place]
    lines = name.split("\n")
    width = size * max(map(text_width, lines)) + 2
    height = 1.25 * size * len(lines)
    x = point[0] + dx * gap + _ALIGN[across] * width
    y = point[1] + dy * gap + _ALIGN[along] * height
    return Bbox.from_bounds(x, y, width, height)


def _is_free(box: Bbox, taken: list[Bbox], pixels: FloatArray, frame: Bbox, gap: float) -> bool:
    return bool(
        _inside(frame, np.array([box.min, box.max])).all()
        and not any(box.overlaps(other) for other in taken)
        and not _inside(box.padded(0.4 * gap), pixels).any()
    )


def _inside(box: Bbox, points: FloatArray) -> BoolArray:
    x, y = points.T
    inside: BoolArray = (box.x0 <= x) & (x <= box.x1) & (box.y0 <= y) & (y <= box.y1)
    return inside
