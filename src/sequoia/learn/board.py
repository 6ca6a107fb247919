"""Curves for TensorBoard, on request."""

from pathlib import Path
from typing import Any

from sequoia.errors import ConfigError
from sequoia.learn.train import TrainProgress


class Board:
    """Writes every round to a folder that TensorBoard reads."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ConfigError(
                'tensorboard is not installed; pip install "sequoia-plan[tensorboard]", or read '
                "history.csv instead."
            ) from None
        self._writer: Any = SummaryWriter(str(folder))

    def __call__(self, progress: TrainProgress) -> None:
        """Add the curves of one round."""
        done = progress.round
        curves = {
            "reward": done.reward,
            "best": done.best,
            "bound": progress.bound,
            "loss": done.loss,
            "epsilon": done.epsilon,
            "hit rate": done.hit_rate,
        }
        for name, value in curves.items():
            if value is not None:
                self._writer.add_scalar(name, value, done.round)
        self._writer.flush()
