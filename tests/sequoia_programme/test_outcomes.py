"""What happens at a door besides a state that is seen: kept, and what it means for the model."""

from datetime import date

import pytest

from programme_cases import begin, content, fill, sheet
from sequoia.errors import FileError
from sequoia_programme.estimates import estimate
from sequoia_programme.exporting import export
from sequoia_programme.history import find_events
from sequoia_programme.importing import import_sheets
from sequoia_programme.members import members
from sequoia_programme.recording import record
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import read_programme
from sequoia_programme.to_log import to_log

WEDNESDAY, FRIDAY = date(2026, 11, 4), date(2026, 11, 6)


@pytest.fixture
def programme(tmp_path):
    programme = begin(tmp_path)
    fill(programme, tmp_path)
    return programme


def log_of(programme, day):
    with programme.store.reading() as connection:
        return to_log(programme, connection, members(connection, ARM), day).log


def left(programme):
    with programme.store.reading() as connection:
        return {one.name: one.left for one in members(connection, ARM)}


def test_an_attempt_is_no_visit_and_shows_no_state(programme):
    before = log_of(programme, FRIDAY)
    done = record(
        *(programme, ["Ada=Not at home", "Grace=refused", "Zoë=not found"], WEDNESDAY),
        by="Nurse Bo",
        time="9.05",
    )
    assert done.words == "3 other outcomes"
    after = log_of(programme, FRIDAY)
    assert after.n_rows == before.n_rows
    assert [row[3:7] for row in content(programme)["outcomes"]] == [
        ("Nurse Bo", kind, "09:05", "") for kind in ("not at home", "refused", "not found")
    ]
    again = record(programme, ["Ada=not at home"], WEDNESDAY, by="Nurse Bo")
    assert again.words == "1 row known already"


@pytest.mark.parametrize("kind", ["moved away", "died", "left"])
def test_an_end_is_the_end_of_what_the_fit_looks_at(programme, kind):
    record(programme, [f"Ada={kind}"], WEDNESDAY)
    assert left(programme)["Ada"] == WEDNESDAY
    # Step 2 of the calendar is the first without Ada: nothing is concluded from later silence.
    assert log_of(programme, FRIDAY).left.tolist()[0] == 2
    assert estimate(programme, FRIDAY).kernels.shape[0] == 2
    with pytest.raises(FileError, match="Ada left on 2026-11-04, so there is nothing to record"):
        record(programme, ["Ada=good"], FRIDAY)
    record(programme, ["Ada=entered"], FRIDAY)
    assert left(programme)["Ada"] is None


def test_an_end_does_not_lose_what_is_in_the_log(programme):
    record(programme, ["Ada=good"], WEDNESDAY)
    record(programme, ["Ada=died"], WEDNESDAY)
    assert left(programme)["Ada"] == date(2026, 11, 5)
    with pytest.raises(
        FileError, match="Grace died on 2026-10-30, but is in the log of 2026-11-02"
    ):
        record(programme, ["Grace=died"], date(2026, 10, 30))
    assert left(programme)["Grace"] is None


def test_notes_are_added_and_not_replaced_by_others(programme):
    record(programme, ["Ada=good"], WEDNESDAY, by="Nurse Bo")
    record(programme, ["Ada=good"], WEDNESDAY, by="Nurse Bo", remark="In the garden.")
    with pytest.raises(FileError, match="--correct replaces it"):
        record(programme, ["Ada=good"], WEDNESDAY, by="Nurse Bo", remark="In the cellar.")
    [event] = find_events(programme, "Ada", WEDNESDAY, WEDNESDAY)[1]
    assert (event.state, event.note) == ("good", "In the garden.")


@pytest.mark.parametrize(
    ("outcome", "more", "wanted"),
    [
        ("Ada=not at hom", {}, "perhaps 'not at home' is meant"),
        ("Ada=refused", {"time": "25:00"}, "'25:00'; one such as 09:40 is wanted"),
        ("Ada=refused", {"remark": "x" * 3000}, "3000 characters; at most 2000"),
    ],
)
def test_what_is_no_outcome_is_one_line(programme, outcome, more, wanted):
    before = content(programme)
    with pytest.raises(FileError, match=wanted):
        record(programme, [outcome], WEDNESDAY, **more)
    assert content(programme) == before


def test_a_state_of_the_same_name_goes_first(tmp_path):
    programme = begin(tmp_path, states={"well": 1.0, "died": 0.0})
    fill(programme, tmp_path, log="")
    assert record(programme, ["Ada=died"], WEDNESDAY).words == "1 new sighting and 1 new visit"


def test_outcomes_are_in_the_sheets_and_come_back(programme, tmp_path):
    filled = "date,by,who,dose,seen,note\n2026-11-04,Nurse Bo,Ada,visit,not at home,rang twice\n"
    record(programme, [], WEDNESDAY, sheet=sheet(tmp_path, "plan.csv", filled))
    record(programme, ["Zoë=moved away"], FRIDAY)
    export(programme, tmp_path / "out")
    (tmp_path / "again").mkdir()
    other = begin(tmp_path / "again")
    sheets = {ARM: tmp_path / "out" / "roster.csv", WORKER: tmp_path / "out" / "staff.csv"}
    import_sheets(other, sheets, tmp_path / "out" / "log.csv")
    for table in ("sightings", "visits", "outcomes"):
        assert {row[2:] for row in content(other)[table]} == {
            row[2:] for row in content(programme)[table]
        }
    assert read_programme(other.folder).states == programme.states
