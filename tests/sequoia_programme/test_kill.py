"""Kill -9 at any moment of import, record, today: nothing is lost, nothing is there twice."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from programme_cases import LOG, ROSTER, known, sheet
from real_command import PATIENCE

TESTS = Path(__file__).parents[1]
SCRIPT = Path(__file__).with_name("kill_at_each_statement.py")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@pytest.mark.parametrize(
    ("arguments", "least"),
    [
        ("import clinic --roster more.csv --log more-log.csv", 10),
        ("record clinic Ada=lapsed Grace=good --date 2026-11-04 --by nobody", 6),
        ("today clinic --yes --date 2026-11-04 --must Ada --policy price", 10),
    ],
)
def test_a_killed_command_leaves_all_or_nothing(tmp_path, arguments, least):
    template = tmp_path / "template"
    template.mkdir()
    known(template)
    sheet(template, "more.csv", ROSTER.replace("20", "25") + "Mary,old,30,north\n")
    sheet(template, "more-log.csv", LOG + "2026-11-03,Mary,good,Nurse Bo\n")
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(template), "programme", *arguments.split()],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= least
