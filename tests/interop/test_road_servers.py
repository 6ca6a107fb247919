"""Minutes from place to place, asked of a server that plays OSRM or Valhalla on this machine."""

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from sequoia.cli import main
from sequoia.errors import ProblemError
from sequoia.interop.road_servers import ServerFailed, server_minutes

LAT, LON = np.array([-15.41, -15.42, -15.43]), np.array([28.28, 28.29, 28.31])


class Town(BaseHTTPRequestHandler):
    """A way takes a hundred seconds for each hundredth of a degree, north or east."""

    said: ClassVar[dict[str, object]] = {}

    def do_GET(self):
        parts = urlsplit(self.path)
        *_, profile, places = parts.path.split("/")
        asked = parse_qs(parts.query)
        self.said["profile"] = profile
        spots = [tuple(map(float, one.split(",")[::-1])) for one in places.split(";")]
        self.answer({"code": "Ok", "durations": self.table(
            [spots[int(i)] for i in asked["sources"][0].split(";")],
            [spots[int(i)] for i in asked["destinations"][0].split(";")],
        )})  # fmt: skip

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.said["profile"] = asked["costing"]
        start, stop = ([(o["lat"], o["lon"]) for o in asked[k]] for k in ("sources", "targets"))
        rows = self.table(start, stop)
        self.answer({"sources_to_targets": [[{"time": one} for one in row] for row in rows]})

    def table(self, start, stop):
        far = self.said.get("far")
        return [
            [
                None
                if far is not None and far in (round(a[0], 2), round(b[0], 2))
                else 1e4 * (abs(a[0] - b[0]) + abs(a[1] - b[1]))
                for b in stop
            ]
            for a in start
        ]

    def answer(self, content):
        if self.said.get("slow"):
            time.sleep(2)
        if self.said.get("elsewhere"):
            self.send_response(302)
            self.send_header("Location", "http://example.org/")
            self.end_headers()
            return
        body = self.said.get("body", json.dumps(content)).encode()
        self.send_response(self.said.get("code", 200))
        self.end_headers()
        with suppress(BrokenPipeError):
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def town():
    Town.said = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Town)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(("kind", "profile"), [("osrm", "bike"), ("valhalla", "bicycle")])
def test_minutes_of_a_server(town, kind, profile):
    minutes = server_minutes(town, LAT, LON, "bicycle", kind)
    assert minutes.tolist() == [[0, 4, 9], [4, 0, 5], [9, 5, 0]]
    assert Town.said["profile"] == profile


def test_many_places_are_asked_in_blocks(town):
    lat = -15 - 0.01 * np.arange(120)
    minutes = server_minutes(town, lat, np.full(120, 28.0))
    away = np.abs(np.subtract.outer(np.arange(120), np.arange(120)))
    assert np.abs(minutes - np.ceil(100 / 60 * away)).max() <= 1


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"code": 400, "body": "TooBig"}, "answers 400: TooBig"),
        ({"body": "hello"}, "no table of a routing server"),
        ({"body": '{"durations": [[1]]}'}, "no table of 3 by 3 durations"),
        ({"body": '{"durations": [["x", 1, 1], [1, 1, 1], [1, 1, 1]]}'}, "no table of 3 by 3"),
        ({"elsewhere": True}, "answers 302"),
        ({"slow": True}, "does not answer: timed out"),
    ],
)
def test_a_server_that_fails(town, said, message):
    Town.said = said
    with pytest.raises(ServerFailed, match=message):
        server_minutes(town, LAT, LON, seconds=0.2 if "slow" in said else 30.0)


@pytest.mark.parametrize(
    ("address", "more", "error", "message"),
    [
        ("ftp://127.0.0.1", {}, ProblemError, "is no address such as"),
        ("http://8.8.8.8:5000", {}, ProblemError, "is public .* where people live"),
        ("http://127.0.0.1:1", {}, ServerFailed, "does not answer"),
        ("http://127.0.0.1", {"kind": "osmr"}, ProblemError, "perhaps 'osrm' is meant"),
        ("http://127.0.0.1", {"mode": "boat"}, ProblemError, "one of walk, bicycle, car"),
    ],
)
def test_what_cannot_be_asked(address, more, error, message):
    with pytest.raises(error, match=message):
        server_minutes(address, LAT, LON, **more)


def written(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"P{i},{a},{b}" for i, (a, b) in enumerate(zip(LAT, LON, strict=True))]
    path.write_text("\n".join(["name,lat,lon", *rows]) + "\n")
    return path


def asked(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(["travel", *map(str, arguments)])
    return stop.value.code


def test_the_command_writes_ways(tmp_path, town, capsys):
    people, target = written(tmp_path), tmp_path / "travel.csv"
    assert asked(people, "-o", target, "--server", town) == 0
    assert target.read_text().splitlines()[:3] == ["from,to,minutes", "P0,P1,4", "P0,P2,9"]
    assert asked(people, "-o", target) == 2
    assert asked(people, "-o", target, "--mode", "walk", "--force") == 0
    assert "3 places, 6 ways" in capsys.readouterr().out


def test_the_command_says_who_cannot_be_reached(tmp_path, town, capsys):
    Town.said = {"far": -15.43}
    people, target = written(tmp_path), tmp_path / "travel.csv"
    assert asked(people, "-o", target, "--server", town) == 2
    assert "people.csv row 4: P2 cannot be reached by road" in capsys.readouterr().err
    assert not target.exists()


def test_a_place_in_two_sheets(tmp_path, capsys):
    people = written(tmp_path)
    assert asked(people, people, "-o", tmp_path / "travel.csv") == 2
    assert "'P0' is in more than one sheet" in capsys.readouterr().err
