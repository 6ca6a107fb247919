import json
from pathlib import Path

import pytest

from sequoia import Rules, load, save
from sequoia.problem.families import FAMILIES, capacity, routing, scheduling, trap
from sequoia.problem.summary import between


@pytest.mark.parametrize("family", FAMILIES)
def test_show_says_sizes_rules_and_fingerprint(command, family):
    problem = FAMILIES[family]()
    save(problem, "p.npz")
    shown = command("show", "p.npz")
    assert shown.code == 0
    assert shown.out.startswith(problem.name)
    system = problem.space.system
    for wanted in (problem.fingerprint, f"{system.n_columns} columns, {system.n_rows} row"):
        assert wanted in shown.out
    assert all(line == line.rstrip() for line in shown.out.splitlines())


def test_show_names_the_paper_sizes_of_routing(command):
    save(routing(arms=20, budget=5), "p.npz")
    assert "800 columns, 213 rows" in command("show", "p.npz").out


def test_show_as_json(command):
    problem = capacity().with_rules(Rules(must=["arm 3"], absent=["worker 1"]))
    save(problem, "p")
    content = json.loads(command("show", "p", "--json").out)
    assert content["fingerprint"] == problem.fingerprint
    assert content["compact_form"]["rows"] == problem.space.compact.n_rows
    assert content["rules"][1:] == ["must act on arm 3", "worker 1 is off"]


def test_show_draws(command):
    save(trap(), "p.npz")
    shown = command("show", "p.npz", "--plot", "p.png")
    assert "Drew p.png." in shown.out
    assert Path("p.png").stat().st_size > 3_000


def test_ranges_in_words():
    assert between([2, 6, 4]) == "2 to 6"
    assert between([3, 3]) == "3"
    assert between([]) == "none"


def marks(outcome):
    findings = outcome.out.split("\n\n")[0]
    return [line.split()[0] for line in findings.splitlines()]


@pytest.mark.parametrize("family", FAMILIES)
def test_check_finds_nothing_wrong_with_the_families(command, family):
    save(FAMILIES[family](), "p")
    checked = command("check", "p")
    assert checked.code == 0
    assert "problem" not in marks(checked)
    assert marks(checked).count("ok") >= 5


def test_check_notes_what_was_edited_and_what_nobody_reads(command):
    save(scheduling(), "p")
    assert "not edited since" in command("check", "p").out
    Path("p/nurses.csv").write_text("name\nAnna\n")
    file = Path("p/workers.csv")
    rows = file.read_text().splitlines()
    file.write_text("\n".join([f"{rows[0]},phone", *(f"{row},5" for row in rows[1:])]))
    toml = Path("p/problem.toml")
    toml.write_text(toml.read_text().replace("horizon = 20", "horizon = 10"))
    checked = command("check", "p")
    assert checked.code == 0
    assert marks(checked).count("note") == 3
    assert "edited since it was written" in checked.out
    assert "nurses.csv is not used" in checked.out
    assert "nobody reads the column phone" in checked.out


def test_check_names_the_rules_that_contradict(command):
    rules = Rules(must=["arm 3"], never=["arm 5", "arm 3"])
    save(capacity().with_rules(rules), "p.npz")
    checked = command("check", "p.npz")
    assert checked.code == 2
    assert marks(checked)[-1] == "problem"
    assert "must act on arm 3 | never act on arm 3" in checked.out
    assert "arm 5" not in checked.out
    assert checked.err == ""


def test_check_notes_what_can_never_be_chosen(command):
    # Closed walks of 4 steps come back from nodes that are 2 steps away.
    save(routing(arms=20, budget=3, steps=4), "p.npz")
    space = load("p.npz").space
    far = [n for n, d in zip(space.names, space.distance[space.source], strict=True) if d > 2]
    text = command("check", "p.npz").out
    assert far
    assert f"never chosen: {far[0]}" in text


def test_check_tells_apart_alone_and_in_company(command):
    # Arm 0 alone breaks the rule that arm 1 must be acted on; together they are fine.
    save(capacity().with_rules(Rules(must=["arm 1"], never=["arm 2"])), "p.npz")
    checked = command("check", "p.npz")
    assert "doing nothing is not allowed: row" in checked.out
    assert "never chosen: arm 2\n" in checked.out


def test_a_misspelt_name_is_refused(command):
    save(capacity(arms=3, workers=1), "p")
    file = Path("p/actions.csv")
    file.write_text(file.read_text().replace("arm 1", "arm one"))
    checked = command("check", "p")
    assert checked.code == 2
    assert checked.err.startswith("FileError: arms.csv names 'arm 1', which is not in actions.csv")


def test_exact_finds_the_way_out_of_the_trap(command):
    save(trap(), "tiny.npz")
    solved = command("exact", "tiny.npz")
    assert solved.code == 0
    assert "192.1 over 20 steps; 9.605 per step" in solved.out
    assert "Act on arm 1" in solved.out


def test_exact_as_json_and_discounted(command):
    save(trap(), "tiny.npz")
    plain = json.loads(command("exact", "tiny.npz", "--json").out)
    assert plain["value"] == pytest.approx(192.1)
    assert plain["value_per_step"] == pytest.approx(192.1 / 20)
    assert plain["action"] == ["arm 1"]
    assert plain["state"] == {"arm 0": 0, "arm 1": 0}
    discounted = json.loads(command("exact", "tiny.npz", "--json", "--discounted").out)
    # 0.1 from each arm at first, then 0.1 and 10 for ever.
    by_hand = 0.2 + 0.99 * 10.1 / (1 - 0.99)
    assert discounted["value"] == pytest.approx(by_hand)
    assert discounted["value_per_step"] == pytest.approx(0.01 * by_hand)
