from datetime import date, timedelta

import pytest

from sequoia_programme.calendar import LAST, Calendar, UnreadableDate

MONDAY = date(2026, 11, 2)
OFFICE = ("Mon", "Tue", "Wed", "Thu", "Fri")


@pytest.mark.parametrize(
    "calendar",
    [
        Calendar(MONDAY),
        Calendar(MONDAY, days=OFFICE),
        Calendar(date(2026, 11, 7), days=OFFICE, holidays=(date(2026, 11, 9),)),
        Calendar(date(2026, 11, 5), step="week"),
    ],
)
def test_steps_and_dates_agree_before_and_after_the_start(calendar):
    for step in range(-40, 40):
        assert calendar.step_of(calendar.date_of(step)) == step
    days = [calendar.start + timedelta(days=d) for d in range(-60, 60)]
    steps = calendar.steps_of(days)
    assert (steps[1:] >= steps[:-1]).all()
    assert steps.tolist() == [calendar.step_of(day) for day in days]


def test_a_weekend_belongs_to_the_monday_that_is_planned_next():
    calendar = Calendar(MONDAY, days=OFFICE, holidays=(date(2026, 11, 9),))
    assert calendar.step_of(date(2026, 11, 6)) == 4
    for day in (7, 8, 9, 10):
        assert calendar.step_of(date(2026, 11, day)) == 5
    assert calendar.date_of(5) == date(2026, 11, 10)


def test_a_week_is_from_monday_to_sunday():
    calendar = Calendar(date(2026, 11, 5), step="week")
    assert [calendar.step_of(date(2026, 11, day)) for day in (1, 2, 8, 9)] == [-1, 0, 0, 1]
    assert calendar.date_of(1) == date(2026, 11, 9)


@pytest.mark.parametrize(
    "text", ["2026-11-02", "2026-11-2", " 2.11.2026 ", "02.11.2026", "2026-11-02 00:00:00"]
)
def test_dates_as_people_and_spreadsheets_write_them(text):
    assert Calendar(MONDAY).read_date(text) == MONDAY


def test_slashes_are_read_where_there_is_no_doubt():
    calendar = Calendar(MONDAY)
    assert calendar.read_date("25/11/2026") == calendar.read_date("11/25/2026")
    assert calendar.read_date("11/11/2026") == date(2026, 11, 11)
    with pytest.raises(UnreadableDate, match="may mean two dates; say dates ="):
        calendar.read_date("2/11/2026")
    assert Calendar(MONDAY, order="day first").read_date("2/11/2026") == MONDAY
    assert Calendar(MONDAY, order="month first").read_date("11/2/2026") == MONDAY


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-02-30", "1.1.1850", "20261102", "9999-12-31"]
)
def test_what_is_no_date_is_said(text):
    with pytest.raises(UnreadableDate, match="wanted"):
        Calendar(MONDAY).read_date(text)


@pytest.mark.parametrize("step", ["day", "week"])
def test_the_calendar_ends_and_nothing_breaks_there(step):
    calendar = Calendar(MONDAY, step=step, days=("Mon",))
    assert calendar.read_date("9999-12-31", is_end=True) == date.max
    assert LAST - timedelta(days=7) <= calendar.date_of(calendar.step_of(LAST)) <= date.max
    assert LAST - timedelta(days=7) <= calendar.date_of(10**9) <= date.max
