"""Commands killed, and refused by the disk, at each system call that writes: ``make faults``.

`strace` injects. Of each command all calls of ``fsync``, ``rename``, ``unlink``, ``mkdir`` and
``pwrite64`` (SQLite's) are counted; then, one after the other, it is killed there (SIGKILL), or
the call fails: no space left (ENOSPC), a disk that is only read (EROFS), an error of it (EIO).
After each: what can be seen is what was there before, or what a whole run leaves; a command that
was refused says so in one line and no traceback; the same command again ends as a whole run does.

``--only COMMAND …``, ``--faults kill ENOSPC …``, ``--at-most N`` points of each call.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from programme_cases import content, known
from sequoia import save
from sequoia.problem.families import make
from sequoia_programme.settings import read_programme

CALLS = ("fsync", "fdatasync", "rename", "unlink", "unlinkat", "mkdir", "ftruncate", "pwrite64")
FAULTS = {
    "kill": "signal=SIGKILL",
    "ENOSPC": "error=ENOSPC",
    "EROFS": "error=EROFS",
    "EIO": "error=EIO",
}
TODAY = "programme today clinic --date 2026-11-04 --policy myopic --yes"
COMMANDS = {
    "make folder": "make standard --arms 4 -o made",
    "make archive": "make standard --arms 4 -o made.npz",
    "evaluate": "evaluate p.npz --policies idle,myopic --episodes 10 --bound lp -o e.json",
    "bound": "bound p.npz --certificate c.json",
    "train": "train p.npz -o model --set rounds=1",
    "sweep": "sweep plan.toml -o swept",
    "record": "programme record clinic Ada=lapsed Grace=good --date 2026-11-04 --by nobody",
    "today": TODAY,
    "backup": "programme backup clinic -o kept.zip",
}
PLAN = """policies = ["myopic"]
seeds = 1
episodes = 2
bound = "lp"
[[problems]]
family = "standard"
arms = [4]
"""
# What differs from run to run: times, and when something was written.
PASSING = ("seconds", "ms_per", "written", "created", "time", "at")


def begin(folder: Path) -> None:
    """Write what the commands begin from."""
    save(make("standard", arms=4, horizon=4), folder / "p.npz")
    (folder / "plan.toml").write_text(PLAN)
    known(folder)


def lasting(value: Any) -> Any:
    """Return JSON without times."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if not any(k.startswith(own) for own in PASSING)}
        return {key: lasting(own) for key, own in kept.items()}
    return [lasting(own) for own in value] if isinstance(value, list) else value


def look(path: Path) -> object:
    """Return what a file says, without times; raise where it is not whole."""
    if path.suffix == ".json":
        return lasting(json.loads(path.read_text()))
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return "damaged" if archive.testzip() else sorted(archive.namelist())
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name].tobytes() for name in arrays if name != "seconds"}
    return hashlib.sha256(path.read_bytes()).hexdigest()


def visible(folder: Path) -> dict[str, object]:
    """Return everything that a person, or the next command, may see; half-written is not."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if not path.is_file() or any(own.startswith((".", "__")) for own in parts):
            continue
        if any(own.endswith((".parts", "-wal", "-shm", "-journal", ".lock")) for own in parts):
            continue
        if path.name == "records.db":
            found["records"] = dict(content(read_programme(path.parent)))
            found["records"].pop("journal", None)
        elif (
            path.suffix not in (".csv", ".toml", ".npz", ".json", ".safetensors", ".zip")
            or "swept" in parts
        ):
            continue
        else:
            found["/".join(parts)] = look(path)
    return found


def run(folder: Path, words: str, *inject: str) -> tuple[int, str, Counter[str]]:
    """Run a command under strace; return its exit code, what it said, and calls by name."""
    log = folder.parent / "log"
    traced = [
        "strace",
        "-f",
        "-qq",
        "--seccomp-bpf",
        "-o",
        str(log),
        "-e",
        f"trace={','.join(CALLS)}",
    ]
    command = [sys.executable, "-m", "sequoia", *words.split()]
    done = subprocess.run(
        [*traced, *inject, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(folder.parent / "caches")},
        check=False,
        timeout=600,
    )
    calls = Counter(line.split()[1].partition("(")[0] for line in log.read_text().splitlines())
    return done.returncode, done.stderr, Counter({call: calls[call] for call in CALLS})


def try_all(
    name: str, faults: list[str], at_most: int, room: Path, say: Callable[[str], None]
) -> tuple[int, int]:
    """Try one command with every fault; return how many there were, and how many went wrong."""
    words, template, whole = COMMANDS[name], room / "template", room / "whole"
    shutil.copytree(template, whole)
    before = visible(template)
    code, said, calls = run(whole, words)
    if code:
        raise RuntimeError(f"{name} fails on its own: {said}")
    after = visible(whole)
    shutil.rmtree(whole)
    tried = wrong = 0
    for fault in faults:
        for call, count in calls.items():
            points = sorted({*np.linspace(1, count, min(count, at_most)).astype(int).tolist()})
            for point in points if count else ():
                place = room / "place"
                shutil.copytree(template, place)
                inject = f"inject={call}:{FAULTS[fault]}:when={point}"
                code, said, _ = run(place, words, "-e", inject)
                tried += 1
                complaints = [*judged(place, fault, code, said, before, after)]
                again, more, _ = run(place, words)
                # What was there already may be refused: then it has to be whole.
                if again and visible(place) != after:
                    complaints.append(f"the same command again says {more.strip()!r}")
                if not again and visible(place) != after:
                    complaints.append("the same command again ends otherwise")
                for complaint in complaints:
                    say(f"  {name}, {fault} at {call} {point}: {complaint}")
                wrong += bool(complaints)
                shutil.rmtree(place)
    return tried, wrong


def judged(place: Path, fault: str, code: int, said: str, before: dict, after: dict) -> list[str]:
    """Say what is wrong with what a fault left."""
    complaints = []
    if "Traceback" in said:
        complaints.append(f"a traceback: {said.strip().splitlines()[-1]}")
    elif fault != "kill" and code not in (0, 2):
        complaints.append(f"exit code {code}")
    elif code == 2 and not said.strip():
        complaints.append("not a word")
    try:
        left = visible(place)
    except Exception as error:
        return [*complaints, f"what is left cannot be read: {error}"]
    for path in {*left} - {*before, *after}:
        complaints.append(f"{path} is left")
    for path, value in left.items():
        if value not in (before.get(path), after.get(path)):
            complaints.append(f"{path} is neither as before nor whole")
    if fault != "kill" and code == 0 and left != after:
        complaints.append("it says it is done, and it is not")
    return complaints


def main() -> None:
    parser = argparse.ArgumentParser(description="Inject faults into commands.")
    parser.add_argument("--only", nargs="*", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--faults", nargs="*", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("--at-most", type=int, default=10**6)
    chosen = parser.parse_args()
    total = bad = 0
    print("| command | faults | tried | wrong |\n|---|---|---|---|", flush=True)
    for name in chosen.only:
        with tempfile.TemporaryDirectory() as folder:
            room = Path(folder)
            (room / "template").mkdir()
            begin(room / "template")
            lines: list[str] = []
            began = time.monotonic()
            tried, wrong = try_all(name, chosen.faults, chosen.at_most, room, lines.append)
            faults = ", ".join(chosen.faults)
            print(f"| {name} | {faults} | {tried} | {wrong} |", *lines, sep="\n", flush=True)
            print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
            total, bad = total + tried, bad + wrong
    print(f"{total} faults, {bad} wrong")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
