"""A model that was trained for a programme lives on when the transitions are estimated anew."""

from datetime import date

import numpy as np
import pytest

from learned_cases import made
from programme_cases import TRANSITIONS, known, sheet
from sequoia.bounds.lagrangian.relax import relax
from sequoia.errors import FileError
from sequoia.models.folder import Trained, save_model
from sequoia.models.price_part import PricePart
from sequoia.problem import load
from sequoia_programme.settings import read_programme
from sequoia_programme.situation import find_situation
from sequoia_programme.today import plan_today
from sequoia_programme.trained import adopt, export_problem

WEDNESDAY = date(2026, 11, 4)


def train(problem, folder):
    q = made(problem, "price", ("linear",))
    history = [{"round": 0, "reward": 1.0, "seconds": 0.1}]
    save_model(folder, Trained(q, "policy-improvement", {}, 0, 1.0, None, None, 0.1, history))
    return q


def test_a_model_outlives_its_transitions(tmp_path):
    programme = known(tmp_path)
    now = tmp_path / "now.npz"
    assert export_problem(find_situation(programme, WEDNESDAY), now, None) == [now]
    q = train(load(now), tmp_path / "model")
    sheet(programme.folder, "transitions.csv", TRANSITIONS.replace("0.7,0.2,0.1", "0.5,0.3,0.2"))
    situation = find_situation(programme, WEDNESDAY)
    adopted = adopt(situation, tmp_path / "model")
    assert "trained before" in adopted.remark
    assert situation.problem.arms.n_states != q.environment.arms.n_states
    # Beliefs are others now, so what was learned of them means nothing; prices of now do.
    assert adopted.remark.endswith("it acts by them alone")
    seen, step = np.array([[0, 1, 2]]), np.zeros(1, dtype=np.int64)
    wanted = PricePart.of(relax(situation.problem).prices, situation.problem.horizon)
    levels = wanted.levels(seen, step)[0]
    weights = adopted.model.fold(seen, step).linear
    assert np.allclose(weights, levels[:, :, 1] - levels[:, :, 0])
    made = plan_today(situation, {}, policy="sequoia", q=adopted.model)
    assert made.stored.policy == "sequoia"


def test_a_model_for_other_states_says_so(tmp_path):
    programme = known(tmp_path)
    export_problem(find_situation(programme, WEDNESDAY), tmp_path / "now.npz", None)
    train(load(tmp_path / "now.npz"), tmp_path / "model")
    toml = programme.folder / "programme.toml"
    toml.write_text(toml.read_text().replace("[states]", '[states]\n"gone" = 0'))
    rows = [f"{line},{0 if i else 'gone'}" for i, line in enumerate(TRANSITIONS.splitlines())]
    more = "\n".join([*rows, "none,gone,0,0,0,1", "visit,gone,0,0,0,1"])
    sheet(programme.folder, "transitions.csv", more)
    situation = find_situation(read_programme(programme.folder), WEDNESDAY)
    with pytest.raises(FileError, match=r"arms had \d+ states then .* train a model"):
        adopt(situation, tmp_path / "model")
