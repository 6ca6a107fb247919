"""Curves for TensorBoard, written to a stand-in."""

import sys
from types import ModuleType

import pytest
from learning_cases import short, tiny

from sequoia.errors import ConfigError
from sequoia.learn import make_config, train
from sequoia.learn.train import Board


class Writer:
    """Keeps what a `SummaryWriter` would write."""

    def __init__(self, folder):
        self.folder, self.points, self.flushes = folder, [], 0

    def add_scalar(self, name, value, step):
        self.points.append((name, value, step))

    def flush(self):
        self.flushes += 1


@pytest.fixture
def stand_in(monkeypatch):
    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)


@pytest.mark.usefixtures("stand_in")
def test_every_round_adds_what_is_known_of_it(tmp_path):
    board = Board(tmp_path / "curves")
    trained = train(tiny(), short(rounds=2), on_event=board)
    writer = board._writer
    assert writer.folder == str(tmp_path / "curves")
    assert writer.flushes == 3
    rewards = [(step, value) for name, value, step in writer.points if name == "reward"]
    assert rewards == [(row["round"], row["reward"]) for row in trained.history[::2]]
    names = {name for name, _, _ in writer.points}
    assert names == {"reward", "best", "loss", "epsilon", "hit rate"}


@pytest.mark.usefixtures("stand_in")
def test_a_bound_is_drawn_where_one_is_known():
    board = Board("curves")
    trained = train(tiny(), make_config("default", rounds=1), on_event=board)
    bounds = [(step, value) for name, value, step in board._writer.points if name == "bound"]
    assert bounds == [(0, trained.bound), (1, trained.bound)]
    # Nothing is remembered, so there is no share of it.
    assert "hit rate" not in {name for name, _, _ in board._writer.points}


def test_without_the_package_it_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ConfigError, match=r"pip install .*history\.csv instead"):
        Board(tmp_path)
