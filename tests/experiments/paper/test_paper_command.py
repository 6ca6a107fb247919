import re
from pathlib import Path

import pytest

from experiments.paper import command as paper_command
from experiments.paper import experiment
from sequoia.sweep import make_plan


@pytest.fixture
def tiny(monkeypatch):
    """Stand in for the paper's plan: two tiny problems, and nothing to train."""
    asked = []

    def plan(quick=False, arms=(), seeds=(), episodes=None, parts=()):
        asked.append((quick, list(arms), list(seeds), episodes, *parts))
        return make_plan(
            {
                "policies": ["idle", "random", "myopic"],
                "seeds": 2,
                "episodes": 2,
                "problems": [
                    {"family": "capacity", "arms": 6, "horizon": 3},
                    {"family": "trap", "policies": ["idle", "exact"], "seeds": [1]},
                ],
            },
            "tiny",
        )

    monkeypatch.setattr(paper_command, "paper_plan", plan)
    return asked


def test_one_command_computes_and_draws_everything(reproduce, tiny):
    outcome = reproduce("--quick", "-o", "results", "--jobs", 1)
    wrote = "Wrote results/report.html, results/figures and results/tables.\n"
    assert outcome == (0, wrote, "")
    assert tiny == [(True, [], [], None)]
    for name in ("settings", "trap", "sigmoid", "underground"):
        assert Path(f"results/figures/{name}.png").stat().st_size > 5_000
    assert "Capacity constraints" in Path("results/tables/rewards.csv").read_text()
    page = Path("results/report.html").read_text()
    assert "3 problems with up to 2 seeds are done" in page
    # Drawn again from the same cells, the page is the same.
    Path("results/report.html").unlink()
    assert reproduce("-o", "results", "--draw") == (0, wrote, "")
    strip = re.compile(r'src="[^"]*"')
    assert strip.sub("", Path("results/report.html").read_text()) == strip.sub("", page)
    assert len(tiny) == 1


def test_its_cost_is_said_beforehand(reproduce, tiny, monkeypatch):
    # Costs of this test's own: those of the experiment change with each machine it is run on.
    known = {"capacity": (24.0, 50.0, 90.0), "trap": (5.0, 5.0, 5.0)}
    monkeypatch.setattr("experiments.paper.costs.POLICY_SECONDS", known)
    outcome = reproduce("-o", "r", "--dry-run", "--jobs", 2, "--parts", "main,rivals")
    assert outcome.code == 0
    assert tiny == [(False, [], [], None, "main", "rivals")]
    assert re.search(r"capacity, 6: policies +2 +about 48 s", outcome.out)
    assert "3 cells: about 53 s of core time, about 26 s on 2 cores" in outcome.out
    assert not Path("r").exists()


@pytest.mark.usefixtures("tiny")
def test_what_is_done_costs_nothing_any_more(reproduce):
    assert reproduce("-o", "r").code == 0
    done = reproduce("-o", "r", "--dry-run")
    assert done == (0, "r has 3 of 3 cells already.\n", "")
    next(Path("r/cells").glob("trap*/result.json")).unlink()
    outcome = reproduce("-o", "r", "--dry-run")
    assert outcome.out.startswith("r has 2 of 3 cells already.")
    assert "trap" in outcome.out
    assert "capacity" not in outcome.out
    assert "1 cell: about" in outcome.out


def test_sizes_and_seeds_are_passed_on(reproduce, tiny):
    sizes = ("--arms", "20, 40", "--seeds", "3,1", "--episodes", 7)
    outcome = reproduce("-o", "r", *sizes, "--dry-run")
    assert outcome.code == 0
    assert tiny == [(False, [20, 40], [3, 1], 7)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--quick", "--output"),
        ("-o results --arms twenty", "--arms is 'twenty'; whole numbers such as 20,40"),
        ("-o results --seeds 0", "--seeds is '0'"),
        ("-o results --arms 20,40 --seeds 1,2,3", "3 numbers of seeds for 2 sizes"),
        ("-o results --parts main,mine", "there is no part 'mine'; known: main, rivals, beyond"),
        ("-o nowhere --draw", "nowhere/times.csv does not exist"),
    ],
)
def test_what_goes_wrong_is_one_line(reproduce, arguments, words):
    outcome = reproduce(*arguments.split())
    assert outcome.code == 2
    assert outcome.out == ""
    assert words in outcome.err
    assert outcome.err.count("\n") == 1
    assert not Path("results").exists()


def test_every_ablation_is_a_setting_that_training_knows():
    entries = {
        entry.name: entry for cell in experiment.paper_plan().cells() for entry in cell.entries
    }
    for name in experiment.ABLATIONS:
        assert entries[name].training.settings() != entries["sequoia"].training.settings()
