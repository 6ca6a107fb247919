"""What would need too much is refused first, with its size, in a child with little memory."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sequoia import Schedule, Walk, save
from sequoia.problem.families import scheduling, trap

LITTLE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from sequoia.cli import main
main(sys.argv[1:])
"""
# Every line of a list in one process, which would import for a second each.
LINES = """
import io, json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from contextlib import redirect_stderr
from sequoia.cli import main
ends = []
for line in json.loads(sys.argv[1]):
    with redirect_stderr(io.StringIO()) as said:
        try:
            main(line.split())
        except SystemExit as stop:
            ends.append([stop.code, said.getvalue()])
print(json.dumps(ends))
"""
PLAN = """
policies = ["random"]
seeds = {seeds}
episodes = {episodes}

[[problems]]
family = "trap"
horizon = {horizons}
"""


def run(*arguments, code=LITTLE):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(trap(), "p.npz")
    save(trap(), "long")
    toml = Path("long/problem.toml")
    toml.write_text(toml.read_text().replace("horizon = 20", "horizon = 10000000"))
    save(scheduling(arms=6), "visits")
    toml = Path("visits/problem.toml")
    toml.write_text(toml.read_text().replace("visits = 2", "visits = 3000000000"))
    Path("deep.toml").write_text("x = " + "[" * 5000 + "]" * 5000)
    Path("deep").mkdir()
    Path("deep/problem.toml").write_text("x = " + "[" * 5000 + "]" * 5000)
    Path("cells.toml").write_text(PLAN.format(seeds=10**4, episodes=1, horizons=[*range(1, 10**4)]))
    Path("seeds.toml").write_text(PLAN.format(seeds=10**8, episodes=1, horizons=5))
    Path("episodes.toml").write_text(PLAN.format(seeds=1, episodes=10**10, horizons=5))


@pytest.mark.usefixtures("here")
def test_it_is_said_in_one_line():
    cases = [
        ("show long", "problem.toml, option 'horizon' is 10000000; from 1 to 100000 is wanted"),
        ("make trap --horizon 10000000 -o q.npz", "a whole number from 1 to 100000 is wanted"),
        ("bound p.npz --horizon 100000000", "100,000,000 steps; at most 100,000 are allowed"),
        ("bound p.npz --horizon 100000", "1,200,000 occupancies; at most 1,000,000 are allowed"),
        ("evaluate p.npz --episodes 100000000", "would need 29.8 GiB of memory; at most 1 GiB"),
        ("show visits", "option 'visits' is 3000000000; from 1 to 1000000 is wanted"),
        ("show deep", "deep/problem.toml cannot be read: it is nested too deeply"),
        ("sweep deep.toml -o s", "deep.toml cannot be read: it is nested too deeply"),
        ("sweep cells.toml -o s", "99,990,000 cells; at most 100,000 are allowed"),
        ("sweep seeds.toml -o s", "100000000 seeds are asked for; at most 100000 are allowed"),
        ("sweep episodes.toml -o s", "episodes: Input should be less than or equal to 1000000"),
        ("make routing --steps 100000 -o q.npz", "at most 2,000,000 are allowed"),
        ("make capacity --arms 100000 -o q.npz", "pairs of worker and arm; at most 2,000,000"),
        ("make standard --arms 1000000000 -o q.npz", "GiB of memory; at most 1 GiB is allowed"),
        ("make scheduling --slots 1000000000 -o q.npz", "GiB of memory; at most 1 GiB is"),
        ("make interventions --actions 1000000000 -o q.npz", "GiB of memory; at most 1 GiB is"),
        ("make epidemic --arms 100000 --village 100000 -o q.npz", "pairs of neighbours; at most"),
        ("make epidemic --importance 1000000000 -o q.npz", "GiB of memory; at most 1 GiB is"),
    ]
    outcome = run(json.dumps([line for line, _ in cases]), code=LINES)
    assert outcome.returncode == 0, outcome.stderr
    for (line, words), (code, said) in zip(cases, json.loads(outcome.stdout), strict=True):
        assert code == 2, (line, said)
        assert said.count("\n") == 1, line
        assert words in said, line
    assert not Path("q.npz").exists()


@pytest.mark.usefixtures("here")
def test_a_walk_of_ten_thousand_steps_takes_little_memory():
    lines = [
        "make routing --steps 10000 --arms 20 -o q.npz",
        "show q.npz",
        "evaluate q.npz --policies random --episodes 1 --bound none",
    ]
    outcome = run(json.dumps(lines), code=LINES)
    assert outcome.returncode == 0, outcome.stderr
    ends = json.loads(outcome.stdout.splitlines()[-1])
    assert [code for code, _ in ends] == [0, 0, 0], ends


def test_arcs_of_several_steps_are_under_way_in_each_of_them():
    walk = Walk([[0, 1], [1, 2]], 0, 9, 2, [2, 3])
    columns = walk._time_expanded
    busy = [f"one move in step {step}" for step in range(9)]
    rows = [list(walk.system.row_names).index(name) for name in busy]
    found = walk.system.matrix[rows].toarray()[:, walk.n_actions :]
    step = np.arange(9)[:, None]
    wanted = (columns.depart <= step) & (step < columns.arrive)
    np.testing.assert_array_equal(found, wanted)


def test_more_visits_than_openings_are_no_plan():
    many = Schedule([[1, 1]], [[1, 1]], 1, visits=1_000_000)
    assert many.contains([[0]]).tolist() == [True]
    assert many._plan(np.ones(1, dtype=np.int8)) is None
