"""Promises: kept whatever a policy does, known to prices and the optimum, refused beforehand."""

from itertools import product

import numpy as np
import pytest

from sequoia import Arms, Assignment, Budget, Problem, Promise, Promises, Rules, load, save
from sequoia.bounds import relax, solve_exactly
from sequoia.errors import FileError, InfeasibleSpace, ProblemError
from sequoia.policies import make_policy
from sequoia.problem import limits_of
from sequoia.problem.diagnose import diagnose
from sequoia.problem.families import capacity, rota, standard
from sequoia.simulate import Scenarios, rollout


def ladder(arms, space, horizon=6):
    rng = np.random.default_rng(arms)
    up = np.sort(rng.uniform(0.1, 0.9, (arms, 2)), axis=1)
    chains = Arms.ladder(np.tile([0.0, 1.0], (arms, 1)) * rng.uniform(1, 3, (arms, 1)), up)
    return Problem("promised", chains, space, [[1, 0]] * arms, horizon=horizon)


def broken(promises, visited, first_clock):
    """Return arms to which a promise is broken by visits ``(H, J)``, by looking at their dates."""
    steps = len(visited)
    for arm in range(visited.shape[1]):
        dates = np.flatnonzero(visited[:, arm]).tolist()
        last = -1 - int(first_clock[arm])
        if promises.every[arm]:
            gaps = np.diff([last, *dates, steps])
            if (gaps > promises.every[arm]).any():
                yield arm
        if promises.apart[arm] and (np.diff([last, *dates]) < promises.apart[arm]).any():
            yield arm
        window = int(promises.once_in[arm])
        if window and any(
            visited[begin : begin + window, arm].sum() != 1
            for begin in range(0, steps - window + 1, window)
        ):
            yield arm


KINDS = {
    "capacity": (capacity(arms=9, workers=3, horizon=18), 1.0),
    "rota": (rota(arms=9, workers=3, horizon=18, may_visit=1.0, slots_per_worker=3), 1.0),
    "standard": (standard(arms=9, budget=2, horizon=18), 1.0),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("policy", ["random", "myopic", "price"])
def test_every_policy_keeps_them(name, policy):
    problem, _ = KINDS[name]
    names = problem.arms.names
    promises = Promises.of(
        names,
        [
            Promise(names[:3], every=6),
            Promise(names[3:5], every=9, apart=3),
            Promise(names[5:6], once_in=9),
            Promise(names[6:8], apart=4),
        ],
    )
    promised = problem.with_promises(promises)
    trajectory = rollout(promised, make_policy(policy, promised), Scenarios.sample(promised, 3, 1))
    levels = promised.levels(trajectory.actions.reshape(-1, trajectory.actions.shape[2]))
    visited = levels.reshape(3, 18, -1) > 0
    first = promised.keeper.first_clock()
    assert [list(broken(promises, one, first)) for one in visited] == [[], [], []]


def test_the_optimum_is_that_of_all_plans_that_keep_the_promise():
    """Two arms, of which one is visited at a time: every plan of visits is tried by hand."""
    problem = ladder(2, Budget([1, 1], 1), horizon=5)
    promises = Promises.of(problem.arms.names, [Promise(["arm 0"], every=2, since=1)])
    promised = problem.with_promises(promises)
    assert solve_exactly(promised).value <= relax(promised).bound.total + 1e-9

    def value(state, step, clock):
        if step == 5:
            return 0.0
        best = -np.inf
        for action in ([0, 0], [1, 0], [0, 1]):
            if clock == 1 and not action[0]:
                continue
            reward = problem.expected_reward([state], [action])[0]
            ahead = 0.0
            for following in product((0, 1), repeat=2):
                chance = np.prod(
                    [
                        problem.arms.kernels[arm, action[arm], state[arm], following[arm]]
                        for arm in (0, 1)
                    ]
                )
                ahead += chance * value(following, step + 1, 0 if action[0] else clock + 1)
            best = max(best, reward + ahead)
        return best

    assert solve_exactly(promised).value == pytest.approx(value((0, 0), 0, 0))


def test_prices_know_them():
    problem = ladder(6, Budget(np.ones(6), 2), horizon=12)
    free = relax(problem).bound.total
    promises = Promises.of(problem.arms.names, [Promise(problem.arms.names[:5], every=3)])
    promised = problem.with_promises(promises)
    bound = relax(promised).bound.total
    assert bound < free - 1e-6
    earned = rollout(promised, make_policy("price", promised), Scenarios.sample(promised, 50, 0))
    assert earned.rewards.sum(axis=1).mean() <= bound + 3 * earned.rewards.sum(axis=1).std() / 7


def test_what_is_forced_can_wait_until_it_cannot():
    """Three arms every 3 steps and one visit a step: each has its turn; with two, the last step."""
    for budget, least in ((1, 1), (3, 0)):
        problem = ladder(3, Budget(np.ones(3), budget))
        promises = Promises.of(problem.arms.names, [Promise(problem.arms.names, every=3)])
        promised = problem.with_promises(promises)
        fresh = promised.keeper.with_clocks(np.zeros((1, 3), int), np.array([[0, 1, 1]]))
        limits = limits_of(promised, fresh, np.zeros(1, int))
        assert limits.lower.sum() == least


def test_staff_that_is_off_breaks_no_promise_with_a_reserve():
    space = Assignment([1] * 6, [1, 1, 1])
    problem = ladder(6, space, horizon=6)
    promises = Promises.of(problem.arms.names, [Promise(problem.arms.names, every=5)], reserve=2)
    promised = problem.with_promises(promises)
    rng, clock = np.random.default_rng(0), promised.keeper.first_clock()
    for step in range(200):
        off = [f"worker {w}" for w in range(3) if rng.random() < 0.15]
        today = promised.with_rules(Rules(absent=off))
        state = today.keeper.with_clocks(np.zeros(6, int), clock)[None]
        limits = limits_of(today, state, np.array([step]))
        action = limits.lower[0]
        today.space.certify(action)
        clock = np.where(action == 1, 0, clock + 1)
        assert clock.max() < 5


@pytest.mark.parametrize(
    ("promises", "message"),
    [
        ([Promise(["arm 0", "arm 1", "arm 2"], every=2)], r"arms 0, 1 and 2|in step 1 at the"),
        (
            [Promise(["arm 0", "arm 1"], every=3, since=3)],
            "arms 0 and 1 have to be visited in step 0",
        ),
    ],
)
def test_what_cannot_be_kept_is_said_beforehand(promises, message):
    problem = ladder(3, Budget(np.ones(3), 1))
    with pytest.raises(InfeasibleSpace, match=message):
        problem.with_promises(Promises.of(problem.arms.names, promises))


@pytest.mark.parametrize(
    ("promise", "message"),
    [
        (Promise(["Bob"], every=3), "names 'Bob'"),
        (Promise(["arm 0"], every=3, apart=4), "arm 0 is visited at least every 3 steps, but not"),
        (Promise(["arm 0"], every=3, once_in=4), "arm 0 has once_in beside every"),
        (Promise(["arm 0"], every=3, since=5), "arm 0 was visited 5 steps ago"),
        (Promise(["arm 0", "arm 0"], every=3), "'arm 0' twice"),
        (Promise(["arm 0"], every=-1), "0 to"),
    ],
)
def test_promises_that_make_no_sense(promise, message):
    problem = ladder(2, Budget(np.ones(2), 1))
    with pytest.raises(ProblemError, match=message):
        problem.with_promises(Promises.of(problem.arms.names, [promise]))


def test_check_says_that_they_can_be_kept(tmp_path):
    problem = ladder(3, Budget(np.ones(3), 1))
    promised = problem.with_promises(Promises.of(problem.arms.names, [Promise(["arm 1"], every=4)]))
    said = [finding.text for finding in diagnose(promised, tmp_path / "p.npz")]
    assert "all promises can be kept with the usual staff; turns come every 4 steps" in said


@pytest.mark.parametrize("file", ["kept.npz", "kept"])
def test_files_keep_them(tmp_path, file):
    problem = ladder(3, Budget(np.ones(3), 1))
    promises = Promises.of(problem.arms.names, [Promise(["arm 1"], every=4, apart=2)], reserve=1)
    promised = problem.with_promises(promises)
    save(promised, tmp_path / file)
    again = load(tmp_path / file)
    assert again.fingerprint == promised.fingerprint != problem.fingerprint
    assert again.keeper.promises.every.tolist() == [0, 4, 0]
    assert np.array_equal(again.arms.kernels, promised.arms.kernels)
    if file == "kept":
        (tmp_path / "kept" / "promises.csv").write_text("name,every\narm 1,2\narm 1,3\nBob,1\n")
        with pytest.raises(FileError, match=r"(?s)Bob.*again|again.*Bob"):
            load(tmp_path / "kept")
        (tmp_path / "kept" / "promises.csv").write_text("name,evry\narm 1,2\n")
        with pytest.raises(FileError, match=r"column 'evry'.* perhaps 'every' is meant"):
            load(tmp_path / "kept")
