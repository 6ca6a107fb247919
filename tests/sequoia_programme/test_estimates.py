"""Transitions from a programme's own log: kept, renewed on demand, and used for beliefs."""

import shutil
from datetime import date, timedelta

import numpy as np
import pytest

from programme_cases import MONDAY, STATES, begin, content, fill, sheet
from sequoia import bound
from sequoia.errors import FileError
from sequoia.records.fit import FittedModel
from sequoia_programme import estimates as module
from sequoia_programme.estimates import estimate, find_estimates, read_structure
from sequoia_programme.importing import import_sheets
from sequoia_programme.recording import record
from sequoia_programme.schema import ARM
from sequoia_programme.settings import read_programme
from sequoia_programme.situation import find_situation
from sequoia_programme.today import plan_today

DAYS = 30
LATER = MONDAY + timedelta(days=DAYS)


def simulated_log(names, rng):
    """Return a log in which visits mend and time does not: good goes bad, visits bring back."""
    state = dict.fromkeys(names, 1)
    lines = ["date,who,state,by"]
    words = list(STATES)
    for step in range(DAYS):
        for name in names:
            if rng.random() < 0.4:
                day = MONDAY + timedelta(days=step)
                lines.append(f"{day},{name},{words[state[name]]},Nurse Anna")
                state[name] = max(0, state[name] - 1)
            elif rng.random() < 0.3:
                state[name] = min(2, state[name] + 1)
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def estimated(tmp_path_factory):
    """Return the folder of a programme whose transitions were estimated once."""
    folder = tmp_path_factory.mktemp("estimated")
    programme = begin(folder, days=("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"))
    names = [f"patient {i}" for i in range(10)]
    roster = "name,group,cost\n" + "".join(
        f"{name},{('young', 'old')[i % 2]},20\n" for i, name in enumerate(names)
    )
    fill(programme, folder, roster, log=simulated_log(names, np.random.default_rng(0)))
    find_estimates(programme, LATER)
    return programme.folder


@pytest.fixture
def programme(estimated, tmp_path):
    """Return a copy that a test may change."""
    return read_programme(shutil.copytree(estimated, tmp_path / "clinic"))


def test_they_say_what_the_log_says(programme):
    found = find_estimates(programme, LATER)
    kernels = found.kernels[list(found.groups).index("young")]
    good, at_risk, lapsed = range(3)
    assert kernels[1, at_risk, good] > 0.7
    assert kernels[0, good, at_risk] > kernels[0, good, lapsed]
    assert kernels[0, at_risk, lapsed] > 0.1
    assert found.words.startswith("estimated from ")


def test_they_are_kept_until_somebody_renews_them(programme, monkeypatch):
    first = find_estimates(programme, LATER)

    def no_more(*_, **__):
        raise AssertionError("estimated again")

    monkeypatch.setattr(module, "fit", no_more)
    again = find_estimates(programme, LATER)
    assert np.array_equal(first.kernels, again.kernels)
    assert np.array_equal(first.fitted.draws, again.fitted.draws)
    assert first.remark == again.remark == ""
    many = [f"patient {i}=good" for i in range(10)]
    for day in range(3):
        record(programme, many, LATER + timedelta(days=day))
    more = find_estimates(programme, LATER + timedelta(days=5))
    assert "60 rows came since" in more.remark
    monkeypatch.undo()
    renewed = estimate(programme, LATER + timedelta(days=5))
    assert renewed.fitted.n_rows == first.fitted.n_rows + 60
    assert find_estimates(programme, LATER + timedelta(days=5)).remark == ""
    assert len(content(programme)["fits"]) == 2


def test_a_new_group_is_estimated_at_once(programme, tmp_path):
    find_estimates(programme, LATER)
    more = sheet(tmp_path, "more.csv", "name,group,cost\nEve,remote,20\n")
    import_sheets(programme, {ARM: more})
    found = find_estimates(programme, LATER)
    assert found.groups == ["old", "remote", "young"]
    assert np.allclose(found.kernels.sum(axis=-1), 1)


def test_the_plan_says_what_is_believed_and_since_when(programme):
    day = LATER + timedelta(days=3)
    record(programme, ["patient 0=lapsed"], LATER)
    record(programme, ["patient 1=lapsed"], day, dose="")
    situation = find_situation(programme, day)
    assert situation.knowledge[0].endswith("last seen 3 days ago")
    assert situation.knowledge[1] == "lapsed, seen now"
    made = plan_today(situation, {})
    assert {task.state for task in made.stored.tasks} <= set(situation.knowledge)
    belief = situation.belief
    assert belief[1].tolist() == [0, 0, 1]
    assert 0 < belief[0].max() < 1


def test_a_programme_without_a_log_visits_to_find_out(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path, log="")
    situation = find_situation(programme, MONDAY)
    made = plan_today(situation, {})
    assert made.stored.tasks
    assert "plans are made to find out" in situation.remarks[-1]
    assert all(words.endswith("never seen") for words in situation.knowledge)


def test_exploring_draws_another_world_each_day_and_the_same_within_one(programme):
    def kernels(day):
        return find_situation(programme, day, "explore").believed.original.arms.kernels

    assert np.array_equal(kernels(LATER), kernels(LATER))
    assert not np.array_equal(kernels(LATER), kernels(LATER + timedelta(days=1)))


def test_caution_promises_less_than_most(programme):
    def promise(outlook):
        return bound(find_situation(programme, LATER, outlook).problem).per_step

    assert promise("cautious") < promise("expected")


def test_what_is_known_holds(programme):
    toml = programme.folder / "programme.toml"
    text = toml.read_text()
    toml.write_text(text + '\n[known]\nimpossible = [["good", "lapsed"]]\nnever_hurts = true\n')
    known = read_programme(programme.folder)
    found = find_estimates(known, LATER)
    assert isinstance(found.fitted, FittedModel)
    assert (found.fitted.draws[..., 0, 2] == 0).all()
    # The states are listed from the best: the share of the worst falls with the dose.
    assert (found.fitted.draws[:, :, 1, :, 2] <= found.fitted.draws[:, :, 0, :, 2] + 1e-9).all()
    toml.write_text(text + '\n[known]\nstays = ["godo"]\n')
    with pytest.raises(FileError, match="perhaps 'good' is meant"):
        read_structure(read_programme(programme.folder))


def test_only_the_log_before_a_day_is_used(programme):
    whole = find_estimates(programme, LATER).fitted.n_rows
    assert estimate(programme, date(2026, 11, 12)).fitted.n_rows < whole
