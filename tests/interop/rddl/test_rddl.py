"""RDDL: the same rules and the same steps as pyRDDLGym, and one line where that is not possible."""

import pickle

import numpy as np
import pytest

pytest.importorskip("pyRDDLGym", reason="the extra rddl is not installed")
pytest.importorskip("rddlrepository", reason="the extra rddl is not installed")

from rddl_cases import DOMAIN, RULES, Judge, write

from sequoia.bounds import solve_exactly
from sequoia.errors import FileError, ProblemError
from sequoia.interop.rddl import from_rddl, repository
from sequoia.policies import Random
from sequoia.problem import check_environment, sample_actions, space_at
from sequoia.simulate import Scenarios, rollout


@pytest.fixture
def garden(tmp_path):
    return from_rddl(*write(tmp_path))


def played(environment, steps, seed=0):
    """States of random play, two of each step."""
    rng = np.random.default_rng(seed)
    states = environment.draw_start(rng, 2)
    for step in range(steps):
        yield from states
        actions = sample_actions(environment, states, np.full(2, step), rng)
        _, states = environment.step(states, actions, rng.random((2, environment.n_noise)))


def test_every_action_is_judged_as_by_pyrddlgym(garden):
    judge = Judge(garden)
    every = np.array(list(np.ndindex(*[2] * garden.space.n_actions)), dtype=np.int8)
    for state in played(garden, 6):
        ours = space_at(garden, state, 0).contains(every)
        assert ours.tolist() == [judge.allows(state, action) for action in every]
        assert ours.any()


@pytest.mark.parametrize(
    "name",
    [
        "AcademicAdvising_ippc2018/1",
        "ChromaticDice_ippc2018/1",
        "CooperativeRecon_ippc2018/1",
        "EarthObservation_ippc2018/1",
        "Elevators/0",
        "Logistics_rddlsim/0",
        "Manufacturer_ippc2018/1",
        "Pizza_rddlsim/0",
        "PushYourLuck_ippc2018/1",
        "RecSim_ippc2023/0",
        "RedFinnedBlueEye_ippc2018/1",
        "SysAdmin_MDP_ippc2011/1",
        "Traffic_MDP_ippc2014/1",
    ],
)
def test_domains_of_the_competitions_allow_the_same(name):
    """Random actions are legal; with a column or two flipped, both judge alike."""
    environment = from_rddl(f"rddl:{name}")
    judge, rng = Judge(environment), np.random.default_rng(2)
    size = environment.space.n_actions
    for state in played(environment, 4):
        space = space_at(environment, state, 0)
        drawn = space.sample(rng).action
        assert judge.allows(state, drawn)
        flips = (rng.random((8, size)) < 1.5 / size).astype(np.int8)
        tried = drawn ^ flips
        assert space.contains(tried).tolist() == [judge.allows(state, a) for a in tried]


def test_steps_are_those_of_pyrddlgym_on_average(garden):
    """Means of rewards and of next states, over many draws in some states."""
    judge, rng = Judge(garden), np.random.default_rng(1)
    for state in list(played(garden, 4))[::3]:
        action = space_at(garden, state, 0).sample(rng).action
        theirs = [judge.step(state, action) for _ in range(400)]
        shares = garden.next_shares(state[None], action[None])[0]
        # No value of a component is more than 1, so five standard errors are at most 5 / 40.
        means = np.mean([after for _, after in theirs], axis=0)
        assert shares[:, 1] == pytest.approx(means, abs=0.125)
        rewards = np.array([reward for reward, _ in theirs])
        ours, _ = garden.step(state[None], action[None], rng.random((1, garden.n_noise)))
        assert rewards == pytest.approx(ours[0])


def test_draws_have_the_chances_that_are_said(garden):
    rng = np.random.default_rng(4)
    state = np.array([0, 1, 0, 0, 1, 0, 0])
    many = np.repeat(state[None], 4000, axis=0)
    action = np.repeat(np.array([[1, 0, 0, 0]], dtype=np.int8), 4000, axis=0)
    _, after = garden.step(many, action, rng.random((4000, garden.n_noise)))
    shares = garden.next_shares(many[:1], action[:1])[0]
    assert after.mean(axis=0) == pytest.approx(shares[:, 1], abs=0.04)


def test_an_environment_that_keeps_its_promises(garden):
    check_environment(garden)
    assert list(garden.space.names) == ["water(b1)", "water(b2)", "water(b3)", "rest"]
    assert garden.component_names[:4] == ["grown(b1)", "grown(b2)", "grown(b3)", "weeds(b1)"]
    assert garden.features(garden.draw_start(np.random.default_rng(0), 2)).shape == (2, 7)
    copy = pickle.loads(pickle.dumps(garden))
    assert copy.fingerprint == garden.fingerprint


def test_who_depends_on_whom(garden):
    """Bed 2 is shaded by bed 1 alone, and watered by its own column."""
    found = garden.dependencies
    grown_2 = set(found.components[[1]].nonzero()[1].tolist())
    assert grown_2 == {0, 4, 6}
    assert set(found.columns[[1]].nonzero()[1].tolist()) == {1}
    assert set(found.columns[[4]].nonzero()[1].tolist()) == {1, 3}
    assert found.kinds.tolist() == [0, 0, 0, 1, 1, 1, 2]
    # Weeds go where bed 2 is watered, and it may be watered unless it has grown, or it is wet.
    assert set(found.components[[4]].nonzero()[1].tolist()) == {1, 6}


def test_what_helps_the_reward_is_known(garden):
    """Beds that are still to grow; weeds may be watered away, but nothing grows among them."""
    assert garden.relevance.tolist() == [0, 1, 1, 0, 0, 0, 0]
    recon = from_rddl("rddl:CooperativeRecon_ippc2018/1")
    kinds = [name.split("(")[0] for name in recon.component_names]
    known = dict(zip(kinds, recon.relevance.tolist(), strict=True))
    # A picture pays, and needs life, which is found after water. Tries are used up by checking.
    assert (known["lifeDetected"], known["waterDetected"]) == (0.5, 0.25)
    assert known["waterChecked"] == known["lifeChecked2"] == known["pictureTaken"] == 0
    advising = from_rddl("rddl:AcademicAdvising_ippc2018/1")
    kinds = [name.split("(")[0] for name in advising.component_names]
    taken = [kind == "taken" for kind in kinds]
    assert not advising.relevance[taken].any()
    assert set(advising.relevance[np.logical_not(taken)]) > {0.5, 1.0}


def test_exact_is_no_less_than_random(garden):
    best = solve_exactly(garden)
    scenarios = Scenarios.sample(garden, 200, seed=0)
    random = rollout(garden, Random(garden), scenarios).rewards.sum(axis=1)
    assert best.value > random.mean() + random.std() / 10
    first = best.act(garden.draw_start(np.random.default_rng(0), 1)[0])
    assert space_at(garden, garden._first[0], 0).contains(first.action[None])[0]


def test_what_depends_on_a_draw_of_the_same_step_has_no_chances(tmp_path):
    drawn = DOMAIN.replace(
        "shaded(bed) : { interm-fluent, bool };",
        "cloud(bed) : { interm-fluent, bool }; shaded(bed) : { interm-fluent, bool };",
    ).replace(
        "shaded(?b) = exists",
        "cloud(?b) = Bernoulli(0.5); shaded(?b) = cloud(?b) | exists",
    )
    garden = from_rddl(*write(tmp_path, domain=drawn))
    assert garden.progress is None
    with pytest.raises(ProblemError, match="depends on the fluent shaded, which is drawn"):
        solve_exactly(garden)


def test_known_optima():
    """Found by others, with another compiler (docs/rddl.md)."""
    assert solve_exactly(from_rddl("rddl:GameOfLife_MDP_ippc2011/1")).value == pytest.approx(
        209.4349, abs=1e-3
    )


def test_an_episode_that_has_ended_earns_nothing(tmp_path):
    rules = RULES + "termination { forall_{?b : bed} [grown(?b)]; };"
    garden = from_rddl(*write(tmp_path, rules=rules))
    done = np.array([[1, 1, 1, 0, 0, 0, 1]])
    actions = np.array([[0, 0, 0, 1]], dtype=np.int8)
    rewards, after = garden.step(done, actions, np.full((1, garden.n_noise), 0.5))
    assert rewards.tolist() == [0.0]
    assert after.tolist() == done.tolist()


def refused(tmp_path, **texts):
    with pytest.raises((FileError, ProblemError)) as caught:
        from_rddl(*write(tmp_path, **texts))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_cannot_be_read_is_one_line(tmp_path):
    assert "Syntax error on line" in refused(tmp_path, domain=DOMAIN.replace("cpfs {", "cpfs { ("))
    with pytest.raises(FileError, match=r"gone\.rddl does not exist"):
        from_rddl(tmp_path / "gone.rddl", tmp_path / "instance.rddl")
    with pytest.raises(FileError, match=r"has no domain 'SysAdmn_MDP_ippc2011'.*SysAdmin"):
        from_rddl("rddl:SysAdmn_MDP_ippc2011/1")
    with pytest.raises(FileError, match="has no instance '77'; known: 1, 2, 3"):
        from_rddl("rddl:SysAdmin_MDP_ippc2011/77")
    with pytest.raises(ProblemError, match="an instance is wanted"):
        from_rddl(tmp_path / "domain.rddl")


def test_what_cannot_be_planned_is_one_line(tmp_path):
    product = "action-preconditions { (sum_{?b : bed} [water(?b) * grown(?b)]) <= 1; };"
    said = refused(tmp_path, rules=product)
    assert "not linear in the actions" in said
    assert "water(?b) * grown(?b)" in said
    amount = DOMAIN.replace("rest : { action-fluent, bool, default = false }",
                            "rest : { action-fluent, real, default = 0.0 }")  # fmt: skip
    amount = amount.replace("if (rest)", "if (rest > 0)")
    said = refused(tmp_path, domain=amount, rules="")
    assert "the action rest of type real; only boolean actions are supported" in said
    seen = DOMAIN.replace("rest :", "seen : { observ-fluent, bool };\n rest :")
    seen = seen.replace("sky' =", "seen = KronDelta(sky' == @wet);\n sky' =")
    said = refused(tmp_path, domain=seen)
    assert "is partially observed (seen)" in said
    odd = DOMAIN.replace("Bernoulli(0.2)", "(Student(3) > 0)")
    assert "the distribution Student is not supported" in refused(tmp_path, domain=odd)


def test_the_repository_is_listed():
    found = repository()
    assert len(found) > 80
    assert found["SysAdmin_MDP_ippc2011"][0] == "1"
