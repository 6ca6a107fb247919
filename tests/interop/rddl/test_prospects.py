"""Prospects: nearer to a reward is more promising, and what leads there is found without luck."""

import numpy as np
import pytest

pytest.importorskip("pyRDDLGym", reason="the extra rddl is not installed")
pytest.importorskip("rddlrepository", reason="the extra rddl is not installed")

from sequoia.interop.rddl import from_rddl
from sequoia.policies import Lookahead, make_policy
from sequoia.policies.by_prospects import ByProspects
from sequoia.simulate import Scenarios, rollout


@pytest.fixture(scope="module")
def recon():
    """Two agents with all tools and two objects at one place, two steps away."""
    return from_rddl("rddl:CooperativeRecon_ippc2018/1")


def state_with(recon, *true):
    state = np.zeros_like(recon.draw_start(np.random.default_rng(0), 1))
    for name in true:
        state[0, recon.component_names.index(name)] = 1
    return state


def rated(recon, *true):
    return float(recon._prospects.of(state_with(recon, *true))[0])


def test_each_step_towards_a_picture_is_more_promising(recon):
    far, near, there = (
        (f"agent-at(a00, {place})", "agent-at(a01, x00, y00)")
        for place in ("x01, y02", "x02, y02", "x02, y01")
    )
    water = ("waterChecked(obj00)", "waterDetected(obj00)")
    life = ("lifeChecked(obj00)", "lifeDetected(obj00)")
    order = [far, near, there, (*there, *water), (*there, *water, *life)]
    values = [rated(recon, *true) for true in order]
    assert values == sorted(values)
    assert len(set(values)) == len(values)


def test_what_is_spoilt_is_no_longer_promising(recon):
    there = ("agent-at(a00, x02, y01)", "agent-at(a01, x02, y01)")
    spoilt = (*there, "waterChecked(obj00)", "waterChecked(obj01)")
    assert rated(recon, *spoilt) < 0.5 * rated(recon, *there)


def test_a_picture_is_taken_when_it_can_be(recon):
    known = ("waterChecked(obj00)", "waterDetected(obj00)", "lifeChecked(obj00)")
    state = state_with(
        recon, "agent-at(a00, x02, y01)", "agent-at(a01, x00, y00)", "lifeDetected(obj00)", *known
    )
    decided = ByProspects(recon).decide(state[0], 3, np.random.default_rng(0), 0)
    chosen = {recon.space.names[i] for i in np.flatnonzero(decided.action)}
    assert "use-tool-on(a00, c00, obj00)" in chosen


def test_lookahead_plays_by_prospects_where_random_play_earns_nothing(recon):
    policy = make_policy("lookahead", recon)
    assert isinstance(policy, ByProspects)
    scenarios = Scenarios.sample(recon, 6, seed=1)
    earned = [
        rollout(recon, one, scenarios).rewards.sum()
        for one in (policy, make_policy("random", recon))
    ]
    assert earned[0] > 10 + earned[1]
    often = from_rddl("rddl:SysAdmin_MDP_ippc2011/1")
    assert isinstance(make_policy("lookahead", often), Lookahead)
