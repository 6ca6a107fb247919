import inspect
from pathlib import Path

import pytest

from sequoia import load
from sequoia.problem.families import FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_becomes_a_command(command, family):
    outcome = command("make", family, "-o", "problem.npz")
    problem = load("problem.npz")
    assert outcome.code == 0
    assert outcome.err == ""
    assert outcome.out.count("\n") == 1
    assert problem.fingerprint in outcome.out
    assert problem.fingerprint == FAMILIES[family]().fingerprint


@pytest.mark.parametrize("family", FAMILIES)
def test_every_knob_is_an_option(command, family):
    words = command("make", family, "--help").out
    for knob in inspect.signature(FAMILIES[family]).parameters:
        assert f"--{knob.replace('_', '-')}" in words


def test_knobs_of_every_type_arrive(command):
    arguments = [
        "--arms",
        "8",
        "--workers",
        "3",
        "--distinct-workers",
        "--no-skew",
        "--start-share",
        "0.5",
    ]
    assert command("make", "scheduling", *arguments, "-o", "folder").code == 0
    wanted = FAMILIES["scheduling"](arms=8, workers=3, distinct_workers=True, start_share=0.5)
    assert load("folder").fingerprint == wanted.fingerprint
    assert command("make", "interventions", "--link", "linear", "-o", "l.npz").code == 0
    assert load("l.npz").fingerprint == FAMILIES["interventions"](link="linear").fingerprint


def test_the_lines_of_the_readme(command):
    capacity = ["--arms", "20", "--workers", "5", "--seed", "1", "-o", "cap20.npz"]
    routing = ["--arms", "40", "--budget", "10", "--seed", "1", "-o", "tube40/"]
    assert command("make", "capacity", *capacity).code == 0
    assert command("make", "routing", *routing).code == 0
    assert {"problem.toml", "arms.csv", "edges.csv"} <= {p.name for p in Path("tube40").iterdir()}


def test_a_number_beyond_all_reason_is_a_short_line(command):
    outcome = command("make", "capacity", "--most-cost", "9" * 400, "-o", "p.npz")
    assert outcome.code == 2
    assert outcome.err == (
        "ProblemError: most_cost is 99999… (400 digits); at most 1000000000000 is wanted.\n"
    )


def test_force_overwrites(command):
    assert command("make", "trap", "-o", "t.npz").code == 0
    assert command("make", "trap", "-o", "t.npz").code == 2
    assert command("make", "trap", "--horizon", 3, "-o", "t.npz", "--force").code == 0
    assert load("t.npz").horizon == 3


def test_routing_on_a_graph_of_ones_own(command):
    Path("edges.csv").write_text("from,to,length\nA,B,1\nB,C,2\nC,A,1\n")
    arguments = ["--source", "B", "--budget", "2", "--steps", "4", "-o", "g.npz"]
    assert command("make", "routing", "--edges", "edges.csv", *arguments).code == 0
    space = load("g.npz").space
    assert list(space.names) == ["A", "B", "C"]
    assert space.names[space.source] == "B"
    assert sorted(space.lengths.tolist()) == [1, 1, 2]


def test_walks_begin_at_the_first_node_unless_told(command):
    Path("edges.csv").write_text("from,to\nX,Y\nY,Z\n")
    assert command("make", "routing", "--edges", "edges.csv", "-o", "g.npz").code == 0
    assert load("g.npz").space.source == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; a first row with column names is wanted"),
        ("from,to\n", "has no edges"),
        ("a,b\n1,2\n", "a, b; from, to and maybe length are wanted"),
        ("from,to\nA,B\nB,A\n", "row 3 repeats B–A"),
        ("from,to\nA\n", "row 2 has 1 cell; 2 are wanted"),
        ("from,to\nA,B,C\n", "row 2 has 3 cells; 2 are wanted"),
        ("from,to,length\nA,B,far\n", "'far' is not a whole number"),
        ("from,to,length\nA,B,0\n", "row 2, column 'length' is 0; at least 1 is wanted"),
        ("from,to\nA,A\n", "row 2 joins A to itself; an edge joins two different nodes"),
    ],
)
def test_a_wrong_edge_list_is_one_line(command, text, message):
    Path("edges.csv").write_text(text)
    outcome = command("make", "routing", "--edges", "edges.csv", "-o", "g.npz")
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_the_command_makes_epidemics_on_every_kind_of_graph(command):
    Path("roads.csv").write_text("from,to\nYork,Leeds\nLeeds,Hull\n")
    for graph, size in (("lattice", 20), ("small-world", 20), ("villages", 20), ("roads.csv", 3)):
        arguments = ("make", "epidemic", "--graph", graph, "--force", "-o", "p.npz")
        assert command(*arguments).code == 0
        assert load("p.npz").arms.n_arms == size
    plain = command("make", "epidemic", "-o", "q.npz").out
    assert plain.partition("fingerprint")[2].strip() == "dff21f6c3bca1c37)."
    refused = command("make", "epidemic", "--graph", "star", "-o", "r.npz")
    assert refused.code == 2
    wanted = "villages, lattice, small-world or the name of a .csv file is wanted"
    assert wanted in refused.err
    assert refused.err.count("\n") == 1
    assert not Path("r.npz").exists()
