"""On a real Ray cluster of two nodes, which happen to be on this machine."""

import os
from dataclasses import replace
from functools import partial

import pytest

from sequoia.errors import ProblemError
from sequoia.sweep import make_plan, run_locally, sweep

pytest.importorskip("ray", reason='ray is not installed; pip install "sequoia-plan[ray]"')
pytestmark = pytest.mark.filterwarnings("ignore")

PLAN = make_plan(
    {
        "policies": ["random", "myopic", "price"],
        "seeds": 3,
        "episodes": 6,
        "problems": [
            {"family": "capacity", "arms": [8, 10]},
            {"family": "capacity", "arms": 8, "most_cost": 0, "seeds": 1},
        ],
    },
    "plan",
)


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    from ray.cluster_utils import Cluster

    options = {"num_cpus": 1, "object_store_memory": 100_000_000, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=options)
    yield cluster
    cluster.shutdown()


def test_a_node_is_lost_in_the_middle_and_the_numbers_are_those_of_this_machine(cluster, tmp_path):
    from sequoia.sweep.ray import connected, run_on_ray

    second = cluster.add_node(num_cpus=1, object_store_memory=100_000_000)
    cluster.wait_for_nodes()
    done = []

    def losing_a_node(cells, work):
        for news in run_on_ray(cells, work):
            if news.outcome is not None:
                done.append(news.cell)
                if len(done) == 1:
                    cluster.remove_node(second, allow_graceful=False)
            yield news

    with connected(cluster.address, 1) as width:
        assert width == 2
        on_ray = sweep(PLAN, tmp_path / "ray", losing_a_node, width)
    here = sweep(PLAN, tmp_path / "here", partial(run_locally, jobs=2), 2)
    assert on_ray.done == here.done == 6
    assert on_ray.failed.keys() == here.failed.keys()
    assert all("most_cost is 0" in text for text in on_ray.failed.values())
    numbers = [(tmp_path / name / "numbers.csv").read_bytes() for name in ("ray", "here")]
    assert numbers[0] == numbers[1]
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def test_there_is_no_cluster(monkeypatch):
    from sequoia.sweep.ray import connected

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with (
        pytest.raises(ProblemError, match=r"there is no Ray cluster at '127.0.0.1:1'"),
        connected("127.0.0.1:1", 1),
    ):
        pass


def test_the_solver_of_a_plan_goes_along():
    from sequoia.sweep.ray import attempt_if_same

    cell = replace(PLAN.cells()[0], solver="abacus")
    assert "there is no solver 'abacus'" in attempt_if_same(cell, cell.key).error


def test_a_machine_with_another_version_says_so():
    from sequoia.sweep.ray import attempt_if_same

    assert "another version" in attempt_if_same(PLAN.cells()[0], "some other key").error
