"""The examples run from top to bottom, and are notebooks too (jupytext's percent format)."""

import ast
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
    "own_simulator",
    "read_a_proof",
    "table_and_log",
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


def lines_of_code(text):
    """Return how many lines a cell has without blank ones, comments and docstrings."""
    tree = ast.parse(text)
    words = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    said = {line for word in words for line in range(word.lineno, word.end_lineno + 1)}
    return sum(
        bool(line.partition("#")[0].strip()) and number not in said
        for number, line in enumerate(text.splitlines(), 1)
    )


@pytest.mark.parametrize(("name", "most"), [("table_and_log", 12), ("own_simulator", 15)])
def test_a_first_result_takes_few_lines(name, most):
    """The first cell that imports sequoia goes from tables, or a simulator, to a result."""
    example = EXAMPLES[NAMES.index(name)].read_text(encoding="utf-8")
    cells = [cell for cell in example.split("# %%") if not cell.startswith(" [markdown]")]
    first = next(cell for cell in cells if "import sequoia" in cell)
    assert lines_of_code(first) <= most
    assert "sequoia.plan(" in first or "sequoia.train(" in first
