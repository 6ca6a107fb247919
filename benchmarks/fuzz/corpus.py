"""Whole inputs of every kind."""

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

from sequoia import Arms, Budget, Custom, Floor, Problem, Rules, save
from sequoia.problem import families

PLAN = """# a plan
policies = ["random", "myopic"]
seeds = [1, 2]
episodes = 2
bound = "lp"

[[problems]]
family = "trap"
horizon = [2, 3]

[[problems]]
family = "standard"
arms = 4
episodes = 1
"""
EDGES = "from,to,length\nA,B,1\nB,C,2\nC,A,1\nC,D,1\n"
SHEETS = {
    "roster": "name,group,cost\nZoë,city,20\nAda,country,30\nBo,city,20\n",
    "staff": "name,capacity\nNurse Anna,60\nNurse Bo,45\n",
    "log": (
        "date,who,state,by\n2026-10-12,Zoë,good,\n2026-10-12,Ada,lapsed,Nurse Bo\n"
        "2026-10-13,Bo,lapsed,Nurse Anna\n2026-10-14,Ada,good,\n2026-10-15,Bo,good,Nurse Bo\n"
    ),
    "sightings": "arm,step,state\narm 0,0,0\narm 0,1,1\narm 1,0,0\narm 1,2,2\n",
    "visits": "arm,step,dose\narm 0,0,1\narm 1,1,1\n",
}
WEIGHTS = EDGES.replace("length", "weight")
LOGGED = ("roster", "staff", "log")
MODELS = ("trap", "standard")


def problems() -> dict[str, Problem]:
    """Return a small problem of every kind of space, with rules, names and contagion."""
    rng = np.random.default_rng(0)
    arms = Arms.ladder(rng.random((3, 3)), rng.random((3, 2)), names=["Zoë", "Ada", "José"])
    named = Arms(
        arms.rewards,
        arms.doses,
        arms.kernels,
        arms.model,
        arms.names,
        ["young", "old", "other"],
        ["at risk", "so so", "well"],
        {0.0: "nothing", 1.0: "a visit"},
    )
    few = [[1, 0, 0]] * 3
    rules = Rules({"g": ["Zoë", "Ada"]}, [Floor("g", 0.4, 1)], never=["José"])
    return {
        "trap": families.trap(),
        "standard": families.standard(arms=5),
        "capacity": families.capacity(arms=6, workers=2),
        "scheduling": families.scheduling(arms=5, workers=2),
        "rota": families.rota(arms=5, workers=2, slots=2, slots_per_arm=1),
        "routing": families.routing(arms=6, budget=2),
        "team": families.team(arms=4, walkers=2),
        "interventions": families.interventions(arms=6, budget=2),
        "epidemic": families.epidemic(arms=6, village=3),
        "immune": families.epidemic(arms=6, disease="sir", graph="small-world"),
        "route": families.epidemic(arms=6, route=True),
        "wildfire": families.wildfire(arms=6, budget=1, burning=2),
        "named": Problem("named", named, Budget([1, 1, 2], 2, named.names), few),
        "rules": Problem("ruled", arms, Budget([1, 1, 2], 2, arms.names), few).with_rules(rules),
        "absent": families.capacity(arms=4, workers=2).with_rules(Rules(absent=["worker 1"])),
        "custom": Problem(
            "custom", arms, Custom([[1, 1, 1, -2]], [-np.inf], [0], arms.names, ["help"]), few
        ),
    }


def write_corpus(folder: Path) -> None:
    """Write whole inputs of every kind."""
    folder.mkdir(parents=True)
    for name, problem in problems().items():
        save(problem, folder / name)
        save(problem, folder / f"{name}.npz")
        rows = "".join(f"{arm},0\n" for arm in problem.arms.names)
        (folder / f"{name}.states.csv").write_text(f"arm,state\n{rows}")
    (folder / "plan.toml").write_text(PLAN)
    (folder / "edges.csv").write_text(EDGES)
    (folder / "weights.csv").write_text(WEIGHTS)
    for name in MODELS:
        made = [
            f"train {folder}/{name} -o {folder}/{name}.model --set rounds=0",
            f"evaluate {folder}/{name} --policies random,myopic --episodes 2 -o "
            f"{folder}/{name}.evaluation.json",
        ]
        for line in made:
            code, _, err = call(line.split())
            assert code == 0, err
    for name, text in SHEETS.items():
        (folder / f"{name}.csv").write_text(text)
    clinic, imported = f"{folder}/clinic", [f"--{name}={folder}/{name}.csv" for name in LOGGED]
    for line in (
        ["sweep", f"{folder}/plan.toml", "-o", f"{folder}/swept", "--jobs", "1"],
        ["programme", "init", clinic, "--states", "lapsed=0,good=1", "--start", "2026-10-12"],
        ["programme", "import", clinic, *imported],
    ):
        code, _, err = call(line)
        assert code == 0, err


def call(arguments: list[str]) -> tuple[int, str, str]:
    """Run the command in this process."""
    from sequoia.cli.app import app
    from sequoia.cli.errors import run

    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = run(app, arguments)
        except SystemExit as stop:
            code = int(stop.code or 0)
    return code, out.getvalue(), err.getvalue()
