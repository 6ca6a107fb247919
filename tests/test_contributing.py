"""The recipes work, and the map of the house shows what is there."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import sequoia
from real_command import PATIENCE

ROOT = Path(__file__).parents[1]
PACKAGE = Path(sequoia.__file__).parent


def recipe_file(name: str) -> str:
    """Return the code that the contributing page shows for a file."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"^ *```python {re.escape(name)}\n(.*?)^ *```$", text, re.M | re.S)
    return textwrap.dedent(found)


@pytest.fixture
def house(tmp_path):
    """A copy of the package with the policy of the recipe in it."""
    copy = tmp_path / "src" / "sequoia"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "policies" / "longest_wait.py").write_text(recipe_file("policies/longest_wait.py"))
    registry = copy / "policies" / "registry.py"
    line = "from sequoia.policies.longest_wait import LongestWait\n"
    before = registry.read_text()
    after = before.replace("from sequoia.policies.myopic", f"{line}from sequoia.policies.myopic")
    after = after.replace("    Optimal,\n", "    Optimal,\n    LongestWait,\n")
    assert after.count("LongestWait") == 2
    registry.write_text(after)
    return tmp_path


# One process for all commands, which would import for seconds each.
COMMANDS = """
import json, sys
from sequoia.cli import main
for arguments in json.loads(sys.argv[1]):
    try:
        main(arguments)
    except SystemExit as stop:
        assert not stop.code, arguments
"""


def run(house: Path, *commands: str) -> str:
    asked = json.dumps([command.split() for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, asked],
        cwd=house,
        env=os.environ | {"PYTHONPATH": str(house / "src"), "XDG_CACHE_HOME": str(house)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_recipe_for_a_policy(house):
    (house / "today.csv").write_text("arm,state\n" + "".join(f"arm {i},0\n" for i in range(6)))
    said = run(
        house,
        "make capacity --arms 6 --workers 2 --horizon 6 -o p.npz",
        "evaluate p.npz --policies random,longest-wait --episodes 7 -o e.json",
        "report e.json -o report.html",
        "plan p.npz --state today.csv --policy longest-wait",
    )
    evaluated, planned = said.split("Wrote report.html.\n")
    assert "longest-wait" in evaluated
    assert json.loads((house / "e.json").read_text())["policies"]["longest-wait"]["mean"] > 0
    assert "act on those who have waited longest" in (house / "report.html").read_text()
    assert "arm" in planned


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_path_that_is_named_is_there(page):
    named = re.findall(r"`([\w./-]+(?:\.py|\.txt|\.toml|\.md|/))`", (ROOT / page).read_text())
    assert len(named) > 10
    for path in named:
        is_new = path == "policies/longest_wait.py"
        assert is_new or any((root / path).exists() for root in (PACKAGE, PACKAGE.parent, ROOT)), (
            path
        )


def test_every_room_is_on_the_map():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    for room in PACKAGE.iterdir():
        if (room / "__init__.py").exists():
            assert f"`{room.name}`" in text, f"docs/architecture.md does not name {room.name}"
