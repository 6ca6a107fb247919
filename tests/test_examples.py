"""The examples run from top to bottom, and are notebooks too (jupytext's percent format)."""

import runpy
from pathlib import Path

import matplotlib
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
NAMES = [
    "compare_policies",
    "first_plan",
    "other_learners",
    "own_environment",
    "own_problem",
    "read_a_proof",
]


def test_all_are_here():
    assert [example.stem for example in EXAMPLES] == NAMES


@pytest.mark.parametrize("example", EXAMPLES, ids=NAMES)
def test_an_example_runs(example, tmp_path, monkeypatch, capsys):
    if example.stem == "other_learners":
        pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")
    monkeypatch.chdir(tmp_path)
    before = matplotlib.get_backend()
    matplotlib.use("agg")
    try:
        runpy.run_path(str(example), run_name="__main__")
    finally:
        matplotlib.pyplot.close("all")
        matplotlib.use(before)
    assert capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("example", EXAMPLES, ids=NAMES)
def test_an_example_is_a_notebook(example):
    first, *cells = example.read_text(encoding="utf-8").split("# %%")
    assert first == ""
    words = [cell for cell in cells if cell.startswith(" [markdown]\n")]
    code = [cell for cell in cells if cell.startswith("\n")]
    assert len(words) + len(code) == len(cells)
    assert words[0].startswith(" [markdown]\n# # ")
    for cell in words:
        assert all(line.startswith("#") for line in cell.strip().splitlines()[1:])
    assert "import sequoia" in "".join(code)
