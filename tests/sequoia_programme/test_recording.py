"""Outcomes are recorded once, by several people at once, and survive any end of the process."""

import multiprocessing
from datetime import date

import pytest
import sqlalchemy as sql

from programme_cases import MONDAY, begin, content, fill, sheet
from sequoia.cli import main
from sequoia.errors import FileError, ProblemError
from sequoia_programme.history import find_history
from sequoia_programme.importing import import_sheets
from sequoia_programme.recording import record
from sequoia_programme.schema import ARM
from sequoia_programme.settings import read_programme

TUESDAY = date(2026, 11, 3)


@pytest.fixture
def programme(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path, log="")
    return programme


def test_a_visit_and_what_it_showed(programme):
    done = record(programme, ["ada=At Risk", "Zoë=0"], MONDAY, by="nurse anna")
    assert done.words == "2 new sightings and 2 new visits"
    found = content(programme)
    assert [row[2:4] for row in found["sightings"]] == [(MONDAY, "at risk"), (MONDAY, "good")]
    assert [row[2:5] for row in found["visits"]] == [(MONDAY, "Nurse Anna", "visit")] * 2


def test_recording_again_adds_nothing(programme):
    for _ in range(2):
        record(programme, ["Ada=good"], MONDAY, by="Nurse Anna")
        record(programme, ["Ada=good"], MONDAY)
    found = content(programme)
    assert (len(found["sightings"]), len(found["visits"])) == (1, 1)


def test_what_was_only_seen_is_no_visit(programme):
    record(programme, ["Ada=good"], MONDAY, dose="")
    found = content(programme)
    assert (len(found["sightings"]), len(found["visits"])) == (1, 0)


def test_a_sheet_with_gaps(programme, tmp_path):
    filled = "date,by,who,dose,state,seen\n2026-11-03,Nurse Bo,Ada,visit,likely good,lapsed\n"
    filled += "2026-11-03,Nurse Bo,Grace,visit,likely good,\n"
    done = record(programme, [], MONDAY, sheet=sheet(tmp_path, "plan.csv", filled))
    assert done.words == "1 new sighting and 1 new visit"
    assert done.remarks[-1] == "1 row without an outcome left out."
    found = content(programme)
    assert found["sightings"][0][2:4] == (TUESDAY, "lapsed")
    assert found["visits"][0][2:5] == (TUESDAY, "Nurse Bo", "visit")


@pytest.mark.parametrize(
    ("outcome", "wanted"),
    [
        ("Ada", "WHO=STATE, such as 'Ada=good', is wanted"),
        ("Adda=good", "perhaps 'Ada' is meant"),
        ("Ada=goood", "perhaps 'good' is meant"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_recorded(programme, outcome, wanted):
    before = content(programme)
    with pytest.raises((FileError, ProblemError), match=wanted):
        record(programme, ["Grace=good", outcome], MONDAY)
    assert content(programme) == before


def test_a_slip_is_corrected_on_demand(programme):
    record(programme, ["Ada=good"], MONDAY)
    with pytest.raises(FileError, match="--correct replaces it"):
        record(programme, ["Ada=lapsed"], MONDAY)
    record(programme, ["Ada=lapsed"], MONDAY, correct=True)
    assert content(programme)["sightings"][0][3] == "lapsed"


def _record_many(folder, names, ready):
    programme = read_programme(folder)
    ready.wait()
    for name in names:
        record(programme, [f"{name}=good"], MONDAY)


def record_at_once(programme, tmp_path):
    """Let three people record twenty outcomes each, of which ten are of the same patients."""
    roster = "name,cost\n" + "".join(f"patient {i},1\n" for i in range(40))
    import_sheets(programme, {ARM: sheet(tmp_path, "many.csv", roster)})
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(3)
    names = [[f"patient {i}" for i in (*range(10), *range(10 * n, 10 * n + 10))] for n in (1, 2, 3)]
    several = [
        context.Process(target=_record_many, args=(programme.folder, own, ready)) for own in names
    ]
    for process in several:
        process.start()
    for process in several:
        process.join()
    assert [process.exitcode for process in several] == [0, 0, 0]
    with programme.store.reading() as connection:
        for table in ("sightings", "visits"):
            number = connection.execute(sql.text(f"SELECT count(*) FROM {table}")).scalar_one()
            assert number == 40


def test_several_people_record_at_once(programme, tmp_path):
    record_at_once(programme, tmp_path)


def test_a_record_of_a_day_to_come_is_remarked(programme):
    later = date(2032, 1, 5)
    done = record(programme, ["Ada=good"], later, today=MONDAY)
    assert done.remarks == [
        "Ada=good is of 2032-01-05, after today, 2026-11-02; there are 1 such row."
    ]


def test_who_left_in_the_year_9999_has_not_left(programme, tmp_path):
    roster = sheet(tmp_path, "ends.csv", "name,left,cost\nAda,9999-12-31,20\n")
    import_sheets(programme, {ARM: roster})
    assert record(programme, ["Ada=good"], MONDAY).words == "1 new sighting and 1 new visit"


@pytest.mark.parametrize("arguments", [["history"], ["record", "Ada=good"], ["today"]])
def test_the_end_of_time_is_one_line(programme, capsys, arguments):
    command, *rest = arguments
    folder = str(programme.folder)
    with pytest.raises(SystemExit) as stop:
        main(["programme", command, folder, *rest, "--date", "9999-12-31"])
    assert stop.value.code == 2
    assert "a date up to 2199-12-31 is wanted" in capsys.readouterr().err
    find_history(programme, date.min, date.max)
