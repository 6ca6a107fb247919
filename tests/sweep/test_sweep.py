import csv
import json
import multiprocessing
import os
import signal
import sys
import threading
from functools import partial

import numpy as np
import pytest

from sequoia.errors import FileError
from sequoia.evaluation import evaluate
from sequoia.evaluation.processes import ONE_THREAD, starting
from sequoia.io import locked
from sequoia.policies import POLICIES, Random
from sequoia.simulate import Decided
from sequoia.sweep import ResultsFolder, make_plan, run_locally, status, sweep
from sequoia.sweep.driver import seed_by_seed
from sequoia.sweep.executor import CellEvent, attempt
from sequoia.sweep.folder import seconds_left

CONTENT = {
    "policies": ["random", "iterative-myopic", "price"],
    "seeds": 2,
    "episodes": 3,
    "problems": [
        {"family": "capacity", "arms": 6, "horizon": 4},
        {"family": "routing", "horizon": 3, "seeds": [5], "bound": "none"},
    ],
}
PLAN = make_plan(CONTENT, "plan")
ONE_CORE = partial(run_locally, jobs=1)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    path = tmp_path_factory.mktemp("results")
    sweep(PLAN, path, partial(run_locally, jobs=2), 2)
    return path


def rows_of(path, name="numbers.csv"):
    with (path / name).open() as file:
        return list(csv.DictReader(file))


def test_numbers_are_those_of_an_evaluation_by_hand(swept):
    rows = rows_of(swept)
    assert len(rows) == 9
    for cell in PLAN.cells()[:2]:
        found = evaluate(cell.problem(), ["random", "iterative-myopic", "price"], 3, cell.seed)
        for name in found.names:
            (row,) = [
                row
                for row in rows
                if (row["family"], row["seed"], row["policy"]) == ("capacity", str(cell.seed), name)
            ]
            mean = found.mean(name)
            assert (float(row["mean"]), float(row["low"])) == (mean.mean, mean.low)
            assert float(row["relative_to_random"]) == found.relative_to_random(name)
            assert float(row["percent_of_bound"]) == found.percent_of_bound(name)


def test_a_policy_that_does_not_apply_is_no_failure(swept):
    rows = {row["policy"]: row for row in rows_of(swept) if row["family"] == "routing"}
    assert rows["iterative-myopic"]["mean"] == ""
    assert "no simple way to build a closed walk" in rows["iterative-myopic"]["does_not_apply"]
    assert float(rows["price"]["mean"]) > 0
    assert rows["price"]["bound"] == ""
    assert status(swept).failed == {}


def test_times_are_in_a_table_of_their_own(swept):
    assert not any("second" in column or "_ms" in column for column in rows_of(swept)[0])
    for row in rows_of(swept, "times.csv"):
        assert float(row["decision_ms_mean"]) > 0
        assert int(row["decisions"]) in (12, 9)
        assert row["decisions_at_limit"] == "0"
    assert sum(row["training_seconds"] == "" for row in rows_of(swept, "times.csv")) == 8


def test_finished_cells_are_skipped_and_more_can_be_asked_for(swept, tmp_path):
    numbers = (swept / "numbers.csv").read_bytes()
    began = []

    def watched(cells, work):
        for news in run_locally(cells, work, 1):
            began.append(news.cell.seed)
            yield news

    again = sweep(PLAN, swept, watched, 1)
    assert (again.done, again.kept, again.failed, began) == (3, 3, {}, [])
    assert (swept / "numbers.csv").read_bytes() == numbers
    more = sweep(make_plan(CONTENT | {"seeds": 3}, "plan"), swept, watched, 1)
    assert (more.done, more.kept, set(began)) == (4, 3, {3})
    fresh = sweep(make_plan(CONTENT | {"seeds": 3}, "plan"), tmp_path, ONE_CORE, 1)
    assert fresh.kept == 0
    assert (tmp_path / "numbers.csv").read_bytes() == (swept / "numbers.csv").read_bytes()
    # A damaged result counts as none.
    next(swept.glob("cells/*-seed1-*/result.json")).write_text("{")
    assert sweep(PLAN, swept, ONE_CORE, 1).kept == 2
    assert (swept / "numbers.csv").read_bytes() == numbers


def test_a_failed_cell_keeps_its_error_and_stops_nobody(tmp_path):
    content = CONTENT | {"problems": [{"family": "capacity", "arms": 6, "most_cost": [0, 6]}]}
    plan = make_plan(content | {"seeds": 1}, "plan")
    found = sweep(plan, tmp_path, ONE_CORE, 1)
    assert found.done == 1
    (text,) = found.failed.values()
    assert "Traceback" in text
    assert "most_cost is 0" in text
    (error,) = tmp_path.glob("cells/*/error.txt")
    assert error.read_text().strip() == text.strip()
    state = status(tmp_path)
    assert (state.done, state.left, len(state.running)) == (1, 0, 0)
    assert "most_cost is 0" in next(iter(state.failed.values()))
    assert len(rows_of(tmp_path)) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_a_process_that_dies_takes_only_its_own_cell_along(tmp_path):
    cells = PLAN.cells()
    folder = ResultsFolder(tmp_path)
    folder.make()
    outcomes = {}
    for cell, outcome in run_locally(cells, folder.work, 1):
        if outcome is not None:
            outcomes[cell.key] = outcome
        elif cell is cells[1]:
            for child in multiprocessing.active_children():
                os.kill(child.pid, signal.SIGKILL)
    assert outcomes[cells[1].key].result is None
    assert "ended from outside" in outcomes[cells[1].key].error
    assert all(outcomes[cells[i].key].result is not None for i in (0, 2))


def test_processes_have_one_thread_each(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with starting():
        assert {os.environ[name] for name in ONE_THREAD} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_a_second_sweep_into_the_same_folder_is_refused(tmp_path):
    folder = ResultsFolder(tmp_path)
    folder.make()
    assert not folder.is_in_use
    with folder.locked():
        assert folder.is_in_use
        with pytest.raises(FileError, match=f"process id {os.getpid()} is writing to it"):
            sweep(PLAN, tmp_path, ONE_CORE, 1)
    assert not folder.is_in_use


def test_a_cell_waits_for_what_is_left_of_a_killed_sweep(tmp_path):
    """Whoever lost its sweep may still write a last piece: nobody else is in there until then."""
    folder = ResultsFolder(tmp_path)
    folder.make()
    cell, news = PLAN.cells()[0], []
    other = threading.Thread(target=lambda: news.extend(run_locally([cell], folder.work, 1)))
    with locked(folder.work(cell), "sweep"):
        other.start()
        other.join(1.0)
        assert not any(one.outcome for one in news)
        pieces = list(folder.work(cell).glob("*.npz"))
    other.join()
    assert not pieces
    assert news[-1].outcome.result is not None


def test_status_of_a_running_sweep(tmp_path):
    seen = []

    def watched(cells, work):
        for news in run_locally(cells, work, 1):
            yield news
            if news.outcome is None:
                seen.append(status(tmp_path))

    progress = []
    sweep(PLAN, tmp_path, watched, 1, progress.append)
    assert [(one.done, len(one.running), one.left) for one in seen] == [
        (0, 1, 2),
        (1, 1, 1),
        (2, 1, 0),
    ]
    assert seen[0].seconds_left is None
    assert seen[1].seconds_left > 0
    assert [one.done for one in progress] == [1, 2, 3]
    assert progress[-1].seconds_left == 0
    with pytest.raises(FileError, match="it has no cells"):
        status(tmp_path / "cells")
    with pytest.raises(FileError, match="is not a folder"):
        status(tmp_path / "nowhere")


def test_a_long_sweep_can_be_looked_at_before_it_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("sequoia.sweep.driver.SECONDS_BETWEEN_TABLES", 0.0)
    seen = []

    def watched(cells, work):
        for news in run_locally(cells, work, 1):
            if news.outcome is not None and (tmp_path / "numbers.csv").exists():
                seen.append(len(rows_of(tmp_path)))
            yield news

    sweep(PLAN, tmp_path, watched, 1)
    assert seen == [3, 6]
    assert len(rows_of(tmp_path)) == 9


def test_time_left_is_expected_by_group():
    first, second, third = PLAN.cells()
    assert first.group == second.group != third.group
    assert seconds_left([], {first: 4.0}, {}, 1) == 0
    assert seconds_left([second], {}, {}, 1) is None
    assert seconds_left([second], {first: 4.0}, {}, 1) == 4.0
    assert seconds_left([second], {first: 4.0}, {second.key: 1.0}, 1) == 3.0
    assert seconds_left([second], {first: 4.0}, {second.key: 9.0}, 1) == 0.0
    assert seconds_left([second, second], {first: 4.0, third: 8.0}, {}, 2) == 4.0
    # A group that nobody knows yet takes as long as everybody on average.
    assert seconds_left([third], {first: 4.0, second: 2.0}, {}, 8) == 3.0


def test_decisions_at_their_limit_are_counted(tmp_path, monkeypatch):
    """The first two decisions say that they were cut off; the table says how many."""

    class Hasty(Random):
        def decide(self, state, step, rng, episode):
            drawn = super().decide(state, step, rng, episode)
            return Decided(drawn, 1.0, 2.0, "work" if step < 2 else "optimum")

    monkeypatch.setitem(POLICIES.library, "random", Hasty)
    sweep(make_plan(CONTENT | {"seeds": 1, "policies": ["random"]}, "p"), tmp_path, here, 1)
    rows = rows_of(tmp_path, "times.csv")
    assert [row["decisions_at_limit"] for row in rows] == ["6", "6"]
    assert [row["decisions"] for row in rows] == ["12", "9"]


def here(cells, work):
    for cell in cells:
        yield CellEvent(cell)
        yield CellEvent(cell, attempt(cell, work(cell)))


def test_results_hold_every_episode(swept):
    cell = PLAN.cells()[0]
    found = ResultsFolder(swept).result(cell)
    assert len(found.numbers["price"].rewards) == len(found.random) == 3
    assert found.numbers["random"].rewards == found.random
    by_hand = evaluate(cell.problem(), ["price"], 3, cell.seed, bound="none")
    assert np.array_equal(found.numbers["price"].rewards, by_hand.rewards[0].mean(axis=1))
    (file,) = swept.glob(f"cells/{cell.key}/*")
    assert json.loads(file.read_text())["steps"] == 4


def test_the_first_seed_of_every_problem_comes_first():
    problems = [{"family": "trap", "horizon": [3, 4]}, {"family": "standard", "seeds": 2}]
    content = {"policies": ["random"], "seeds": [5, 6, 7], "problems": problems}
    found = [(c.family, c.knobs.get("horizon"), c.seed) for c in seed_by_seed(_cells(content))]
    assert found == [
        *(("trap", 3, 5), ("trap", 4, 5), ("standard", None, 1)),
        *(("trap", 3, 6), ("trap", 4, 6), ("standard", None, 2)),
        *(("trap", 3, 7), ("trap", 4, 7)),
    ]


def _cells(content):
    return make_plan(content, "plan").cells()
