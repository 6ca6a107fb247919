"""The pieces of algorithm 1: exploring, remembering, learning from surprises, stopping."""

import numpy as np
import pytest
import torch
from learning_cases import short, tiny

from sequoia.bounds.exact import joint_states
from sequoia.learn import make_config
from sequoia.learn.q_learning import QLearning
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.enumeration import Enumeration

PROBLEM = tiny(horizon=4)
STATES = joint_states(PROBLEM)


def trainer(**changes):
    return QLearning(PROBLEM, short(**changes), 0)


def shake(one, seed):
    """Give the online and the target network other random weights."""
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for weights in (one.learned.q.online, one.learned.q.target):
            for weight in weights.values():
                weight.copy_(torch.from_numpy(np.asarray(rng.standard_normal(weight.shape))))


def best(one, parameters, states, steps):
    net = one.learned.model(parameters).fold(states, steps)
    return Enumeration(ActionEncoding.of(PROBLEM)).best(net).actions


@pytest.mark.parametrize("steps", [0, 700, 5000])
def test_the_papers_chance_of_a_random_action(steps):
    one = QLearning(PROBLEM, make_config("paper"), 0)
    one.steps = steps
    assert one.epsilon == pytest.approx(0.05 + 0.85 * np.exp(-steps / 1000))


def test_the_chance_falls_with_every_step_that_was_played():
    one = trainer(initial_eps=0.9, final_eps=0.1, decay=50)
    one.begin()
    chances = [one.epsilon] + [one.play_round().epsilon for _ in range(2)]
    played = 4 * 3 * np.arange(3)
    assert chances == pytest.approx(0.1 + 0.8 * np.exp(-played / 50))


@pytest.mark.parametrize("time_feature", [True, False])
def test_the_best_action_is_that_of_the_state_and_step(time_feature):
    """By the online network, as in double Q-learning."""
    one = trainer(time_feature=time_feature)
    shake(one, 1)
    asked = one.learned.q.online
    with torch.no_grad():  # The clock comes last; early on it wants the first arm, later not.
        asked["linear.state"][0, -1] = 40.0
        asked["linear.bias"][0] = -20.0
    differ = 0
    for step in range(4):
        steps = np.full(len(STATES), step)
        wanted = best(one, asked, STATES, steps)
        assert one.greedy(STATES, steps).tolist() == wanted.tolist()
        differ += (wanted != best(one, asked, STATES, 0 * steps)).any()
    assert (differ > 0) == time_feature
    mixed = np.arange(len(STATES)) % 4
    assert one.greedy(STATES, mixed).tolist() == best(one, asked, STATES, mixed).tolist()
    assert (best(one, one.learned.q.target, STATES, mixed) != one.greedy(STATES, mixed)).any()


def test_best_actions_are_remembered_for_some_rounds_and_then_forgotten():
    one = trainer(cache_rounds=2)
    steps = np.zeros(len(STATES), np.int64)
    shake(one, 1)
    first = one.greedy(STATES, steps)
    shake(one, 2)
    one.rounds = 1
    assert one.greedy(STATES, steps).tolist() == first.tolist()
    assert one.cache.hit_rate == 0.5
    one.rounds = 2
    fresh = best(one, one.learned.q.online, STATES, steps)
    assert one.greedy(STATES, steps).tolist() == fresh.tolist() != first.tolist()


def test_warming_up_leaves_nothing_remembered():
    one = trainer(cache_rounds=2)
    one.begin()
    assert len(one.cache) == 0
    steps = np.zeros(len(STATES), np.int64)
    wanted = best(one, one.learned.q.online, STATES, steps)
    assert one.greedy(STATES, steps).tolist() == wanted.tolist()


def test_surprises_become_priorities():
    """The mean of their squares is the loss, so nothing but the surprises can be in there."""
    one = trainer(batch_size=8)
    one.begin()
    before = one.replay.priorities.copy()
    places, _ = one.replay.sample(np.random.default_rng(5), 8, 1.0)
    one.rng = np.random.default_rng(5)
    loss = one.learn()
    others = np.setdiff1d(np.arange(len(before)), places)
    assert one.replay.priorities[others].tolist() == before[others].tolist()
    assert (one.replay.priorities[places] != before[places]).all()
    if len(set(places)) == len(places):
        assert (one.replay.priorities[places] ** 2).mean() == pytest.approx(loss, rel=1e-3)


def test_a_batch_moves_q_towards_reward_and_worth_of_the_best_next_action():
    """Surprise is Q minus target, with the target written out here."""
    one = trainer(batch_size=8, normalise=False)
    one.begin()
    shake(one, 3)
    one.cache.forget()
    one.rng = np.random.default_rng(6)
    places, _ = one.replay.sample(np.random.default_rng(6), 8, 0.4)
    replay = one.replay
    steps, after = replay.steps[places], replay.following[places]
    encode = ActionEncoding.of(PROBLEM).encode
    clipped = np.minimum(steps + 1, 3)
    chosen = best(one, one.learned.q.online, after, clipped)
    worth = one.learned.model(one.learned.q.target).fold(after, clipped)
    ahead = worth.values(encode(chosen)[:, None])[:, 0]
    targets = replay.rewards[places] + np.where(steps < 3, ahead, 0.0)
    now = one.learned.model().fold(replay.states[places], steps)
    said = now.values(encode(replay.actions[places])[:, None])[:, 0]
    one.learn()
    wanted = dict(zip(places.tolist(), np.abs(said - targets), strict=True))
    for place, surprise in wanted.items():
        assert replay.priorities[place] == pytest.approx(surprise, rel=1e-3, abs=1e-3)


def test_random_actions_are_drawn_as_often_as_asked():
    one = trainer(initial_eps=0.3, final_eps=0.3)
    actions = np.zeros((3000, 3), np.int8)
    states = PROBLEM.draw_start(np.random.default_rng(0), 3000)
    changed = one._explore(states, np.zeros(3000, int), actions).any(axis=1).mean()
    assert changed == pytest.approx(0.3 * 3 / 4, abs=0.1)
    assert not actions.any()


def test_what_is_played_is_kept():
    one = trainer(samples=0, buffer_size=1000)
    one.begin()
    one.play_round()
    replay = one.replay
    assert len(replay) == 3 * PROBLEM.horizon
    assert replay.steps[:12].tolist() == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    assert replay.following[:9].tolist() == replay.states[3:12].tolist()
    wanted = PROBLEM.expected_reward(replay.states[:12], replay.actions[:12])
    assert replay.rewards[:12] == pytest.approx(wanted)
    assert PROBLEM.space.contains(replay.actions[:12]).all()


@pytest.mark.parametrize("patience", [1, 2])
def test_it_stops_when_nothing_gets_better(patience, monkeypatch):
    one = trainer(keep_best=True, patience=patience, eval_freq=1, rounds=9)
    rewards, seen = iter([1.0, 3.0, 2.0, 2.5, 2.0, 2.0]), []

    def validate():
        seen.append(one.learned.q.copy())
        return np.array([next(rewards)])

    monkeypatch.setattr(one, "validate", validate)
    done = [one.begin()]
    while not one.is_done:
        done.append(one.play_round())
    assert [row.reward for row in done] == [1.0, 3.0, 2.0, 2.5][: 2 + patience]
    assert [row.best for row in done] == [1.0, 3.0, 3.0, 3.0][: 2 + patience]
    for name, weight in one.selection.best.items():
        assert weight.equal(seen[1][name])
    assert not all(weight.equal(seen[-1][name]) for name, weight in one.selection.best.items())


def test_it_plays_the_held_out_episodes_when_they_are_due_and_at_the_end():
    one = trainer(rounds=5, eval_freq=2)
    done = [one.begin()]
    while not one.is_done:
        done.append(one.play_round())
    assert [row.reward is not None for row in done] == [True, False, True, False, True, True]
    assert [row.round for row in done] == list(range(6))


@pytest.mark.parametrize("count", [1, 30])
def test_a_warm_start_smaller_than_a_batch_still_learns(count):
    one = trainer(samples=count, batch_size=64, epochs=2)
    one.begin()
    assert one.learned.q.batches == 2


def test_without_a_warm_start_it_begins_at_nothing():
    one = trainer(samples=0)
    one.begin()
    assert one.learned.q.batches == len(one.replay) == 0
