"""How good a programme is, and long work that can be stopped."""

import time

import pytest
from web_cases import DAY, local_page, send

from programme.programme_cases import known
from real_command import PATIENCE
from sequoia.errors import ProblemError
from sequoia.programme.quality import find_quality, read_quality, write_quality
from sequoia.programme.situation import find_situation
from sequoia.web.jobs import Jobs


def test_quality_keeps_the_order_that_must_be(tmp_path):
    programme = known(tmp_path)
    told = []
    quality = find_quality(find_situation(programme, DAY), lambda share, _: told.append(share))
    assert told == sorted(told)
    means = {name: mean for name, (mean, _) in quality.rewards.items()}
    widths = {name: half for name, (_, half) in quality.rewards.items()}
    assert all(means[name] - widths[name] <= quality.bound for name in means)
    assert {one.group: one.people for one in quality.groups} == {"old": 2, "young": 1}
    assert all(one.whole >= -1e-6 and one.unit >= -1e-6 for one in quality.staff)
    write_quality(programme, quality)
    assert read_quality(programme) == quality


def test_a_rule_costs_what_its_absence_would_gain(tmp_path):
    programme = known(tmp_path)
    path = programme.folder / "programme.toml"
    path.write_text(path.read_text() + '\n[space.rules]\nnever = ["Zoë"]\n')
    from sequoia.programme.settings import read_programme

    quality = find_quality(find_situation(read_programme(programme.folder), DAY), lambda *_: None)
    assert [one.words for one in quality.rules] == ["Zoë is never visited"]
    assert quality.rules[0].month > 0


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
