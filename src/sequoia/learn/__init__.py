"""How SEQUOIA learns: network, replay, warm start, targets, checkpoints."""

from sequoia.learn.config import PRESETS, TrainConfig
from sequoia.learn.start import usual_preset
from sequoia.learn.train import TrainProgress, train
from sequoia.models.folder import Trained, load_model, save_model

__all__ = [
    "PRESETS",
    "TrainConfig",
    "TrainProgress",
    "Trained",
    "load_model",
    "save_model",
    "train",
    "usual_preset",
]
