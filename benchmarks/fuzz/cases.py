"""What is done to whole inputs, and the commands that meet them."""

import json
from contextlib import suppress
from dataclasses import dataclass
from inspect import signature
from pathlib import Path

import numpy as np
from fuzz.corpus import LOGGED, MODELS
from fuzz.mutations import NUMBERS, WORDS, copy_of, mutate, pick, resigned

from sequoia.learn.q_learning_config import QLearningConfig
from sequoia.problem.families import FAMILIES

BOUNDS = ("hull", "factored", "clairvoyant")


@dataclass(frozen=True)
class Case:
    """One mutated input and the command that meets it."""

    number: int
    mutations: tuple[str, ...]
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"case {self.number}: {', '.join(self.mutations)}: {' '.join(self.arguments)}"


def make_case(number: int, corpus: Path, room: Path) -> Case:
    """Make a case in ``room``; the same number gives the same case."""
    rng = np.random.default_rng([2024, number])
    room.mkdir()
    name = str(rng.choice(sorted(file.stem for file in corpus.glob("*.npz"))))
    kind = str(rng.choice(list(_KINDS), p=[share for share, _ in _KINDS.values()]))
    target, arguments = _KINDS[kind][1](rng, corpus, room, name)
    done: list[str] = []
    for _ in range(0 if target is None else int(rng.integers(1, 3))):
        if target.suffix == ".npz" and target.is_file() and rng.random() < 0.7:
            with suppress(Exception):  # what was changed before can no longer be signed
                done.append(resigned(target, rng))
                continue
        done.append(mutate(target, rng))
    if kind == "model" and rng.random() < 0.6:
        done.append(_sign_model(target))
    return Case(number, tuple(done), tuple(map(str, arguments)))


def _problem(rng, corpus, room, name):
    suffix = str(rng.choice(["", "", ".npz"]))
    target = copy_of(corpus / f"{name}{suffix}", room / f"p{suffix}")
    states = corpus / f"{name}.states.csv"
    lines = [
        ["show", target],
        ["show", target, "--json"],
        ["check", target],
        ["check", target],
        ["exact", target],
        ["bound", target, "--horizon", 3],
        ["bound", target, "--horizon", 3, "--kind", str(rng.choice(BOUNDS)), "--rounds", 5],
        ["evaluate", target, "--policies", "random,myopic", "--episodes", 1, "--bound", "none"],
        ["evaluate", target, "--episodes", 1],
        ["plan", target, "--state", states, "--seconds", 1],
        ["make", "trap", "-o", target, "--force"],
    ]
    if rng.random() < 0.03:
        return target, ["show", target, "--plot", room / "p.png"]
    if rng.random() < 0.02:
        return target, ["train", target, "-o", room / "m", "--set", "rounds=0"]
    return target, lines[int(rng.integers(len(lines)))]


def _states(rng, corpus, room, name):  # noqa: ARG001
    target = copy_of(corpus / f"{name}.states.csv", room / "today.csv")
    return target, ["plan", corpus / name, "--state", target, "--seconds", 1]


def _plan(rng, corpus, room, name):  # noqa: ARG001
    target = copy_of(corpus / "plan.toml", room / "plan.toml")
    return target, ["sweep", target, "-o", room / "s", "--jobs", 1]


def _swept(rng, corpus, room, name):  # noqa: ARG001
    target = copy_of(corpus / "swept", room / "s")
    return target, ["sweep", "status", target]


def _edges(rng, corpus, room, name):  # noqa: ARG001
    if rng.random() < 0.4:
        target = copy_of(corpus / "weights.csv", room / "weights.csv")
        family = str(rng.choice(["epidemic", "wildfire"]))
        return target, ["make", family, "--graph", target, "-o", room / "made"]
    target = copy_of(corpus / "edges.csv", room / "edges.csv")
    return target, ["make", "routing", "--edges", target, "-o", room / "made"]


def _evaluation(rng, corpus, room, name):  # noqa: ARG001
    own = str(rng.choice(MODELS))
    target = copy_of(corpus / f"{own}.evaluation.json", room / "e.json")
    return target, ["report", target, "-o", room / "r.html", "--problem", corpus / own]


def _model(rng, corpus, room, name):  # noqa: ARG001
    own = str(rng.choice(MODELS))
    target = copy_of(corpus / f"{own}.model", room / "m")
    if rng.random() < 0.2:
        return target, ["train", corpus / own, "-o", target, "--resume"]
    if rng.random() < 0.3:
        states = corpus / f"{own}.states.csv"
        return target, ["plan", corpus / own, "--state", states, "--model", target]
    policies = ("--policies", "sequoia", "--model", target)
    return target, ["evaluate", corpus / own, *policies, "--episodes", 1, "--bound", "none"]


def _programme(rng, corpus, room, name):  # noqa: ARG001
    clinic = copy_of(corpus / "clinic", room / "clinic")
    if rng.random() < 0.5:
        sheet = pick(rng, list(LOGGED))
        target = copy_of(corpus / f"{sheet}.csv", room / f"{sheet}.csv")
        return target, ["programme", "import", clinic, f"--{sheet}", target]
    date = ["--date", "2026-11-02"]
    lines = [
        ["programme", "history", clinic, *date],
        ["programme", "record", clinic, "Ada=good", *date],
        ["programme", "export", clinic, "-o", room / "sheets"],
        ["programme", "today", clinic, *date, "--policy", "myopic"],
    ]
    target = clinic / "programme.toml" if rng.random() < 0.7 else clinic
    return target, lines[int(rng.integers(len(lines)))]


def _fit(rng, corpus, room, name):  # noqa: ARG001
    files = {sheet: corpus / f"{sheet}.csv" for sheet in ("sightings", "visits")}
    sheet = pick(rng, list(files))
    files[sheet] = target = copy_of(files[sheet], room / f"{sheet}.csv")
    given = [f"--{sheet}={file}" for sheet, file in files.items()]
    return target, ["fit", corpus / "trap", *given]


def _options(rng, corpus, room, name):
    """A command line in which one value is another; no file is changed."""
    value = pick(rng, [*NUMBERS, *(word for word in WORDS if "\0" not in word)])
    problem = corpus / name
    plan = ["plan", problem, "--state", corpus / f"{name}.states.csv"]
    evaluate = ["evaluate", problem, "--policies", "random", "--bound", "none"]
    train = ["train", problem, "-o", room / "m", "--set", "rounds=0", "--set"]
    lines = [
        *[[*plan, option, value] for option in ("--must", "--never", "--absent", "--why")],
        [*plan, "--seconds", value],
        [*plan, "--policy", value],
        [*evaluate, "--episodes", value],
        [*evaluate, "--episodes", 1, "--seed", value],
        [*evaluate, "--episodes", 1, "--rollouts", value],
        ["evaluate", problem, "--policies", f"random,{value}"],
        *[["bound", problem, option, value] for option in ("--horizon", "--table", "--scenarios")],
        ["bound", problem, "--kind", "hull", "--seconds", value],
        [*train, f"{pick(rng, QLearningConfig.names())}={value}"],
        ["show", problem, "--plot", room / value],
    ]
    if rng.random() < 0.5:
        family = pick(rng, sorted(FAMILIES))
        knob = pick(rng, sorted(signature(FAMILIES[family]).parameters)).replace("_", "-")
        return None, ["make", family, f"--{knob}", value, "-o", room / "made"]
    return None, lines[int(rng.integers(len(lines)))]


def _sign_model(folder: Path) -> str:
    """Let the description fit the weights again, so that these are read."""
    import hashlib

    try:
        about = json.loads((folder / "model.json").read_text())
        content = (folder / "weights.safetensors").read_bytes()
        about["weights"] = hashlib.sha256(content).hexdigest()
        (folder / "model.json").write_text(json.dumps(about))
    except (OSError, ValueError, TypeError, RecursionError):
        return "left unsigned"
    return "signed again"


_KINDS = {
    "problem": (0.51, _problem),
    "options": (0.1, _options),
    "states": (0.11, _states),
    "model": (0.1, _model),
    "edges": (0.05, _edges),
    "programme": (0.06, _programme),
    "fit": (0.02, _fit),
    "evaluation": (0.02, _evaluation),
    "swept": (0.02, _swept),
    "plan": (0.01, _plan),
}
