from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import sequoia
from sequoia import Arms, Custom, Problem, Rules
from sequoia.bounds import solve_exactly
from sequoia.errors import FileError, InfeasibleSpace, ProblemError
from sequoia.optimize import ReluNet
from sequoia.planning import Plan
from sequoia.planning.overrides import (
    columns_of,
    find_worker,
    read_offer,
    todays_rules,
    todays_wishes,
    together,
)
from sequoia.planning.planner import Planner
from sequoia.planning.state_file import read_states
from sequoia.planning.wish_costs import plan_with_overtime, wish_costs
from sequoia.problem.families import (
    FAMILIES,
    assortment,
    capacity,
    epidemic,
    interventions,
    rota,
    routing,
    scheduling,
)
from sequoia.problem.spaces.base import Task
from sequoia.proof import Proof

CAPACITY = capacity(arms=8, workers=3, horizon=6)
STATE = np.arange(8) % 4


@pytest.mark.parametrize("family", FAMILIES)
def test_a_plan_for_every_family(family):
    problem = FAMILIES[family](**({} if family == "trap" else {"arms": 8}))
    state = np.zeros(problem.arms.n_arms, dtype=np.int64)
    plan = Planner(problem, state).plan(problem)
    problem.space.system.require(plan.decision)
    assert plan.gap <= 1e-6
    if problem.contagion is None:
        assert (plan.worth - plan.idle).long_run >= -1e-9
    else:
        assert (plan.worth.long_run, plan.policy, plan.objective) == (None, "myopic", "next step")
    assert (plan.worth - plan.idle).next_step >= -1e-9 or plan.policy == "price"
    where = {one.where for one in plan.tasks}
    assert set(problem.space.chosen(plan.decision.action)) <= where


@pytest.mark.parametrize("name", ["price", "myopic"])
def test_the_plan_is_the_best_of_all(name):
    planner = Planner(CAPACITY, STATE)
    plan = planner.plan(CAPACITY, name)
    every = [planner.worth(action) for action in CAPACITY.space.enumerate(10_000)]
    long_run = name == "price"
    best = max(one.long_run if long_run else one.next_step for one in every)
    mine = plan.worth.long_run if long_run else plan.worth.next_step
    assert mine == pytest.approx(best)
    assert plan.objective == ("long run" if long_run else "next step")


def test_the_gap_of_a_plan_that_is_not_the_best():
    planner = Planner(CAPACITY, STATE)
    best, other = planner.plan(CAPACITY), planner.plan(CAPACITY, "iterative-myopic")
    lost = best.worth.long_run - other.worth.long_run
    assert other.gap == pytest.approx(max(0.0, lost / other.worth.long_run), abs=1e-6)
    assert planner.plan(CAPACITY, "idle").gap > 0.01


def test_a_proof_is_about_what_the_policy_maximises():
    planner = Planner(CAPACITY, STATE)
    price, myopic = planner.plan(CAPACITY), planner.plan(CAPACITY, "myopic")
    assert price.proof == Proof("for the long run, as prices see it", price.proof.gap)
    assert myopic.proof.objective == "for the next step"
    assert price.proof.gap == pytest.approx(0.0, abs=1e-9)
    for name in ("random", "idle", "sampling", "iterative-myopic"):
        assert planner.plan(CAPACITY, name).proof is None


class Wants:
    """A made-up model that wants the last arms most."""

    def fold(self, states, steps):
        return ReluNet.of_linear(np.tile(np.arange(8.0), (len(states), 1)))


def test_with_a_model_the_plan_is_that_of_the_model():
    planner = Planner(CAPACITY, STATE)
    plan = planner.plan(CAPACITY, model=Wants())
    assert plan.policy == "sequoia"
    assert plan.proof == Proof("by what the model has learned", 0.0)
    actions = CAPACITY.space.enumerate(10_000)
    assert np.arange(8) @ plan.decision.action == (actions @ np.arange(8)).max()
    assert plan.objective == "long run"
    assert plan.gap > 0


def test_why_costs_what_the_other_plan_is_worth_less():
    planner = Planner(CAPACITY, STATE)
    plan = planner.plan(CAPACITY)
    actions = CAPACITY.space.enumerate(10_000)
    worth = np.array([planner.worth(action).long_run for action in actions])
    for arm in range(8):
        why = planner.why(plan, f"arm:{arm}")
        assert why.is_chosen == bool(plan.decision.action[arm])
        others = worth[actions[:, arm] != plan.decision.action[arm]]
        assert why.cost.long_run == pytest.approx(plan.worth.long_run - others.max())
        assert why.cost.long_run >= -1e-9


def test_todays_rules_hold():
    rules = todays_rules(CAPACITY, ["worker:2"], ["arm:1"], ["arm 3"])
    assert (rules.absent, rules.must, rules.never) == (("worker 2",), ("arm 1",), ("arm 3",))
    plan = Planner(CAPACITY, STATE).plan(CAPACITY.with_rules(rules))
    assert plan.decision.action[1] == 1
    assert plan.decision.action[3] == 0
    assert "worker 2" not in {one.who for one in plan.tasks}


WEEK = rota(
    arms=6, workers=2, slots=2, slots_per_arm=1, slots_per_worker=2, may_visit=1.0, horizon=4
)


def best_where(planner, problem, keeps):
    """Return what the best action is worth of which some booking keeps to what is asked."""
    minutes, own = problem.space.minutes, problem.space
    worth = [-np.inf]
    for action in own.enumerate(10_000):
        arms = np.flatnonzero(action).tolist()
        options = [
            [(i, j, k) for i, k in np.argwhere(minutes > 0).tolist() if own.arm_slots[j, k]]
            for j in arms
        ]
        for booked in product(*options):
            used = np.zeros_like(minutes)
            for i, j, k in booked:
                used[i, k] += own.lengths[j]
            if (used <= minutes).all() and keeps(booked):
                worth.append(planner.worth(action).long_run)
                break
    return max(worth)


def test_wishes_cost_what_the_best_plan_is_worth_less():
    """Plans under locks are the best of all bookings that keep them."""
    planner = Planner(WEEK, np.zeros(6, dtype=np.int64))
    free = best_where(planner, WEEK, lambda _: True)
    for arm, worker, slot in ((0, 1, None), (3, 0, 1), (5, None, 0)):
        text = f"{'' if worker is None else f'worker {worker}='}arm:{arm}"
        text += "" if slot is None else f"@slot {slot}"
        wishes = todays_wishes(WEEK, {"lock": [text]})
        expected = best_where(
            planner,
            WEEK,
            lambda booked, a=arm, w=worker, s=slot: any(
                (j, w in (None, i), s in (None, k)) == (a, True, True) for i, j, k in booked
            ),
        )
        if expected == -np.inf:
            with pytest.raises(InfeasibleSpace, match=r"locked: "):
                planner.plan(WEEK.with_rules(together(wishes)))
            continue
        plan = planner.plan(WEEK.with_rules(together(wishes)))
        assert plan.worth.long_run == pytest.approx(expected)
        (cost,) = wish_costs(planner, WEEK, plan, wishes)
        assert cost.cost.long_run == pytest.approx(free - expected, abs=1e-9)


def test_overtime_is_worked_if_it_gains_more_than_its_price():
    planner = Planner(CAPACITY, STATE)
    longer = CAPACITY.with_rules(Rules(hours={"worker 1": CAPACITY.space.capacities[1] + 3}))
    gain = planner.plan(longer).worth.long_run - planner.plan(CAPACITY).worth.long_run
    assert gain > 0.01
    for price, is_taken in ((gain / 3 * 0.9, True), (gain / 3 * 1.1, False)):
        offer = read_offer(CAPACITY, f"worker:1=3@{price}")
        plan, (found,) = plan_with_overtime(planner, CAPACITY, Rules(), [offer])
        assert found.is_taken is is_taken
        assert found.gain.long_run == pytest.approx(gain)
        assert bool(plan.problem.space.rules.hours) is is_taken


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"lock": ["arm:1"]}, "locks nothing"),
        ({"lock": ["worker:1=arm:2@Mon"]}, "an assignment has no slots|a slot, but"),
        ({"hours": ["worker:1"]}, "gives no hours"),
        ({"hours": ["worker:1=-2"]}, "gives no hours"),
        ({"hours": ["worker:1=2", "worker 1=3"]}, "the hours of worker 1 are given twice"),
        ({"order": ["arm:1"]}, "two arms or more"),
    ],
)
def test_wishes_that_mean_nothing(wishes, message):
    with pytest.raises(ProblemError, match=message):
        todays_wishes(CAPACITY, wishes)


def test_orders_need_routes():
    rules = together(todays_wishes(CAPACITY, {"order": ["arm:1 > arm:2"]}))
    with pytest.raises(ProblemError, match="has no routes of workers"):
        CAPACITY.with_rules(rules)


def test_rules_that_contradict_are_named():
    rules = todays_rules(CAPACITY, must=["arm:1"], never=["arm:1"])
    with pytest.raises(InfeasibleSpace, match=r"must act on arm 1 \| never act on arm 1"):
        Planner(CAPACITY, STATE).plan(CAPACITY.with_rules(rules))


def test_arms_behind_several_actions():
    problem = interventions(arms=9, budget=3)
    reach = np.flatnonzero(np.diff(problem.influence.indptr) > 1)
    arm = problem.arms.names[reach[0]]
    name, columns = columns_of(problem, f"arm:{reach[0]}")
    assert name == arm
    assert len(columns) > 1
    planner = Planner(problem, np.zeros(9, dtype=np.int64))
    for must, expected in ((True, True), (False, False)):
        wish = {"must" if must else "never": [arm]}
        plan = planner.plan(problem.with_rules(todays_rules(problem, **wish)))
        chosen = set(problem.space.chosen(plan.decision.action))
        assert bool(chosen & set(columns)) is expected
    far = np.flatnonzero(np.diff(problem.influence.indptr) == 0)
    if len(far):
        assert "no action reaches" in planner.why(plan, f"arm:{far[0]}").reason


def test_names_with_blanks_and_colons():
    arms = Arms.ladder([[0, 1.0]] * 3, [[0, 1.0]] * 3, names=["Ada: north", "2", "arm 0"])
    space = Custom(np.ones((1, 3)), [-np.inf], [1], ["Ada: north", "2", "arm 0"])
    problem = Problem("odd names", arms, space, [[1, 0]] * 3)
    assert columns_of(problem, "arm:Ada: north")[0] == "Ada: north"
    assert columns_of(problem, "Ada: north")[0] == "Ada: north"
    assert columns_of(problem, "arm:2")[0] == "2"  # a name goes before a number
    assert columns_of(problem, "arm:0")[0] == "Ada: north"
    with pytest.raises(ProblemError, match="a custom problem has none"):
        find_worker(problem, "worker:1")
    with pytest.raises(ProblemError, match="'arm:7' names no arm"):
        columns_of(problem, "arm:7")


def test_errands_of_a_walk_follow_it():
    problem = routing(arms=20, longest_edge=3)
    decision = problem.space.sample(np.random.default_rng(5))
    listed = problem.space.tasks(decision)
    route = [problem.space.names[node] for node in problem.space.walk(decision)]
    assert [one.where for one in listed] == route
    steps = [int(one.when.removeprefix("step ")) for one in listed]
    assert steps == sorted(steps)
    assert steps[-1] <= problem.space.length
    acted = [one.where for one in listed if one.do == "act"]
    assert sorted(acted) == sorted(problem.space.chosen(decision.action))


def test_errands_of_a_schedule_are_in_order():
    problem = scheduling()
    listed = problem.space.tasks(problem.space.sample(np.random.default_rng(0)))
    assert [one.when for one in listed] == sorted(one.when for one in listed)
    assert listed[0] == Task(listed[0].who, listed[0].when, listed[0].where, "visit")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("arm,state\n", "does not have arm 0, arm 1, arm 2, arm 3 and 4 more arms"),
        ("arm,state\nNobody,0\n", "row 2 names 'Nobody', which is unknown"),
        ("arm,state\narm 0,0\narm 0,1\n", "row 3 names 'arm 0' again"),
        ("arm,state\narm 0,4\n", "row 2, column 'state' is '4'; states run from 0 to 3"),
        ("arm,state\narm 0,x\n", "'state' is 'x'"),
        ("arm,state\narm 0\n", "row 2 has 1 cell; 2 are wanted"),
        ("arm,state\narm 0,-1\n", "'state' is '-1'"),
        ("name,state\narm 0,0\n", "has the columns name, state; arm and state are wanted"),
        ("", "is empty; a first row with column names is wanted"),
    ],
)
def test_state_files_that_are_wrong(tmp_path, text, words):
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(FileError, match=words):
        read_states(tmp_path / "s.csv", CAPACITY)


def test_state_files(tmp_path):
    rows = "".join(f"{state},arm {arm},x\n" for arm, state in reversed(list(enumerate(STATE))))
    (tmp_path / "s.csv").write_text("\ufeffstate,arm,note\n" + rows, encoding="utf-8")
    assert np.array_equal(read_states(tmp_path / "s.csv", CAPACITY), STATE)
    with pytest.raises(FileError, match="does not exist"):
        read_states(tmp_path / "nowhere.csv", CAPACITY)


def test_where_arms_interact_a_price_plan_says_what_no_policy_exceeds():
    problem = epidemic(arms=6, budget=1, horizon=4, seed=2)
    state = np.array([0, 1, 1, 0, 1, 1])
    found = Planner(problem, state).plan(problem, "price")
    start = np.eye(2)[state]
    assert found.ceiling >= solve_exactly(replace(problem, start=start)).value - 1e-9
    assert found.ceiling <= 1.5 * solve_exactly(replace(problem, start=start)).value
    assert Planner(problem, state).plan(problem, "myopic").ceiling is None


def test_any_environment_is_planned():
    environment = assortment(items=4, show=2)
    made = sequoia.plan(environment, policy="myopic")
    assert isinstance(made, Plan)
    assert made.proof == Proof("for the next step", 0.0)
    assert made.proof_in_words == "Proven: no plan is better for the next step."
    assert environment.space.contains(made.decision.action[None])[0]
    assert sequoia.plan(environment).policy == "lookahead"


def test_rules_of_a_day_need_arms():
    with pytest.raises(ProblemError, match="rules of a day need a problem of arms"):
        sequoia.plan(assortment(items=4), rules=Rules(must=["item 1"]))


def test_a_proof_says_what_ended_it():
    cut_off = Proof("for the next step", 0.25, "clock")
    assert cut_off.words == (
        "No plan is better for the next step by more than 25 % (the clock cut the proof off)."
    )
    assert cut_off.is_at_limit
    assert not Proof("for the next step", 0.25).is_at_limit
