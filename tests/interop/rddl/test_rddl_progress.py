"""Progress: goals count a try, helpers the tries they save; learning starts from it."""

import numpy as np
import pytest

pytest.importorskip("pyRDDLGym", reason="the extra rddl is not installed")
pytest.importorskip("rddlrepository", reason="the extra rddl is not installed")

from sequoia.interop.rddl import from_rddl
from sequoia.interop.rddl.progress import Progress
from sequoia.learn import make_config, train
from sequoia.learn.learner import PolicyImprovement
from sequoia.models.folder import load_model
from sequoia.policies import make_policy
from sequoia.simulate import Scenarios, rollout


class Exams:
    """Two exams and a course: with the course the first exam is passed in half of all tries."""

    horizon = 20
    chances = ((0.2, 0.5), (0.25, 0.25), (0.8, 0.8))

    def allowed_alone(self, states):
        return np.ones((len(states), 3), dtype=np.int8)

    def next_shares(self, states, actions):
        has_course = states[:, 2].astype(int)
        passes = np.stack([np.asarray(own)[has_course] for own in self.chances], axis=1)
        later = np.where(states == 1, 1.0, passes * actions)
        return np.stack([1 - later, later], axis=2)


def test_what_a_step_promises():
    progress = Progress(Exams(), np.zeros(3), np.array([0, 1]), np.array([2]))
    states = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 0]])
    found = progress(states)
    # Chance times tries is 1 for a goal; the course saves 5 - 2 tries with chance 0.8.
    np.testing.assert_allclose(found[0], [1, 1, 0.8 * 3])
    np.testing.assert_allclose(found[1], [1, 1, 0])
    # What is done promises nothing, and a course for it neither.
    np.testing.assert_allclose(found[2], [0, 1, 0])
    np.testing.assert_allclose(found[3], 0)


def test_learning_starts_from_it_and_goes_on_after_a_stop():
    advising = from_rddl("rddl:AcademicAdvising_ippc2018/7")
    config = make_config("default", rounds=1)
    learner = PolicyImprovement(advising, config, seed=0)
    # Doing nothing costs 5 in each step; random play costs more than that.
    assert learner.begin().best > -4.5
    assert learner.kept.known.name == "progress"
    other = PolicyImprovement(advising, config, seed=0)
    other.restore(*learner.state())
    states = advising.draw_start(np.random.default_rng(0), 1)
    now = [one.kept.weights(states, np.zeros(1)) for one in (learner, other)]
    np.testing.assert_array_equal(*now)
    assert now[0].any()


def test_a_model_that_was_guided_is_read_back(tmp_path):
    advising = from_rddl("rddl:AcademicAdvising_ippc2018/1")
    config = make_config("default", rounds=0)
    trained = train(advising, config, seed=0, folder=tmp_path / "model")
    scenarios = Scenarios.sample(advising, 4, seed=1)
    played = [
        rollout(advising, make_policy("sequoia", advising, q), scenarios).rewards
        for q in (trained.model, load_model(tmp_path / "model", advising))
    ]
    np.testing.assert_array_equal(*played)
    assert trained.model.known.name == "progress"
    assert played[0].mean() > -5
