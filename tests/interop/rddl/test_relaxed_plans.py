"""Relaxed plans: what they cost and earn is that of the instance, and what is spoilt has none."""

import numpy as np
import pytest

pytest.importorskip("pyRDDLGym", reason="the extra rddl is not installed")
pytest.importorskip("rddlrepository", reason="the extra rddl is not installed")

from rddl_cases import write

from sequoia.interop.rddl import from_rddl
from sequoia.policies import Lookahead, make_policy
from sequoia.policies.lookahead import ByPlans
from sequoia.simulate import Scenarios, rollout

# A chair takes wood and nails, a lamp takes a bulb from either of two shops. The press must be
# built first, which takes two steps and costs 4 in each of them.
WORKSHOP = """
domain workshop {
    types { press : {@none, @begun, @ready}; };
    pvariables {
        PRICE : { non-fluent, int, default = 1 };
        wood : { state-fluent, bool, default = false };
        nails : { state-fluent, bool, default = false };
        bulb : { state-fluent, bool, default = false };
        chair : { state-fluent, bool, default = false };
        lamp : { state-fluent, bool, default = false };
        press-is : { state-fluent, press, default = @none };
        buy-wood : { action-fluent, bool, default = false };
        buy-nails : { action-fluent, bool, default = false };
        cheap-bulb : { action-fluent, bool, default = false };
        dear-bulb : { action-fluent, bool, default = false };
        make-chair : { action-fluent, bool, default = false };
        make-lamp : { action-fluent, bool, default = false };
        sell-chair : { action-fluent, bool, default = false };
        sell-lamp : { action-fluent, bool, default = false };
        build : { action-fluent, bool, default = false };
        print : { action-fluent, bool, default = false };
    };
    cpfs {
        wood' = buy-wood | (wood ^ ~make-chair);
        nails' = buy-nails | (nails ^ ~make-chair);
        bulb' = cheap-bulb | dear-bulb | (bulb ^ ~make-lamp);
        chair' = make-chair | (chair ^ ~sell-chair);
        lamp' = make-lamp | (lamp ^ ~sell-lamp);
        press-is' = if (build) then @begun
            else if (press-is == @begun ^ Bernoulli(0.9)) then @ready else press-is;
    };
    reward = PRICE * sell-chair - 3 * buy-wood - 4 * buy-nails
        + 5 * sell-lamp - 6 * cheap-bulb - 9 * dear-bulb
        + 10 * print - 4 * (press-is == @begun);
    action-preconditions {
        make-chair => (wood ^ nails);
        make-lamp => bulb;
        sell-chair => chair;
        sell-lamp => lamp;
        build => (press-is == @none);
        print => (press-is == @ready);
        (buy-wood + buy-nails + cheap-bulb + dear-bulb + make-chair + make-lamp + sell-chair
            + sell-lamp + build + print) <= 1;
    };
}
"""
WORKSHOP_1 = """
non-fluents nf_workshop {
    domain = workshop;
    non-fluents { PRICE = 20; };
}
instance workshop_1 {
    domain = workshop;
    non-fluents = nf_workshop;
    init-state { ~wood; };
    max-nondef-actions = pos-inf;
    horizon = 12;
    discount = 1.0;
}
"""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    return from_rddl(*write(tmp_path_factory.mktemp("workshop"), WORKSHOP, "", WORKSHOP_1))


@pytest.fixture(scope="module")
def recon():
    """Two agents with all tools and two objects at one place, two steps away."""
    return from_rddl("rddl:CooperativeRecon_ippc2018/1")


def state_with(environment, *true, **values):
    state = np.zeros_like(environment.draw_start(np.random.default_rng(0), 1))[0]
    for name in true:
        state[environment.component_names.index(name)] = 1
    for name, value in values.items():
        state[environment.component_names.index(name.replace("_", "-"))] = value
    return state


def plans(environment, state, left):
    """Return what plans are worth, by the names of their first actions."""
    found = environment.relaxed_plans(state, left)
    names = environment.space.names
    return [(plan.worth, {names[i] for i in plan.columns.tolist()}) for plan in found]


def test_plans_from_nothing(workshop):
    chair, printed, lamp = plans(workshop, state_with(workshop), 12)
    # Wood, nails, a chair, sold; built, waited for, printed; of two shops the cheaper one.
    assert chair == (pytest.approx((20 - 3 - 4) / 4), {"buy-wood", "buy-nails"})
    assert printed == (pytest.approx((10 - 4) / 3), {"build"})
    assert lamp == (pytest.approx((5 - 6) / 3), {"cheap-bulb"})


def test_what_is_there_is_not_bought_again(workshop):
    found = plans(workshop, state_with(workshop, "wood"), 12)
    assert (pytest.approx((20 - 4) / 3), {"buy-nails"}) in found
    found = plans(workshop, state_with(workshop, "wood", "nails"), 12)
    assert found[0] == (pytest.approx(20 / 2), {"make-chair"})
    found = plans(workshop, state_with(workshop, "chair", "lamp"), 12)
    assert found[:2] == [(pytest.approx(20), {"sell-chair"}), (pytest.approx(5), {"sell-lamp"})]


def test_time_alone_is_waited_for(workshop):
    begun = plans(workshop, state_with(workshop, press_is=1), 12)
    assert (pytest.approx(10 / 2), set()) in begun


def test_plans_end_in_time(workshop):
    assert [first for _, first in plans(workshop, state_with(workshop), 3)] != []
    assert plans(workshop, state_with(workshop), 2) == []
    # A level for buying, one for making, one for selling.
    late = plans(workshop, state_with(workshop, "bulb"), 2)
    assert late == [(pytest.approx(5 / 2), {"make-lamp"})]


def test_the_workshop_earns(workshop):
    policy = make_policy("lookahead", workshop)
    assert isinstance(policy, ByPlans)
    played = rollout(workshop, policy, Scenarios.sample(workshop, 8, seed=1))
    # Three chairs in twelve steps are 39; lamps do not pay.
    names = workshop.space.names
    assert not played.actions[..., names.index("sell-lamp")].any()
    assert (played.rewards.sum(axis=1) >= 30).all()


def test_a_picture_is_taken_when_it_can_be(recon):
    known = ("waterChecked(obj00)", "waterDetected(obj00)", "lifeChecked(obj00)")
    state = state_with(
        recon, "agent-at(a00, x02, y01)", "agent-at(a01, x00, y00)", "lifeDetected(obj00)", *known
    )
    decided = ByPlans(recon).decide(state, 3, np.random.default_rng(0), 0)
    chosen = {recon.space.names[i] for i in np.flatnonzero(decided.action)}
    assert "use-tool-on(a00, c00, obj00)" in chosen


def test_nearer_is_worth_more_and_what_is_spoilt_nothing(recon):
    other = "agent-at(a01, x00, y00)"
    order = [(f"agent-at(a00, {at})", other) for at in ("x01, y02", "x02, y02", "x02, y01")]
    water = ("waterChecked(obj00)", "waterDetected(obj00)")
    order += [(*order[2], *water)]
    values = [plans(recon, state_with(recon, *true), 20)[0][0] for true in order]
    assert values == sorted(values)
    assert len(set(values)) == len(values)
    spoilt = (*order[2], "waterChecked(obj00)", "waterChecked(obj01)")
    assert plans(recon, state_with(recon, *spoilt), 20) == []


def test_lookahead_follows_plans_where_rewards_need_them(recon):
    policy = make_policy("lookahead", recon)
    assert isinstance(policy, ByPlans)
    scenarios = Scenarios.sample(recon, 6, seed=1)
    earned = [
        rollout(recon, one, scenarios).rewards.sum()
        for one in (policy, make_policy("random", recon))
    ]
    assert earned[0] > 10 + earned[1]
    often = from_rddl("rddl:SysAdmin_MDP_ippc2011/1")
    assert isinstance(make_policy("lookahead", often), Lookahead)
