"""Every rival by name: its learner, its settings, and what differs from their defaults."""

from typing import Any

from sequoia.learn.base import Learner
from sequoia.learn.presets import Preset
from sequoia.learn.rivals.cascade_dqn import CASCADE, CascadeDqn, CascadeDqnConfig
from sequoia.learn.rivals.lsflow import LsFlow, LsFlowConfig
from sequoia.learn.rivals.ppo_masked import PpoMasked, PpoMaskedConfig
from sequoia.learn.rivals.ppo_scores import PpoScores, PpoScoresConfig
from sequoia.learn.rivals.srl import Srl, SrlConfig

RIVALS: dict[str, type[Learner[Any]]] = {
    rival.name: rival for rival in (PpoScores, PpoMasked, Srl, CascadeDqn, LsFlow)
}
RIVAL_PRESETS: dict[str, Preset] = {
    PpoScores.name: Preset(PpoScoresConfig, {}),
    PpoMasked.name: Preset(PpoMaskedConfig, {}),
    Srl.name: Preset(SrlConfig, {}),
    CascadeDqn.name: Preset(CascadeDqnConfig, CASCADE),
    LsFlow.name: Preset(LsFlowConfig, {}),
}
