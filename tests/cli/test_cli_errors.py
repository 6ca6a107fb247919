import contextlib
import errno
import signal
import sys
from pathlib import Path

import pytest
import typer

from real_command import ended, start, wait_for
from sequoia import __version__, errors, save
from sequoia.cli.errors import run
from sequoia.problem.families import capacity, trap

WRONG = [
    "nonsense",
    "--nonsense",
    "make nonsense",
    "make capacity",
    "make capacity --arms many -o p.npz",
    "make capacity --arms 2.5 -o p.npz",
    "make capacity --arms 0 -o p.npz",
    "make capacity --arms -3 -o p.npz",
    "make capacity --seed -1 -o p.npz",
    "make capacity --least-cost 9 -o p.npz",
    "make capacity --no-such-knob 1 -o p.npz",
    "make capacity -o p.txt",
    "make capacity -o nowhere/p.npz",
    "make capacity -o trap.npz",
    "make capacity -o . --force",
    "make interventions --link cubic -o p.npz",
    "make interventions --weight nan -o p.npz",
    "make interventions --actions 0 -o p.npz",
    "make scheduling --slots 0 -o p.npz",
    "make scheduling --slots-per-arm 9 -o p.npz",
    "make scheduling --visits 0 -o p.npz",
    "make standard --states 1 -o p.npz",
    "make standard --discount 0 -o p.npz",
    "make standard --discount nan -o p.npz",
    "make standard --horizon 0 -o p.npz",
    "make standard --start-share 2 -o p.npz",
    "make standard --arms 100000000000 -o p.npz",
    "make routing --arms 500 -o p.npz",
    "make routing --steps 0 -o p.npz",
    "make routing --longest-edge 0 -o p.npz",
    "make routing --source A -o p.npz",
    "make routing --edges nowhere.csv -o p.npz",
    "make routing --edges edges.csv --arms 3 -o p.npz",
    "make routing --edges edges.csv --source Z -o p.npz",
    "show",
    "show trap.npz and more",
    "show nowhere.npz",
    "show edges.csv",
    "show .",
    "show broken.npz",
    "show broken",
    "show trap.npz --plot p.docx",
    "show trap.npz --plot nowhere/p.png",
    "check nowhere",
    "check broken.npz",
    "check broken",
    "check trap.npz --json",
    "exact capacity.npz",
    "exact endless.npz --discounted",
    "demo -o edges.csv",
]


@pytest.mark.parametrize("line", WRONG)
def test_what_a_user_can_mend_is_one_line_and_exit_2(command, line):
    save(trap(), "trap.npz")
    save(trap(discount=1.0), "endless.npz")
    save(capacity(), "capacity.npz")
    save(trap(), "broken")
    Path("broken/transitions.csv").write_text("model,dose\n0,1\n")
    Path("broken.npz").write_bytes(Path("trap.npz").read_bytes()[:900])
    Path("edges.csv").write_text("from,to\nA,B\n")
    outcome = command(*line.split())
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert outcome.err.endswith("\n")
    kind, colon, message = outcome.err.partition(": ")
    assert colon
    assert kind == "UsageError" or issubclass(getattr(errors, kind), errors.SequoiaError)
    assert message.strip()
    assert "Traceback" not in outcome.out + outcome.err
    assert not Path("p.npz").exists()


def test_a_kernel_that_does_not_sum_to_one_is_named(command):
    save(trap(), "t")
    file = Path("t/transitions.csv")
    file.write_text(file.read_text().replace("1,1.0,0,0.0,1.0,0.0", "1,1.0,0,0.0,0.93,0.0"))
    outcome = command("check", "t")
    assert outcome.err == (
        "FileError: t/transitions.csv row 11: to_0 + to_1 + to_2 is 0.93; a row must sum to 1.\n"
    )


def test_help_and_version(command):
    assert command("--version") == (0, f"sequoia {__version__}\n", "")
    for arguments in ([], ["make"], ["--help"], ["make", "--help"], ["show", "--help"]):
        outcome = command(*arguments)
        assert outcome.code == 0
        assert outcome.out.startswith("Usage: sequoia")


def raising(error: BaseException) -> typer.Typer:
    app = typer.Typer()

    @app.command()
    def fail() -> None:
        raise error

    return app


def test_messages_of_several_lines_become_one(capsys):
    assert run(raising(errors.FileError("one\n  two")), []) == 2
    assert capsys.readouterr().err == "FileError: one two\n"


def test_what_a_disk_refuses_is_one_line(capsys):
    full = OSError(errno.ENOSPC, "No space left on device", "e.json.parts/lock")
    assert run(raising(full), []) == 2
    said = "FileError: e.json.parts/lock: the disk refuses: No space left on device.\n"
    assert capsys.readouterr().err == said
    with pytest.raises(OSError, match="Bad file descriptor"):
        run(raising(OSError(errno.EBADF, "Bad file descriptor")), [])


def test_our_own_bugs_keep_their_traceback():
    with pytest.raises(ZeroDivisionError):
        run(raising(ZeroDivisionError()), [])


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), typer.Abort()])
def test_an_interruption_is_quiet(capsys, stop):
    assert run(raising(stop), []) == 130
    assert capsys.readouterr() == ("", "")


def test_a_swallowed_interrupt_still_ends_as_one():
    def swallow():
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    app = typer.Typer()
    app.command()(swallow)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert run(app, []) == 130
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send")
def test_ctrl_c_of_the_real_command(tmp_path):
    process = start(tmp_path, "demo", "-o", "out")
    wait_for(tmp_path, "out/problem.npz", 1, process)
    process.send_signal(signal.SIGINT)
    _, err = ended(process)
    assert process.returncode == 130
    assert err == ""
