"""The one learner as a whole: it learns where there is something to learn, and says so."""

from dataclasses import replace

import numpy as np
import pytest
from learning_cases import tiny, value_of

from experiments.blind import Blind
from experiments.field import maintenance
from experiments.play import no_action, returns
from learned_cases import Switches
from sequoia import Assignment, Budget
from sequoia.bounds.exact import solve_exactly
from sequoia.errors import FileError
from sequoia.evaluation.intervals import Estimate
from sequoia.learn import load_model, make_config, network_fit, train
from sequoia.learn.checkpoint import NAME
from sequoia.learn.learner import PolicyImprovement
from sequoia.learn.sizes import Sizes
from sequoia.models.scores import LinearScores
from sequoia.policies import Myopic, Sequoia, make_policy
from sequoia.problem import Rules
from sequoia.problem.families import assortment, capacity, epidemic, wildfire
from sequoia.simulate import Scenarios, rollout


@pytest.fixture
def quick(monkeypatch):
    """Let rounds look at little, and networks take few steps: what is learned does not matter."""
    of, descend = Sizes.of, network_fit.descend

    def few(environment, argmax):
        return replace(of(environment, argmax), episodes=24, states=50, guard=20)

    monkeypatch.setattr(Sizes, "of", few)
    monkeypatch.setattr(network_fit, "descend", lambda *given, **_: descend(*given[:5], steps=3))


class Judge:
    """Says of challengers what it is told to; all else is as the guard has it."""

    def __init__(self, guard, *answers):
        self.earned, self._answers = guard.earned, iter(answers)

    def test(self, challenged, held, critic, luck):
        won = next(self._answers)
        return won, Estimate(0.5, 0.4, 0.6) if won else Estimate(0.0, -1.0, 1.0), np.zeros(3)


def learned(environment, seed=0, **changes):
    return train(environment, make_config("default", **changes), seed)


def mean_of(environment, policy, episodes=200):
    scenarios = Scenarios.sample(environment, episodes, seed=11)
    return float(rollout(environment, policy, scenarios).rewards.mean())


def test_seeing_only_the_game_it_does_better_than_looking_one_step_ahead():
    problem = capacity(arms=20)
    blind = Blind(problem)
    trained = learned(blind, rounds=2)
    assert mean_of(blind, Sequoia(blind, trained.model)) > 1.05 * mean_of(problem, Myopic(problem))
    mean, low, high = trained.gain
    assert 0 < low < mean < high
    assert trained.bound is None


def test_a_system_that_wears_out_unseen_is_kept_up():
    """k-out-of-n maintenance, of which beliefs are all that is seen."""
    system = maintenance.make(1)
    blind = Blind(system)
    trained = learned(blind, rounds=3)
    policy = make_policy("sequoia", blind, trained.model)

    def act(states, step, rng):  # noqa: ARG001
        return policy.act(states, step, [None] * len(states)).actions

    ours, idle = (returns(system, own, 50, seed=3) for own in (act, no_action(system)))
    assert ours.mean() > 0.7 * idle.mean()  # Costs: less is more.
    assert trained.gain[1] > 0


def test_rare_rewards_are_found_in_an_environment_of_ones_own():
    """Five switches that are set in order only; random play seldom sets all of them."""
    switches = Switches()
    trained = learned(switches, rounds=20)
    assert mean_of(switches, Sequoia(switches, trained.model)) * switches.horizon > 3.5


def test_with_prices_it_is_close_to_the_optimum_and_below_its_bound():
    problem = tiny()
    trained = learned(problem, rounds=3)
    optimum = solve_exactly(problem).value
    assert value_of(problem, Sequoia(problem, trained.model)) > 0.97 * optimum
    assert trained.bound >= optimum / problem.horizon - 1e-9
    assert trained.history[0]["did"] == "base policy price"


def test_a_fire_is_fought_from_the_start_where_clusters_say_how():
    """Treating a fire earns nothing in the next step, so the myopic policy lets it burn."""
    problem = wildfire(arms=16, burning=2, budget=1, horizon=8, seed=1)
    trained = learned(problem, rounds=0)
    assert trained.model.known.name == "price"
    ours = mean_of(problem, Sequoia(problem, trained.model))
    assert mean_of(problem, Myopic(problem)) < ours < trained.bound


class Lamps:
    """Columns light lamps, and luck alone pays."""

    name, fingerprint = "lamps", "lamps 1"
    space = Budget(np.ones(3), 1)
    horizon, discount, n_noise = 5, 1.0, 3

    def draw_start(self, rng, count):
        return rng.integers(0, 2, (count, 3))

    def features(self, states):
        return states.astype(float)

    def step(self, states, actions, noise):
        return noise.sum(axis=1), actions.astype(np.int64)


class Indifferent(Lamps):
    """The same, but luck lights the lamps."""

    def step(self, states, actions, noise):
        earned, _ = super().step(states, actions, noise)
        return earned, (noise < 0.5).astype(np.int64)


@pytest.mark.parametrize("environment", [Lamps(), Indifferent()])
@pytest.mark.usefixtures("quick")
def test_where_nothing_is_to_be_gained_the_base_policy_is_the_result(environment):
    trained = learned(environment, rounds=10)
    assert trained.gain == (0, 0, 0)
    assert trained.model.known.name in ("idle", "random")
    assert (trained.model.linear, trained.model.network, trained.model.joint) == (None, None, None)
    assert all(row["won"] is None for row in trained.history)
    # It ends by itself once the closest look won nothing, as often as it has patience for.
    assert trained.history[-1]["round"] < 10


def test_what_is_returned_earns_what_is_said():
    problem = capacity(arms=8, workers=2, horizon=6)
    blind = Blind(problem)
    trained = learned(blind, rounds=1)
    ours = mean_of(blind, Sequoia(blind, trained.model), 1_000)
    assert ours == pytest.approx(trained.reward, rel=0.02)
    before = mean_of(blind, Sequoia(blind, learned(blind, rounds=0).model), 1_000)
    assert trained.gain[1] > 0
    assert ours - before == pytest.approx(trained.gain[0], abs=0.1 * trained.gain[0])


@pytest.mark.parametrize(
    "space",
    [
        Budget([1.0, 2.0, 1.0, 2.0, 1.0, 2.0], 3.0),
        Assignment([1.0, 2.0, 1.0, 2.0, 1.0, 2.0], [2.0, 1.0]),
    ],
)
def test_any_space_with_rules(space):
    plain = epidemic(arms=6, budget=2, horizon=3)
    arms = plain.arms
    problem = type(plain)(
        "any space",
        type(arms)(arms.rewards, arms.doses, arms.kernels, arms.model),
        space,
        plain.start,
        horizon=3,
        contagion=plain.contagion,
    ).with_rules(Rules(must=["arm 1"]))
    trained = learned(problem, rounds=1)
    played = rollout(problem, Sequoia(problem, trained.model), Scenarios.sample(problem, 4, seed=0))
    assert (played.actions[:, :, 1] == 1).all()


def test_a_shop_whose_rewards_are_no_sums_is_learned():
    shop = assortment(items=4, show=2, horizon=6, seed=2)
    trained = learned(shop, rounds=1)
    assert trained.model.known.name == "myopic"
    myopic = mean_of(shop, make_policy("myopic", shop))
    assert mean_of(shop, Sequoia(shop, trained.model)) >= myopic - 1e-9


# ------------------------------------------------------------------ which looks follow which


@pytest.mark.usefixtures("quick")
def test_rounds_that_win_nothing_make_the_next_ones_look_closer():
    learner = PolicyImprovement(
        epidemic(arms=5, budget=1, horizon=4), make_config("default", patience=1), 0
    )
    efforts = [(own.depth, own.has_networks) for own in learner.efforts]
    assert efforts[:2] == [(1, True), (1, False)]  # A state of five is small.
    depths = [depth for depth, _ in efforts if depth]
    assert depths == sorted(depths)
    assert efforts[-1][0] == 0  # What doses are worth together comes last, and compares nothing.
    learner.begin()
    learner._guard = Judge(learner._guard, *[False] * 50)
    did = []
    while not learner.is_done:
        did.append(learner.play_round().did)
    assert list(dict.fromkeys(did)) == [str(own) for own in learner.efforts]
    assert learner.result() is learner.base


@pytest.mark.usefixtures("quick")
def test_a_win_is_kept_and_gives_patience_back():
    learner = PolicyImprovement(
        epidemic(arms=5, budget=1, horizon=4), make_config("default", patience=2), 0
    )
    learner.begin()
    learner._guard = Judge(learner._guard, False, True, False)
    learner.play_round()
    assert (learner.misses, learner.kept is learner.base) == (1, True)
    won = learner.play_round()
    assert (learner.misses, learner.kept is learner.base) == (0, False)
    assert won.won == 0.5
    assert learner.current is learner.kept
    kept = learner.kept
    learner.play_round()
    assert (learner.misses, learner.effort) == (1, 0)
    assert learner.kept is kept
    assert learner.current is not kept  # Play shows where the one that lost errs.


@pytest.mark.usefixtures("quick")
def test_what_won_its_test_by_luck_is_not_the_result():
    environment = epidemic(arms=5, budget=1, horizon=4)
    learner = PolicyImprovement(environment, make_config("default"), 0)
    learner.begin()
    worse = np.zeros((len(learner.sight.node), learner.sight.n_local, learner.sight.n_times))
    bias = np.full((5, learner.sight.n_times), -100.0)
    idle = replace(learner.base, linear=LinearScores(learner.sight, worse, bias))
    learner._guard = Judge(learner._guard, True)
    learner._judge(idle, None)
    assert learner.kept is idle
    assert learner.result() is learner.base
    assert learner.gain.mean == 0


# ------------------------------------------------------------------ the same again


class Crash(Exception):
    """Ends a training from inside."""


def crash_at(rounds):
    def watch(progress):
        if progress.round.round == rounds:
            raise Crash

    return watch


def assert_same(one, other):
    arrays, facts = one.model.to_arrays()
    others, other_facts = other.model.to_arrays()
    assert facts == other_facts
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        assert np.asarray(array).tobytes() == np.asarray(others[name]).tobytes(), name
    rows = [[{**row, "seconds": 0} for row in own.history] for own in (one, other)]
    assert rows[0] == rows[1]
    assert (one.reward, one.gain, one.bound) == (other.reward, other.gain, other.bound)


FORMS = {
    "declared": (epidemic(arms=5, budget=1, horizon=4), {"rounds": 5, "patience": 1}),
    "found": (Blind(epidemic(arms=5, budget=1, horizon=4)), {"rounds": 5, "patience": 1}),
    "prices": (tiny(), {"rounds": 3, "patience": 3}),
    "beliefs": (maintenance.make(1, 2), {"rounds": 4, "patience": 1}),
}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", FORMS)
def test_ended_after_any_round_and_resumed_it_is_the_same_to_the_byte(name, tmp_path):
    environment, changes = FORMS[name]
    config = make_config("default", **changes)
    whole = train(environment, config, seed=2)
    last = whole.history[-1]["round"]
    assert last > 2
    did = {row["did"].rpartition(", ")[2] for row in whole.history}
    assert ("networks" in did) == (name != "prices")
    for stop in range(last):
        with pytest.raises(Crash):
            train(environment, config, 2, folder=tmp_path, resume=True, on_event=crash_at(stop))
        assert [file.name for file in tmp_path.iterdir()] == [NAME]
    assert_same(train(environment, config, 2, folder=tmp_path, resume=True), whole)
    states = environment.draw_start(np.random.default_rng(0), 5)
    steps = np.zeros(5, np.int64)
    read = load_model(tmp_path, environment)
    assert np.array_equal(read.fold(states, steps).linear, whole.model.fold(states, steps).linear)


@pytest.mark.usefixtures("quick")
def test_the_same_seed_gives_the_same_model_and_another_one_another():
    blind = Blind(capacity(arms=6, workers=2, horizon=4))
    one, again, other = (learned(blind, seed, rounds=2) for seed in (0, 0, 1))
    assert_same(one, again)
    arrays, others = one.model.to_arrays()[0], other.model.to_arrays()[0]
    assert any(not np.array_equal(arrays[name], others.get(name)) for name in arrays)


def test_a_checkpoint_of_other_settings_is_refused_in_one_line(tmp_path):
    problem = tiny()
    config = make_config("default", rounds=2)
    with pytest.raises(Crash):
        train(problem, config, folder=tmp_path, on_event=crash_at(1))
    other = make_config("default", rounds=2, patience=9)
    with pytest.raises(FileError, match=r"written with patience \d+; 9 is asked") as error:
        train(problem, other, folder=tmp_path, resume=True)
    assert "\n" not in str(error.value)


def test_the_round_in_which_the_time_is_over_is_the_last():
    trained = learned(tiny(), rounds=9, seconds=1e-9)
    assert [row["round"] for row in trained.history] == [0, 1]
