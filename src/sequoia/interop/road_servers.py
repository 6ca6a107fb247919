"""Minutes from place to place, asked of a routing server of one's own: OSRM or Valhalla."""

import ipaddress
import json
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from sequoia.errors import ProblemError, SequoiaError
from sequoia.problem.names import closest
from sequoia.validation import FloatArray, IntArray

# Places on either side of one question: servers answer up to 100 places in all unless told more.
_BLOCK = 50
# Seconds that a server may take for one question, and bytes of its answer: far more than 2,500
# numbers need.
_SECONDS, _MOST_BYTES = 30.0, 10_000_000
_PROFILES = {"walk": "foot", "bicycle": "bike", "car": "car"}
_COSTINGS = {"walk": "pedestrian", "bicycle": "bicycle", "car": "auto"}

Place = tuple[float, float]


class ServerFailed(SequoiaError):
    """A routing server did not answer, or not what was asked."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A server that is asked is the one that answers."""

    def redirect_request(self, *arguments: Any, **more: Any) -> None:
        """Refuse."""
        del arguments, more


def server_minutes(
    address: str,
    lat: FloatArray,
    lon: FloatArray,
    mode: str = "car",
    kind: str = "osrm",
    may_be_public: bool = False,
    seconds: float = _SECONDS,
) -> FloatArray:
    """Return minutes between places, ``(P, P)``, rounded up; infinite where there is no way.

    Parameters
    ----------
    address
        Such as ``http://127.0.0.1:5000``.
    mode
        ``"walk"``, ``"bicycle"`` or ``"car"``.
    kind
        ``"osrm"`` or ``"valhalla"``.
    may_be_public
        Whether addresses outside of one's own network are asked, which then learn where people
        live.
    seconds
        Longest time for one question.

    Raises
    ------
    ServerFailed
        When the server does not answer, or not what was asked.
    """
    if kind not in SERVERS:
        raise ProblemError(
            f"kind is {kind!r}; {' or '.join(SERVERS)} is wanted{closest(kind, list(SERVERS))}."
        )
    if mode not in _PROFILES:
        raise ProblemError(
            f"mode is {mode!r}; one of {', '.join(_PROFILES)} is "
            f"wanted{closest(mode, list(_PROFILES))}."
        )
    _require_address(address, may_be_public)
    minutes = np.zeros((len(lat), len(lat)))
    places = list(zip(lat.tolist(), lon.tolist(), strict=True))
    for start in _blocks(len(lat)):
        for stop in _blocks(len(lat)):
            answer = SERVERS[kind](
                address.rstrip("/"),
                mode,
                [places[one] for one in start],
                [places[one] for one in stop],
                seconds,
            )
            minutes[np.ix_(start, stop)] = answer
    np.fill_diagonal(minutes, 0.0)
    result: FloatArray = np.ceil(minutes)
    return result


def _blocks(size: int) -> Iterator[IntArray]:
    for first in range(0, size, _BLOCK):
        yield np.arange(first, min(first + _BLOCK, size))


def _require_address(address: str, may_be_public: bool) -> None:
    """Raise unless an address is one of HTTP, and private where it has to be."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ProblemError(f"{address!r} is no address such as http://127.0.0.1:5000.")
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or parts.scheme)
    except (OSError, ValueError) as error:
        raise ServerFailed(f"{address} cannot be found: {error}.") from None
    for entry in found:
        number = ipaddress.ip_address(str(entry[4][0]).partition("%")[0])
        if number.is_global and not may_be_public:
            raise ProblemError(
                f"{address} is public ({number}), and would learn where people live; say that it "
                "may be asked (--public-server), or use a server of your own."
            )


def _osrm(
    address: str, mode: str, start: list[Place], stop: list[Place], seconds: float
) -> FloatArray:
    """Ask OSRM's table service; its answer is in seconds."""
    places = ";".join(f"{lon:.6f},{lat:.6f}" for lat, lon in (*start, *stop))
    first = ";".join(map(str, range(len(start))))
    second = ";".join(str(len(start) + one) for one in range(len(stop)))
    query = f"sources={first}&destinations={second}&annotations=duration"
    url = f"{address}/table/v1/{_PROFILES[mode]}/{places}?{query}"
    answer = _asked(urllib.request.Request(url), address, seconds)  # noqa: S310 (HTTP is required)
    return _minutes(answer.get("durations"), (len(start), len(stop)), address, lambda cell: cell)


def _valhalla(
    address: str, mode: str, start: list[Place], stop: list[Place], seconds: float
) -> FloatArray:
    """Ask Valhalla's matrix service; its answer is in seconds."""
    asked = {
        "sources": [{"lat": lat, "lon": lon} for lat, lon in start],
        "targets": [{"lat": lat, "lon": lon} for lat, lon in stop],
        "costing": _COSTINGS[mode],
    }
    request = urllib.request.Request(  # noqa: S310 (HTTP is required)
        f"{address}/sources_to_targets",
        data=json.dumps(asked).encode(),
        headers={"Content-Type": "application/json"},
    )
    answer = _asked(request, address, seconds)
    shape = len(start), len(stop)
    return _minutes(answer.get("sources_to_targets"), shape, address, lambda cell: cell["time"])


SERVERS: Mapping[str, Callable[[str, str, list[Place], list[Place], float], FloatArray]] = {
    "osrm": _osrm,
    "valhalla": _valhalla,
}


def _asked(request: urllib.request.Request, address: str, seconds: float) -> dict[str, Any]:
    """Return what a server answers."""
    # No proxy: the address that was checked is the one that is asked.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)
    try:
        with opener.open(request, timeout=seconds) as answer:
            content = answer.read(_MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        said = " ".join(error.read(300).decode(errors="replace").split())
        raise ServerFailed(f"{address} answers {error.code}: {said or error.reason}.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise ServerFailed(f"{address} does not answer: {reason}.") from None
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    if len(content) > _MOST_BYTES or not isinstance(found, dict):
        raise ServerFailed(f"{address} answers something that is no table of a routing server.")
    return found


def _minutes(
    rows: Any, shape: tuple[int, int], address: str, seconds_of: Callable[[Any], Any]
) -> FloatArray:
    """Return minutes of cells that hold seconds; a cell that is null has no way."""
    try:
        seconds = [
            [np.inf if seconds_of(cell) is None else float(seconds_of(cell)) for cell in row]
            for row in rows
        ]
        minutes = np.array(seconds, dtype=np.float64) / 60
    except (TypeError, ValueError, KeyError):
        minutes = np.empty(0)
    if minutes.shape != shape or not (minutes >= 0).all():
        raise ServerFailed(
            f"{address} answers no table of {shape[0]} by {shape[1]} durations; is it the kind of "
            "server that was said?"
        )
    return minutes
