"""A few of the ten thousand mutated inputs; benchmarks/fuzz_inputs.py runs them all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from real_command import PATIENCE

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="memory and time are measured as Linux does"
)


def run(*arguments):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=BENCHMARKS,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


def test_no_traceback_no_hang_and_little_memory():
    done = run("fuzz_inputs.py", "--cases", 8)
    assert done.stdout == "8 mutated inputs: 0 wrong\n", done.stdout + done.stderr


ENDS = """
import os, sys, time
from fuzz import forked
forked.SECONDS, forked.PATIENCE = 1, 60
def case(say, how):
    say("a case")
    if how == "loops":
        while True: pass
    if how == "waits": time.sleep(1000)
    if how == "dies": os.abort()
    try:
        text = "x" * (2 * forked.BYTES if how == "takes memory" else 9)
    except MemoryError:
        return say("too much memory")
    say("")
if sys.argv[1] == "waits": forked.PATIENCE = 0.5
print(": ".join(forked.forked(case, sys.argv[1])))
"""


@pytest.mark.parametrize(
    ("how", "said"),
    {
        "is fine": "",
        "loops": "more than 1 seconds of processor time",
        "waits": "it waits: 0.5 seconds have passed",
        "dies": "the process died, with exit code -6",
        "takes memory": "too much memory",
    }.items(),
)
def test_a_case_that_ends_badly_is_noticed(how, said):
    done = run("-c", ENDS, how)
    assert done.stdout == f"a case: {said}\n", done.stderr
