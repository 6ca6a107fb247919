"""Every command on a problem that prices cannot take apart."""

import json
from pathlib import Path

import pytest

from sequoia import load

REASON = "prices need arms that evolve on their own; in epidemic, 6 nodes, 1 treatment a step, seed"


@pytest.fixture
def epidemic(command):
    assert command("make", "epidemic", "--arms", 6, "--horizon", 5, "-o", "e.npz").code == 0
    rows = [f"node {node},{node % 2}\n" for node in range(6)]
    Path("state.csv").write_text("arm,state\n" + "".join(rows))
    return command


def test_show_says_who_infects(epidemic):
    shown = epidemic("show", "e.npz", "--plot", "e.png")
    assert "  contagion     state 0 of an arm bears on its neighbours, 1 to 4 of them" in shown.out
    assert Path("e.png").stat().st_size > 3_000
    assert json.loads(epidemic("show", "e.npz", "--json").out)["infects"] is True


def test_check_reads_every_table(epidemic):
    assert epidemic("make", "epidemic", "--arms", 6, "-o", "folder").code == 0
    checked = epidemic("check", "folder")
    assert checked.code == 0
    assert "note" not in checked.out
    assert {"contagion.csv", "neighbours.csv"} <= {file.name for file in Path("folder").iterdir()}


def test_exact_beats_myopic_and_stays_below_the_bound(epidemic):
    policies = "random,sampling,iterative-myopic,myopic,exact"
    done = epidemic(
        "evaluate", "e.npz", "--policies", policies, "--episodes", 40, "-o", "e.json", "--json"
    )
    assert done.code == 0
    found = json.loads(done.out)
    best = json.loads(epidemic("exact", "e.npz", "--json").out)["value_per_step"]
    assert found["bound"]["kind"] == "factored"
    assert found["bound"]["per_step"] >= best * (1 - 1e-9)
    mean = {name: one["mean"] for name, one in found["policies"].items()}
    assert mean["exact"] == pytest.approx(best, rel=0.1)
    assert mean["exact"] > mean["myopic"] > mean["random"]
    assert epidemic("report", "e.json", "-o", "r.html").code == 0
    assert "<td>factored, " in Path("r.html").read_text()


def test_evaluate_has_prices_and_a_bound(epidemic):
    done = epidemic("evaluate", "e.npz", "--episodes", 2)
    assert done.code == 0
    assert " myopic " in done.out
    assert " price " in done.out
    assert "(factored bound)" in done.out
    assert epidemic("evaluate", "e.npz", "--episodes", 2, "--bound", "none").err == ""


def test_bounds_of_both_kinds(epidemic):
    shown = epidemic("bound", "e.npz", "--table", 50)
    assert "factored: clusters of arms agree" in shown.out
    found = json.loads(epidemic("bound", "e.npz", "--json").out)
    best = json.loads(epidemic("exact", "e.npz", "--json").out)["value"]
    assert found["total"] >= best * (1 - 1e-9)
    given = ("--kind", "clairvoyant", "--table", 50, "--rounds", 40, "--scenarios", 5)
    guess = epidemic("bound", "e.npz", *given)
    assert guess.code == 0
    assert " ± " in guess.out
    assert "5 scenarios; " in guess.out
    assert json.loads(epidemic("bound", "e.npz", *given, "--json").out)["margin"] > 0
    endless = epidemic("bound", "e.npz", *given, "--discounted")
    assert endless.code == 0
    assert "discounted, for ever" in endless.out


def test_the_best_bound_there_is_says_which_it_is(command):
    """One table holds all of 6 nodes, so that their factored bound is exact; not of 12."""
    made = ("make", "epidemic", "--arms", 12, "--horizon", 6, "--seed", 1, "-o", "twelve.npz")
    assert command(*made).code == 0
    given = ("evaluate", "twelve.npz", "--policies", "myopic", "--episodes", 2)
    sure = json.loads(command(*given, "--bound", "factored", "--json").out)["bound"]
    done = command(*given, "-o", "twelve.json", "--json")
    best = json.loads(done.out)["bound"]
    assert best["kind"] == "clairvoyant"
    assert best["total"] + best["margin"] < sure["total"]
    assert command("report", "twelve.json", "-o", "twelve.html").code == 0
    page = Path("twelve.html").read_text()
    assert "<td>clairvoyant, " in page
    assert "per step (clairvoyant bound)" in page


def test_a_plan_by_prices_of_clusters(epidemic):
    planned = epidemic("plan", "e.npz", "--state", "state.csv", "--policy", "price")
    assert planned.code == 0
    assert "Next step: " in planned.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kind", "lp", "--table", "9"], "Ask for factored or clairvoyant."),
        (["--table", "0"], "'--table'"),
        (["--scenarios", "7"], "factored has no --scenarios."),
    ],
)
def test_bad_questions_about_bounds(epidemic, arguments, message):
    refused = epidemic("bound", "e.npz", *arguments)
    assert refused.code == 2
    assert message in refused.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["bound", "e.npz", "--kind", "hull"],
        ["evaluate", "e.npz", "--bound", "lp", "--episodes", "2"],
        ["evaluate", "e.npz", "--policies", "price-update", "--episodes", "2"],
    ],
)
def test_what_needs_prices_is_refused_in_one_line(epidemic, arguments):
    refused = epidemic(*arguments)
    assert (refused.code, refused.out) == (2, "")
    assert REASON in refused.err
    assert refused.err.count("\n") == 1


def test_a_policy_that_does_not_apply_names_one_that_does(epidemic):
    refused = epidemic("evaluate", "e.npz", "--policies", "price-update", "--episodes", "2")
    assert refused.err.endswith("The policy price takes them in clusters; use that.\n")


def test_a_table_too_large_is_said_with_its_size(epidemic):
    assert epidemic("make", "epidemic", "--arms", 12, "-o", "twelve.npz").code == 0
    refused = epidemic("bound", "twelve.npz", "--table", 50_000_000)
    assert (refused.code, refused.out) == (2, "")
    assert "tables of 1 cluster of up to 12 arms need " in refused.err
    assert refused.err.count("\n") == 1


@pytest.mark.parametrize(
    ("row", "said"),
    [("b,c,-2", "row 3, column 'weight' is -2"), ("b,b,2", "row 3 joins b to itself")],
)
def test_a_bad_graph_is_one_line_and_nothing_is_written(command, row, said):
    Path("roads.csv").write_text(f"from,to,weight\na,b,1\n{row}\n")
    refused = command("make", "epidemic", "--graph", "roads.csv", "-o", "e.npz")
    assert (refused.code, refused.out) == (2, "")
    assert said in refused.err
    assert refused.err.count("\n") == 1
    assert not Path("e.npz").exists()


def test_whittle_is_refused_too(epidemic):
    refused = epidemic("evaluate", "e.npz", "--policies", "whittle", "--episodes", "2")
    assert refused.code == 2
    assert "its arms infect each other" in refused.err


@pytest.mark.parametrize("policy", ["myopic", "exact", "random"])
def test_a_plan_speaks_of_the_next_step_only(epidemic, policy):
    planned = epidemic(
        "plan", "e.npz", "--state", "state.csv", "--policy", policy, "--why", "arm:2"
    )
    assert planned.code == 0
    assert "Next step: " in planned.out
    assert "Long run" not in planned.out
    assert "node 2 changes the next step by" in planned.out


def test_a_plan_is_myopic_unless_told(epidemic):
    planned = json.loads(epidemic("plan", "e.npz", "--state", "state.csv", "--json").out)
    assert planned["policy"] == "myopic"
    assert planned["value"]["long_run"] is None
    problem = load("e.npz")
    assert planned["fingerprint"] == problem.fingerprint
