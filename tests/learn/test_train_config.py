"""Settings have names and ranges; what is wrong is said in one line."""

import json
from pathlib import Path

import pytest

from sequoia.errors import ConfigError
from sequoia.learn import PRESETS, ImprovementConfig, make_config
from sequoia.learn.q_learning_config import QLearningConfig


def test_the_papers_preset_is_its_table():
    """Table 2, line by line."""
    paper = make_config("paper")
    assert paper.gamma == 0.99
    assert (
        paper.exploration.initial_eps,
        paper.exploration.final_eps,
        paper.exploration.decay,
    ) == (0.9, 0.05, 1000)
    assert paper.learning_rate == 2.5e-4
    assert paper.adam_epsilon == 1.5e-4
    assert paper.tau == 1e-6
    assert paper.batch_size == 32
    assert paper.replay.buffer_size == 10_000
    assert paper.rounds * paper.episodes == 100
    assert paper.network.hidden == (32, 32)


def test_the_papers_preset_is_its_algorithm():
    """Nothing of ours: the bare state, one network over state and action, one update a step."""
    paper = make_config("paper")
    own = paper.network
    ours = (own.value, own.linear, own.indicators, own.time_feature, own.normalise)
    assert ours == (0, False, False, False, False)
    assert not paper.selection.keep_best
    assert (paper.episodes, paper.gradient_steps, paper.target_update_interval) == (1, 1, 1)
    assert paper.replay.alpha > 0
    assert paper.warm_start.samples > paper.warm_start.kept > 0


def test_presets_can_be_changed_and_do_not_change():
    assert make_config("default") == ImprovementConfig()
    assert make_config("paper") == QLearningConfig()
    assert make_config("paper", rounds=3).rounds == 3
    assert make_config("paper").rounds == 100
    assert set(PRESETS) == {"default", "paper"}


@pytest.mark.parametrize("name", ["scratch", "interacting"])
def test_a_preset_of_before_says_in_one_line_what_to_use(name):
    with pytest.raises(ConfigError, match=f"preset '{name}' is gone: .* use 'default'") as error:
        make_config(name)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"lerning_rate": 1},
            r"lerning_rate is unknown; did you mean learning_rate\? known: rounds, seconds, "
            r"network\.hidden, .*",
        ),
        ({"rounds": -1}, r"train\.rounds is -1: .*greater than or equal to 0"),
        ({"rounds": "many"}, r"train\.rounds is 'many': .*valid integer"),
        ({"hidden": [16, 0]}, r"train\.network\.hidden\.1 is 0: .*greater than 0"),
        ({"initial": "zero"}, r"train\.network\.initial is 'zero': .*'he' or 'torch'"),
        ({"gamma": 1.5}, r"train\.gamma is 1\.5: .*less than or equal to 1"),
        ({"learning_rate": float("nan")}, r"train\.learning_rate is nan"),
        ({"tau": 0}, r"train\.tau is 0"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(changes, words):
    with pytest.raises(ConfigError, match=words) as error:
        make_config("paper", **changes)
    assert "\n" not in str(error.value)


def test_an_unknown_preset():
    with pytest.raises(ConfigError, match="no preset 'fast'; known: default, paper"):
        make_config("fast")


def test_settings_of_another_learner_are_unknown():
    with pytest.raises(ConfigError, match="gamma is unknown; known: rounds, seconds, patience"):
        make_config("default", gamma=0.5)


@pytest.mark.parametrize("config", list(dict.fromkeys(one.config for one in PRESETS.values())))
def test_the_page_on_training_shows_every_setting_of_every_preset(config):
    page = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    names = [name for name, one in PRESETS.items() if one.config is config]
    presets = [make_config(name).flat() for name in names]
    assert f"| setting | {' | '.join(names)} | meaning |" in page
    for name in config.names():
        values = " | ".join(json.dumps(one[name]) for one in presets)
        assert f"| `{name}` | {values} | " in page, name
