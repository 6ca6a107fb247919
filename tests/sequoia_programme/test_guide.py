"""The guide: what a person gets who does what the page says, from the sheets to the second week."""

import re
import shlex
from datetime import date
from pathlib import Path

import openpyxl
import pytest

from sequoia.cli import main
from sequoia_programme.history import find_history
from sequoia_programme.settings import read_programme
from sequoia_programme.situation import find_situation

PAGE = Path(__file__).parents[2] / "docs" / "programmes.md"
BLOCK = re.compile(r"^```(\w*) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """Do what the page says; return the folder, and what was printed beside what is shown."""
    folder = tmp_path_factory.mktemp("guide")
    text = PAGE.read_text(encoding="utf-8").split("## When things change")[0]
    found, printed = BLOCK.findall(text), []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for (language, file, content), following in zip(
            found, [*found[1:], ("", "", "")], strict=True
        ):
            if file:
                Path(file).write_text(content, encoding="utf-8")
            elif language == "sh":
                for line in content.splitlines():
                    with pytest.raises(SystemExit) as stop:
                        main(shlex.split(line)[1:])
                    assert stop.value.code == 0, line
                shown = "" if any(following[:2]) else following[2]
                printed.append((content, shown))
    return folder, printed


def test_the_second_week_knows_who_is_there(clinic):
    programme = read_programme(clinic[0] / "clinic")
    situation = find_situation(programme, date(2026, 11, 9))
    names = [one.name for one in situation.arms]
    assert "Maya" in names
    assert "Kofi" not in names
    assert list(situation.absences.absent) == ["Nurse Bo"]
    assert situation.knowledge[names.index("Maya")].endswith("never seen")
    assert situation.estimates.words == "estimated from 154 rows of the log on 2026-11-09"


def test_the_first_week_is_in_the_history(clinic):
    programme = read_programme(clinic[0] / "clinic")
    tuesday, monday = find_history(programme, date(2026, 11, 2), date(2026, 11, 3))
    assert tuesday.plan.overrides == {"absent": ["Nurse Bo"], "must": ["Lena"]}
    lena = next(one for one in tuesday.outcomes if one.task.who == "Lena")
    assert lena.visit.state == "good"
    assert all(one.task.by == "Nurse Anna" for one in tuesday.outcomes)
    assert "Hugo" in {visit.who for visit in monday.besides} | {o.task.who for o in monday.outcomes}


def test_the_sheets_are_there(clinic):
    folder = clinic[0]
    assert "<h1>Nurse Anna</h1>" in (folder / "monday.html").read_text()
    assert openpyxl.load_workbook(folder / "monday2.xlsx").sheetnames == ["plan"]
    assert "BEGIN:VEVENT" in (folder / "monday2.ics").read_text()


def test_the_page_shows_what_is_printed(clinic, monkeypatch, capsys):
    """For what is recorded, word for word; chance may draw the rest elsewhere on other machines."""
    folder, blocks = clinic
    shown = dict(blocks)
    recorded = next(shown[block] for block in shown if "record clinic --file" in block)
    assert recorded.splitlines() == [
        "Recorded: 3 new sightings, 3 new visits and 1 other outcome.",
        "Recorded: 1 new sighting and 1 new visit.",
        "Recorded: 1 new sighting.",
    ]
    monkeypatch.chdir(folder)
    block = next(one for one in shown if "--who Jamal" in one)
    with pytest.raises(SystemExit):
        main(shlex.split(block)[1:])
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed == shown[block].splitlines()
