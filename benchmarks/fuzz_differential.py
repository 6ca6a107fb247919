"""Answers compared with each other and with enumeration: ``make fuzz MINUTES=10``.

Each check draws a case from a seed, over every kind of space and scales from 1e-12 to 1e12, and
says what is wrong. Seeds of cases that were wrong once are kept in ``benchmarks/fuzz/seeds.txt``
and come first. ``--only CHECK:SEED`` runs one case again.

=========  ========================================================================================
engines    every engine, over HiGHS, SCIP and Gurobi, against all actions: networks
linear     linear weights: huge, tiny, equal, none, few that count; each solver against all actions
bounds     `lp` and `hull` against the exact optimum; `hull` is no higher than `lp`
scaled     rewards times a power of ten: bounds and decisions scale along
files      saved as folder and archive, loaded: the same fingerprint, bound and decisions
wrong      a space of no action, or of one: one line, or that action
rddl       domains of competitions: legal actions and next states, as pyRDDLGym has them
threads    an evaluation with one thread and with four: the same rewards
=========  ========================================================================================
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from sequoia import load, save
from sequoia.bounds import relax, solve_exactly
from sequoia.errors import InfeasibleSpace, ProblemError, SequoiaError
from sequoia.optimize import (
    ActionEncoding,
    Auto,
    BranchAndBound,
    Enumeration,
    LinearArgmax,
    LocalSearch,
    Milp,
    ReluNet,
)
from sequoia.optimize.linear.oracles import has_oracle
from sequoia.policies import make_policy
from sequoia.problem import Problem, Rules, capabilities_of, space_at, with_rules
from sequoia.rng import stream
from sequoia.solvers.registry import SOLVERS, solver

TESTS = Path(__file__).parent.parent / "tests"
for own in ("", "optimize", "interop/rddl"):
    sys.path.insert(0, str(TESTS / own))
from tiny_problems import KINDS, random_problem, random_rules, random_space  # noqa: E402

SEEDS = Path(__file__).parent / "fuzz" / "seeds.txt"
# Of checks that take a second or more, one of so many turns.
RARE = {"rddl": 10, "threads": 60, "bounds": 2, "scaled": 2}
RDDL = (
    "Elevators/0",
    "SysAdmin_MDP_ippc2011/1",
    "PushYourLuck_ippc2018/1",
    "Traffic_MDP_ippc2014/1",
)
Complaints = Iterator[str]


def draw_space(rng: np.random.Generator) -> ActionEncoding:
    """Return what an objective sees of the actions of a random space, with a rule or without."""
    kind = KINDS[int(rng.integers(len(KINDS)))]
    if kind == "interventions":
        return ActionEncoding.of_problem(random_problem(kind, int(rng.integers(10**6))))
    space = random_space(kind, 3 if kind == "path" else int(rng.integers(2, 9)), rng)
    if rng.random() < 0.5:
        ruled = with_rules(space, random_rules(space, rng))
        space = ruled if len(ruled.enumerate(10**5)) else space
    return ActionEncoding.of_space(space)


def draw_net(rng: np.random.Generator, inputs: int) -> ReluNet:
    """Return a network whose layers differ in size by up to 1e12."""
    widths = [int(width) for width in rng.integers(1, 7, rng.integers(0, 4))]
    sizes = [inputs, *widths]
    scale = 10.0 ** rng.integers(-12, 13)
    inner = 10.0 ** rng.integers(-3, 4, len(widths) + 1)
    weights = tuple(
        unit * rng.standard_normal((b, a)) for unit, a, b in zip(inner, sizes, widths, strict=False)
    )
    biases = [rng.standard_normal(size) * rng.choice([0, 1, 10]) for size in widths]
    output = scale * rng.standard_normal(widths[-1]) if widths else np.empty(0)
    linear = scale * rng.standard_normal((1, inputs)) * rng.choice([0, 1, 1])
    if rng.random() < 0.2:
        linear[:] = linear[0, 0]
    first = biases[0][None] if widths else np.empty((1, 0))
    return ReluNet(
        weights, first, tuple(biases[1:]), output, linear, scale * rng.standard_normal(1)
    )


def judged(name: str, columns: ActionEncoding, net: ReluNet, found: object) -> Complaints:
    """Compare a result with all actions."""
    actions = columns.space.enumerate(10**5)
    values = net.values(columns.encode(actions)[None])[0]
    best, size = float(values.max()), float(net.size_of_terms()[0])
    rounding = 1e-9 * abs(best) + 1e-11 * size
    action, value = found.actions[0], float(found.values[0])
    if not found.is_found[0]:
        yield f"{name} finds nothing among {len(actions)} actions"
        return
    if not (actions == action).all(axis=1).any():
        yield f"{name} returns an action that is not allowed"
        return
    here = float(net.values(columns.encode(action[None])[None])[0, 0])
    if abs(here - value) > rounding:
        yield f"{name} says {value!r} of an action worth {here!r}"
    if found.bounds[0] < best - rounding:
        yield f"{name} has the bound {found.bounds[0]!r}, and the best is {best!r}"
    if found.is_proven[0] and value < best - 4e-6 * abs(best) - rounding:
        yield f"{name} calls {value!r} proven, and the best is {best!r}"


@cache
def solvers() -> list[str]:
    """Return the solvers that are here and work."""
    return [name for name, entry in SOLVERS.items() if find_spec(entry.package) is not None]


def engines(seed: int) -> Complaints:
    rng = np.random.default_rng([1, seed])
    columns = draw_space(rng)
    net = draw_net(rng, columns.n_inputs)
    made = {
        "enumeration": Enumeration(columns),
        "local": LocalSearch(columns),
        "auto": Auto(columns),
    }
    if has_oracle(columns):
        made["branch"] = BranchAndBound(columns)
    made |= {f"milp {name}": Milp(columns, solver(name)) for name in solvers()}
    made["milp as usual"] = Milp(columns)
    for name, engine in made.items():
        yield from judged(name, columns, net, engine.best(net))


def linear(seed: int) -> Complaints:
    rng = np.random.default_rng([2, seed])
    columns = draw_space(rng)
    size = columns.n_inputs
    weights = rng.standard_normal((1, size)) * 10.0 ** rng.integers(-12, 13)
    shape = rng.integers(6)
    if shape == 0:
        weights[:] = abs(weights[0, 0])
    elif shape == 1:
        weights[:] = 0.0
    elif shape == 2:
        weights *= 10.0 ** rng.integers(-6, 7, size)
    elif shape == 3:
        weights = -abs(weights)
    elif shape == 4:
        weights = np.rint(3 * rng.standard_normal((1, size)))
    net = ReluNet.of_linear(weights)
    yield from judged("as usual", columns, net, LinearArgmax(columns).best(net))
    for name in solvers():
        yield from judged(name, columns, net, LinearArgmax(columns, solver(name)).best(net))


def draw_problem(rng: np.random.Generator) -> Problem:
    return random_problem(KINDS[int(rng.integers(len(KINDS)))], int(rng.integers(10**6)))


def scaled_rewards(problem: Problem, scale: float) -> Problem:
    arms = problem.arms
    rewards = arms.rewards * scale
    return replace(problem, arms=replace_rewards(arms, rewards))


def replace_rewards(arms: object, rewards: np.ndarray) -> object:
    return type(arms)(rewards, arms.doses, arms.kernels, arms.model, arms.names)


def bounds(seed: int) -> Complaints:
    rng = np.random.default_rng([3, seed])
    problem = draw_problem(rng)
    if rng.random() < 0.3:
        sign = -1.0 if rng.random() < 0.5 else 0.0
        problem = scaled_rewards(problem, sign)
    best = solve_exactly(problem).value
    lp, hull = (relax(problem, kind).bound.total for kind in ("lp", "hull"))
    size = float(np.abs(problem.arms.rewards).max()) * problem.horizon * problem.arms.n_arms
    for kind, total in (("lp", lp), ("hull", hull)):
        if total < best - 1e-9 * size:
            yield f"{kind} is {total!r}, and a policy earns {best!r}"
    if hull > lp + 1e-9 * size:
        yield f"hull is {hull!r}, above lp, {lp!r}"


def scaled(seed: int) -> Complaints:
    rng = np.random.default_rng([4, seed])
    problem = draw_problem(rng)
    scale = 10.0 ** rng.integers(-12, 13)
    other = scaled_rewards(problem, scale)
    for kind in ("lp", "hull"):
        one, two = relax(problem, kind).bound.total, relax(other, kind).bound.total / scale
        # Tolerances of solvers, and a hull that ends at its gap.
        if abs(one - two) > 3e-4 * abs(one) + 1e-9:
            yield f"{kind} is {one!r}, and {two!r} with rewards times {scale:g}"
    start = problem.draw_start(rng, 5)
    worth = []
    for own in (problem, other):
        policy = make_policy("price", own)
        policy.reset(5)
        rngs = [stream(0, f"fuzz:{episode}") for episode in range(5)]
        worth.append(policy.act(start, 0, rngs).values / (1 if own is problem else scale))
    if not np.allclose(*worth, rtol=1e-5, atol=1e-9):
        yield f"price sees {worth[0]}, and {worth[1]} with rewards times {scale:g}"


def files(seed: int) -> Complaints:
    rng = np.random.default_rng([5, seed])
    problem = draw_problem(rng)
    start = problem.draw_start(rng, 5)
    decided = []
    with tempfile.TemporaryDirectory() as folder:
        read = [problem]
        for name in ("p", "p.npz"):
            save(problem, Path(folder, name))
            read.append(load(Path(folder, name)))
        for own in read:
            policy = make_policy("price", own)
            policy.reset(5)
            rngs = [stream(0, f"fuzz:{episode}") for episode in range(5)]
            made = policy.act(start, 0, rngs)
            decided.append((own.fingerprint, relax(own).bound.total, made.actions.tobytes()))
    if len(set(decided)) != 1:
        yield f"what is read back decides otherwise: {[one[:2] for one in decided]}"


def wrong(seed: int) -> Complaints:
    rng = np.random.default_rng([6, seed])
    kind = ("budget", "assignment", "schedule", "custom")[int(rng.integers(4))]
    space = random_space(kind, int(rng.integers(2, 6)), rng)
    names = list(space.names)
    first, second = (names[place] for place in rng.choice(len(names), 2, replace=False))
    rules = (
        Rules(must=names),
        Rules(must=[first], never=[first]),
        Rules(must=[first, second], at_most_one=[[first, second]]),
        Rules(never=names),
    )
    ruled = with_rules(space, rules[int(rng.integers(len(rules)))])
    every = np.array(list(np.ndindex(*[2] * len(names))), dtype=np.int8)
    allowed = every[ruled.contains(every)]
    columns = ActionEncoding.of_space(ruled)
    net = draw_net(rng, columns.n_inputs)
    for name, engine in (("auto", Auto), ("milp", Milp)):
        try:
            found = engine(columns).best(net)
        except InfeasibleSpace as error:
            if len(allowed):
                yield f"{name} says {error}, and there are {len(allowed)} actions"
            if len(str(error).splitlines()) != 1:
                yield f"{name} takes more than a line: {error}"
        else:
            if not len(allowed):
                yield f"{name} returns an action where none is allowed"
            else:
                yield from judged(name, columns, net, found)


@cache
def _domain(name: str) -> object:
    from rddl_cases import Judge

    from sequoia.interop.rddl import from_rddl

    environment = from_rddl(f"rddl:{name}")
    return environment, Judge(environment)


def rddl(seed: int) -> Complaints:
    if find_spec("pyRDDLGym") is None or find_spec("rddlrepository") is None:
        return
    rng = np.random.default_rng([7, seed])
    name = RDDL[int(rng.integers(len(RDDL)))]
    environment, judge = _domain(name)
    state = environment.draw_start(rng, 1)[0]
    size = environment.space.n_actions
    for step in range(8):
        space = space_at(environment, state, 0)
        action = space.sample(rng).action
        tried = action ^ (rng.random((4, size)) < 1.5 / size).astype(np.int8)
        for one in (action, *tried):
            ours, theirs = bool(space.contains(one[None])[0]), judge.allows(state, one)
            if ours != theirs:
                yield f"{name} step {step}: an action is allowed: {ours}, by pyRDDLGym {theirs}"
        noise = rng.random((1, environment.n_noise))
        following = environment.step(state[None], action[None], noise)[1][0]
        knowing = capabilities_of(environment).chances
        try:
            shares = knowing.next_shares(state[None], action[None])[0]
        except ProblemError:  # draws that depend on each other, or amounts: it says so
            state = following
            continue
        _, after = judge.step(state, action)
        chances = shares[np.arange(len(after)), after.astype(int)]
        if chances.min() <= 0:
            yield f"{name} step {step}: pyRDDLGym goes where nothing leads, by ours"
        if shares[np.arange(len(after)), following].min() <= 0:
            yield f"{name} step {step}: a step goes where its chances do not"
        state = following


_PLAYED = """
import sys, hashlib
from sequoia.problem.families import make
from sequoia.evaluation import evaluate
problem = make(sys.argv[1], seed=int(sys.argv[2]), horizon=4)
found = evaluate(problem, ["price", "myopic", "whittle"], episodes=6, seed=int(sys.argv[2]))
print(hashlib.sha256(b"".join(rewards.tobytes() for rewards in found.rewards)).hexdigest())
"""


def threads(seed: int) -> Complaints:
    family = ("standard", "capacity", "scheduling")[seed % 3]
    said = []
    for count in ("1", "4"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        done = subprocess.run(
            [sys.executable, "-c", _PLAYED, family, str(seed)],
            env=os.environ | dict.fromkeys(names, count),
            capture_output=True,
            text=True,
            check=False,
        )
        said.append(done.stdout or done.stderr)
    if said[0] != said[1] or len(said[0]) != 65:
        yield f"{family}: with one thread {said[0]!r}, with four {said[1]!r}"


CHECKS: dict[str, Callable[[int], Complaints]] = {
    own.__name__: own for own in (engines, linear, bounds, scaled, files, wrong, rddl, threads)
}


def run(check: str, seed: int) -> list[str]:
    """Return what is wrong with a case; whatever is raised is wrong, too."""
    try:
        return list(CHECKS[check](seed))
    except SequoiaError as error:
        return [f"{type(error).__name__}: {error}"]
    except Exception as error:
        return [f"traceback, {type(error).__name__}: {error}"]


def kept() -> list[tuple[str, int]]:
    """Return the cases that were wrong once."""
    lines = SEEDS.read_text().split() if SEEDS.exists() else []
    return [(line.partition(":")[0], int(line.partition(":")[2])) for line in lines]


def cases(first: int) -> Iterator[tuple[str, int]]:
    """Yield cases that were wrong once, then one after the other."""
    yield from kept()
    turn = first
    while True:
        for check in CHECKS:
            if turn % RARE.get(check, 1) == 0:
                yield check, turn
        turn += 1


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare answers with each other.")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--first", type=int, default=0, help="turn to begin with")
    parser.add_argument("--only", nargs="*", metavar="CHECK:SEED", help="cases to run again")
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    chosen = [(text.partition(":")[0], int(text.partition(":")[2])) for text in options.only or ()]
    count, bad = Counter(), []
    for check, seed in chosen or cases(options.first):
        if not chosen and time.monotonic() > end:
            break
        count[check] += 1
        said = run(check, seed)
        if said:
            bad.append(f"{check}:{seed}")
            print(bad[-1], *said, sep="\n  ", flush=True)
    fresh = [case for case in bad if tuple(case.split(":")) not in {(c, str(s)) for c, s in kept()}]
    if fresh:
        SEEDS.write_text("\n".join([*(f"{c}:{s}" for c, s in kept()), *fresh]) + "\n")
    print(f"{count.total()} cases ({dict(count)}): {len(bad)} wrong")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
