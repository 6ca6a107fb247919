"""How good a programme is, and long work that can be stopped."""

import time
from dataclasses import replace
from datetime import date

import pytest
from web_cases import DAY, local_page, page_of, send

from programme_cases import known
from real_command import PATIENCE
from sequoia.errors import ProblemError
from sequoia.learn.presets import make_config
from sequoia.policies import make_policy
from sequoia_programme.quality import find_quality, read_quality, write_quality
from sequoia_programme.rules import NEVER, WrittenRule, written_rules
from sequoia_programme.settings import read_programme
from sequoia_programme.situation import find_situation
from sequoia_programme.trained import train_own_model, with_own_model
from sequoia_programme.web.jobs import Jobs


def test_quality_keeps_the_order_that_must_be(tmp_path):
    programme = known(tmp_path)
    told = []
    quality = find_quality(find_situation(programme, DAY), lambda share, _: told.append(share))
    assert told == sorted(told)
    means = {name: mean for name, (mean, _) in quality.rewards.items()}
    widths = {name: half for name, (_, half) in quality.rewards.items()}
    assert all(means[name] - widths[name] <= quality.bound for name in means)
    assert {one.group: one.people for one in quality.groups} == {"old": 2, "young": 1}
    for name, mean in means.items():
        by_group = sum(one.people * one.rewards[name] for one in quality.groups)
        assert by_group == pytest.approx(mean)
    assert quality.unit == "hour"
    for one in quality.staff:
        assert one.more >= -1e-6
        # Whoever comes next adds no more than whoever would go takes along.
        assert -1e-6 <= one.again <= one.whole + 1e-6
    assert set(quality.next_visits) == {"Ada", "Grace", "Zoë"}
    assert all(day is None or day >= DAY for day in quality.next_visits.values())
    write_quality(programme, quality)
    assert read_quality(programme) == quality


def test_a_rule_costs_what_its_absence_would_gain(tmp_path):
    programme = known(tmp_path)
    path = programme.folder / "programme.toml"
    path.write_text(path.read_text() + '\n[space.rules]\nnever = ["Zoë"]\n')
    client = page_of(programme)
    assert "computed under" in client.get("/people/one?who=Ada").text
    quality = find_quality(find_situation(read_programme(programme.folder), DAY), lambda *_: None)
    assert [one.rule for one in quality.rules] == [WrittenRule(NEVER, ("Zoë",))]
    assert quality.next_visits["Zoë"] is None
    write_quality(programme, quality)
    assert read_quality(programme) == quality
    assert "costs" in client.get("/staff").text
    assert "none in the next" in client.get("/people/one?who=Zoë").text
    assert quality.rules[0].month > 0
    write_quality(programme, replace(quality, next_visits={"Zoë": date(2026, 11, 9)}))
    assert "Mon 9 Nov" in client.get("/people").text
    assert "likely by Monday 9 November" in client.get("/people/one?who=Zoë").text


def test_long_work_runs_beside_and_can_be_stopped(tmp_path):
    programme, client = local_page(tmp_path)
    jobs = Jobs(programme.folder)
    jobs.start("quality", DAY)
    with pytest.raises(ProblemError, match="already"):
        jobs.start("quality", DAY)
    jobs.stop()
    assert jobs.last.is_stopped
    assert read_quality(programme) is None
    jobs.start("quality", DAY)
    deadline = time.monotonic() + PATIENCE
    while jobs.last.is_running and time.monotonic() < deadline:
        time.sleep(0.05)
    assert jobs.last.wrong == ""
    assert "of what is possible" in client.get("/quality").text
    assert send(client, "/quality/start", kind="nonsense").status_code == 422


def test_rules_are_added_and_removed_on_the_page(tmp_path):
    programme, client = local_page(tmp_path)
    send(client, "/staff/rule", kind="floors", names="old", number="50 %")
    send(client, "/staff/rule", kind="at_most_one", names="Ada; Zoë")
    text = client.get("/staff").text
    assert "At least 50 % of the visits go to old" in text
    assert "At most one a day of Ada, Zoë" in text
    assert len(written_rules(read_programme(programme.folder))) == 2
    send(client, "/staff/rule/remove", kind="floors", names="old", number="50.0 %")
    client.get("/staff")
    assert "go to old" not in client.get("/staff").text
    assert send(client, "/staff/rule", kind="never", names="Nobody").status_code == 422


def test_a_model_that_was_trained_is_considered_from_then_on(tmp_path):
    programme = known(tmp_path)
    told = []
    config = make_config("paper", rounds=1, samples=20, hidden=(2,))
    train_own_model(find_situation(programme, DAY), told.append, config)
    assert told == sorted(told)
    situation, q = with_own_model(find_situation(programme, DAY))
    assert make_policy("sequoia", situation.problem, q, 1.0).name == "sequoia"
    (programme.folder / "model" / "weights.safetensors").unlink()
    situation, q = with_own_model(find_situation(programme, DAY))
    assert q is None
    assert situation.remarks[-1].startswith("The trained model is left out")
