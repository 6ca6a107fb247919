"""The program against brute force, its limits, its checks, threads and memory."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from resource import RUSAGE_SELF, getrusage

import highspy
import numpy as np
import pytest
from argmax_cases import (
    EVERYTHING,
    EXTREME,
    MODERATE,
    SPACES,
    brute_force,
    case,
    columns_of,
    forward,
    problems,
    random_net,
)

from sequoia.errors import InfeasibleSpace, SolverFailed
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.embedding import Embedding, naive_layers, scaled
from sequoia.optimize.engines.milp import CAREFUL, Milp
from sequoia.optimize.engines.neuron_bounds import LinearBounds, NeuronBounds
from sequoia.optimize.relu_net import NetworkError, ReluNet
from sequoia.problem import Budget, Rules, with_rules
from sequoia.problem.families import FAMILIES
from sequoia.solvers import Highs, Limits, Status


@cache
def engine_of(name: str) -> Milp:
    return Milp(columns_of(name))


def test_there_are_enough_cases():
    assert 3 * len(EVERYTHING) * len(MODERATE) >= 500


@pytest.mark.parametrize("name", EVERYTHING)
def test_proven_optimum_is_that_of_brute_force(name):
    """Three states of every kind of network, from linear to three layers."""
    columns = columns_of(name)
    for kind in MODERATE:
        net = case(name, kind)
        answer = engine_of(name).best(net)
        np.testing.assert_allclose(
            answer.values, brute_force(name, net), rtol=1e-6, atol=1e-9, err_msg=kind
        )
        assert answer.is_proven.all(), kind
        assert (answer.bounds >= answer.values).all()
        assert columns.space.contains(answer.actions).all()
        own = [forward(net, b, x) for b, x in enumerate(columns.encode(answer.actions))]
        np.testing.assert_allclose(answer.values, own, rtol=1e-12)


def size_of_terms(net: ReluNet) -> np.ndarray:
    """How large the terms are that add up to a value, whatever cancels, for each state."""
    size = np.abs(net.first_bias) + (np.abs(net.weights[0]).sum(axis=1) if net.weights else 0.0)
    for matrix, bias in zip(net.weights[1:], net.biases, strict=True):
        size = size @ np.abs(matrix).T + np.abs(bias)
    return np.abs(net.linear).sum(axis=1) + (size @ np.abs(net.output) if net.weights else 0.0)


@pytest.mark.parametrize("name", EVERYTHING)
def test_extreme_networks(name):
    """As good as the best, as far as a double can tell beside terms of such a size."""
    for kind in EXTREME:
        net = case(name, kind)
        truth = brute_force(name, net)
        answer = engine_of(name).best(net)
        slack = 1e-6 * np.abs(truth) + 1e-11 * size_of_terms(net)
        assert (np.abs(answer.values - truth) <= slack).all(), kind
        assert (answer.bounds >= truth - slack).all(), kind
        ordinary = size_of_terms(net) < 1e3 * np.abs(truth)
        assert answer.is_proven[ordinary].all(), kind


@pytest.mark.parametrize("name", EVERYTHING)
def test_naive_form_has_the_same_optimum(name):
    """The paper's form: all of its rows, x and s for every neuron, one big M, both sides."""
    if name in SPACES:
        columns = ActionEncoding.of_space(SPACES[name], compact=False)
    else:
        columns = ActionEncoding.of_problem(problems()[name], compact=False)
    for kind in list(MODERATE)[::2]:
        net = case(name, kind)
        truth = brute_force(name, net)
        for state in range(len(net)):
            one = net.only([state])
            embedding = Embedding.of(one, naive_layers(one), columns, one_sided=False)
            solution = Highs().solve(embedding.program)
            assert solution.status is Status.OPTIMAL
            action = solution.values[: columns.space.n_actions].astype(np.int8)
            assert columns.space.contains(action[None])[0]
            value = forward(net, state, columns.encode(action[None])[0])
            assert value == pytest.approx(truth[state], rel=1e-6, abs=1e-6), kind
            claimed = solution.objective + net.constant[state]
            assert claimed == pytest.approx(truth[state], rel=1e-3, abs=1e-3), kind


@pytest.mark.parametrize("name", ["assignment", "schedule", "path", "interventions"])
def test_solves_without_the_compact_form(name):
    if name in SPACES:
        columns = ActionEncoding.of_space(SPACES[name], compact=False)
    else:
        columns = ActionEncoding.of_problem(problems()[name], compact=False)
    net = case(name, "two layers")
    answer = Milp(columns).best(net)
    np.testing.assert_allclose(answer.values, brute_force(name, net), rtol=1e-6)
    assert answer.is_proven.all()


def test_gap_is_relative_to_the_value_with_its_constant():
    """A constant that cancels most of the value asks more of the solver, never less."""
    net = case("schedule", "two layers")
    best = brute_force("schedule", net)
    asked, seen = [], []

    class Recorder(Highs):
        def solve(self, program, limits=Limits(), start=None):
            solution = super().solve(program, limits, start)
            asked.append(limits.gap)
            seen.append(solution.objective)
            return solution

    engine = Milp(columns_of("schedule"), solver=Recorder(**CAREFUL))
    bounds = NeuronBounds(LinearBounds(columns_of("schedule")))
    for left in (1e-2, 1e6, -1e-2):
        asked.clear()
        seen.clear()
        moved = replace(net, constant=net.constant - best + left)
        answer = engine.best(moved)
        np.testing.assert_allclose(answer.values, left, rtol=1e-6)
        assert answer.is_proven.all()
        units = [scaled(one, bounds.of(one))[2] for one in (net.only([b]) for b in range(3))]
        within = np.array(asked) * np.abs(seen) * units
        assert (within <= 1.001e-6 * abs(left)).all()
        assert max(asked) <= 1e-6


def test_any_feasible_start_is_improved():
    """The start only helps; the answer is the same from the worst one."""
    net = case("assignment", "two layers")
    nothing = np.zeros((3, 7), dtype=np.int8)
    answer = engine_of("assignment").improve(net, nothing)
    np.testing.assert_allclose(answer.values, brute_force("assignment", net), rtol=1e-6)
    assert answer.is_proven.all()


# What can go wrong.


@cache
def hard() -> tuple[ActionEncoding, ReluNet]:
    """A random network, which no solver can settle quickly."""
    columns = ActionEncoding.of_problem(FAMILIES["capacity"](arms=20))
    return columns, random_net(np.random.default_rng(0), columns.n_inputs, (24, 24), batch=2)


@pytest.mark.parametrize(
    "limits", [Limits(seconds=1e-3), Limits(seconds=0.0), Limits(nodes=0), Limits(nodes=3)]
)
def test_a_limit_returns_the_best_known_action_and_says_so(limits):
    columns, net = hard()
    engine = Milp(columns, limits=limits)
    rng = np.random.default_rng(1)
    starts = np.array([columns.space.sample(rng).action for _ in range(2)])
    begin = net.values(columns.encode(starts)[:, None])[:, 0]
    answer = engine.improve(net, starts)
    assert columns.space.contains(answer.actions).all()
    own = net.values(columns.encode(answer.actions)[:, None])[:, 0]
    np.testing.assert_allclose(answer.values, own)
    assert (answer.values >= begin).all()
    assert (answer.bounds > answer.values).all()
    assert not answer.is_proven.any()
    if limits.seconds < 0.1 or limits.nodes == 0:
        assert answer.actions.tolist() == starts.tolist()
    else:
        assert np.isfinite(answer.bounds).all()


def test_a_solver_that_ends_below_its_start():
    """At a limit the better of the solver's point and the start is kept."""
    net = case("assignment", "two layers").only([1])
    columns = columns_of("assignment")
    best = engine_of("assignment").best(net)
    idle = np.zeros((1, 7), dtype=np.int8)

    def stop_at_idle(program, _):
        low, high = program.column_lower.copy(), program.column_upper.copy()
        low[:7] = high[:7] = 0
        worse = Highs().solve(replace(program, column_lower=low, column_upper=high))
        return replace(worse, status=Status.LIMIT, bound=np.inf)

    answer = Milp(columns, solver=Liar(stop_at_idle)).improve(net, best.actions)
    assert net.values(columns.encode(idle)[:, None])[0, 0] < best.values[0]
    assert answer.actions.tolist() == best.actions.tolist()
    assert answer.values.tolist() == best.values.tolist()
    assert not answer.is_proven[0]


def test_a_wide_gap_is_honoured():
    """With a gap of 30 % the bound still holds, and the action is within it."""
    net = case("schedule", "three layers")
    net = replace(net, constant=np.zeros(3))
    truth = brute_force("schedule", net)
    answer = Milp(columns_of("schedule"), limits=Limits(gap=0.3)).best(net)
    assert (answer.bounds >= truth - 1e-9).all()
    assert (answer.gaps <= 0.3 + 1e-6).all()


def test_nan_network_is_an_error():
    net = case("budget", "two layers")
    with pytest.raises(NetworkError, match="not finite"):
        engine_of("budget").best(replace(net, output=net.output * np.nan))


def test_infeasible_space_is_reported_when_the_engine_is_made():
    rules = Rules(must=["arm 0", "arm 1", "arm 2"])
    with pytest.raises(InfeasibleSpace, match="contradict: budget"):
        Milp(ActionEncoding.of_space(with_rules(Budget(np.ones(30), 2), rules)))


class Liar:
    """Changes what HiGHS says."""

    name = "liar"

    def __init__(self, change):
        self._change = change

    def solve(self, program, limits=Limits(), start=None):
        return self._change(program, Highs().solve(program, limits, start))


def _claims_more(_, solution):
    return replace(solution, objective=solution.objective + 0.5, bound=solution.bound + 0.5)


def _bounds_too_low(_, solution):
    return replace(solution, bound=solution.objective - 0.5)


def _breaks_the_rules(_, solution):
    values = solution.values.copy()
    values[:7] = 1
    return replace(solution, values=values)


def _gives_up(_, solution):
    return replace(solution, status=Status.FAILED, values=None)


def _sees_no_action(_, solution):
    return replace(solution, status=Status.INFEASIBLE, values=None)


def _another_action(_, solution):
    """Claims the best value for doing nothing."""
    values = solution.values.copy()
    values[:7] = 0
    return replace(solution, values=values)


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        (_claims_more, "the program says .*, the network"),
        (_another_action, "the program says .*, the network"),
        (_bounds_too_low, "exceeds the bound"),
        (_breaks_the_rules, "breaks the rules"),
        (_gives_up, "solver says failed"),
        (_sees_no_action, "solver says infeasible"),
    ],
)
def test_a_solver_that_lies_is_caught(lie, message, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    net = case("assignment", "two layers").only([0])
    with pytest.raises(SolverFailed, match=f"state 0: .*{message}") as error:
        Milp(columns_of("assignment"), solver=Liar(lie)).best(net)
    (path,) = tmp_path.glob("sequoia-*.mps")
    assert str(path) in str(error.value)
    # The file holds the very program: solved again, it gives the true optimum.
    reader = highspy.Highs()
    reader.setOptionValue("output_flag", False)
    assert reader.readModel(str(path)) == highspy.HighsStatus.kOk
    reader.run()
    assert reader.getModelStatus() == highspy.HighsModelStatus.kOptimal
    lp = reader.getLp()
    assert lp.num_col_ >= 7 + 10
    action = np.rint(reader.getSolution().col_value[:7]).astype(np.int8)
    best = brute_force("assignment", net)[0]
    columns = columns_of("assignment")
    assert forward(net, 0, columns.encode(action[None])[0]) == pytest.approx(best, rel=1e-6)


# Threads and memory.


def test_workers_change_nothing():
    """Two at a time, in any order, give what one at a time gives."""
    name = "assignment, floors"
    columns = columns_of(name)
    net = random_net(np.random.default_rng(5), columns.n_inputs, (9, 7), batch=16)
    starts = np.repeat(columns.space.sample(np.random.default_rng(0)).action[None], 16, axis=0)
    alone = Milp(columns).improve(net, starts)
    both = Milp(columns, workers=2).improve(net, starts)
    order = np.random.default_rng(6).permutation(16)
    mixed = Milp(columns, workers=2).improve(net.only(order.tolist()), starts)
    for part in ("actions", "values", "bounds"):
        assert getattr(both, part).tolist() == getattr(alone, part).tolist()
        assert getattr(mixed, part).tolist() == getattr(alone, part)[order].tolist()


def test_many_concurrent_solves():
    """A few hundred programs on four threads: nothing crashes and every optimum is right."""
    names = ["budget", "assignment", "schedule, many slots", "path", "unequal doses"]
    nets = {name: case(name, "two layers", seed=7) for name in names}
    truth = {name: brute_force(name, nets[name]) for name in names}
    starts = {name: engine_of(name)._local.best(nets[name]).actions for name in names}

    def solve(index):
        name = names[index % len(names)]
        answer = Milp(columns_of(name), workers=2).improve(nets[name], starts[name])
        return name, answer

    with ThreadPoolExecutor(4) as pool:
        for name, answer in pool.map(solve, range(80)):
            np.testing.assert_allclose(answer.values, truth[name], rtol=1e-6)
            assert answer.is_proven.all()


def test_memory_does_not_grow():
    """A thousand solves after a warm-up; ten thousand are in `benchmarks/bench_memory.py`."""
    columns = columns_of("budget, equal arms")
    engine = Milp(columns)
    rng = np.random.default_rng(8)

    def solve(times):
        for _ in range(times // 20):
            engine.best(random_net(rng, columns.n_inputs, (3,), batch=20))

    solve(100)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    solve(1000)
    assert (getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024 <= 5.0
