"""Sheets of other systems: columns are guessed, said once, and remembered."""

import json
from datetime import date

import pytest

from programme_cases import LOG, MONDAY, begin, content, fill, sheet
from sequoia.cli import main
from sequoia.errors import FileError
from sequoia_programme.calendar import Calendar, UnreadableDate
from sequoia_programme.importing import import_clean, import_sheets
from sequoia_programme.matching import match_columns
from sequoia_programme.members import members
from sequoia_programme.schema import ARM
from sequoia_programme.sources import FILE, remember

KOBO = (
    "start,end,today,patient_name,visit/condition,visit/remarks,_id,_uuid,_submission_time,"
    "_submitted_by,_index\n"
    "2026-11-02T09:12:31.000+02:00,2026-11-02T09:31:00.000+02:00,2026-11-02,Ada,good,fine,"
    "1,aa,2026-11-02T07:31:05,Nurse Anna,1\n"
    "2026-11-03T10:02:11.000+02:00,2026-11-03T10:20:00.000+02:00,2026-11-03,Grace,at risk,,"
    "2,bb,2026-11-03T08:20:44,Nurse Bo,2\n"
)
ODK = (
    "SubmissionDate,visit_date,details-client,details-condition,meta-instanceID,KEY,"
    "SubmitterID,SubmitterName,DeviceID\n"
    "2026-11-02T07:31:05.123Z,02/11/2026,Ada,good,uuid:1,uuid:1,5,Nurse Anna,x\n"
    "2026-11-14T07:31:05.123Z,13/11/2026,Grace,at risk,uuid:2,uuid:2,5,Nurse Bo,x\n"
)
COMMCARE = (
    "number,form.patient,form.condition,form.case.@case_id,info.completed_time,info.username,"
    "formid\n"
    "1,Ada,good,c1,2026-11-02 09:31:00,Nurse Anna,f1\n"
    "2,Grace,at risk,c2,2026-11-03 10:20:00,Nurse Bo,f2\n"
)
DHIS2 = (
    "Event,Program stage,Event date,Stored by,Organisation unit name,Client,Condition\n"
    "e1,s,2026-11-02,Nurse Anna,North,Ada,good\n"
    "e2,s,2026-11-03,Nurse Bo,North,Grace,at risk\n"
)


def data(pairs):
    return [{"dataElement": name, "value": value} for name, value in pairs.items()]


RECORDS = {
    "KoBo": {
        "results": [
            {"_id": 1, "_uuid": "aa", "_submission_time": "2026-11-02T07:31:05",
             "today": "2026-11-02", "visit/patient": "Ada", "visit/condition": "good",
             "_submitted_by": "Nurse Anna", "_geolocation": [-15.4, 28.3]},
            {"_id": 2, "_uuid": "bb", "_submission_time": "2026-11-03T08:20:44",
             "today": "2026-11-03", "visit/patient": "Grace", "visit/condition": "at risk",
             "_submitted_by": "Nurse Bo", "_geolocation": [None, None]},
        ]
    },
    "ODK Central": {
        "value": [
            {"__id": "uuid:1", "__system": {"submissionDate": "2026-11-02T07:31:05.123Z",
             "submitterName": "Nurse Anna"}, "visit": {"patient": "Ada", "condition": "good"}},
            {"__id": "uuid:2", "__system": {"submissionDate": "2026-11-03T07:31:05.123Z",
             "submitterName": "Nurse Bo"}, "visit": {"patient": "Grace", "condition": "at risk"}},
        ]
    },
    "CommCare": {
        "meta": {"limit": 20},
        "objects": [
            {"received_on": "2026-11-02T09:31:00.000000Z", "id": "f1",
             "form": {"patient": "Ada", "condition": "good",
                      "meta": {"username": "Nurse Anna", "timeEnd": "2026-11-02T09:30:00Z"}}},
            {"received_on": "2026-11-03T09:31:00.000000Z", "id": "f2",
             "form": {"patient": "Grace", "condition": "at risk",
                      "meta": {"username": "Nurse Bo", "timeEnd": "2026-11-03T09:30:00Z"}}},
        ],
    },
    "DHIS2 tracker": {
        "instances": [
            {"trackedEntity": "t1", "orgUnit": "o",
             "attributes": [{"attribute": "a", "displayName": "Patient", "value": "Ada"}],
             "enrollments": [{"enrollment": "n1", "enrolledAt": "2026-10-01T00:00:00.000",
                              "events": [{"event": "e1", "occurredAt": "2026-11-02T00:00:00.000",
                                          "storedBy": "Nurse Anna",
                                          "dataValues": data({"Condition": "good"})}]}]},
            {"trackedEntity": "t2", "orgUnit": "o",
             "attributes": [{"attribute": "a", "displayName": "Patient", "value": "Grace"}],
             "enrollments": [{"enrollment": "n2", "enrolledAt": "2026-10-01T00:00:00.000",
                              "events": [{"event": "e2", "occurredAt": "2026-11-03T00:00:00.000",
                                          "storedBy": "Nurse Bo",
                                          "dataValues": data({"Condition": "at risk"})}]}]},
        ]
    },
}  # fmt: skip


def ready(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path, log="")
    return programme


def seen(programme):
    """Return who was seen in which state."""
    return [tuple(row)[3] for row in content(programme)["sightings"]]


@pytest.mark.parametrize(
    ("system", "text"),
    [("KoBo", KOBO), ("ODK Central", ODK), ("CommCare", COMMCARE), ("DHIS2 tracker", DHIS2)],
)
def test_exports_of_other_systems_as_csv(tmp_path, system, text):
    programme = ready(tmp_path)
    path = sheet(tmp_path, "export.csv", text)
    matched = match_columns(programme, path, "log")
    assert matched.source == system
    assert matched.is_guessed
    names = {name: what for name, what in matched.guess.items() if what}
    assert {"date", "who", "state", "by"} <= set(names.values())
    import_sheets(programme, {}, path, names={"log": names})
    assert seen(programme) == ["good", "at risk"]
    assert [row[3] for row in content(programme)["visits"]] == ["Nurse Anna", "Nurse Bo"]


@pytest.mark.parametrize("system", RECORDS)
def test_exports_of_other_systems_as_json(tmp_path, system):
    programme = ready(tmp_path)
    path = sheet(tmp_path, "export.json", json.dumps(RECORDS[system]))
    matched = match_columns(programme, path, "log")
    assert matched.source == system
    names = {name: what for name, what in matched.guess.items() if what}
    import_sheets(programme, {}, path, names={"log": names})
    assert seen(programme) == ["good", "at risk"]
    assert [row[3] for row in content(programme)["visits"]] == ["Nurse Anna", "Nurse Bo"]


def test_what_is_in_a_column_tells_what_it_is(tmp_path):
    programme = ready(tmp_path)
    text = "A,B,C,status\n2026-11-02,Ada,good,done\n2026-11-03,Grace,at risk,done\n"
    matched = match_columns(programme, sheet(tmp_path, "l.csv", text), "log")
    assert matched.guess == {"A": "date", "B": "who", "C": "state", "status": ""}
    assert matched.why["B"] == "by what is in it"


def test_columns_are_asked_once_and_remembered(tmp_path, capsys):
    programme = ready(tmp_path)
    folder, path = str(programme.folder), str(sheet(tmp_path, "kobo.csv", KOBO))
    with pytest.raises(SystemExit) as stop:
        main(["programme", "import", folder, "--log", path])
    assert stop.value.code == 2
    said = capsys.readouterr()
    assert "from KoBo" in said.out
    assert "--yes takes them so" in said.err
    assert not seen(programme)
    with pytest.raises(SystemExit) as stop:
        main(["programme", "import", folder, "--log", path, "--column", "visit/remarks=-", "--yes"])
    assert stop.value.code == 0
    assert seen(programme) == ["good", "at risk"]
    assert (programme.folder / FILE).is_file()
    capsys.readouterr()
    before = content(programme)
    with pytest.raises(SystemExit) as stop:
        main(["programme", "import", folder, "--log", path])
    assert stop.value.code == 0
    assert "columns as before" in capsys.readouterr().out
    assert content(programme) == before


def test_what_was_said_holds_until_something_else_is_said(tmp_path):
    programme = ready(tmp_path)
    path = sheet(tmp_path, "l.csv", "when,pat,c\n2026-11-02,Ada,good\n")
    remember(programme.folder, "log", {"when": "date", "pat": "who", "c": "state"})
    remember(programme.folder, "log", {"when": "date", "pat": "who", "c": ""})
    assert match_columns(programme, path, "log").guess == {"when": "date", "pat": "who", "c": ""}
    text = (programme.folder / FILE).read_text()
    assert text.count("[[sheet]]") == 1
    (programme.folder / FILE).write_text(text.replace('"date"', "3"))
    with pytest.raises(FileError, match=r"columns.toml cannot be read"):
        match_columns(programme, path, "log")


def test_a_column_that_no_sheet_has(tmp_path, capsys):
    programme = ready(tmp_path)
    path = str(sheet(tmp_path, "l.csv", LOG))
    with pytest.raises(SystemExit) as stop:
        main(["programme", "import", str(programme.folder), "--log", path, "--column", "x=date"])
    assert stop.value.code == 2
    assert "--column names x, which no sheet has" in capsys.readouterr().err


BAD = "date,who,state\n2026-11-02,Ada,good\n2026-11-02,Nobody,good\n2026-11-0x,Ada,good\n"
BAD += "2026-11-03,Grace,well\n2026-11-03,Ada,at risk\n2026-11-03,Ada,good\n"


def test_the_clean_part_is_imported_and_the_rest_is_written(tmp_path, capsys):
    programme = ready(tmp_path)
    path, rest = sheet(tmp_path, "l.csv", BAD), tmp_path / "rest.csv"
    given = ["programme", "import", str(programme.folder), "--log", str(path)]
    with pytest.raises(SystemExit):
        main(given)
    said = capsys.readouterr().err
    assert all(f"row {row}" in said for row in (3, 4, 5))
    assert "With --leave-out FILE.csv" in said
    with pytest.raises(SystemExit) as stop:
        main([*given, "--leave-out", str(rest)])
    assert stop.value.code == 0
    assert "Left out 4 rows" in capsys.readouterr().out
    assert seen(programme) == ["good", "at risk"]
    lines = rest.read_text().splitlines()
    assert lines[0] == "date,who,state,what is wrong"
    assert [line.split(",")[1] for line in lines[1:]] == ["Nobody", "Ada", "Grace", "Ada"]
    with pytest.raises(SystemExit) as stop:
        main([*given, "--leave-out", str(rest)])
    assert stop.value.code == 2


def test_what_is_wrong_with_the_sheet_as_a_whole_is_not_left_out(tmp_path):
    programme = ready(tmp_path)
    with pytest.raises(FileError, match="has no column 'who'"):
        import_clean(programme, "log", sheet(tmp_path, "l.csv", "date,state\n2026-11-02,good\n"))


def test_the_same_sheets_again_leave_no_trace(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path)
    before = content(programme)
    fill(programme, tmp_path)
    assert content(programme) == before


@pytest.mark.parametrize(
    "text",
    [
        *("2026-11-02", "2026/11/02", "2.11.2026", "02/11/2026", "2-11-2026", "2 Nov 2026"),
        *("2-Nov-2026", "2nd November 2026", "November 2, 2026", "2 novembre 2026"),
        *("2 de noviembre de 2026", "2. November 2026", "2026-11-02T23:59:59.999+02:00"),
        *("2026-11-02 07:31:05 UTC", "02/11/2026 9:30 PM", "2026-11-02T00:00:00Z"),
    ],
)
def test_dates_as_people_and_systems_write_them(text):
    assert Calendar(MONDAY, order="day first").read_date(text) == MONDAY


@pytest.mark.parametrize("text", ["2 Foo 2026", "31 Feb 2026", "Nov 2026", "2026-11-02T25"])
def test_no_dates(text):
    with pytest.raises(UnreadableDate):
        Calendar(MONDAY).read_date(text)


def test_one_date_without_doubt_says_the_order_of_a_column():
    plain = Calendar(MONDAY)
    with pytest.raises(UnreadableDate, match="may mean two dates"):
        plain.of_column(["2/11/2026", "3/11/2026"]).read_date("2/11/2026")
    assert plain.of_column(["2/11/2026", "13/11/2026"]).read_date("2/11/2026") == MONDAY
    assert plain.of_column(["11/2/2026", "11/13/2026"]).read_date("11/2/2026") == MONDAY
    with pytest.raises(UnreadableDate):
        plain.of_column(["13/11/2026", "11/13/2026"]).read_date("2/11/2026")


def test_records_that_are_none(tmp_path):
    programme = ready(tmp_path)
    with pytest.raises(FileError, match="holds no list of records"):
        match_columns(programme, sheet(tmp_path, "x.json", '{"a": 1}'), "log")
    with pytest.raises(FileError, match=r"x\.json"):
        match_columns(programme, sheet(tmp_path, "x.json", "{"), "log")


def test_a_roster_of_another_system(tmp_path):
    programme = begin(tmp_path)
    text = "caseid,name,opened_date,closed_date,owner_name,minutes\n"
    text += "c1,Ada,2026-10-01,,Anna,20\nc2,Grace,2026-10-02,,Bo,30\n"
    path = sheet(tmp_path, "cases.csv", text)
    names = {n: w for n, w in match_columns(programme, path, ARM).guess.items() if w}
    assert names.pop("minutes") in ("minutes", "cost")
    # Nobody has left yet, so nothing tells what the empty column is.
    assert names.pop("closed_date", "left") in ("left", "-")
    wanted = {"name": "name", "opened_date": "joined", "caseid": "-", "owner_name": "-"}
    assert names == wanted
    import_sheets(programme, {ARM: path}, names={ARM: {**names, "minutes": "cost"}})
    with programme.store.reading() as connection:
        first = members(connection, ARM)[0]
    assert first.joined == date(2026, 10, 1)
    assert first.facts == {"cost": "20"}
