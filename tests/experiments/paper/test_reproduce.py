import csv
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from experiments.paper import report
from experiments.paper.costs import expected_costs
from experiments.paper.experiment import (
    ABLATION_SEEDS,
    ABLATIONS,
    POLICIES,
    RIVALS,
    SETTINGS,
    paper_plan,
)
from experiments.paper.figures import plot_field
from experiments.paper.results import Record, Results
from experiments.paper.tables import Table, all_tables, differences, field
from sequoia.errors import FileError, ProblemError
from sequoia.sweep import make_plan, sweep
from sequoia.sweep.executor import CellEvent, Outcome
from sequoia.sweep.run_cell import CellResult, PolicyNumbers, PolicyTimes


def made_up(cells, _work, fails=lambda _: False):
    """Compute nothing: better policies earn more, and everybody earns more on later seeds."""
    for cell in cells:
        if fails(cell):
            yield CellEvent(cell, Outcome(None, "made up"))
            continue
        rng = np.random.default_rng(cell.seed)
        numbers, times = {}, {}
        for rank, entry in enumerate(cell.entries):
            if cell.family == "routing" and entry.name.startswith("iterative"):
                numbers[entry.name] = PolicyNumbers(reason="it does not apply")
                continue
            rewards = 1 + rank + 0.1 * cell.seed + 0.1 * rng.random(cell.episodes)
            numbers[entry.name] = PolicyNumbers(rewards=tuple(rewards.tolist()))
            times[entry.name] = PolicyTimes(
                decisions=200,
                at_limit=3,
                mean=0.01,
                median=0.008,
                slow=0.02,
                slowest=0.03,
                training=None if entry.training is None else 90.0,
            )
        found = CellResult(
            problem=cell.family,
            fingerprint="made up",
            steps=20,
            random=(2.0,) * cell.episodes,
            bound=11.0,
            numbers=numbers,
            times=times,
            bound_seconds=0.1,
            seconds=1.0,
        )
        yield CellEvent(cell, Outcome(found))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("results")
    sweep(paper_plan(arms=[20, 40], seeds=[3, 2]), path, made_up, 1)
    report.write_report(path)
    return path


def rows_of(folder: Path, name: str):
    with (folder / "tables" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def names_of(cell):
    return [entry.name for entry in cell.entries]


def test_the_plan_is_that_of_the_paper():
    cells = paper_plan().cells()
    main = [cell for cell in cells if cell.family != "trap" and cell.entries[0].name == "idle"]
    assert len(main) == 4 * 3 * 10
    assert {cell.family for cell in main} == set(SETTINGS)
    assert {cell.bound for cell in main} == {"hull"}
    assert {cell.episodes for cell in main} == {50}
    assert {cell.problem().horizon for cell in main[::20]} == {20}
    assert {cell.seed for cell in main} == set(range(1, 11))
    assert [cell.knobs["arms"] for cell in main] == sorted(cell.knobs["arms"] for cell in main)
    ablated = [cell for cell in cells if cell.entries[0].name in ABLATIONS]
    assert len(ablated) == 4 * ABLATION_SEEDS
    slow = {cell.knobs["arms"] for cell in main if "price-update" in names_of(cell)}
    assert slow == {20}
    assert all({*POLICIES} - {*names_of(cell)} <= {"price-update"} for cell in main)
    assert {cell.knobs["arms"] for cell in ablated} == {20}
    assert [cell.family for cell in cells].count("trap") == 1


def test_a_quick_one_and_parts_of_it():
    quick = paper_plan(quick=True).cells()
    assert {cell.knobs.get("arms", 20) for cell in quick} == {20}
    assert {cell.episodes for cell in quick} == {10}
    parts = paper_plan(arms=[20, 100], seeds=[4, 1], parts=["main"]).cells()[1:]
    assert {cell.seed for cell in parts if cell.knobs["arms"] == 20} == {1, 2, 3, 4}
    assert {cell.seed for cell in parts if cell.knobs["arms"] == 100} == {1}
    with pytest.raises(ProblemError, match="3 numbers of seeds for 2 sizes"):
        paper_plan(arms=[20, 40], seeds=[1, 2, 3])


def test_rivals_and_other_families_meet_the_same_problems():
    cells = paper_plan(parts=["rivals", "beyond"]).cells()
    rivals = [cell for cell in cells if cell.entries[0].name in RIVALS]
    met = Counter(
        (cell.family, *cell.knobs.values(), cell.seed, *names_of(cell)) for cell in rivals
    )
    assert set(met.values()) == {1}
    played = Counter(name for cell in rivals for name in names_of(cell))
    assert played == dict.fromkeys(RIVALS, 10 * (4 * 3 + 2 + 1))
    others = [cell for cell in cells if cell not in rivals]
    assert Counter((cell.family, *cell.knobs.values()) for cell in others) == {
        ("epidemic", 20): 10,
        ("epidemic", 100): 10,
        ("assortment", 20): 10,
    }
    presets = {cell.family: cell.entries[-1].training.preset for cell in others}
    assert presets == {"epidemic": "default", "assortment": "default"}


def test_its_cost_grows_with_what_is_asked_for():
    few, more = (
        sum(cost.seconds for cost in expected_costs(paper_plan(seeds=[n]).cells())) for n in (1, 3)
    )
    assert 0 < few < more / 2


def test_numbers_of_another_commit_are_named():
    old = [{"policy": name, "commit": "0ld"} for name in ("price", "myopic", "sequoia")]
    assert report.commits(old) == "commit 0ld"
    new = [{"policy": name, "commit": "n3w"} for name in ("srl", "lsflow")]
    assert report.commits(new + old) == "commit 0ld (lsflow and srl: commit n3w)"
    assert report.commits([*old, {"policy": "idle"}]) == "commit 0ld (idle: commit unknown)"


def test_differences_are_paired_and_corrected():
    """Two policies that differ by a little on every seed: a tie among many comparisons."""
    times = PolicyTimes(decisions=1, at_limit=0, mean=0, median=0, slow=0, slowest=0)
    earned = {"sequoia": (10, 20, 30), "price": (9, 18.2, 27), "myopic": (9.7, 19.7, 29)}
    records = [
        Record("capacity", 20, seed, name, float(mean), 1.0, None, times)
        for name, means in earned.items()
        for seed, mean in enumerate(means)
    ]
    results = Results(tuple(records))
    rows = {row[2]: row for row in differences(results).rows}
    assert rows["price"][4].startswith("-9.7 ±")
    assert rows["price"][5] == "behind"
    assert rows["myopic"][5] == "tie"
    change = np.array([-3.0, -1.5, -100 / 30])
    half = stats.t.ppf(1 - 0.025 / 2, 2) * change.std(ddof=1) / np.sqrt(3)
    assert rows["myopic"][4] == f"{change.mean():.1f} ± {half:.1f}"
    in_one = field(results)
    assert in_one.heads == ("setting", "J", "seeds", "myopic", "price")
    (row,) = in_one.rows
    # Three seeds are too few to say more than the mean.
    assert row[3:] == ("-2.6", "-9.7")


def test_the_field_says_who_is_ahead_where_there_are_seeds_enough():
    times = PolicyTimes(decisions=1, at_limit=0, mean=0, median=0, slow=0, slowest=0)
    earned = {
        "sequoia": (10, 20, 30, 40, 50),
        "myopic": (9, 21, 29, 41, 50),
        "price": (11, 22, 33.003, 44, 55),
        "srl": (9,),
    }
    records = [
        Record("epidemic", 20, seed, name, float(mean), 1.0, None, times)
        for name, means in earned.items()
        for seed, mean in enumerate(means)
    ]
    (row,) = field(Results(tuple(records))).rows
    assert row[:3] == ("Epidemic", "20", "5, 1")
    assert row[3].startswith("(-1.2 ± ")
    assert row[4:] == ("10.0 ± 0.0 ahead", "-10.0")
    axes = plot_field(Results(tuple(records)))
    assert [text.get_text() for text in axes.get_yticklabels()] == ["Epidemic, 20"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["myopic", "price", "srl"]


def test_everything_is_written(folder):
    figures = {path.name for path in (folder / "figures").iterdir()}
    names = ("settings", "field", "trap", "ablations", "sigmoid", "underground")
    assert figures == {f"{name}.{form}" for name in names for form in ("png", "svg", "pdf")}
    assert all(path.stat().st_size > 5_000 for path in (folder / "figures").iterdir())
    tables = {path.name for path in (folder / "tables").iterdir()}
    names = ("claims", "field", "differences", "rewards", "training", "ablations", "decisions")
    assert tables == {f"{name}.{form}" for name in names for form in ("csv", "tex")}
    text = (folder / "report.html").read_text()
    assert text.count("<img") == 6
    assert text.count("<table") == 7
    assert "http" not in text.replace('src="data:image', "")


def test_the_headline_claims(folder):
    rows = {(row["claim"], row["setting"]): row for row in rows_of(folder, "claims")}
    results = Results.read(folder)
    over = [results.percent_over("capacity", arms, "sequoia", "myopic") for arms in (20, 40)]
    one = rows["SEQUOIA over myopic", "Capacity constraints"]
    assert float(one["measured, %"].split(" ± ")[0]) == pytest.approx(
        np.mean([values.mean() for values in over]), abs=0.05
    )
    assert one["problems"] == "5"
    assert rows["SEQUOIA over the best existing", "all settings"]["paper, %"] == "24.8"
    assert ("SEQUOIA over iterative DQN", "Path constraints") not in rows
    assert float(rows["SEQUOIA of the bound", "all settings"]["measured, %"].split()[0]) > 50


def test_times_stand_beside_the_papers(folder):
    rows = {(row["J"], row["preset"]): row for row in rows_of(folder, "training")}
    assert rows["20", "default"]["mean"] == "1.50"
    assert (rows["20", "default"]["paper"], rows["40", "default"]["paper"]) == ("25.5", "76.7")
    assert ("20", "paper") in rows
    assert ("40", "paper") not in rows
    assert {row["% at the limit"] for row in rows_of(folder, "decisions")} == {"1.5"}


def test_every_policy_that_applies_is_in_the_table_of_rewards(folder):
    rows = rows_of(folder, "rewards")
    # No iterative policies in routing, and no price-update beyond 20 arms.
    every = 3 * len(POLICIES) + len(POLICIES) - 2
    assert len(rows) == every + every - 4
    random = next(row for row in rows if row["policy"] == "random")
    assert float(random["standard error"]) > 0


def test_what_is_done_can_be_drawn_before_all_is(tmp_path, monkeypatch):
    drawn = set()
    monkeypatch.setattr(report, "save_plot", lambda _, path: drawn.add(path.stem))
    plan = paper_plan(quick=True)
    only_capacity = partial(made_up, fails=lambda cell: cell.family != "capacity")
    assert sweep(plan, tmp_path, only_capacity, 1).failed
    report.write_report(tmp_path)
    assert drawn == {"settings", "field", "sigmoid", "underground"}
    assert {row["setting"] for row in rows_of(tmp_path, "rewards")} == {"Capacity constraints"}
    nothing = tmp_path / "nothing"
    sweep(plan, nothing, partial(made_up, fails=lambda _: True), 1)
    with pytest.raises(FileError, match="no finished cell"):
        report.write_report(nothing)


def test_the_two_tables_are_enough_to_draw_again(folder, tmp_path):
    for name in ("numbers.csv", "times.csv"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    assert Results.read(tmp_path) == Results.read(folder)
    (tmp_path / "numbers.csv").write_text("mean\n3\n")
    with pytest.raises(FileError, match="is not what a sweep wrote"):
        Results.read(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("times.csv", b"mean\n3\n"),
        ("times.csv", b"\xff\xfe"),
        ("numbers.csv", b"mean\n3\n"),
        ("numbers.csv", None),
    ],
)
def test_a_damaged_table_is_one_line_that_names_it(folder, tmp_path, name, content):
    for file in ("numbers.csv", "times.csv"):
        (tmp_path / file).write_bytes((folder / file).read_bytes())
    if content is None:
        rows = (tmp_path / name).read_text().splitlines()
        place = rows[0].split(",").index("mean")
        cells = rows[1].split(",")
        content = "\n".join([rows[0], ",".join([*cells[:place], "inf", *cells[place + 1 :]])])
        content = content.encode()
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=f"{name} is not what a sweep wrote"):
        Results.read(tmp_path)


def test_a_sweep_of_other_things_has_no_such_tables(tmp_path):
    plan = make_plan({"policies": ["random"], "problems": [{"family": "standard"}]}, "plan")
    sweep(plan, tmp_path, made_up, 1)
    assert all_tables(Results.read(tmp_path)) == []


def test_tables_are_safe_for_latex_and_html():
    table = Table("t", "50 % & more", ("a_b", "c"), [("1 ± 2", "<b>")], "A note.")
    assert r"\textbf{a\_b} & \textbf{c} \\" in table.latex()
    assert r"1 $\pm$ 2 & <b> \\" in table.latex()
    assert r"\caption{50 \% \& more. A note.}" in table.latex()
    assert "<td>&lt;b&gt;</td>" in table.html()
    assert table.csv() == "a_b,c\n1 ± 2,<b>\n"
