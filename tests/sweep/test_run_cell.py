"""Cells that train."""

import pytest

from sequoia.errors import FileError
from sequoia.learn.registry import LEARNERS
from sequoia.sweep import make_plan
from sequoia.sweep.cell import Training
from sequoia.sweep.run_cell import run_cell

SHORT = {
    "preset": "paper",
    "rounds": 2,
    "n_eval_episodes": 2,
    "episodes": 4,
    "eval_freq": 1,
    "cache_rounds": 1,
    "samples": 20,
    "epochs": 1,
}


def plan(**changes):
    return make_plan(
        {
            "policies": ["small", "small-iterative", "other"],
            "episodes": 2,
            "trained": [
                {"name": "small", "policy": "sequoia", **SHORT},
                {"name": "small-iterative", "policy": "iterative-dqn", **SHORT},
                {"name": "other", "policy": "sequoia", **SHORT, "learning_rate": 0.5},
            ],
            "problems": [{"family": "capacity", "arms": 5, "workers": 2, "horizon": 3}],
            **changes,
        },
        "plan",
    )


class Killed(Exception):
    pass


def test_equal_settings_share_a_model_and_a_killed_training_goes_on(tmp_path, monkeypatch):
    from sequoia.learn import train

    (cell,) = plan().cells()
    whole = run_cell(cell, tmp_path / "whole")
    models = {path.name for path in (tmp_path / "whole").glob("model-*")}
    assert len(models) == 2
    times = whole.times
    assert times["small"].training == times["small-iterative"].training > 0

    def killed_in_the_middle(*arguments, **options):
        def stop(progress):
            if progress.round.round == 1:
                raise Killed

        return train(*arguments, **options, on_event=stop)

    monkeypatch.setattr("sequoia.learn.train", killed_in_the_middle)
    with pytest.raises(Killed):
        run_cell(cell, tmp_path / "killed")
    monkeypatch.setattr("sequoia.learn.train", train)
    again = run_cell(cell, tmp_path / "killed")
    assert again.numbers == whole.numbers
    # Trained already: nothing is trained again.
    monkeypatch.setattr("sequoia.learn.train", None)
    assert run_cell(cell, tmp_path / "killed").numbers == whole.numbers


def test_the_name_of_a_cell_knows_every_setting_of_the_training():
    (cell,) = plan().cells()
    changed = plan().model_dump()
    changed["trained"][2]["learning_rate"] = 0.25
    (other,) = make_plan(changed, "plan").cells()
    assert other.key != cell.key


def test_an_unknown_setting_is_one_line():
    with pytest.raises(FileError, match=r"plan: trained\[0\]: train\.roundz is unknown"):
        plan(trained=[{"name": "small", "policy": "sequoia", "roundz": 3}])
    with pytest.raises(FileError, match="no preset 'papre'"):
        plan(trained=[{"name": "small", "preset": "papre"}])


def test_learners_with_equal_settings_have_models_of_their_own():
    presets = (*LEARNERS.added, "default", "paper")
    digests = {Training(preset, {"rounds": 3, "seconds": 1.0}).digest for preset in presets}
    assert len(digests) == len(presets)
