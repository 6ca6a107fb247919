"""Several days at once: consistent, least changed, and published together."""

from datetime import date, timedelta

import pytest

from programme_cases import TRANSITIONS, begin, fill, known, sheet
from sequoia.errors import ProblemError
from sequoia_programme.absences import set_absent
from sequoia_programme.calendar import days_of
from sequoia_programme.output import plan_bytes
from sequoia_programme.recording import record
from sequoia_programme.situation import find_situation
from sequoia_programme.today import plan_today, publish_all
from sequoia_programme.week import plan_week

MONDAY = date(2026, 11, 9)
WEEK = [MONDAY + timedelta(days=n) for n in range(5)]
ROSTER = "name,group,cost\n" + "".join(f"P{n},all,20\n" for n in range(8))
STAFF = "name,capacity\nNurse Anna,40\nNurse Bo,20\n"


@pytest.fixture
def programme(tmp_path):
    """Eight patients of whom three can be visited on a day."""
    programme = begin(tmp_path)
    log = "date,who,state\n" + "".join(f"2026-11-06,P{n},at risk\n" for n in range(8))
    fill(programme, tmp_path, ROSTER, STAFF, log)
    sheet(programme.folder, "transitions.csv", TRANSITIONS)
    return programme


def week_of(programme, days=WEEK, **more):
    return plan_week(programme, days, policy="price", **more)


def visits(week):
    return {str(day.plan.date): {(t.who, t.by) for t in day.plan.tasks} for day in week.days}


def test_a_day_knows_of_the_days_before_it(programme):
    week = week_of(programme)
    first, second = (frozenset(t.who for t in day.plan.tasks) for day in week.days[:2])
    # All stand the same on Monday: whoever is visited then is not the first to be on Tuesday.
    assert not first & second
    assert all(len(day.plan.tasks) == 3 for day in week.days)
    assert len(week.together.tasks) == 15
    assert plan_bytes(programme, week.together, ".html").decode().count("<h1>Nurse Anna</h1>") == 5
    alone = plan_today(find_situation(programme, WEEK[1]), {}, policy="price")
    assert {task.who for task in alone.stored.tasks} == first


def test_absences_of_each_day_are_kept(programme):
    set_absent(programme, "Nurse Anna", WEEK[2], WEEK[2])
    set_absent(programme, "P0", WEEK[0], WEEK[4])
    found = visits(week_of(programme))
    assert {by for _, by in found[str(WEEK[2])]} == {"Nurse Bo"}
    assert "P0" not in {who for own in found.values() for who, _ in own}


def test_what_is_published_stays_unless_a_change_gains_enough(programme):
    first = week_of(programme)
    publish_all(programme, WEEK)
    again = week_of(programme)
    assert visits(again) == visits(first)
    assert not any(day.changes for day in again.days)
    # Somebody who was to be visited is well, and others are not: worth a little, and not a lot.
    who = first.days[1].plan.tasks[0].who
    record(programme, [f"{who}=good"], WEEK[0], dose="")
    rest = WEEK[1:]
    stays = week_of(programme, rest, keep_worth=100.0)
    assert visits(stays) == {day: own for day, own in visits(first).items() if day != str(MONDAY)}
    moved = week_of(programme, rest, keep_worth=0.0)
    assert who not in {task.who for task in moved.days[0].plan.tasks}
    assert "a change that gains more than 0 each" in moved.days[0].reasons[-1]


def test_what_cannot_stay_is_changed_and_says_why(programme):
    first = week_of(programme)
    publish_all(programme, WEEK)
    set_absent(programme, "Nurse Anna", WEEK[1], WEEK[1])
    gone = first.days[2].plan.tasks[0].who
    record(programme, [f"{gone}=moved away"], WEEK[2])
    again = week_of(programme, keep_worth=100.0)
    assert again.days[0].changes == ()
    assert {by for _, by in visits(again)[str(WEEK[1])]} == {"Nurse Bo"}
    assert all("Nurse Anna is absent on 2026-11-10" in line for line in again.days[1].reasons)
    assert f"{gone} is not in the programme on 2026-11-11." in again.days[2].reasons


def test_wishes_of_a_published_plan_hold_in_the_next(programme):
    made = plan_today(find_situation(programme, MONDAY), {"must": ["P7"], "never": ["P0"]})
    assert "P7" in {task.who for task in made.stored.tasks}
    publish_all(programme, [MONDAY])
    [day] = week_of(programme, [MONDAY], keep_worth=0.0).days
    assert "P7" in {task.who for task in day.plan.tasks}
    record(programme, ["P7=left"], MONDAY)
    [day] = week_of(programme, [MONDAY], keep_worth=0.0).days
    assert day.plan.overrides == {"never": ["P0"]}
    assert any("The wish must 'P7' is left out" in line for line in day.reasons)


def test_a_week_is_published_whole_or_not_at_all(programme):
    week_of(programme, WEEK[:2])
    with pytest.raises(ProblemError, match="no plan is proposed for 2026-11-11"):
        publish_all(programme, WEEK[:3])
    assert find_situation(programme, WEEK[2]).expected == []
    publish_all(programme, WEEK[:2])
    assert len(find_situation(programme, WEEK[2], today=MONDAY).expected) == 6


@pytest.mark.parametrize(
    ("first", "last", "wanted"),
    [
        (MONDAY, MONDAY - timedelta(days=1), "before they begin"),
        (MONDAY, MONDAY + timedelta(days=80), "there are 59 days to plan; 1 to 31 are wanted"),
        (date(2026, 11, 7), date(2026, 11, 8), "there are 0 days to plan"),
    ],
)
def test_days_that_are_no_days_are_one_line(programme, first, last, wanted):
    with pytest.raises(ProblemError, match=wanted):
        days_of(programme.calendar, first, last)


def test_weeks_are_planned_too(tmp_path):
    programme = known(tmp_path, step="week")
    days = days_of(programme.calendar, date(2026, 11, 9), date(2026, 11, 29))
    assert days == [date(2026, 11, 9), date(2026, 11, 16), date(2026, 11, 23)]
    assert len(week_of(programme, days).days) == 3
