"""Every engine keeps within the limits of a state, and finds the best there."""

import numpy as np
import pytest
from argmax_cases import EVERYTHING, columns_of, feasible_actions, forward, random_net

from action_limit_cases import Doors, random_limits
from sequoia.bounds.clairvoyant import clairvoyant_search
from sequoia.errors import InfeasibleSpace
from sequoia.learn import make_config, train
from sequoia.optimize.auto import Auto, RolloutAuto
from sequoia.optimize.by_state import ByState
from sequoia.optimize.engines.branch_and_bound import BranchAndBound
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.optimize.engines.local_search import LocalSearch
from sequoia.optimize.engines.milp import Milp
from sequoia.optimize.linear.oracles import has_oracle
from sequoia.policies import make_policy
from sequoia.simulate import Scenarios, rollout

PROVEN = {"listed": Enumeration, "milp": Milp, "branch": BranchAndBound, "auto": Auto}


@pytest.mark.parametrize("name", EVERYTHING)
def test_engines_find_the_best_that_is_allowed(name):
    rng = np.random.default_rng(len(name))
    columns, every = columns_of(name), feasible_actions(name)
    net = random_net(rng, columns.n_inputs, (4,), batch=1)
    limits = random_limits(rng, columns.space.n_actions)
    mine = every[limits.allowed(every)[0]]
    own = columns.within(limits)
    if not len(mine):
        with pytest.raises(InfeasibleSpace):
            Auto(own).best(net)
        return
    best = max(forward(net, 0, inputs) for inputs in columns.encode(mine))
    for word, engine in PROVEN.items():
        if word == "branch" and not has_oracle(own):
            continue
        found = ByState(columns, engine).best(net, limits)
        assert found.values[0] == pytest.approx(best, rel=1e-5), word
        assert limits.holds(found.actions).all()
        assert found.bounds[0] >= best - 1e-6 * abs(best)
    rough = LocalSearch(own).best(net)
    assert limits.holds(rough.actions).all()
    assert columns.space.contains(rough.actions).all()


@pytest.mark.parametrize("name", EVERYTHING)
def test_linear_batches_keep_within_limits(name):
    """Each row has limits of its own; some rows may allow nothing, and are left out here."""
    rng = np.random.default_rng(1 + len(name))
    columns, every = columns_of(name), feasible_actions(name)
    argmax = RolloutAuto(columns)
    inputs = columns.encode(every)
    for _ in range(4):
        limits = random_limits(rng, columns.space.n_actions)
        allowed = limits.allowed(every)[0]
        weights = rng.normal(size=(3, columns.n_inputs))
        if allowed.any():
            found = argmax.best(weights, limits.only([0, 0, 0]))
            values = (columns.encode(found) * weights).sum(axis=1)
            assert values == pytest.approx((weights @ inputs[allowed].T).max(axis=1))
        else:
            with pytest.raises(InfeasibleSpace):
                argmax.best(weights, limits.only([0, 0, 0]))


def test_states_with_different_limits_in_one_batch():
    doors = Doors()
    columns = columns_of("budget, equal arms").of_space(doors.space)
    states = doors.draw_start(np.random.default_rng(0), 40)
    limits = doors.action_limits(states, np.arange(40))
    net = random_net(np.random.default_rng(1), 4, (3,), batch=40)
    together = ByState(columns, Enumeration).best(net, limits)
    for row in range(40):
        alone = ByState(columns, Milp).best(net.only([row]), limits.only([row]))
        assert together.values[row] == pytest.approx(alone.values[0], rel=1e-6)
    assert limits.holds(together.actions).all()


@pytest.mark.parametrize("preset", ["paper", "default"])
def test_learning_and_acting_keep_within_limits(preset):
    """A rollout checks every decision, those of training too."""
    doors = Doors()
    few = {"n_eval_episodes": 4, "samples": 50, "epochs": 1} if preset == "paper" else {}
    q = train(doors, make_config(preset, rounds=2, **few)).model
    scenarios = Scenarios.sample(doors, 6, seed=3)
    bound = clairvoyant_search(doors, scenarios=10, seed=3)
    for name in ("random", "sequoia", "iterative-dqn", "lookahead"):
        played = rollout(doors, make_policy(name, doors, q, rollouts=32), scenarios)
        assert played.rewards.sum(axis=1).mean() <= bound.total + 1.5 * bound.margin
