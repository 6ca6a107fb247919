"""How a model is learned: learners, their settings, checkpoints."""

from sequoia.extras import require

require("torch")

from sequoia.learn.base import Learner, Round
from sequoia.learn.config import Config
from sequoia.learn.improvement_config import ImprovementConfig
from sequoia.learn.presets import PRESETS, make_config
from sequoia.learn.train import TrainProgress, train
from sequoia.models.folder import Trained, load_model, save_model

__all__ = [
    "PRESETS",
    "Config",
    "ImprovementConfig",
    "Learner",
    "Round",
    "TrainProgress",
    "Trained",
    "load_model",
    "make_config",
    "save_model",
    "train",
]
