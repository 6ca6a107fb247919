"""How a model is learned: learners, their settings, checkpoints."""

from sequoia.learn.config import Config
from sequoia.learn.learner import Learner, Round
from sequoia.learn.presets import PRESETS, make_config, usual_preset
from sequoia.learn.q_learning_config import QLearningConfig
from sequoia.learn.train import TrainProgress, train
from sequoia.models.folder import Trained, load_model, save_model

__all__ = [
    "PRESETS",
    "Config",
    "Learner",
    "QLearningConfig",
    "Round",
    "TrainProgress",
    "Trained",
    "load_model",
    "make_config",
    "save_model",
    "train",
    "usual_preset",
]
