"""Budgets over several steps: never exceeded, and known to the optimum and to prices."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sequoia import Arms, Budget, Problem, Promise, Promises, SpendingLimit, load, save
from sequoia.bounds import relax, solve_exactly
from sequoia.errors import FileError, InfeasibleSpace, ProblemError
from sequoia.policies import make_policy
from sequoia.problem.families import capacity, rota
from sequoia.simulate import Scenarios, rollout


def ladder(arms, horizon):
    rng = np.random.default_rng(arms)
    up = np.sort(rng.uniform(0.1, 0.9, (arms, 2, 2)), axis=1)
    chains = Arms.ladder(np.tile([0.0, 1.0], (arms, 1)) * rng.uniform(1, 3, (arms, 1)), up)
    return Problem("limited", chains, Budget(np.ones(arms), 2), [[1, 0]] * arms, horizon=horizon)


@pytest.mark.parametrize("policy", ["random", "myopic", "price", "price-update"])
@pytest.mark.parametrize("make", [capacity, rota])
def test_no_policy_exceeds_them(policy, make):
    plain = make(arms=8, workers=3, horizon=12)
    some = plain.space.names[:4]
    limits = [SpendingLimit("all", 9, 5, spent=3, into=1), SpendingLimit("few", 2, 4, some)]
    problem = plain.with_budgets(limits)
    actions = rollout(
        problem, make_policy(policy, problem), Scenarios.sample(problem, 3, 0)
    ).actions
    for one in actions.astype(int):
        total, few = one.sum(axis=1), one[:, :4].sum(axis=1)
        assert total[:4].sum() <= 6
        assert all(total[first : first + 5].sum() <= 9 for first in (4, 9))
        assert all(few[first : first + 4].sum() <= 2 for first in (0, 4, 8))


def test_the_optimum_is_that_of_all_ways_to_spend():
    """Two arms and at most three visits in each two steps: every choice is tried by hand."""
    plain = ladder(2, horizon=4)
    problem = plain.with_budgets([SpendingLimit("visits", 3, 2)])

    def value(state, step, spent):
        if step == 4:
            return 0.0
        best = -np.inf
        for action in product((0, 1), repeat=2):
            used = spent + sum(action)
            if used > 3:
                continue
            ahead = plain.expected_reward([state], [action])[0]
            for following in product((0, 1), repeat=2):
                odds = np.prod(
                    [plain.arms.kernels[j, action[j], state[j], following[j]] for j in (0, 1)]
                )
                ahead += odds * value(following, step + 1, 0 if step % 2 else used)
            best = max(best, ahead)
        return best

    exact = value((0, 0), 0, 0)
    assert solve_exactly(problem).value == pytest.approx(exact)
    assert exact <= relax(problem).bound.total + 1e-9
    assert relax(problem).bound.total < relax(plain).bound.total - 1e-6


def test_no_states_at_all():
    plain = ladder(3, horizon=4)
    promises = Promises.of(plain.arms.names, [Promise(["arm 0"], every=3)])
    problem = plain.with_promises(promises).with_budgets([SpendingLimit("visits", 4, 4)])
    nobody = np.zeros((0, problem.arms.n_arms), dtype=np.int64)
    assert len(problem.action_limits(nobody, np.zeros(0, dtype=np.int64))) == 0
    following = problem.transition(nobody, np.zeros((0, 3), dtype=np.int8), nobody)
    assert following.shape == nobody.shape


def test_prices_save_for_later():
    """A budget for all steps: acting by prices is within a few per cent of the bound."""
    problem = ladder(10, horizon=12).with_budgets([SpendingLimit("visits", 10, 12)])
    scenarios = Scenarios.sample(problem, 100, 0)
    bound = relax(problem).bound.total
    price = rollout(problem, make_policy("price", problem), scenarios).rewards.sum(axis=1)
    myopic = rollout(problem, make_policy("myopic", problem), scenarios).rewards.sum(axis=1)
    assert myopic.mean() < price.mean() <= bound + 3 * price.std() / 10
    assert price.mean() >= 0.95 * bound


def test_the_bound_over_whole_actions_knows_them():
    """Of three arms that cost 2 each, one fits into 3, and one and a half in fractions."""
    plain = ladder(3, horizon=4)
    plain = replace(plain, space=Budget([2, 2, 2], 3))
    problem = plain.with_budgets([SpendingLimit("visits", 2, 3)])
    by_rows, whole = relax(problem).bound, relax(problem, "hull").bound
    assert whole.kind == "hull"
    assert solve_exactly(problem).value <= whole.total + 1e-6
    assert whole.total < by_rows.total - 1e-3
    assert whole.total < relax(plain, "hull").bound.total - 1e-3


def test_promises_and_budgets_are_kept_together():
    plain = capacity(arms=6, workers=2, horizon=12)
    names = plain.arms.names
    promises = Promises.of(names, [Promise(names[:3], every=4)])
    problem = plain.with_promises(promises).with_budgets([SpendingLimit("visits", 8, 6)])
    again = plain.with_budgets([SpendingLimit("visits", 8, 6)]).with_promises(promises)
    assert again.fingerprint == problem.fingerprint
    actions = rollout(
        problem, make_policy("price", problem), Scenarios.sample(problem, 3, 0)
    ).actions
    for one in actions.astype(int):
        assert one.sum(axis=1).reshape(2, 6).sum(axis=1).max() <= 8
        for arm in range(3):
            dates = np.flatnonzero(one[:, arm]).tolist()
            last = -1 - int(problem.keeper.first_clock()[arm])
            assert np.diff([last, *dates, 12]).max() <= 4
    with pytest.raises(InfeasibleSpace, match="promises take up to 6 visits in 6 steps; tight"):
        plain.with_promises(promises).with_budgets([SpendingLimit("tight", 5, 6)])


@pytest.mark.parametrize("file", ["limited.npz", "limited"])
def test_files_keep_them(tmp_path, file):
    plain = ladder(3, horizon=4)
    problem = plain.with_budgets([SpendingLimit("visits", 5, 3, ["arm 1", "arm 2"], 2, 1)])
    save(problem, tmp_path / file)
    again = load(tmp_path / file)
    assert again.fingerprint == problem.fingerprint != plain.fingerprint
    assert np.array_equal(again.start, problem.start)
    assert [str(limit) for limit in again.purse.limits] == [
        "visits: at most 5 visits of 2 actions in 3 steps"
    ]
    if file == "limited":
        text = (tmp_path / file / "problem.toml").read_text()
        (tmp_path / file / "problem.toml").write_text(text.replace('"arm 2"', '"Bob"'))
        with pytest.raises(FileError, match="Bob"):
            load(tmp_path / file)


@pytest.mark.parametrize(
    "wrong", [{"most": -1}, {"steps": 0}, {"spent": 9}, {"into": 4}, {"actions": ["Bob"]}]
)
def test_what_makes_no_sense(wrong):
    with pytest.raises(ProblemError):
        ladder(2, 4).with_budgets(
            [SpendingLimit(**{"name": "visits", "most": 5, "steps": 3, **wrong})]
        )
