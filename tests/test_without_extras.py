"""The library imports little, and plans without torch and every other package of an extra."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sequoia
from real_command import PATIENCE

ROOT = Path(__file__).parents[1]
LIBRARY = Path(sequoia.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# By the names they are imported by.
PACKAGES = {"tomli-w": "tomli_w", "argon2-cffi": "argon2", "python-multipart": "python_multipart"}


def modules(requirements):
    names = [re.split(r"[><=\[ ;]", text)[0] for text in requirements]
    return {PACKAGES.get(name, name) for name in names}


CORE = modules(PROJECT["dependencies"])
EXTRAS = {
    name: modules(lines)
    for name, lines in PROJECT["optional-dependencies"].items()
    if name not in ("bench", "dev", "docs")
}

# What an extra brings is not here, wherever it is asked for.
BLOCKED = """
import json, sys

class Hiding:
    def __init__(self, finder):
        self._finder = finder

    def __getattr__(self, name):
        return getattr(self._finder, name)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            return None
        return self._finder.find_spec(name, path, target)

sys.meta_path[:] = [Hiding(finder) for finder in sys.meta_path]
"""
COMMANDS = """
from sequoia.cli import main
for arguments in json.loads(sys.argv[1]):
    try:
        main(arguments)
    except SystemExit as stop:
        assert not stop.code, arguments
"""


def python(code, *arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(LIBRARY.parent)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def without_extras(code, *arguments, cwd=None):
    blocked = sorted(set().union(*EXTRAS.values()) - CORE)
    return python(BLOCKED.format(blocked=blocked) + code, *arguments, cwd=cwd)


def test_import_sequoia_imports_nothing_but_its_version():
    before = set(python("import sys; print(*sys.modules)").stdout.split())
    code = "import sys; import sequoia; dir(sequoia); print(*sys.modules)"
    added = set(python(code).stdout.split()) - before
    assert {name for name in added if name.startswith("sequoia")} == {"sequoia", "sequoia.version"}
    assert not added & (CORE | set().union(*EXTRAS.values()))


def test_every_command_that_learns_nothing_runs_without_any_extra(tmp_path):
    (tmp_path / "today.csv").write_text("arm,state\n" + "".join(f"arm {i},0\n" for i in range(6)))
    (tmp_path / "log.csv").write_text(
        "arm,step,state,dose\n" + "".join(f"a{i % 3},{i // 3},{i % 2},{i % 2}\n" for i in range(60))
    )
    commands = [
        "make capacity --arms 6 --workers 2 --horizon 6 -o p.npz",
        "make trap -o tiny.npz",
        "show p.npz --plot p.png",
        "check p.npz",
        "bound p.npz",
        "exact tiny.npz",
        "evaluate p.npz --policies random,myopic,price,lookahead --episodes 4 -o e.json",
        "evaluate tiny.npz --policies exact,whittle --episodes 2",
        "report e.json -o report.html",
        "plan p.npz --state today.csv",
        "solvers",
        "gallery -h",
    ]
    done = without_extras(COMMANDS, json.dumps([line.split() for line in commands]), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "capacity" in done.stdout
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_the_readmes_example_runs_without_any_extra(tmp_path):
    example = (ROOT / "tests/typed/readme.py").read_text(encoding="utf-8")
    done = without_extras(example, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize(
    ("code", "extra"),
    [
        ("import sequoia.learn", "learn"),
        ("import sequoia; sequoia.train", "learn"),
        ("import sequoia.interop.gym", "gym"),
        ("from sequoia.cli import main; main(['train', 'p.npz', '-o', 'm'])", "learn"),
        ("from sequoia.cli import main; main(['demo', '-o', 'd'])", "learn"),
        ("from sequoia.cli import main; main(['serve', '--demo'])", "programme"),
        ("from sequoia.cli import main; main(['programme', 'today', 'p.db'])", "programme"),
        ("from sequoia.cli import main; main(['show', 'rddl:Elevators_MDP_ippc2011'])", "rddl"),
        ("from sequoia.cli import main; main(['plan', 'p.npz', '--solver', 'scip'])", "scip"),
    ],
)
def test_a_missing_extra_is_one_line_that_names_it(code, extra, tmp_path):
    sequoia.save(sequoia.make("trap"), tmp_path / "p.npz")
    done = without_extras(code, cwd=tmp_path)
    assert done.returncode != 0
    *_, last = done.stderr.splitlines()
    assert f'pip install "sequoia-plan[{extra}]"' in last


def imported(file):
    """Return the packages that a file imports, wherever it does."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_the_core_asks_for_what_it_imports_and_no_more():
    every = {name for file in LIBRARY.rglob("*.py") for name in imported(file)}
    ours = {folder.name for folder in LIBRARY.parent.iterdir()}
    others = every - set(sys.stdlib_module_names) - ours
    extras = modules(line for lines in PROJECT["optional-dependencies"].values() for line in lines)
    assert others >= CORE
    assert others - CORE <= extras
