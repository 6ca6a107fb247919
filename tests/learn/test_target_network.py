"""Weights descend, the target follows at its own pace, and everything can be put back."""

import numpy as np
import pytest
import torch
from learning_cases import small

from sequoia.learn import make_config
from sequoia.learn.target_network import TargetNetwork
from sequoia.models.q_model import shapes

SIZES = {"weight": (3, 2), "output": (3,)}
INPUTS = torch.from_numpy(np.random.default_rng(0).random((20, 2), np.float32))
ONES = np.ones(20, np.float32)
GOALS = 1 + 2 * INPUTS.numpy().sum(axis=1)


def forward(weights):
    return (INPUTS @ weights["weight"].T).clip(min=0) @ weights["output"]


def fitted(**changes):
    config = small(learning_rate=1e-2, **changes)
    return TargetNetwork(SIZES, config, np.random.default_rng(1))


def descend(one, times):
    return [one.descend(forward, GOALS, ONES) for _ in range(times)]


def flat(weights):
    return torch.cat([weight.detach().reshape(-1) for weight in weights.values()]).numpy()


def test_it_begins_by_adding_nothing():
    one = fitted()
    assert forward(one.online).tolist() == [0.0] * 20
    assert np.abs(one.online["weight"].detach().numpy()).min() > 0


def test_it_says_how_far_off_it_was_and_gets_closer():
    errors = descend(fitted(), 200)
    assert errors[0].tolist() == (-GOALS).tolist()
    assert (errors[-1] ** 2).mean() < 0.1 * (errors[0] ** 2).mean()


def test_what_has_no_weight_teaches_nothing():
    half = (np.arange(20) < 10).astype(np.float32)
    one, other, third = fitted(), fitted(), fitted()
    for _ in range(3):
        one.descend(forward, GOALS, half)
        other.descend(forward, GOALS + 5 * (1 - half), half)
        third.descend(forward, GOALS + 5 * half, half)
    assert flat(one.online).tolist() == flat(other.online).tolist()
    assert flat(one.online).tolist() != flat(third.online).tolist()


@pytest.mark.parametrize("every", [1, 3, 5])
def test_the_target_is_copied_every_so_many_batches(every):
    one = fitted(target_update_interval=every)
    for batch in range(1, 11):
        kept = flat(one.target)
        descend(one, 1)
        wanted = flat(one.online) if batch % every == 0 else kept
        assert flat(one.target).tolist() == wanted.tolist()
    assert flat(one.target).tolist() != flat(fitted().target).tolist()


def test_the_target_follows_by_its_rate():
    one = fitted(target_update_interval=1, tau=0.25)
    for _ in range(4):
        kept = flat(one.target)
        descend(one, 1)
        assert flat(one.target) == pytest.approx(0.75 * kept + 0.25 * flat(one.online), abs=1e-6)


def test_only_the_target_is_asked():
    one = fitted(target_update_interval=100)
    descend(one, 5)
    assert one.ask_target(forward).tolist() == [0.0] * 20
    one.follow()
    assert one.ask_target(forward) == pytest.approx(forward(one.online).detach().numpy())


def test_gradients_are_clipped():
    """Adam alone would not show it: it is the sum of gradients in its memory that does."""
    sums = []
    for clip in (1e-3, 10.0):
        one = fitted(max_grad_norm=clip)
        descend(one, 1)
        moments = [s["exp_avg"].reshape(-1) for s in one.optimizer.state_dict()["state"].values()]
        sums.append(float(torch.cat(moments).norm()))
    assert sums[0] == pytest.approx(1e-4, rel=0.01)
    assert sums[1] > 10 * sums[0]


def test_put_back_it_goes_on_alike():
    one, other = fitted(target_update_interval=4), fitted(target_update_interval=4)
    descend(one, 6)
    parts = {name: part.clone() for name, part in one.state().items()}
    other.restore(parts, one.batches)
    descend(one, 7)
    descend(other, 7)
    for own, copy in ((one.online, other.online), (one.target, other.target)):
        assert flat(own).tolist() == flat(copy).tolist()
    assert one.batches == other.batches == 13


def test_a_copy_stays_as_it_is():
    one = fitted()
    descend(one, 1)
    copy = one.copy()
    before = flat(copy)
    descend(one, 3)
    assert flat(copy).tolist() == before.tolist()


def test_first_weights_as_pytorch_draws_them():
    """Within one over the root of the inputs, of which state and action are one layer's."""
    sizes = shapes(5, 4, (400, 300), 0, False)
    config = make_config("paper")
    found = TargetNetwork(sizes, config, np.random.default_rng(0)).online
    inputs = {"state": 9, "action": 9, "bias.0": 9, "weight.1": 400, "bias.1": 400, "output": 300}
    for name, size in inputs.items():
        own, limit = found[name].detach().numpy(), 1 / np.sqrt(size)
        assert np.abs(own).max() <= limit
        assert own.std() == pytest.approx(limit / np.sqrt(3), rel=0.1)


def test_a_rate_that_falls():
    network = TargetNetwork(
        shapes(2, 2, (3,), 0, False), make_config("paper"), np.random.default_rng(0)
    )
    network.slow_down(0.5)
    assert network.optimizer.param_groups[0]["lr"] == pytest.approx(1.25e-4)
