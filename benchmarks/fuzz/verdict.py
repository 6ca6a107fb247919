"""Whether a command ended as a command should."""

import os
import re
import traceback
from collections.abc import Callable
from pathlib import Path

from fuzz.cases import Case, make_case
from fuzz.corpus import call

_LINE = re.compile(r"\w+: \S")


def run_case(say: Callable[[str], None], number: int, corpus: Path, room: Path) -> None:
    """Make a case and run it; say what it is and then what is wrong with it, or nothing."""
    case = make_case(number, corpus, room)
    say(str(case))
    noise = room.with_suffix(".noise")
    with noise.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    said = verdict(case)
    say(said or _first_line(noise))


def verdict(case: Case) -> str:
    """Run a case; return what is wrong, or nothing."""
    try:
        code, out, err = call(list(case.arguments))
    except Exception:
        return traceback.format_exc()
    is_sweep = case.arguments[0] == "sweep"
    if code not in ((0, 1, 2) if is_sweep else (0, 2)):
        return f"exit code {code}: {err}"
    if "Traceback" in out or "Traceback" in err:
        return f"a traceback was printed: {err[-500:]}"
    if code == 2 and not err and "problem " not in out:
        return f"exit code 2 without a line: {out}"
    if "Warning: " in err:
        return f"a warning: {err[-500:]}"
    if code == 2:
        strange = [line for line in err.splitlines() if not _LINE.match(line)]
        if strange:
            return f"a line that is no line of an error: {strange[0]!r}"
    if "there is not enough memory" in err:
        return "memory was taken before it was refused"
    return ""


def _first_line(noise: Path) -> str:
    """Return what a library printed past Python, or nothing."""
    lines = noise.read_text(errors="replace").splitlines()
    return f"a library printed: {lines[0]}" if lines else ""
