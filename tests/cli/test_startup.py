"""The command starts without what it does not need, can be stopped at once, and helps a shell."""

import os
import subprocess
import sys

import pytest

from real_command import PATIENCE
from sequoia import __version__, save
from sequoia.cli.app import COMMANDS, load_command
from sequoia.problem.families import routing, trap

HEAVY = {
    "gymnasium",
    "highspy",
    "matplotlib",
    "networkx",
    "rich",
    "safetensors",
    "scipy.optimize",
    "scipy.special",
    "torch",
}
IMPORTED = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from sequoia.cli import main
main()
"""
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send")


def python(code: str, *arguments: str, cwd=None, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["-V"], []])
def test_help_and_version_import_neither_numbers_nor_rooms(arguments):
    modules = set(python(IMPORTED, *arguments).stderr.split())
    assert not modules & (HEAVY | {"numpy", "scipy", "sequoia.problem"})


def test_show_imports_the_problem_and_no_more(tmp_path):
    save(trap(), tmp_path / "p.npz")
    done = python(IMPORTED, "show", "p.npz", cwd=tmp_path)
    assert done.stdout.startswith("trap\n")
    modules = set(done.stderr.split())
    assert "sequoia.problem.files" in modules
    assert not modules & (HEAVY | {"scipy.sparse.csgraph", "sequoia.policies", "sequoia.bounds"})


def test_show_of_a_walk_imports_no_solver(tmp_path):
    save(routing(), tmp_path / "p.npz")
    modules = set(python(IMPORTED, "show", "p.npz", cwd=tmp_path).stderr.split())
    assert not modules & {"highspy", "matplotlib", "torch"}


# Ctrl-C in the middle of importing a module: before it, or where Python drops exceptions.
PRESSED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

class Drop:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            {press}

sys.meta_path.insert(0, Press())
from sequoia.cli import main
main()
"""


@POSIX
@pytest.mark.parametrize("press", ["signal.raise_signal(signal.SIGINT)", "Drop()"])
@pytest.mark.parametrize("module", ["typer", "sequoia.cli.errors", "numpy", "scipy.sparse"])
def test_ctrl_c_during_imports_ends_at_once_and_quietly(tmp_path, module, press):
    save(trap(), tmp_path / "p.npz")
    done = python(PRESSED.format(module=module, press=press), "show", "p.npz", cwd=tmp_path)
    assert done.returncode == 130
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(command, name):
    assert load_command(name).help.startswith(COMMANDS[name].words.rstrip("."))
    for option in ("-h", "--help"):
        outcome = command(name, option)
        assert outcome.code == 0
        assert outcome.out.startswith(f"Usage: sequoia {name}")


def test_version_and_help_have_short_names(command):
    assert command("-V") == (0, f"sequoia {__version__}\n", "")
    assert command("-h") == command("--help")
    assert command("make", "trap", "-h") == command("make", "trap", "--help")
    assert command("sweep", "run", "-h") == command("sweep", "run", "--help")


def test_a_near_miss_is_one_line_with_a_suggestion(command):
    outcome = command("shwo")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "UsageError: No such command 'shwo'. Did you mean 'show'?\n"


RUN = "from sequoia.cli import main; main()"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("sequoia sh", "show"), ("sequoia show --pl", "--plot"), ("sequoia make cap", "capacity")],
)
def test_a_shell_completes_commands_and_options(words, wanted):
    last = str(len(words.split()) - 1)
    settings = {"_SEQUOIA_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": last}
    done = python(RUN, **settings)
    assert done.returncode == 0
    assert wanted in done.stdout.split()


def test_completion_scripts_are_shown_and_what_goes_wrong_is_not_a_traceback(tmp_path):
    settings = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1", "HOME": str(tmp_path)}
    shown = python(RUN, "--show-completion", "bash", **settings)
    assert shown.returncode == 0
    assert "_SEQUOIA_COMPLETE=complete_bash" in shown.stdout
    assert python(RUN, "--install-completion", "bash", **settings).returncode == 0
    assert "sequoia" in "".join(f.read_text() for f in tmp_path.rglob("*") if f.is_file())
    unknown = python(RUN, "--show-completion", "abacus", **settings)
    assert unknown.returncode != 0
    assert "Traceback" not in unknown.stderr


def test_a_missing_extra_is_one_line():
    code = "import sys; sys.modules[{!r}] = None\n" + RUN
    serve = python(code.format("starlette"), "serve", "--demo")
    assert serve.returncode == 2
    assert serve.stderr.startswith("MissingPackage: starlette is not installed; pip install ")
    assert len(serve.stderr.splitlines()) == 1
    train = python("import sys; sys.modules['torch'] = None\nimport sequoia\nsequoia.train")
    assert 'pip install "sequoia-plan[learn]"' in train.stderr.splitlines()[-1]
