"""What a person holds in hand: sheets that come back, pages, a calendar; no formula runs."""

import csv
import io
import re
import sys
import unicodedata
from datetime import date, datetime, time

import openpyxl
import pytest

from programme_cases import MONDAY, STATES, begin, content, fill, known
from sequoia.errors import FileError
from sequoia.problem.spreadsheet import csv_text, read_spreadsheet, xlsx_bytes
from sequoia_programme.exporting import export
from sequoia_programme.history import find_events, find_history
from sequoia_programme.importing import import_sheets
from sequoia_programme.output import calendar_text, page_text, require_endings, write_plan
from sequoia_programme.plans import PlannedTask, StoredPlan
from sequoia_programme.recording import record
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.situation import find_situation
from sequoia_programme.today import plan_today, publish_proposed

WEDNESDAY = date(2026, 11, 4)
EVIL = ["=1+1", "@SUM(A1)", "+49 30", "-2", "Ada", "it's"]


def task(who, by="Nurse Anna", **more):
    usual = {"date": MONDAY, "when": "", "dose": "visit", "minutes": 30.0, "state": "good"}
    return PlannedTask(who=who, by=by, **{**usual, **more}, gain=1.5)


def stored(*tasks):
    return StoredPlan(MONDAY, "price", "", {}, tasks, datetime(2026, 11, 2, 6, 0))


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_no_text_is_a_formula_and_all_of_it_comes_back(tmp_path, ending):
    path = tmp_path / f"sheet{ending}"
    rows = [("name", "gain"), *((text, -1.5) for text in EVIL)]
    if ending == ".csv":
        path.write_text(csv_text(rows))
        cells = [row[0] for row in csv.reader(io.StringIO(path.read_text()))]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    else:
        path.write_bytes(xlsx_bytes({"one": rows}))
        page = openpyxl.load_workbook(path).active
        assert {cell.data_type for cell in page["A"]} == {"s"}
    sheet = read_spreadsheet(path)
    assert sheet.strings("name") == EVIL
    assert sheet.floats("gain").tolist() == [-1.5] * len(EVIL)


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_plan_is_filled_in_and_recorded(tmp_path, ending):
    programme = known(tmp_path)
    made = plan_today(find_situation(programme, WEDNESDAY), {})
    publish_proposed(programme, WEDNESDAY)
    path = tmp_path / f"plan.{ending}"
    write_plan(programme, made.stored, path)
    if ending == "csv":
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0] == "date,order,by,when,who,dose,minutes,state,gain,seen"
        path.write_text("\n".join([lines[0], lines[1] + "lapsed", *lines[2:]]), encoding="utf-8")
    else:
        book = openpyxl.load_workbook(path)
        assert book.sheetnames == ["plan", "Nurse Anna", "Nurse Bo"]
        book["plan"]["J2"] = "lapsed"
        book.save(path)
    done = record(programme, [], WEDNESDAY, sheet=path)
    assert done.words == "1 new sighting and 1 new visit"
    first = made.stored.tasks[0]
    [one] = find_history(programme, WEDNESDAY, WEDNESDAY)
    assert one.done == 1
    assert one.outcomes[0].visit.state == "lapsed"
    assert one.outcomes[0].visit.by == first.by


def test_a_page_for_each_worker_and_nothing_is_fetched_or_run(tmp_path):
    programme = begin(tmp_path)
    text = page_text(programme, stored(task("Ada"), task("<b>Eve</b>", by="Nurse Bo")))
    assert text.count("<section>") == 2
    assert "<h1>Nurse Anna</h1>" in text
    assert "&lt;b&gt;Eve&lt;/b&gt;" in text
    assert "break-after: page" in text
    assert not re.search(r"https?:|<script|src=", text)
    for state in STATES:
        assert state in text
    assert "nothing to do" in page_text(programme, stored())


def test_a_calendar_in_which_visits_follow_each_other(tmp_path):
    programme = begin(tmp_path)
    long = "Zoë, the one; with a name that is much longer than a line of a calendar may be, by far"
    plan = stored(task("Ada"), task(long), task("Bo", by="B", minutes=None), task("C", when="9:15"))
    text = calendar_text(programme, plan)
    assert text.endswith("END:VCALENDAR\r\n")
    lines = text.split("\r\n")
    assert max(len(line.encode()) for line in lines) <= 75
    whole = text.replace("\r\n ", "")
    starts = re.findall(r"^DTSTART[^:]*:(\w+)", whole, re.MULTILINE)
    assert starts == ["20261102T083000", "20261102T090000", "20261102T091500", "20261102"]
    assert "SUMMARY:visit: Zoë\\, the one\\; with" in whole
    uids = re.findall(r"UID:(\S+)", whole)
    assert len(set(uids)) == 4
    assert re.findall(r"UID:(\S+)", calendar_text(programme, stored(task("Ada"))))[0] == uids[0]
    assert programme.begins == time(8, 30)


def test_workers_with_any_name_get_a_sheet(tmp_path):
    programme = begin(tmp_path)
    names = ["Plan", "a/b:c", "x" * 60, "x" * 61, "History", ""]
    write_plan(programme, stored(*(task("Ada", by=name) for name in names)), tmp_path / "p.xlsx")
    assert len(openpyxl.load_workbook(tmp_path / "p.xlsx").sheetnames) == len(names) + 1


@pytest.mark.parametrize("target", ["all", "all.xlsx"])
def test_what_is_exported_can_be_imported_elsewhere(tmp_path, target):
    programme = known(tmp_path)
    plan_today(find_situation(programme, WEDNESDAY), {"must": ["Ada"]})
    publish_proposed(programme, WEDNESDAY)
    export(programme, tmp_path / target)
    with pytest.raises(FileError, match="exists already"):
        export(programme, tmp_path / target)
    export(programme, tmp_path / target, force=True)
    (tmp_path / "other").mkdir()
    other = begin(tmp_path / "other")
    path = tmp_path / target
    sheets = {ARM: path, WORKER: path}
    log = path
    if not path.suffix:
        sheets, log = {ARM: path / "roster.csv", WORKER: path / "staff.csv"}, path / "log.csv"
    import_sheets(other, sheets, log)
    for table in ("roster", "sightings", "visits"):
        before, after = content(programme)[table], content(other)[table]
        assert sorted(map(repr, before)) == sorted(map(repr, after))


def test_history_tells_what_was_done_left_and_done_besides(tmp_path):
    programme = known(tmp_path)
    made = plan_today(find_situation(programme, WEDNESDAY), {"never": ["Zoë"]})
    publish_proposed(programme, WEDNESDAY)
    assert {one.who for one in made.stored.tasks} == {"Ada", "Grace"}
    record(programme, ["Ada=good", "Zoë=lapsed"], WEDNESDAY)
    record(programme, ["Grace=good"], date(2026, 11, 5))
    [one] = find_history(programme, MONDAY, date(2026, 11, 6))
    became = {outcome.task.who: outcome.visit for outcome in one.outcomes}
    assert became["Ada"].state == "good"
    assert became["Grace"] is None
    assert [visit.who for visit in one.besides] == ["Zoë"]
    assert one.plan.overrides == {"never": ["Zoë"]}
    name, events = find_events(programme, "zoë", MONDAY, WEDNESDAY)
    assert (name, [event.state for event in events]) == ("Zoë", ["at risk", "lapsed"])


def test_a_programme_of_its_own_is_left_alone(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path)
    with pytest.raises(FileError, match=r"a folder or \.xlsx is wanted"):
        export(programme, tmp_path / "x.pdf")


def test_a_plan_is_printed_by_the_browser_that_is_there(tmp_path, monkeypatch):
    programme, plan = begin(tmp_path), stored(task("Ada"))
    monkeypatch.setattr("sequoia_programme.pdf.shutil.which", lambda _: None)
    with pytest.raises(FileError, match=r"none was found; write plan\.html and print it"):
        require_endings([tmp_path / "plan.pdf"])
    browser = tmp_path / "browser"
    browser.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "target = next(a.split('=')[1] for a in sys.argv if a.startswith('--print-to-pdf='))\n"
        "page = open(sys.argv[-1].removeprefix('file://'), encoding='utf-8').read()\n"
        "open(target, 'w').write('%PDF of ' + page)\n"
    )
    browser.chmod(0o755)
    monkeypatch.setattr("sequoia_programme.pdf.shutil.which", lambda _: str(browser))
    write_plan(programme, plan, tmp_path / "plan.pdf")
    assert "<h1>Nurse Anna</h1>" in (tmp_path / "plan.pdf").read_text()
    browser.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(FileError, match="printed no PDF"):
        write_plan(programme, plan, tmp_path / "other.pdf")
    assert not (tmp_path / "other.pdf").exists()


HIDDEN = (
    "=1",
    "Ada;=cmd()",
    'a; "=cmd()',
    "a\t+1",
    "\t=1",
    "＝1",
    "a;－1",
    "'=1",
    "''=1",
    "x;'=1",
    "-",
)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_is_a_formula_wherever_a_spreadsheet_splits(separator):
    text = csv_text([("name", "x"), *((name, "y") for name in HIDDEN)])
    for row in csv.reader(io.StringIO(text), delimiter=separator):
        for cell in row:
            assert not unicodedata.normalize("NFKC", cell).strip(' "\t').startswith(tuple("=+-@"))


def test_texts_that_look_like_formulas_come_back_as_they_were(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(csv_text([("name", "x"), *((name, "y") for name in HIDDEN)]))
    assert read_spreadsheet(path).columns["name"] == [name.strip() for name in HIDDEN]
