"""Minutes from place to place by coordinates, and coordinates that cannot be meant."""

from collections.abc import Sequence

import numpy as np

from sequoia.validation import FloatArray, IntArray

# Kilometres, of a ball as large as the earth.
_RADIUS = 6_371.0
# Kilometres an hour from door to door, and how much longer roads are than the crow's way: 1.2 to
# 1.5 in most countries (Ballou, Rahardja and Sakai 2002).
SPEEDS = {"walk": 4.8, "bicycle": 14.0, "car": 30.0}
ROAD_FACTOR = 1.3
# A place is far out when it is so many times as far from the middle as half of the places are, and
# farther than anybody goes in a day.
_FAR_TIMES, _FAR_KILOMETRES = 20.0, 150.0


def kilometres(lat: FloatArray, lon: FloatArray) -> FloatArray:
    """Return great-circle distances between places in degrees, ``(P, P)``: haversine."""
    north, east = np.radians(lat), np.radians(lon)
    rise = np.sin((north[:, None] - north) / 2) ** 2
    across = np.sin((east[:, None] - east) / 2) ** 2
    chord = rise + np.cos(north)[:, None] * np.cos(north) * across
    result: FloatArray = 2 * _RADIUS * np.arcsin(np.sqrt(np.clip(chord, 0.0, 1.0)))
    return result


def travel_minutes(
    lat: FloatArray, lon: FloatArray, speed: float, road_factor: float = ROAD_FACTOR
) -> IntArray:
    """Return whole minutes between places, ``(P, P)``, at so many kilometres an hour.

    Minutes are rounded up, so that whoever goes by them is not late.
    """
    minutes = kilometres(lat, lon) * road_factor / speed * 60
    result: IntArray = np.ceil(np.round(minutes, 6)).astype(np.int64)
    return result


def odd_coordinates(where: Sequence[str], lat: FloatArray, lon: FloatArray) -> list[str]:
    """Return a line for each place that cannot be meant.

    Degrees that do not exist, latitude and longitude swapped, and places far from all others.

    Parameters
    ----------
    where
        What to call each place: its row and its name.
    """
    lines = {}
    swapped = "; latitude and longitude look swapped."
    for place in np.flatnonzero(~((np.abs(lat) <= 90) & (np.abs(lon) <= 180))).tolist():
        is_swapped = abs(lon[place]) <= 90 and abs(lat[place]) <= 180
        end = swapped if is_swapped else "; -90 to 90 and -180 to 180 degrees are wanted."
        lines[place] = (
            f"{where[place]} is at latitude {lat[place]:g}, longitude {lon[place]:g}{end}"
        )
    fine = np.array([place for place in range(len(lat)) if place not in lines], dtype=np.int64)
    if len(fine) > 2:
        lines |= _far_ones(where, lat, lon, fine, swapped)
    return [lines[place] for place in sorted(lines)]


def _far_ones(
    where: Sequence[str], lat: FloatArray, lon: FloatArray, fine: IntArray, swapped: str
) -> dict[int, str]:
    middle = np.median(lat[fine]), np.median(lon[fine])
    away = _from(middle, lat[fine], lon[fine])
    limit = max(_FAR_KILOMETRES, _FAR_TIMES * float(np.median(away)))
    lines = {}
    for place, far in zip(fine[away > limit].tolist(), away[away > limit].tolist(), strict=True):
        back = _from(middle, lon[[place]], lat[[place]])[0] if abs(lon[place]) <= 90 else np.inf
        end = swapped if back <= limit else "; it is too far for a day's work."
        lines[place] = (
            f"{where[place]} is {_at(lat[place], lon[place])}, {far:,.0f} km from the middle of "
            f"the places{end}"
        )
    return lines


def _at(lat: float, lon: float) -> str:
    return f"at latitude {lat:g}, longitude {lon:g}"


def _from(middle: tuple[float, float], lat: FloatArray, lon: FloatArray) -> FloatArray:
    return kilometres(np.append(lat, middle[0]), np.append(lon, middle[1]))[-1, :-1]
