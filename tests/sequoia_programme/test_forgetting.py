"""Whoever is forgotten leaves no trace in the records, or none that leads to them."""

from datetime import date

import pytest

from programme_cases import begin, content, fill, known
from sequoia.cli import main
from sequoia.errors import ProblemError
from sequoia_programme.drafts import set_wish
from sequoia_programme.estimates import estimate
from sequoia_programme.forgetting import forget
from sequoia_programme.people import add_note
from sequoia_programme.recording import record
from sequoia_programme.schema import answers
from sequoia_programme.situation import find_situation
from sequoia_programme.store import FILE
from sequoia_programme.today import plan_today, publish_proposed

DAY = date(2026, 11, 4)


@pytest.fixture
def programme(tmp_path):
    """A programme that knows much of Grace, and something of Ada."""
    programme = known(tmp_path)
    add_note(programme, "Grace", "likes tea")
    plan_today(find_situation(programme, DAY), {"must": ["Grace"]}, policy="price")
    publish_proposed(programme, DAY)
    record(programme, ["Grace=lapsed"], DAY, remark="Talks of Hopper.")
    record(programme, ["Ada=not at home"], DAY, by="Nurse Bo")
    set_wish(programme, date(2026, 11, 5), "lock", "Nurse Bo=Grace")
    with programme.store.writing() as connection:
        values = {"key": "k", "request": "r", "status": 200, "body": "Grace was seen"}
        connection.execute(answers.insert().values(**values))
    (programme.folder / "quality.json").write_text("{}")
    (programme.folder / "old.csv").write_text("name\nGrace\n")
    return programme


def in_the_file(programme, *words):
    content = (programme.folder / FILE).read_bytes()
    return [word for word in words if word.encode() in content]


def test_nothing_of_somebody_is_left(programme):
    assert in_the_file(programme, "Grace", "tea", "Hopper") == ["Grace", "tea", "Hopper"]
    done = forget(programme, ["grace"])
    assert done.people == 1
    assert done.rows["roster"] == done.rows["notes"] == 1
    assert done.rows["sightings"] == done.rows["visits"] == 2
    assert done.files == ["quality.json"]
    assert done.left == ["old.csv"]
    # Not even in what the file keeps of deleted rows.
    assert in_the_file(programme, "Grace", "tea", "Hopper") == []
    assert "Zoë" in str(content(programme)["roster"])
    made = plan_today(find_situation(programme, DAY), {}, policy="price")
    assert {task.who for task in made.stored.tasks} == {"Ada", "Zoë"}


def test_whoever_is_anonymous_stays_in_the_log(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path)
    before = estimate(programme, DAY)
    add_note(programme, "Grace", "likes tea")
    record(programme, ["Grace=good"], DAY, by="Nurse Bo", remark="Talks of Hopper.")
    forget(programme, ["Grace", "Nurse Bo"], anonymise=True)
    found = content(programme)
    assert in_the_file(programme, "Grace", "Nurse Bo", "Hopper", "tea") == []
    names = [row[2] for row in found["roster"]]
    assert len(names) == len(set(names)) == 5
    assert len(found["sightings"]) == 4
    # What plans need stays, and other facts go.
    assert {"cost": "30"} in [row[6] for row in found["roster"]]
    assert list(before.groups) == list(estimate(programme, DAY).groups)


def test_all_who_left_before_a_date(programme):
    record(programme, ["Zoë=moved away"], DAY)
    assert forget(programme, (), left_before=DAY).people == 0
    assert forget(programme, (), left_before=date(2026, 12, 1)).people == 1
    assert in_the_file(programme, "Zoë") == []


def test_what_cannot_be_forgotten_is_one_line(programme, capsys):
    before = content(programme)
    with pytest.raises(ProblemError, match="perhaps 'Grace' is meant"):
        forget(programme, ["Ada", "Gracie"])
    with pytest.raises(ProblemError, match="--anonymise takes the name away"):
        forget(programme, ["Ada", "Nurse Bo"])
    for more, wanted in (([], "--left-before is wanted"), (["Ada"], "--yes does it")):
        with pytest.raises(SystemExit) as stop:
            main(["programme", "forget", str(programme.folder), *more])
        assert stop.value.code == 2
        assert wanted in capsys.readouterr().err
    assert content(programme) == before
