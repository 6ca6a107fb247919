"""Certificates: true claims are verified, false ones are not, whatever is changed."""

import copy
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from sequoia import Rules
from sequoia.bounds import relax, solve_exactly
from sequoia.certificates import action_certificate, bound_certificate, plan_certificate
from sequoia.optimize import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Problem
from sequoia.problem.families import make
from sequoia.solvers import Solution, Status
from sequoia_verify import NotVerified, Unreadable, verify
from tiny_problems import random_problem

KINDS = ["budget", "assignment", "schedule", "path", "custom", "interventions"]


def families() -> dict[str, Problem]:
    return {
        "capacity": make("capacity", arms=6, workers=2),
        "scheduling": make("scheduling", arms=5, workers=2),
        "routing": make("routing", arms=8, longest_edge=2),
        "interventions": make("interventions", arms=5, actions=5, budget=2, reach=3),
        "rota": make("rota", arms=6, workers=2, slots=4, slots_per_worker=3, visits=2),
        "resting": make("rota", arms=6, workers=2, slots_per_worker=4, most_in_a_row=2, visits=2),
        "team": make("team", arms=5, walkers=2, minutes=40),
    }


def random_net(inputs: int, widths: tuple[int, ...]) -> ReluNet:
    rng = np.random.default_rng(len(widths))
    sizes = [inputs, *widths]
    weights = tuple(rng.standard_normal((b, a)) for a, b in zip(sizes, widths, strict=False))
    first, *biases = [rng.standard_normal(size) for size in widths] or [np.empty(0)]
    output = rng.standard_normal(widths[-1]) if widths else np.empty(0)
    linear = rng.standard_normal((1, inputs))
    return ReluNet(weights, first[None], tuple(biases), output, linear, np.ones(1))


def proven(content: dict) -> list[str]:
    return verify(json.dumps(content))


@pytest.mark.parametrize("name", families())
def test_plans_of_every_kind_of_space_are_verified_and_changed_ones_are_not(name: str) -> None:
    problem = families()[name]
    for seed in range(10):
        decision = problem.space.sample(np.random.default_rng(seed))
        content = plan_certificate(problem, decision)
        assert proven(content)[0].startswith("feasible")
        if not decision.action.any():
            continue
        wrong = copy.deepcopy(content)
        wrong["action"] = wrong["action"][1:]
        with pytest.raises(NotVerified):
            proven(wrong)
        if name not in ("interventions",):
            wrong = copy.deepcopy(content)
            wrong["tasks"] = wrong["tasks"][1:]
            with pytest.raises(NotVerified):
                proven(wrong)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_proven_and_none_below_the_optimum(kind: str, seed: int) -> None:
    problem = random_problem(kind, seed)
    optimum = solve_exactly(problem).value
    for of in ("lp", "hull"):
        found = relax(problem, of)
        content, shown = bound_certificate(problem, found)
        assert "no policy earns more" in proven(content)[0]
        assert shown == pytest.approx(found.bound.total, rel=1e-6)
        content["total"] = optimum - 1e-6 * abs(optimum)
        with pytest.raises(NotVerified, match="the proof shows"):
            proven(content)


def test_a_bound_without_an_end_is_proven() -> None:
    problem = random_problem("budget", 1)
    found = relax(problem, "hull", horizon=3, discounted=True)
    content, shown = bound_certificate(problem, found)
    assert shown == pytest.approx(found.bound.total)
    assert "for ever" in proven(content)[0]
    content["after"] = [[0.0] * problem.arms.n_states] * problem.arms.n_arms
    # Worths that are too low prove less, never a bound that is too low.
    with pytest.raises(NotVerified):
        proven(content)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("widths", [(), (3,), (3, 2)])
def test_best_actions_are_proven_and_others_are_not(kind: str, widths: tuple[int, ...]) -> None:
    problem = random_problem(kind, 3)
    columns = ActionEncoding.of_problem(problem)
    net = random_net(columns.n_inputs, widths)
    actions = problem.space.enumerate(1_000)
    values = net.values(columns.encode(actions)[None])[0]
    best, worst = int(values.argmax()), int(values.argmin())
    content = action_certificate(problem, columns, net, problem.space.certify(actions[best]))
    assert content["bound"] == pytest.approx(values[best], rel=1e-6, abs=1e-6)
    assert "no action is worth more" in proven(content)[2]
    if values[worst] < values[best] - 1e-6:
        other = action_certificate(problem, columns, net, problem.space.certify(actions[worst]))
        assert other["bound"] >= values[best] - 1e-6
        other["bound"] = other["value"]
        with pytest.raises(NotVerified):
            proven(other)


def test_what_a_certificate_is_made_of_cannot_be_changed_in_favour_of_its_claim() -> None:
    problem = make("standard", arms=6, budget=2)
    content, _ = bound_certificate(problem, relax(problem, "lp"))
    lower = copy.deepcopy(content)
    lower["total"] *= 0.999
    free = copy.deepcopy(content)
    free["prices"] = (np.array(free["prices"]) * 0).tolist()
    unpriced = copy.deepcopy(content)
    unpriced["proofs"] = [{"y": {}}] * len(unpriced["proofs"])
    signs = copy.deepcopy(content)
    signs["proofs"] = [{"y": {"0": -1.0}}] * len(signs["proofs"])
    empty = copy.deepcopy(content)
    empty["proofs"] = [{"empty": {}}] * len(empty["proofs"])
    for wrong in (lower, free, unpriced, signs, empty):
        with pytest.raises(NotVerified):
            proven(wrong)


def test_what_is_no_certificate_is_said_in_one_line() -> None:
    for text in ("", "{}", "[]", '{"claim": "bound"}', '{"claim": "x", "instance": {}}', "nan"):
        with pytest.raises(Unreadable):
            verify(text)


def test_a_rule_that_the_checker_does_not_know_is_not_overlooked() -> None:
    problem = make("capacity", arms=5, workers=2)
    content = plan_certificate(problem, problem.space.sample(np.random.default_rng(0)))
    for where, key in (("options", "promises"), ("tables", "windows")):
        more = copy.deepcopy(content)
        more["instance"][where][key] = {}
        with pytest.raises(Unreadable, match=f"{key} in {where}"):
            proven(more)
    content["instance"]["tables"]["actions"]["earliest time"] = ["09:00"] * 5
    with pytest.raises(Unreadable, match="earliest time in actions"):
        proven(content)


def test_times_at_which_a_team_comes_are_checked() -> None:
    plain = make("team", arms=5, walkers=1, minutes=60)
    space = plain.space.base
    free = plan_certificate(plain, plain.space.sample(np.random.default_rng(0)))
    first = free["tasks"][0]
    hour, minute = map(int, first["when"].split(":"))
    windows = np.tile([0, 10_000], (5, 1))
    windows[list(plain.space.names).index(first["where"])] = 60 * hour + minute + 5, 10_000
    timed = replace(plain, space=replace(space, windows=windows))
    late = plan_certificate(timed, timed.space.sample(np.random.default_rng(1)))
    proven(late)
    # The plan that was made without the window comes too early.
    with pytest.raises(NotVerified, match="another time"):
        proven(late | {"action": free["action"], "tasks": free["tasks"]})


def test_a_worker_who_is_off_is_read_from_the_words() -> None:
    problem = make("capacity", arms=10, workers=3)
    off = problem.with_rules(Rules(absent=[problem.space.worker_names[0]]))
    content = plan_certificate(off, off.space.sample(np.random.default_rng(1)))
    assert content["tasks"]
    proven(content)
    content["tasks"][0]["who"] = problem.space.worker_names[0]
    with pytest.raises(NotVerified):
        proven(content)


def test_the_checker_needs_python_alone() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['numpy', 'scipy', 'sequoia'])); "
        "import sequoia_verify.__main__ as m; sys.exit(m.main([]))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 2


class Liar:
    """A solver that says of any program that its first point is best, with prices of nothing."""

    name = "liar"

    def solve(self, program, limits=None, start=None) -> Solution:
        values = np.zeros(len(program.objective))
        duals = np.full(len(program.lower), -1.0)
        return Solution(Status.OPTIMAL, values, 0.0, 0.0, 0.0, duals)


def test_a_solver_that_lies_makes_no_false_certificate(monkeypatch) -> None:
    problem = make("standard", arms=6, budget=2)
    found = relax(problem)
    truth = solve_exactly(problem).value
    monkeypatch.setattr("sequoia.certificates.search.default_solver", Liar)
    content, shown = bound_certificate(problem, found)
    proven(content)
    assert shown >= truth
    with pytest.raises(NotVerified):
        proven(content | {"total": truth * (1 - 1e-6)})


def test_an_action_that_a_lying_solver_calls_best_is_found_out() -> None:
    problem = random_problem("custom", 4, with_rules=False)
    columns = ActionEncoding.of_problem(problem)
    net = random_net(columns.n_inputs, ())
    actions = problem.space.enumerate(1_000)
    values = net.values(columns.encode(actions)[None])[0]
    worst = problem.space.certify(actions[int(values.argmin())])
    # The claim that it is best cannot be written: the proof shows what the best is worth.
    content = action_certificate(problem, columns, net, worst)
    assert content["bound"] >= values.max() - 1e-6
    assert content["value"] < values.max() - 1e-6
    with pytest.raises(NotVerified):
        proven(content | {"bound": content["value"]})
