"""Dynamic assortment: choices as the multinomial logit model has them, files, commands."""

import numpy as np
import pytest

from sequoia import check_environment, load, make, save
from sequoia.errors import FileError
from sequoia.learn import make_config, train
from sequoia.policies import make_policy
from sequoia.problem import Assortment, load_any
from sequoia.simulate import Scenarios, rollout

SMALL = make("assortment", items=5, show=2, horizon=6, seed=1)


def by_hand(environment, state, action):
    """Return the chance of each item, with plain sums."""
    items = environment.n_items
    weights = []
    for item in range(items):
        parts = [
            *environment.item_features[item],
            state[item],
            state[items + item],
            environment.prices[item],
        ]
        weights.append(np.exp(sum(t * p for t, p in zip(environment.taste, parts, strict=True))))
    total = 1 + sum(w for w, shown in zip(weights, action, strict=True) if shown)
    return [w / total if shown else 0.0 for w, shown in zip(weights, action, strict=True)]


def test_it_keeps_the_promises_of_an_environment():
    check_environment(SMALL)
    assert make("assortment").n_items == 20
    assert (make("assortment").space.limit, make("assortment").horizon) == (4, 80)


def test_choices_are_those_of_the_logit_model():
    rng = np.random.default_rng(0)
    states = SMALL.draw_start(rng, 20)
    actions = np.array([SMALL.space.sample(rng).action for _ in range(20)])
    expected = [by_hand(SMALL, s, a) for s, a in zip(states, actions, strict=True)]
    assert SMALL.chances(states, actions) == pytest.approx(np.array(expected))
    assert SMALL.expected_reward(states, actions) == pytest.approx(expected @ SMALL.prices)


def test_one_draw_decides_what_is_bought():
    state = SMALL.draw_start(np.random.default_rng(1), 1)
    action = np.array([[1, 0, 0, 1, 0]], np.int8)
    luck = np.linspace(0, 1, 2001)[:-1, None]
    many = np.repeat(state, len(luck), axis=0), np.repeat(action, len(luck), axis=0)
    rewards, following = SMALL.step(*many, luck)
    bought = following[:, 10]
    chances = by_hand(SMALL, state[0], action[0])
    for item in range(5):
        assert (bought == item + 1).mean() == pytest.approx(chances[item], abs=1e-3)
    assert np.ptp(rewards) == 0


def test_a_purchase_is_talked_about_and_then_fades():
    state = np.array([[4.0, 4, 4, 4, 4, 2, 2, 2, 2, 2, 3, 0, 3, 0]])
    everything = np.ones((1, 5), np.int8)
    chances = by_hand(SMALL, state[0], everything[0])
    luck = np.array([[chances[0] / 2]])
    _, after = SMALL.step(state, everything, luck)
    assert after[0, 10:].tolist() == [1, 3, 0, 3]
    assert after[0, :5] == pytest.approx([4 * 1.02, 4, 4 * 0.99, 4, 4])
    assert after[0, 5:10] == pytest.approx([2 * 1.01, 2, 2, 2, 2])


def test_a_large_utility_is_no_overflow():
    sure = Assortment("sure", [1.0, 2.0], [[1.0], [1.0]], 1, [1e6, 0, 0, 0])
    state = sure.draw_start(np.random.default_rng(0), 1)
    assert sure.chances(state, np.array([[0, 1]])) == pytest.approx(np.array([[0, 1]]))


@pytest.mark.parametrize("name", ["shop.npz", "shop"])
def test_files_hold_it(tmp_path, name):
    save(SMALL, tmp_path / name)
    found = load_any(tmp_path / name)
    assert isinstance(found, Assortment)
    assert found.fingerprint == SMALL.fingerprint
    with pytest.raises(FileError, match="has no arms; a problem of arms is wanted"):
        load(tmp_path / name)


def test_what_is_wrong_in_a_folder_is_said(tmp_path):
    save(SMALL, tmp_path / "shop")
    header = tmp_path / "shop" / "problem.toml"
    text = header.read_text()
    header.write_text(text.replace('"assortment"', '"shop"', 1))
    with pytest.raises(FileError, match=r"kind 'shop'; known: arms, assortment"):
        load_any(tmp_path / "shop")
    header.write_text(text.replace("    0.3,\n", "", 1))
    with pytest.raises(FileError, match=r"assortment\.taste"):
        load_any(tmp_path / "shop")


def test_myopic_is_the_best_of_all_assortments_for_the_next_customer():
    state = SMALL.draw_start(np.random.default_rng(3), 1)[0]
    every = SMALL.space.enumerate(1_000)
    revenue = [np.dot(by_hand(SMALL, state, action), SMALL.prices) for action in every]
    made = make_policy("myopic", SMALL).act(state[None], 0, [np.random.default_rng(0)])
    assert made.values[0] == pytest.approx(max(revenue))
    assert made.gaps[0] == 0


def test_it_is_trained_and_planned_like_any_other():
    trained = train(SMALL, make_config("default", rounds=1))
    policy = make_policy("sequoia", SMALL, trained.model)
    played = rollout(SMALL, policy, Scenarios.sample(SMALL, 2, seed=1))
    assert (played.actions.sum(axis=2) <= 2).all()
