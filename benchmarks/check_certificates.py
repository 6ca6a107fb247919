"""Certificates of random small instances: written, verified, and compared with enumeration.

``python benchmarks/check_certificates.py --instances 10000``. Of each instance: a plan, the bounds
`lp` and `hull`, and the best action of a random network. Each is verified by `sequoia_verify`. A
claim that is too good must be refused: a bound just below the exact optimum, a network's bound just
below its largest value over all actions, and an action that the space does not have.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sequoia.bounds import relax, solve_exactly
from sequoia.certificates import action_certificate, bound_certificate, plan_certificate
from sequoia.optimize import ActionEncoding
from sequoia.problem import Decision, Problem
from sequoia.problem.families import make
from sequoia_verify import NotVerified, verify

for own in ("", "optimize"):
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / own))
from argmax_cases import random_net  # noqa: E402

from tiny_problems import KINDS, random_problem  # noqa: E402

WIDTHS = [(), (2,), (4,), (3, 2)]
# Below the truth by more than any rounding.
LESS = 1e-6


def instances(first: int, count: int) -> Iterator[tuple[str, Problem]]:
    """Yield random instances of every kind of space, by seed."""
    for seed in range(first, first + count):
        kind = [*KINDS, "rota", "team"][seed % (len(KINDS) + 2)]
        if kind == "rota":
            knobs = {"arms": 3, "workers": 2, "slots": 3, "slots_per_worker": 2, "visits": 1}
            yield kind, make(kind, **knobs, horizon=3, seed=seed)
        elif kind == "team":
            yield kind, make(kind, arms=3, walkers=2, minutes=30, horizon=3, seed=seed)
        else:
            yield kind, random_problem(kind, seed)


def claims(problem: Problem, seed: int) -> Iterator[tuple[str, dict, dict | None]]:
    """Yield claims of an instance, each with one that is too good."""
    rng = np.random.default_rng([seed, 5])
    space = problem.space
    decision = space.sample(rng)
    plan = plan_certificate(problem, decision)
    broken = rng.integers(0, 2, space.n_actions).astype(np.int8)
    wrong = None
    if not space.contains(broken[None])[0]:
        wrong = plan | {"action": space.chosen(broken)}
    yield "plan", plan, wrong
    optimum = solve_exactly(problem).value
    for kind in ("lp", "hull"):
        content, _ = bound_certificate(problem, relax(problem, kind))
        yield kind, content, content | {"total": optimum - LESS * max(abs(optimum), 1e-3)}
    columns = ActionEncoding.of_problem(problem)
    net = random_net(rng, columns.n_inputs, WIDTHS[seed // 10 % len(WIDTHS)], batch=1)
    actions = space.enumerate(10_000)
    values = net.values(columns.encode(actions)[None])[0]
    best = space.certify(actions[int(values.argmax())])
    content = action_certificate(problem, columns, net, Decision(best.action, best.plan))
    less = float(values.max()) - LESS * float(net.size_of_terms()[0])
    yield f"argmax {len(net.weights)}", content, content | {"bound": less}


def main() -> None:
    parser = argparse.ArgumentParser(description="Verify certificates of random instances.")
    parser.add_argument("--first", type=int, default=0, help="seed to begin with")
    parser.add_argument("--instances", type=int, default=1_000, help="number of instances")
    chosen = parser.parse_args()
    verified, refused, wrong, loose = Counter(), Counter(), 0, Counter()
    began = time.perf_counter()
    for number, (kind, problem) in enumerate(instances(chosen.first, chosen.instances)):
        if number % 1_000 == 0:
            print(f"{number} instances, {wrong} wrong", flush=True)
        for name, content, too_good in claims(problem, chosen.first + number):
            try:
                verify(json.dumps(content))
                verified[name] += 1
            except NotVerified as error:
                wrong += 1
                print(f"seed {chosen.first + number}, {kind}, {name}: {error}", flush=True)
            if "argmax" in name and content["bound"] > content["value"] + 1e-9:
                loose[kind] += 1
            if too_good is None:
                continue
            try:
                said = verify(json.dumps(too_good))
                wrong += 1
                print(f"seed {chosen.first + number}, {kind}, {name} passes: {said}", flush=True)
            except NotVerified:
                refused[name] += 1
    print(f"verified: {verified.total()} ({dict(verified)})")
    print(f"too good and refused: {refused.total()} ({dict(refused)})")
    print(f"best actions whose proof ended early: {dict(loose)}")
    print(f"wrong: {wrong}; {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
