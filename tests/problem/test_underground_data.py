"""The London Underground data file: complete, connected and with plausible positions."""

import itertools
import math
import tomllib
from importlib.resources import files

import pytest

DATA = tomllib.loads(
    (files("sequoia.problem") / "data" / "underground.toml").read_text(encoding="utf-8")
)

# Publicly known station counts. The Circle line is given as 36 because Paddington's two stations
# are both counted; here Paddington is one node, so 35 remain.
LINE_COUNTS = {
    "Bakerloo": 25,
    "Central": 49,
    "Circle": 35,
    "District": 60,
    "Hammersmith & City": 29,
    "Jubilee": 27,
    "Metropolitan": 34,
    "Northern": 52,
    "Piccadilly": 53,
    "Victoria": 16,
    "Waterloo & City": 2,
}

# The public figure of 272 counts Edgware Road, Hammersmith and Paddington twice and Bank and
# Monument as two. Here only Paddington is merged.
NODE_COUNT = 271
EDGE_COUNT = 311

SUBSET_EDGES = {20: 29, 40: 56, 60: 82, 80: 108, 100: 133}

STATIONS = {station for line in DATA["lines"] for branch in line["branches"] for station in branch}
EDGES = {
    frozenset(pair)
    for line in DATA["lines"]
    for branch in line["branches"]
    for pair in itertools.pairwise(branch)
}
SUBSETS = {
    20 * k: list(itertools.chain.from_iterable(DATA["subsets"][:k]))
    for k in range(1, len(DATA["subsets"]) + 1)
}


def induced(nodes):
    """Edges with both ends in ``nodes``."""
    return {edge for edge in EDGES if edge <= set(nodes)}


def is_connected(nodes, edges):
    """Whether a search from any node reaches all of them."""
    neighbours = {node: set() for node in nodes}
    for a, b in map(tuple, edges):
        neighbours[a].add(b)
        neighbours[b].add(a)
    start = next(iter(neighbours))
    seen, stack = {start}, [start]
    while stack:
        for node in neighbours[stack.pop()] - seen:
            seen.add(node)
            stack.append(node)
    return len(seen) == len(neighbours)


def distance_km(a, b):
    """Distance of two stations on a locally flat earth."""
    (lon_a, lat_a), (lon_b, lat_b) = DATA["coordinates"][a], DATA["coordinates"][b]
    x = math.radians(lon_a - lon_b) * math.cos(math.radians(51.5))
    y = math.radians(lat_a - lat_b)
    return 6371.0 * math.hypot(x, y)


def test_every_line_is_there_once():
    """The eleven Underground lines, no other."""
    names = [line["name"] for line in DATA["lines"]]
    assert sorted(names) == sorted(LINE_COUNTS)


@pytest.mark.parametrize("line", DATA["lines"], ids=lambda line: line["name"])
def test_line_station_count(line):
    """Each line has its publicly known number of stations and hangs together."""
    stations = set(itertools.chain.from_iterable(line["branches"]))
    edges = {frozenset(p) for branch in line["branches"] for p in itertools.pairwise(branch)}
    assert len(stations) == LINE_COUNTS[line["name"]]
    assert all(len(edge) == 2 for edge in edges)
    assert is_connected(stations, edges)


def test_network_size_and_connectedness():
    """The whole network: number of stations and edges, one component."""
    assert len(STATIONS) == NODE_COUNT
    assert len(EDGES) == EDGE_COUNT
    assert is_connected(STATIONS, EDGES)


def test_split_and_merged_stations():
    """Stations that share a name are distinct nodes; Paddington is one."""
    assert {"Edgware Road", "Edgware Road (Bakerloo)"} <= STATIONS
    assert {"Hammersmith (D&P)", "Hammersmith (H&C)"} <= STATIONS
    assert "Hammersmith" not in STATIONS
    assert {"Bank", "Monument"} <= STATIONS
    assert [name for name in STATIONS if name.startswith("Paddington")] == ["Paddington"]


def test_names_are_spelled_one_way():
    """No two names differ only in case, punctuation or blanks."""
    keys = {"".join(c for c in name.lower() if c.isalnum()) for name in STATIONS}
    assert len(keys) == len(STATIONS)


def test_subset_steps():
    """Five steps of twenty known stations, none twice, the source in the first."""
    assert [len(step) for step in DATA["subsets"]] == [20] * 5
    assert DATA["source"] in DATA["subsets"][0]
    assert len(set(SUBSETS[100])) == 100
    assert set(SUBSETS[100]) <= STATIONS


@pytest.mark.parametrize(("size", "edges"), SUBSET_EDGES.items())
def test_subset_graph(size, edges):
    """Each nested subset is connected and has the wanted number of edges."""
    nodes = SUBSETS[size]
    assert len(nodes) == size
    assert is_connected(nodes, induced(nodes))
    assert len(induced(nodes)) == edges


def test_coordinates_cover_the_network():
    """Coordinates for every station and for nothing else."""
    assert set(DATA["coordinates"]) == STATIONS


@pytest.mark.parametrize("station", SUBSETS[100])
def test_subset_coordinates_in_greater_london(station):
    """Longitude first, inside the box around Greater London."""
    lon, lat = DATA["coordinates"][station]
    assert -0.52 < lon < 0.34
    assert 51.28 < lat < 51.70


def test_subset_neighbours_are_near():
    """Neighbours less than 5 km apart; catches wrong coordinates and wrong edges."""
    for a, b in map(tuple, induced(SUBSETS[100])):
        assert 0.1 < distance_km(a, b) < 5.0, (a, b)


def test_no_edge_is_long():
    """Only the Metropolitan's long hops exceed 5 km in the whole network."""
    long = {edge for edge in EDGES if distance_km(*edge) >= 5.0}
    assert long == {
        frozenset({"Finchley Road", "Wembley Park"}),
        frozenset({"Chalfont & Latimer", "Chesham"}),
    }
