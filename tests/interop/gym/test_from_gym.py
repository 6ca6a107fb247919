import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from sequoia import Budget
from sequoia.errors import ProblemError
from sequoia.interop.gym import Feasible, as_gym, from_gym
from sequoia.policies import FunctionPolicy, Random
from sequoia.problem.families import standard
from sequoia.simulate import Scenarios, rollout

RULES = Budget(np.ones(3), 1)


class Lamps(gymnasium.Env):
    """Three lamps that fail by chance; a visit mends one. All dark: the episode ends."""

    def __init__(self, actions=None):
        self.action_space = Feasible(RULES) if actions is None else actions
        self.observation_space = spaces.Dict(
            {"lit": spaces.MultiBinary(3), "hours": spaces.Box(0, 10, (1,), np.float64)}
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.lit, self.hours = np.ones(3, dtype=np.int8), 0.0
        self.lit[self.np_random.integers(3)] = 0
        return self._seen(), {}

    def step(self, action):
        self.lit = np.where(action == 1, 1, self.lit & (self.np_random.random(3) > 0.6))
        self.lit = self.lit.astype(np.int8)
        self.hours += 1.0
        return self._seen(), float(self.lit.sum()), not self.lit.any(), False, {}

    def _seen(self):
        return {"lit": self.lit.copy(), "hours": np.array([self.hours])}


def idle(space):
    return FunctionPolicy("idle", lambda *_: space.certify(np.zeros(space.n_actions)))


@pytest.fixture
def lamps():
    environment = from_gym(Lamps, horizon=8)
    yield environment
    environment.close()


def test_two_policies_see_the_same_luck(lamps):
    scenarios = Scenarios.sample(lamps, 20, seed=0)
    one = rollout(lamps, Random(lamps), scenarios)
    rollout(lamps, idle(lamps.space), scenarios)
    again = rollout(lamps, Random(lamps), scenarios)
    np.testing.assert_array_equal(one.rewards, again.rewards)
    np.testing.assert_array_equal(
        lamps.features(one.states.reshape(-1, one.states.shape[2])),
        lamps.features(again.states.reshape(-1, one.states.shape[2])),
    )
    other = rollout(lamps, Random(lamps), Scenarios.sample(lamps, 20, seed=1))
    assert (other.rewards != one.rewards).any()


def test_episodes_are_those_of_gymnasium(lamps):
    start = lamps.draw_start(np.random.default_rng(3), 1)
    env = Lamps()
    env.reset(seed=int(start[0, 0]))
    states = start
    for action in ([1, 0, 0], [0, 1, 0], [1, 0, 0]):
        seen, wanted, *_ = env.step(np.array(action))
        reward, states = lamps.step(states, np.array([action]), np.empty((1, 0)))
        assert reward.tolist() == [wanted]
        np.testing.assert_allclose(lamps.features(states)[0, 1:], [env.hours / 10, *seen["lit"]])


def test_an_episode_that_has_ended_earns_nothing_and_stays(lamps):
    played = rollout(lamps, idle(lamps.space), Scenarios.sample(lamps, 20, seed=0))
    has_ended = lamps.features(played.states.reshape(-1, played.states.shape[2]))[:, 0]
    has_ended = has_ended.reshape(20, 9)
    assert has_ended[:, -1].any()
    assert (np.diff(has_ended, axis=1) >= 0).all()
    assert (played.rewards[has_ended[:, :-1] == 1] == 0).all()
    for episode, step in np.argwhere(has_ended[:, :-1] == 1):
        np.testing.assert_array_equal(
            played.states[episode, step], played.states[episode, step + 1]
        )


def test_any_earlier_state_can_be_gone_on_from(lamps):
    def play(state, *actions):
        seen = []
        for action in actions:
            reward, state = lamps.step(state, np.array([action]), np.empty((1, 0)))
            seen.append((reward[0], lamps.features(state).tolist()))
        return state, seen

    start = lamps.draw_start(np.random.default_rng(0), 1)
    one, two = [1, 0, 0], [0, 1, 0]
    first, _ = play(start, one)
    latest, on_course = play(first, two, two)
    _, detour = play(first, one)
    assert detour[0] != on_course[0]
    assert play(first, two, two)[1] == on_course
    assert play(start, one, two, two)[1][1:] == on_course
    assert play(latest, one)[1] == play(start, one, two, two, one)[1][3:]


def test_a_state_is_complete(lamps):
    """Another adapter, in another process or on another day, goes on where this one was."""
    played = rollout(lamps, Random(lamps), Scenarios.sample(lamps, 5, seed=0))
    other = from_gym(Lamps, horizon=8)
    for step in reversed(range(8)):
        rewards, following = other.step(
            played.states[:, step], played.actions[:, step], np.empty((5, 0))
        )
        np.testing.assert_array_equal(rewards, played.rewards[:, step])
        np.testing.assert_array_equal(following, played.states[:, step + 1])


def test_an_episode_that_is_over_does_not_go_on(lamps):
    played = rollout(lamps, Random(lamps), Scenarios.sample(lamps, 5, seed=0))
    is_cut = lamps.features(played.states[:, -1])[:, 0] == 0
    last = played.states[is_cut, -1]
    assert len(last)
    with pytest.raises(ProblemError, match="an episode of Lamps has 8 steps, and is over"):
        lamps.step(last, np.zeros((len(last), 3)), np.empty((len(last), 0)))


def test_actions_of_any_length_are_remembered():
    class Wide(gymnasium.Env):
        action_space = Feasible(Budget(np.ones(130), 65))
        observation_space = spaces.Discrete(1000)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed, options=options)
            self.total = 0
            return 0, {}

        def step(self, action):
            self.total += int(action @ np.arange(130))
            return self.total % 1000, float(self.total), False, False, {}

    wide = from_gym(Wide, horizon=3)
    played = rollout(wide, Random(wide), Scenarios.sample(wide, 2, seed=0))
    again = from_gym(Wide, horizon=3).step(
        played.states[:, 2], played.actions[:, 2], np.empty((2, 0))
    )
    np.testing.assert_array_equal(again[0], played.rewards[:, 2])


def test_an_environment_that_does_not_repeat_itself_is_refused():
    class Fickle(Lamps):
        begun = 0

        def reset(self, *, seed=None, options=None):
            seen, info = super().reset(seed=seed, options=options)
            Fickle.begun += 1
            return {**seen, "hours": np.array([Fickle.begun])}, info

    fickle = from_gym(Fickle, horizon=8)
    start = fickle.draw_start(np.random.default_rng(0), 1)
    with pytest.raises(ProblemError, match="Fickle does not repeat itself: the seed"):
        fickle.step(start, np.array([[1, 0, 0]]), np.empty((1, 0)))


def test_the_same_start_twice_in_a_batch_is_two_episodes(lamps):
    start = lamps.draw_start(np.random.default_rng(0), 1)
    actions = np.array([[1, 0, 0], [0, 0, 1]])
    both = np.repeat(start, 2, axis=0)
    apart = [start, start]
    for _ in range(3):
        rewards, both = lamps.step(both, actions, np.empty((2, 0)))
        for index, state in enumerate(apart):
            reward, apart[index] = lamps.step(state, actions[[index]], np.empty((1, 0)))
            assert reward[0] == rewards[index]


def test_environments_are_used_again():
    made = []

    def make():
        made.append(Lamps())
        return made[-1]

    environment = from_gym(make, horizon=4)
    for seed in range(5):
        rollout(environment, Random(environment), Scenarios.sample(environment, 6, seed))
    assert len(made) <= 7


def test_there_and_back_a_problem_earns_the_same():
    problem = standard(arms=4, horizon=6)
    back = from_gym(lambda: as_gym(problem), horizon=6)
    played = rollout(back, Random(back), Scenarios.sample(back, 200, 0)).rewards.mean()
    wanted = rollout(problem, Random(problem), Scenarios.sample(problem, 200, 0)).rewards.mean()
    assert played == pytest.approx(wanted, rel=0.1)
    assert back.features(back.draw_start(np.random.default_rng(0), 3)).shape == (3, 1 + 4 * 4 + 1)


def test_a_fingerprint_belongs_to_what_can_be_seen(lamps):
    assert lamps.fingerprint == from_gym(Lamps, horizon=8).fingerprint
    assert lamps.fingerprint != from_gym(Lamps, horizon=9).fingerprint
    other = from_gym(Lamps, horizon=8, space=Budget(np.ones(3), 2))
    assert lamps.fingerprint != other.fingerprint


def test_rules_can_be_given_for_plain_binary_actions():
    environment = from_gym(lambda: Lamps(spaces.MultiBinary(3)), horizon=4, space=RULES)
    played = rollout(environment, Random(environment), Scenarios.sample(environment, 5, 0))
    assert played.actions.sum(axis=2).max() == 1


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (lambda: Lamps(spaces.Discrete(3)), {}, r"Discrete\(3\); a Feasible space is wanted"),
        (lambda: Lamps(spaces.MultiBinary(4)), {"space": RULES}, "vectors of 3 columns are"),
        (Lamps, {"horizon": 0}, "horizon is 0"),
        (Lamps, {"discount": 0.0}, r"discount is 0.0; \(0, 1\] is wanted"),
    ],
)
def test_what_does_not_fit_is_one_line(make, options, message):
    with pytest.raises(ProblemError, match=message):
        from_gym(make, **{"horizon": 4, **options})
