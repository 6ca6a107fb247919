import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sequoia.errors import FileError, InfeasibleDecision, ProblemError
from sequoia.evaluation import evaluate, load_evaluation, save_evaluation
from sequoia.evaluation.blocks import BlockCache
from sequoia.evaluation.evaluate import BLOCK
from sequoia.evaluation.verdict import cut_off
from sequoia.learn import make_config, train
from sequoia.policies import Idle, Random, StatewisePolicy
from sequoia.problem import Budget, Decision
from sequoia.problem.families import capacity, interventions, routing, scheduling, trap
from sequoia.proof import what_stopped
from sequoia.simulate import Decided

PROBLEM = capacity(arms=8, workers=3, horizon=6)
NAMES = ["idle", "random", "sampling", "iterative-myopic", "myopic", "price", "price-update"]


@pytest.fixture(scope="module")
def found():
    return evaluate(PROBLEM, NAMES, episodes=7, seed=3)


def test_shapes_and_content(found):
    assert found.rewards.shape == found.seconds.shape == (7, 7, 6)
    assert found.fingerprint == PROBLEM.fingerprint
    assert (found.seconds > 0).all()
    assert list(found.examples) == NAMES
    assert found.examples["price"].states.shape == (7, 8)
    assert found.bound is not None
    assert found.bound.kind == "lp"


def test_neither_order_nor_company_nor_processes_change_a_number(found):
    other = evaluate(PROBLEM, ["price", "sampling", "idle"], 7, 3, bound="none", jobs=2)
    for name in other.names:
        mine, theirs = found.index(name), other.index(name)
        assert np.array_equal(found.rewards[mine], other.rewards[theirs])
        assert np.array_equal(found.examples[name].states, other.examples[name].states)
        assert found.mean(name) == other.mean(name)
        # Random is played whether or not it is asked for, so this stays the same too.
        assert found.relative_to_random(name) == other.relative_to_random(name)
    assert np.array_equal(found.random, other.random)


def test_the_first_episodes_stay_the_same_when_more_are_asked_for(found):
    fewer = evaluate(PROBLEM, ["random", "price"], BLOCK - 1, 3, bound="none")
    for index, name in enumerate(fewer.names):
        assert np.array_equal(fewer.rewards[index], found.rewards[found.index(name), : BLOCK - 1])


def test_another_seed_is_another_day(found):
    other = evaluate(PROBLEM, ["random"], 7, 4, bound="none")
    assert not np.array_equal(other.rewards[0], found.random)


def test_all_policies_share_starts_and_luck(found):
    starts = [example.states[0] for example in found.examples.values()]
    assert all(np.array_equal(start, starts[0]) for start in starts)


def test_intervals_are_those_of_students_t(found):
    means = found.rewards[found.index("price")].mean(axis=1)
    one = found.mean("price")
    low, high = stats.t.interval(0.95, 6, means.mean(), stats.sem(means))
    assert (one.mean, one.low, one.high) == pytest.approx((means.mean(), low, high))
    gap = means - found.rewards[found.index("idle")].mean(axis=1)
    low, high = stats.t.interval(0.95, 6, gap.mean(), stats.sem(gap))
    pair = found.paired("price", "idle")
    assert (pair.mean, pair.low, pair.high) == pytest.approx((gap.mean(), low, high))
    assert found.paired("idle", "price").mean == pytest.approx(-pair.mean)


def test_the_summary_has_the_keys_that_people_rely_on(found):
    summary = found.to_json()
    assert list(summary) == ["problem", "fingerprint", "solver", "bound", "policies"]
    wanted = ["kind", "per_step", "total", "gap", "stopped_by", "seconds"]
    assert list(summary["bound"]) == wanted
    assert list(summary["policies"]) == NAMES
    for one in summary["policies"].values():
        assert list(one) == [
            "mean",
            "low",
            "high",
            "percent_of_bound",
            "relative_to_random",
            "ms_per_decision",
            "decisions_at_limit",
            "decisions_by_clock",
            "mean_gap_at_limit",
            "largest_gap_at_limit",
        ]
    random, price = summary["policies"]["random"], summary["policies"]["price"]
    assert random["relative_to_random"] == 1.0
    assert price["relative_to_random"] == price["mean"] / random["mean"]
    assert price["percent_of_bound"] == 100 * price["mean"] / summary["bound"]["per_step"]
    assert price["low"] < price["mean"] < price["high"]


def test_saved_and_read_again(found, tmp_path):
    save_evaluation(found, tmp_path / "e.json")
    again = load_evaluation(tmp_path / "e.json")
    assert again.to_json() == found.to_json()
    assert np.array_equal(again.rewards, found.rewards)
    assert np.array_equal(again.examples["price"].actions, found.examples["price"].actions)
    save_evaluation(again, tmp_path / "f.json")
    assert (tmp_path / "e.json").read_bytes() == (tmp_path / "f.json").read_bytes()
    content = json.loads((tmp_path / "e.json").read_text())
    assert {key: content[key] for key in found.to_json()} == found.to_json()
    assert list(content) == [*found.to_json(), "data"]


def test_states_beyond_whole_numbers_are_read_without_a_warning(found, tmp_path):
    save_evaluation(found, tmp_path / "e.json")
    content = json.loads((tmp_path / "e.json").read_text())
    content["data"]["examples"]["price"]["states"][0][0] = 1e30
    (tmp_path / "e.json").write_text(json.dumps(content))
    assert load_evaluation(tmp_path / "e.json").examples["price"].states[0, 0] == 1e30


@pytest.mark.parametrize("key", ["seconds", "rewards"])
def test_times_and_rewards_whose_mean_overflows_are_one_clear_line(found, tmp_path, key):
    save_evaluation(found, tmp_path / "e.json")
    content = json.loads((tmp_path / "e.json").read_text())
    content["data"][key]["price"][0][0] = 1e308
    (tmp_path / "e.json").write_text(json.dumps(content))
    with pytest.raises(FileError, match=rf"data.{key}\[.*\] is 1e\+308; at most 1e\+100"):
        load_evaluation(tmp_path / "e.json")


@pytest.mark.parametrize(("key", "value"), [("seed", float("inf")), ("columns", 1e308)])
def test_a_number_that_is_too_large_is_one_clear_line(found, tmp_path, key, value):
    save_evaluation(found, tmp_path / "e.json")
    content = json.loads((tmp_path / "e.json").read_text())
    content["data"][key] = value
    (tmp_path / "e.json").write_text(json.dumps(content))
    with pytest.raises(FileError, match="is not an evaluation that sequoia evaluate wrote"):
        load_evaluation(tmp_path / "e.json")


def test_a_bound_of_an_unknown_kind_is_refused(found, tmp_path):
    save_evaluation(found, tmp_path / "e.json")
    content = json.loads((tmp_path / "e.json").read_text())
    content["bound"]["kind"] = "sure"
    (tmp_path / "e.json").write_text(json.dumps(content))
    with pytest.raises(FileError, match="there is no bound of kind 'sure'"):
        load_evaluation(tmp_path / "e.json")


def test_one_episode_has_no_interval_and_is_still_json(tmp_path):
    one = evaluate(trap(horizon=2), ["exact", "idle"], 1, bound="none")
    save_evaluation(one, tmp_path / "e.json")
    again = load_evaluation(tmp_path / "e.json")
    assert again.to_json()["policies"]["exact"]["low"] is None
    assert again.to_json()["bound"] is None
    assert again.percent_of_bound("exact") is None


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"data": {"format": 9}}', '{"data": {"format": 1}}']
)
def test_what_is_no_evaluation_is_one_clear_line(tmp_path, content):
    (tmp_path / "e.json").write_text(content)
    with pytest.raises(FileError) as caught:
        load_evaluation(tmp_path / "e.json")
    assert "\n" not in str(caught.value)
    with pytest.raises(FileError, match="does not exist"):
        load_evaluation(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("policies", "options", "words"),
    [
        ([], {}, "policies is 0"),
        (["idle", "idle"], {}, "idle is named twice"),
        (["idle", "nonsense"], {}, "no policy 'nonsense'"),
        (["sequoia"], {}, "needs a trained model"),
        (["idle"], {"episodes": 0}, "episodes is 0"),
        (["idle"], {"jobs": 0}, "jobs is 0"),
        (["idle"], {"seed": -1}, "seed is -1"),
    ],
)
def test_wrong_questions(policies, options, words):
    with pytest.raises(ProblemError, match=words):
        evaluate(PROBLEM, policies, **({"episodes": 1} | options))


def test_a_policy_that_does_not_apply_is_known_in_either_way():
    for jobs in (1, 2):
        with pytest.raises(ProblemError, match=r"whittle: .* not a standard bandit"):
            evaluate(PROBLEM, ["idle", "whittle"], 6, jobs=jobs, bound="none")


class Cheat(StatewisePolicy):
    """Acts on everything."""

    name = "cheat"

    def __init__(self, problem) -> None:
        self._space = problem.space

    def decide(self, state, step, rng, episode) -> Decision:
        nothing = self._space.idle
        return Decision(np.ones_like(nothing.action), nothing.plan)


def test_every_decision_is_checked():
    with pytest.raises(InfeasibleDecision, match=r"cheat, episode 0, step 0: .*needs a worker"):
        evaluate(PROBLEM, {"cheat": Cheat}, 1)


OWN_PROBLEMS = [
    capacity(arms=8, workers=3, horizon=4),
    scheduling(arms=8, workers=3, horizon=4),
    interventions(arms=9, budget=3, horizon=4),
    routing(arms=8, budget=3, horizon=4),
]
SMALL_TRAINING = {
    "hidden": (6,),
    "rounds": 1,
    "samples": 200,
    "epochs": 1,
    "episodes": 4,
    "n_eval_episodes": 4,
}


@pytest.fixture(scope="module")
def trained():
    config = make_config("paper", **SMALL_TRAINING)
    return {problem: train(problem, config).model for problem in OWN_PROBLEMS}


@pytest.mark.parametrize("number", range(len(OWN_PROBLEMS)))
def test_numbers_do_not_depend_on_blocks_or_jobs(number, trained, monkeypatch):
    """Each episode is its own, however episodes are put together and wherever they are played."""
    problem = OWN_PROBLEMS[number]
    names = [
        name
        for name in ("random", "sampling", "iterative-myopic", "myopic", "price", "price-update")
        if not (name == "iterative-myopic" and problem.space.why_not_iterative)
    ]
    names += ["sequoia"] if problem.space.why_not_iterative else ["iterative-dqn", "sequoia"]
    found = []
    for size, jobs in ((5, 1), (1, 1), (4, 2), (7, 1)):
        monkeypatch.setattr(sys.modules["sequoia.evaluation.evaluate"], "BLOCK", size)
        found.append(evaluate(problem, names, 7, model=trained[problem], jobs=jobs, bound="none"))
    for other in found[1:]:
        np.testing.assert_array_equal(other.rewards, found[0].rewards)


class Coins:
    """An environment of one's own: coins that are heads pay, and may be turned."""

    name, fingerprint, horizon, discount, n_noise = "coins", "coins", 5, 0.9, 3
    space = Budget([1.0, 1.0, 1.0], 2)

    def draw_start(self, rng, count):
        return rng.integers(0, 2, (count, 3)).astype(np.float64)

    def features(self, states):
        return states

    def step(self, states, actions, noise):
        following = np.where(noise < 0.2 + 0.7 * actions, 1.0, 0.5)
        return following.sum(axis=1), following


def test_an_environment_of_ones_own_is_evaluated_and_saved(tmp_path):
    found = evaluate(Coins(), ["idle", "random"], 4)
    assert found.bound is None
    assert found.mean("random").mean > found.mean("idle").mean
    save_evaluation(found, tmp_path / "coins.json")
    again = load_evaluation(tmp_path / "coins.json")
    np.testing.assert_array_equal(again.rewards, found.rewards)
    np.testing.assert_array_equal(again.examples["random"].states, found.examples["random"].states)
    for name in ("myopic", "price", "exact", "sampling", "iterative-myopic", "whittle"):
        with pytest.raises(
            ProblemError, match=f"^{name}: needs a problem of arms; coins is another"
        ):
            evaluate(Coins(), [name], 1)


@pytest.mark.parametrize("by_clock", [False, True])
def test_a_decision_that_is_cut_off_is_counted_and_kept(tmp_path, by_clock):
    class Cut(StatewisePolicy):
        name = "cut"

        def decide(self, state, step, rng, episode):
            late = step == 2 and episode == 1
            stopped_by = what_stopped(late, by_clock)
            return Decided(PROBLEM.space.idle, 4.0, 5.0 if late else 4.0, stopped_by)

    found = evaluate(PROBLEM, {"cut": lambda _: Cut()}, 3, bound="none")
    assert found.decisions_at_limit("cut") == 1
    assert found.decisions_by_clock("cut") == int(by_clock)
    assert found.gaps_at_limit("cut") == (0.25, 0.25)
    save_evaluation(found, tmp_path / "e.json")
    again = load_evaluation(tmp_path / "e.json")
    assert again.to_json() == found.to_json()
    assert np.argwhere(again.is_at_limit).tolist() == [[0, 1, 2]]
    assert np.argwhere(again.is_late).tolist() == ([[0, 1, 2]] if by_clock else [])
    assert ("(1 by the clock)" in cut_off(again, "cut")) == by_clock


def test_policies_of_your_own():
    mine = evaluate(PROBLEM, {"mine": Random, "lazy": Idle}, 3, bound="none", jobs=2)
    # The name is part of the stream, so two names draw differently.
    assert not np.array_equal(mine.rewards[0], mine.random)
    assert mine.names == ["mine", "lazy"]


def test_pieces_are_picked_up_and_not_played_again(tmp_path):
    names, work = ["random", "price"], tmp_path / "parts"

    class Stop(Exception):
        pass

    def stop_half_way(progress) -> None:
        if progress.done == 3:
            raise Stop

    with pytest.raises(Stop):
        evaluate(PROBLEM, names, 12, 0, work=work, on_event=stop_half_way)
    kept = {file: file.read_bytes() for file in work.iterdir()}
    assert len(kept) == 3
    seen = []
    whole = evaluate(PROBLEM, names, 12, 0, work=work, on_event=seen.append)
    assert seen[0].kept == 3
    assert seen[0].done == 4
    assert seen[-1].done == seen[-1].total == 6
    assert all(file.read_bytes() == content for file, content in kept.items())
    fresh = evaluate(PROBLEM, names, 12, 0)
    assert np.array_equal(whole.rewards, fresh.rewards)
    again = evaluate(PROBLEM, names, 12, 0, work=work)
    save_evaluation(whole, tmp_path / "a.json")
    save_evaluation(again, tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    BlockCache(work).clear()
    assert not work.exists()


def test_pieces_of_another_question_or_damaged_ones_are_not_used(tmp_path):
    work = tmp_path / "parts"
    evaluate(PROBLEM, ["random"], 5, 0, work=work, bound="none")
    for file in work.iterdir():
        file.write_bytes(file.read_bytes()[:100])
    seen = []
    evaluate(PROBLEM, ["random"], 5, 0, work=work, bound="none", on_event=seen.append)
    evaluate(PROBLEM, ["random"], 5, 1, work=work, bound="none", on_event=seen.append)
    evaluate(capacity(arms=8), ["random"], 5, 0, work=work, bound="none", on_event=seen.append)
    assert [progress.kept for progress in seen] == [0, 0, 0]
    (work / "a note of mine").write_text("")
    BlockCache(work).clear()
    assert [file.name for file in work.iterdir()] == ["a note of mine"]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("family", [capacity, scheduling, interventions, routing])
def test_the_order_of_the_papers_figure(family, seed):
    middle = ["sampling", "myopic"] + (["iterative-myopic"] if family is not routing else [])
    found = evaluate(family(seed=seed), ["idle", "random", *middle, "price"], 4, seed)
    assert found.paired("random", "idle").mean > 0
    for name in middle:
        assert found.paired(name, "random").mean > 0
        # Behind a link, the best next step is often the best plan too.
        least = 0.0 if family is not interventions else -0.1
        assert found.paired("price", name).mean >= least
    assert found.percent_of_bound("price") > 80
    if family is not interventions:
        assert found.mean("price").mean > 1.3 * found.mean("myopic").mean


def test_files_appear_complete_or_not_at_all(found, tmp_path):
    with pytest.raises(FileError, match="is not a folder"):
        save_evaluation(found, tmp_path / "nowhere" / "e.json")
    with pytest.raises(FileError, match="is a folder"):
        save_evaluation(found, tmp_path)
    save_evaluation(found, tmp_path / "e.json")
    assert [file.name for file in Path(tmp_path).iterdir()] == ["e.json"]
