"""Networks by name and from files."""

import networkx as nx
import numpy as np
import pytest

from sequoia.errors import FileError, ProblemError
from sequoia.problem import load, save
from sequoia.problem.families import epidemic, wildfire
from sequoia.problem.families.networks import lattice, small_world


def edges(graph):
    return {frozenset(edge) for edge in graph.edges}


@pytest.mark.parametrize(
    ("nodes", "columns", "rows"),
    [(12, None, [4, 4, 4]), (7, None, [3, 3, 1]), (6, 2, [2, 2, 2]), (5, 9, [5]), (1, None, [1])],
)
def test_a_lattice_joins_those_beside_and_below(nodes, columns, rows):
    graph = lattice(nodes, columns)
    named = [(r, c) for r, size in enumerate(rows) for c in range(size)]
    assert list(graph.nodes) == [f"node {r}-{c}" for r, c in named]
    wanted = {
        frozenset({f"node {a}-{b}", f"node {c}-{d}"})
        for a, b in named
        for c, d in named
        if abs(a - c) + abs(b - d) == 1
    }
    assert edges(graph) == wanted


def test_a_small_world_without_shortcuts_is_a_ring():
    graph = small_world(10, 4, 0.0, np.random.default_rng(0))
    near = {frozenset({f"node {i}", f"node {(i + k) % 10}"}) for i in range(10) for k in (1, 2)}
    assert edges(graph) == near


def test_shortcuts_keep_the_number_of_edges_and_shrink_the_world():
    rng = np.random.default_rng(3)
    ring, world = (small_world(200, 4, rewire, rng) for rewire in (0.0, 0.1))
    assert world.number_of_edges() == ring.number_of_edges() == 400
    moved = len(edges(world) - edges(ring))
    # 400 edges, each a shortcut with probability 0.1: 40 on average, standard deviation 6.
    assert 20 <= moved <= 60
    assert not any(one == other for one, other in world.edges)
    far = nx.average_shortest_path_length(ring)
    biggest = world.subgraph(max(nx.connected_components(world), key=len))
    assert nx.average_shortest_path_length(biggest) < far / 2
    assert nx.average_clustering(world) > 0.25, "a random graph of this size has 0.02"


def test_a_world_where_all_are_neighbours_has_nothing_to_rewire():
    assert edges(small_world(5, 4, 1.0, np.random.default_rng(0))) == edges(
        small_world(5, 4, 0.0, np.random.default_rng(0))
    )


@pytest.fixture
def csv(tmp_path):
    def write(text: str) -> str:
        path = tmp_path / "roads.csv"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_a_file_names_the_arms_and_weighs_the_edges(csv, tmp_path):
    path = csv("from,to,weight\nYork,Leeds,2\n\nLeeds,Hull,1\n")
    problem = epidemic(graph=path, infect=0.5, arrive=0.0)
    assert list(problem.arms.names) == ["York", "Leeds", "Hull"]
    assert problem.contagion.neighbours.toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    assert problem.name.startswith("epidemic on roads, 3 nodes")
    # Leeds is ill: twice a half chance for York, once for Hull.
    models = problem.models([[1, 0, 1]])[0]
    assert problem.arms.kernels[models, 0, 1, 0].tolist() == [0.75, 0.0, 0.5]
    save(problem, tmp_path / "p.npz")
    assert load(tmp_path / "p.npz").fingerprint == problem.fingerprint


def test_edges_of_a_file_weigh_one_unless_told(csv):
    problem = wildfire(graph=csv("to,from\na,b\nb,c\n"), burning=1)
    assert problem.contagion.neighbours.toarray().tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert list(problem.arms.names) == ["b", "a", "c"]


BAD_FILES = [
    ("", "roads.csv is empty; a first row with column names is wanted."),
    ("from,to\n", "has no edges"),
    ("from,to\n\n,\n", "has no edges"),
    ("from,to,length\na,b,1\n", "has the columns from, to, length; from, to and maybe weight"),
    ("from,to,to\na,b,c\n", "names a column twice: to"),
    ("from,to\na,b\na\n", "row 3 has 1 cell; 2 are wanted"),
    ("from,to\na,b\na, \n", "row 3, column 'to' is empty; a name is wanted"),
    ("from,to\n,b\n", "row 2, column 'from' is empty; a name is wanted"),
    ("from,to\na,b\n\nb,b\n", "row 4 joins b to itself; an edge joins two different nodes"),
    ("from,to\na,b\nb,a\n", "row 3 repeats b–a; an edge goes both ways"),
    ("from,to,weight\na,b,-1\n", "row 2, column 'weight' is -1; at least 1 is wanted"),
    ("from,to,weight\na,b,0\n", "row 2, column 'weight' is 0; at least 1 is wanted"),
    ("from,to,weight\na,b,1\nb,c,0.5\n", "row 3, column 'weight': '0.5' is not a whole number"),
    ("from,to,weight\na,b,\n", "row 2, column 'weight': '' is not a whole number"),
]


@pytest.mark.parametrize("family", [epidemic, wildfire])
@pytest.mark.parametrize(("text", "message"), BAD_FILES)
def test_a_bad_file_is_one_clear_line(csv, family, text, message):
    with pytest.raises(FileError) as caught:
        family(graph=csv(text))
    [line] = caught.value.lines
    assert message in line


def test_everything_wrong_in_a_file_is_said_at_once(csv):
    with pytest.raises(FileError) as caught:
        epidemic(graph=csv("from;to;weight\na;a;-1\nb;c;2\nc;b;x\n"))
    assert [line.rpartition("roads.csv ")[2] for line in caught.value.lines] == [
        "row 4, column 'weight': 'x' is not a whole number.",
        "row 2, column 'weight' is -1; at least 1 is wanted.",
        "row 2 joins a to itself; an edge joins two different nodes.",
        "row 4 repeats c–b; an edge goes both ways.",
    ]


def test_a_file_that_is_not_there_is_one_clear_line():
    with pytest.raises(FileError, match=r"nowhere\.csv"):
        epidemic(graph="nowhere.csv")


def test_the_number_of_arms_must_be_that_of_the_file(csv):
    path = csv("from,to\na,b\n")
    assert epidemic(graph=path, arms=2).arms.n_arms == 2
    with pytest.raises(ProblemError, match=r"arms is 5, but .*roads.csv names 2 nodes; leave arms"):
        epidemic(graph=path, arms=5)


def test_weights_beyond_reason_are_refused(csv):
    with pytest.raises(ProblemError, match="the edges of a sum to 2000; at most 1000 is wanted"):
        epidemic(graph=csv("from,to,weight\na,b,2000\n"))
