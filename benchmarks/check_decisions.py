"""Decisions of all policies, checked from the words of the rules.

``python benchmarks/check_decisions.py --decisions 100000``, or in pieces, by ``--problems`` and
their names. The checker, `rules_in_words`, reads no row of any system.
"""

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator

import numpy as np
from rules_in_words import broken_over_time, broken_rules

from sequoia import (
    Arms,
    Budget,
    Custom,
    Floor,
    Lock,
    Problem,
    Promise,
    Promises,
    Rules,
    Schedule,
    SpendingLimit,
)
from sequoia.errors import SequoiaError
from sequoia.learn import make_config, train
from sequoia.models.model import QFunction
from sequoia.policies import POLICIES, Idle, Policy, make_policy
from sequoia.problem import families
from sequoia.rng import stream

BATCH = 50
EPISODES = 5
# A decision of these takes ten to a hundred times as long as one of the others: they make fewer.
SHARES = {"sampling": 0.05, "price-update": 0.05, "lookahead": 0.02}
ROLLOUTS = 64


def problems() -> dict[str, Problem]:
    """Return problems of every kind of space, without and with extra rules."""
    capacity, scheduling = families.capacity(arms=8, workers=3), families.scheduling(arms=8)
    routing = families.routing(arms=12, longest_edge=2)
    arms = Arms.ladder([[0, 1, 5]] * 6, [[0.1, 0.8]] * 6)
    matrix = [[1, 1, 1, 1, 1, 1, -3], [1, -1, 0, 0, 0, 0, 0]]
    custom = Custom(matrix, [-np.inf, -0.5], [0, 1], arms.names, ["a car"], ["seats", "together"])
    slots = np.ones((3, 4), dtype=bool)
    distinct = Schedule(slots, np.ones((6, 4), dtype=bool), 3, 2, distinct_workers=True)
    few = [[1, 0, 0]] * 6
    fair = Rules(
        {"north": ["arm 0", "arm 1", "arm 2"]},
        [Floor("north", share=0.4)],
        never=["arm 5"],
        at_most_one=[["arm 1", "arm 3"]],
    )
    on = list(routing.space.names)
    rota = families.rota(arms=8, workers=3, slots=4, slots_per_worker=2, visits=2)
    resting = families.rota(arms=8, workers=2, slots_per_worker=5, most_in_a_row=2, visits=2)
    team = families.team(arms=8, walkers=2, minutes=40)
    near = list(team.space.names)
    plenty = families.rota(arms=8, workers=3, slots_per_worker=3, may_visit=1.0)
    names = plenty.arms.names
    plenty_workers = plenty.space.worker_names
    # The first visit of somebody's own plan, so that it can be made.
    first = plenty.space.tasks(plenty.space.sample(stream(0, "check:lock")))[0]
    locked = Lock(first.where, first.who, first.when)
    promises = Promises.of(
        names,
        [
            Promise(names[:3], every=6),
            Promise(names[3:5], every=8, apart=3),
            Promise(names[5:6], once_in=10),
            Promise(names[6:7], apart=4),
        ],
    )
    visits = [SpendingLimit("visits", 24, 10), SpendingLimit("few", 5, 4, names[:3])]
    return {
        "promised rota": plenty.with_promises(promises),
        "promised standard": families.standard(arms=8, budget=2).with_promises(promises),
        "limited rota": plenty.with_budgets(visits),
        "promised and limited": plenty.with_promises(promises).with_budgets(visits[:1]),
        "trap": families.trap(),
        "standard": families.standard(arms=8),
        "costs": Problem("costs", arms, Budget([0.1, 0.2, 0.3, 1e-7, 2, 3], 0.6), few),
        "interventions": families.interventions(arms=8, budget=3),
        "capacity": capacity,
        "scheduling": scheduling,
        "distinct": Problem("distinct", arms, distinct, few),
        "rota": rota,
        "resting rota": resting,
        "team": team,
        "routing": routing,
        "epidemic": families.epidemic(arms=8),
        "epidemic route": families.epidemic(arms=8, route=True),
        "immunity": families.epidemic(arms=8, disease="sir", graph="small-world"),
        "wildfire": families.wildfire(arms=9, budget=2, burning=2),
        "custom": Problem("custom", arms, custom, few),
        "fair capacity": capacity.with_rules(fair.and_also(Rules(absent=["worker 1"]))),
        "fair scheduling": scheduling.with_rules(fair.and_also(Rules(absent=["worker 0"]))),
        "fair rota": rota.with_rules(fair.and_also(Rules(absent=["worker 1"]))),
        "fair team": team.with_rules(Rules({"g": near[:4]}, [Floor("g", share=0.5)])),
        "ordered team": team.with_rules(Rules(orders=[near[:2]])),
        "locked rota": plenty.with_rules(Rules(locks=[locked, Lock(names[1], plenty_workers[2])])),
        "locked team": team.with_rules(Rules(locks=[Lock(near[3], team.space.worker_names[1])])),
        "must capacity": capacity.with_rules(Rules(must=["arm 2"])),
        "counted": families.standard(arms=8).with_rules(
            Rules({"g": ["arm 3", "arm 4"]}, [Floor("g", count=1)])
        ),
        "fair routing": routing.with_rules(Rules({"g": on[:6]}, [Floor("g", share=0.5)])),
        "fair custom": Problem("custom", arms, custom, few).with_rules(Rules(never=["arm 4"])),
    }


def models(problem: Problem) -> dict[str, QFunction]:
    """Return what is learned as usual, and a little network with a hidden layer."""
    usual = make_config("default", rounds=1)
    quick = {"n_eval_episodes": 5, "samples": 100, "epochs": 3}
    hidden = make_config("paper", hidden=[8], rounds=1, **quick)
    return {"as usual": train(problem, usual).model, "a hidden layer": train(problem, hidden).model}


def policies(problem: Problem) -> Iterator[Policy]:
    """Yield every policy that applies; those that need a model, with each."""
    learned = models(problem)
    for name, policy in POLICIES.items():
        for q in list(learned.values())[: None if policy.needs_model else 1]:
            try:
                yield make_policy(name, problem, q, rollouts=ROLLOUTS)
            except SequoiaError:  # this one does not apply
                continue


def check(problem: Problem, policy: Policy, count: int, seed: int) -> Counter[str]:
    """Play states at random, check every decision, and count what is broken; "" is nothing."""
    found: Counter[str] = Counter()
    step, rng = 0, stream(seed, f"check:{problem.name}:{policy.name}")
    if problem.keeper is not None or problem.purse is not None:
        return check_in_order(problem, policy, count, rng)
    while found.total() < count:
        size = min(BATCH, count - found.total())
        states = rng.integers(problem.arms.n_states, size=(size, problem.arms.n_arms))
        rngs = [stream(seed, f"check:{policy.name}:{step}:{row}") for row in range(size)]
        policy.reset(size)
        made = policy.act(states, step % problem.horizon, rngs)
        for row in range(size):
            decision = problem.space.certify(made.actions[row]) if made.plans is None else made[row]
            broken = list(broken_rules(problem.space, decision))
            found[broken[0] if broken else ""] += 1
        step += 1
    return found


def check_in_order(
    problem: Problem, policy: Policy, count: int, rng: np.random.Generator
) -> Counter[str]:
    """Play episodes, as promises and budgets depend on what was done before; check each decision.

    Promises and budgets are judged by the dates of visits alone.
    """
    found: Counter[str] = Counter()
    # Who does nothing keeps no promise, and says so.
    while found.total() < count and policy.name != Idle.name:
        states = problem.draw_start(rng, EPISODES)
        policy.reset(EPISODES)
        visits = np.zeros((EPISODES, problem.horizon, problem.space.n_actions), dtype=np.int64)
        for step in range(problem.horizon):
            made = policy.act(states, step, [rng] * EPISODES)
            visits[:, step] = made.actions
            for action in made.actions:
                broken = list(broken_rules(problem.space, problem.space.certify(action)))
                found[broken[0] if broken else ""] += 1
            states = problem.transition(states, made.actions, rng.random(states.shape))
        for dates in visits:
            for rule in broken_over_time(problem, dates):
                found[rule] += 1
    return found


def run(decisions: int, names: Collection[str] = (), seed: int = 0) -> tuple[int, int]:
    """Check at least so many decisions, in all problems or some.

    Return how many were checked, and how many of them broke a rule.
    """
    cases = [
        (name, problem, policy)
        for name, problem in problems().items()
        if not names or name in names
        for policy in policies(problem)
    ]
    each = decisions / sum(SHARES.get(policy.name, 1.0) for _, _, policy in cases)
    checked: Counter[str] = Counter()
    wrong, began = 0, time.process_time()
    for name, problem, policy in cases:
        found = check(problem, policy, math.ceil(each * SHARES.get(policy.name, 1.0)), seed)
        checked[policy.name] += found.total()
        wrong += found.total() - found[""]
        for rule, times in found.items():
            if rule:
                print(f"BROKEN {name}, {policy.name}: {rule} ({times} times)", flush=True)
    print(", ".join(f"{name} {count}" for name, count in checked.items()))
    print(f"{time.process_time() - began:.0f} seconds of processor time")
    return checked.total(), wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=2_000)
    parser.add_argument("--problems", nargs="+", default=list(problems()), choices=problems())
    options = parser.parse_args()
    checked, wrong = run(options.decisions, options.problems)
    print(f"{checked} decisions checked; {wrong} break a rule")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
