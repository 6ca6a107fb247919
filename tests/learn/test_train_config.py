"""Settings have names and ranges; what is wrong is said in one line."""

import json
from pathlib import Path

import pytest

from sequoia.errors import ConfigError
from sequoia.learn import PRESETS, TrainConfig


def test_the_papers_preset_is_its_table():
    """Table 2, line by line."""
    paper = TrainConfig.preset("paper")
    assert paper.discount == 0.99
    assert (paper.epsilon_start, paper.epsilon_end, paper.epsilon_decay) == (0.9, 0.05, 1000)
    assert paper.learning_rate == 2.5e-4
    assert paper.adam_epsilon == 1.5e-4
    assert paper.target_rate == 1e-6
    assert paper.batch == 32
    assert paper.memory == 10_000
    assert paper.rounds * paper.episodes == 100
    assert paper.hidden == (32, 32)


def test_the_papers_preset_is_its_algorithm():
    """Nothing of ours: the bare state, one network over state and action, one update a step."""
    paper = TrainConfig.preset("paper")
    ours = (paper.value, paper.linear, paper.critic, paper.indicators, paper.clock)
    assert ours == (0, False, 0, False, False)
    assert (paper.prices, paper.normalise, paper.keep_best) == ("none", False, False)
    assert (paper.episodes, paper.gradient_steps, paper.target_every) == (1, 1, 1)
    assert paper.double
    assert paper.priority > 0
    assert paper.warm_samples > 0
    assert paper.warm_myopic
    assert paper.warm_perturbed
    assert paper.warm_infeasible


def test_presets_can_be_changed_and_do_not_change():
    assert TrainConfig.preset("default") == TrainConfig()
    assert TrainConfig.preset("paper", rounds=3).rounds == 3
    assert TrainConfig.preset("paper").rounds == 100
    assert set(PRESETS) == {"default", "scratch", "paper"}


def test_from_scratch_is_without_prices():
    scratch = TrainConfig.preset("scratch")
    assert scratch.prices == "none"
    assert scratch.rounds > TrainConfig().rounds


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lerning_rate": 1}, r"train\.lerning_rate is unknown; known: hidden, .*, keep_best\."),
        ({"rounds": -1}, r"train\.rounds is -1: .*greater than or equal to 0"),
        ({"rounds": "many"}, r"train\.rounds is 'many': .*valid integer"),
        ({"hidden": [16, 0]}, r"train\.hidden\.1 is 0: .*greater than 0"),
        ({"prices": "cheap"}, r"train\.prices is 'cheap': .*'hull', 'lp' or 'none'"),
        ({"discount": 1.5}, r"train\.discount is 1\.5: .*less than or equal to 1"),
        ({"learning_rate": float("nan")}, r"train\.learning_rate is nan"),
        ({"target_rate": 0}, r"train\.target_rate is 0"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(changes, words):
    with pytest.raises(ConfigError, match=words) as error:
        TrainConfig.preset("default", **changes)
    assert "\n" not in str(error.value)


def test_an_unknown_preset():
    with pytest.raises(ConfigError, match="no preset 'fast'; known: default, scratch, paper"):
        TrainConfig.preset("fast")


def test_the_page_on_training_shows_every_setting_of_every_preset():
    page = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    presets = [TrainConfig.preset(name).model_dump(mode="json") for name in PRESETS]
    assert f"| setting | {' | '.join(PRESETS)} | meaning |" in page
    for name in TrainConfig.model_fields:
        values = " | ".join(json.dumps(preset[name]) for preset in presets)
        assert f"| `{name}` | {values} | " in page, name
