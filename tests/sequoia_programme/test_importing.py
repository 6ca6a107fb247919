"""Sheets as people keep them come in whole and once, or not at all."""

import unicodedata
from datetime import date, datetime

import openpyxl
import pytest

from programme_cases import LOG, MONDAY, ROSTER, STAFF, begin, content, fill, sheet
from sequoia.errors import FileError
from sequoia_programme.importing import import_sheets
from sequoia_programme.members import members
from sequoia_programme.schema import ARM, WORKER


def people(programme, role=ARM):
    with programme.store.reading() as connection:
        return {one.name: one for one in members(connection, role)}


def test_what_is_imported_is_there(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path)
    found = content(programme)
    assert [row[2:4] for row in found["sightings"]] == [
        (MONDAY, "good"),
        (MONDAY, "at risk"),
        (date(2026, 11, 3), "at risk"),
    ]
    assert [row[3] for row in found["visits"]] == ["Nurse Anna", "Nurse Bo"]
    assert people(programme)["Zoë"].facts == {"cost": "30", "area": "north"}


def test_the_same_sheets_again_change_nothing(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path)
    before = content(programme)
    fill(programme, tmp_path)
    after = content(programme)
    assert {**before, "journal": []} == {**after, "journal": []}


@pytest.mark.parametrize(
    ("encoding", "separator"),
    [("utf-8-sig", ","), ("cp1252", ";"), ("utf-16", "\t"), ("decomposed", ",")],
)
def test_sheets_as_spreadsheets_save_them(tmp_path, encoding, separator):
    programme = begin(tmp_path)
    text = ROSTER.replace("20", "20.5")
    if separator == ";":
        text = text.replace(",", ";").replace("20.5", "20,5")
    text = text.replace(",", separator) if separator == "\t" else text
    if encoding == "decomposed":
        raw = unicodedata.normalize("NFD", text).encode()
    else:
        raw = text.encode(encoding)
    (tmp_path / "r.csv").write_bytes(raw)
    import_sheets(programme, {ARM: tmp_path / "r.csv"}, sheet(tmp_path, "l.csv", LOG))
    assert people(programme)["Ada"].facts["cost"] == "20.5"
    assert len(content(programme)["sightings"]) == 3


def test_a_workbook_with_a_sheet_for_each(tmp_path):
    programme = begin(tmp_path)
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["nothing", "here"])
    roster, staff, log = (book.create_sheet(name) for name in ("Roster", "Staff", "Log"))
    for page, rows in (
        (roster, [["Name ", "GROUP", "Cost"], ["Ada", "young", 20.0], [None], ["Zoë", "old", 30]]),
        (staff, [["Name", "Capacity"], ["Nurse Anna", 60]]),
        (log, [["Date", "Who", "State"], [datetime(2026, 11, 2), "ada", 1.0]]),
    ):
        for row in rows:
            page.append(row)
    path = tmp_path / "clinic.xlsx"
    book.save(path)
    import_sheets(programme, {ARM: path, WORKER: path}, path)
    assert people(programme)["Ada"].facts == {"cost": "20"}
    assert content(programme)["sightings"][0][2:4] == (MONDAY, "at risk")
    page.append([datetime(2026, 11, 2), "Zoe", 7])
    book.save(path)
    with pytest.raises(FileError) as stop:
        import_sheets(programme, {}, path)
    assert len(stop.value.lines) == 2
    assert all(f"{path} row 3" in line for line in stop.value.lines)
    assert "perhaps 'Zoë' is meant" in str(stop.value)


def test_everything_wrong_is_said_at_once_and_nothing_is_imported(tmp_path):
    programme = begin(tmp_path)
    before = content(programme)
    with pytest.raises(FileError) as stop:
        fill(
            programme,
            tmp_path,
            ROSTER.replace("30,north", "thirty,north"),
            STAFF.replace("60", "-5"),
            LOG + "\n\n2026-13-02,Ada,good,\n2026-11-04,Adda,goood,Nurse Ana\n",
        )
    lines = stop.value.lines
    wanted = (
        "roster.csv row 4, column 'cost': 'thirty' is not a number",
        "staff.csv row 2, column 'capacity' is -5",
        "log.csv row 7, column 'date': '2026-13-02'",
        "log.csv row 8, column 'who' names 'Adda', which is unknown",
        "log.csv row 8, column 'state' is 'goood'; one of good, at risk, lapsed",
        "perhaps 'Nurse Anna' is meant",
    )
    for text in wanted:
        assert sum(text in line for line in lines) == 1, text
    assert len(lines) == len(wanted)
    assert content(programme) == before


def test_a_sheet_adds_and_changes_and_removes_nobody(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path)
    later = "name,joined,left,cost\nAda,,2026-11-20,25\nMary,2026-11-09,,15\n"
    done = import_sheets(programme, {ARM: sheet(tmp_path, "more.csv", later)})
    assert done.lines[0].endswith("more.csv: 1 new, 1 changed.")
    found = people(programme)
    assert list(found) == ["Ada", "Grace", "Zoë", "Mary"]
    assert (found["Ada"].group, found["Ada"].facts) == ("young", {"cost": "25", "area": "north"})
    assert not found["Ada"].is_member(date(2026, 11, 20))
    assert found["Ada"].is_member(date(2026, 11, 19))
    assert not found["Mary"].is_member(date(2026, 11, 8))


def test_a_log_that_contradicts_is_refused_unless_it_corrects(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path)
    other = sheet(tmp_path, "other.csv", LOG.replace("Ada,good", "Ada,lapsed"))
    with pytest.raises(FileError, match=r"row 2: Ada on 2026-11-02 has the state 'good' already"):
        import_sheets(programme, {}, other)
    done = import_sheets(programme, {}, other, correct=True)
    assert "1 corrected and 2 rows known already" in done.lines[0]
    assert content(programme)["sightings"][0][3] == "lapsed"
    twice = LOG + "2026-11-02,Ada,at risk,\n"
    with pytest.raises(FileError, match=r"row 5: Ada on 2026-11-02"):
        import_sheets(programme, {}, sheet(tmp_path, "twice.csv", twice), correct=True)


def test_nobody_is_seen_before_joining_or_after_leaving(tmp_path):
    programme = begin(tmp_path)
    roster = "name,cost,joined,left\nAda,1,2026-11-03,\nMary,1,,2026-11-03\n"
    log = "date,who,state\n2026-11-02,Ada,good\n2026-11-03,Mary,good\n"
    with pytest.raises(FileError) as stop:
        fill(programme, tmp_path, roster, log=log)
    assert "row 2: Ada joined on 2026-11-03" in stop.value.lines[0]
    assert "row 3: Mary left on 2026-11-03" in stop.value.lines[1]


def test_a_log_of_days_to_come_is_remarked_upon(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path, log="")
    done = import_sheets(programme, {}, sheet(tmp_path, "l.csv", LOG), today=MONDAY)
    assert "row 4 is of 2026-11-03, after today" in done.remarks[0]


def test_an_old_workbook_is_one_clear_line(tmp_path):
    programme = begin(tmp_path)
    with pytest.raises(FileError, match=r"save it as .xlsx or .csv"):
        import_sheets(programme, {ARM: sheet(tmp_path, "r.xls", "x")})
    with pytest.raises(FileError, match="cannot be read as a workbook"):
        import_sheets(programme, {ARM: sheet(tmp_path, "r.xlsx", "x")})


def test_absences_come_as_a_sheet_and_once(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path)
    text = "Name,First,Last\nada,2026-11-04,2026-11-06\nNurse Bo,5.11.2026,\n"
    for new in ("2 new absences", "0 new absences"):
        done = import_sheets(programme, {}, away=sheet(tmp_path, "away.csv", text))
        assert [line.split(": ")[1] for line in done.lines] == [f"{new}."]
    assert people(programme)["Ada"].away == ((date(2026, 11, 4), date(2026, 11, 6)),)
    assert people(programme, WORKER)["Nurse Bo"].is_away(date(2026, 11, 5))
    wrong = "name,first,last\nAdda,2026-11-04,\nAda,2026-11-09,2026-11-04\nAda,never,\n"
    with pytest.raises(FileError) as found:
        import_sheets(programme, {}, away=sheet(tmp_path, "away.csv", wrong))
    assert [line.split(":")[0][-5:] for line in found.value.args] == [
        "row 4",
        "name'",
        "row 3",
    ] or (len(found.value.args) == 3)
    assert "Ada" in str(found.value)


def test_a_name_that_stands_twice_hides_no_other_mistake(tmp_path):
    programme = begin(tmp_path)
    roster = ROSTER + "Ada,young,twenty,north\n"
    paths = {
        ARM: sheet(tmp_path, "r.csv", roster),
        WORKER: sheet(tmp_path, "s.csv", STAFF.replace("30", "-3")),
    }
    with pytest.raises(FileError) as found:
        import_sheets(programme, paths, sheet(tmp_path, "l.csv", LOG.replace("Zoë", "Zoe")))
    said = sorted(line.split(tmp_path.name + "/")[-1][:5] for line in found.value.args)
    assert said == ["l.csv", "r.csv", "r.csv", "s.csv"]
    assert not content(programme)["roster"]
