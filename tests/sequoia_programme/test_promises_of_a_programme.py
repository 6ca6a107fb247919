"""What is promised to people: how often, by whom; kept, priced, and explained in a conflict."""

from datetime import date, timedelta
from itertools import pairwise

import pytest

from programme_cases import TRANSITIONS, begin, fill, sheet
from sequoia.errors import FileError, InfeasibleSpace
from sequoia_programme.absences import set_absent
from sequoia_programme.recording import record
from sequoia_programme.settings import read_programme
from sequoia_programme.situation import find_situation
from sequoia_programme.today import plan_today, publish_all
from sequoia_programme.week import plan_week

MONDAY = date(2026, 11, 9)
WEEK = [MONDAY + timedelta(days=n) for n in range(5)]
STAFF = "name,capacity,offers,most visits,break\nAnna,40,German; woman,,\nBo,40,,,\n"


def made(tmp_path, roster, staff=STAFF, log="", settings=""):
    programme = begin(tmp_path)
    fill(programme, tmp_path, roster, staff, log)
    sheet(programme.folder, "transitions.csv", TRANSITIONS)
    path = programme.folder / "programme.toml"
    path.write_text(path.read_text() + settings)
    return read_programme(programme.folder)


def plan(programme, day=MONDAY, **wishes):
    return plan_today(find_situation(programme, day), wishes, policy="price")


def who(found):
    return {task.who for task in found.stored.tasks}


def people(number, more="", head=""):
    return f"name,cost{head}\n" + "".join(f"P{n},20{more}\n" for n in range(number))


LOG = "date,who,state,by\n"


def test_whoever_is_due_is_visited_and_it_says_what_that_costs(tmp_path):
    roster = "name,cost,every\n" + "".join(f"P{n},20,{14 if n == 5 else ''}\n" for n in range(6))
    # P5 is well and was visited two weeks ago; all others are worth more.
    log = LOG + "2026-10-26,P5,good,Anna\n2026-11-09,P5,good,\n"
    log += "".join(f"2026-11-09,P{n},at risk,\n" for n in range(5))
    programme = made(tmp_path, roster, log=log)
    found = plan(programme)
    assert "P5" in who(found)
    [cost] = found.costs
    assert cost.wish.words == "P5 is visited (due by 2026-11-09: at least every 14 days)"
    assert cost.cost.long_run > 0
    assert "P5" not in who(plan(programme, never=["P5"]))


def test_nobody_is_visited_again_too_soon(tmp_path):
    settings = "\n[promises.groups.all]\napart = 3\n"
    programme = made(tmp_path, people(6), settings=settings)
    week = plan_week(programme, WEEK, policy="price")
    visits = [(t.who, t.date) for day in week.days for t in day.plan.tasks]
    for name in {one for one, _ in visits}:
        dates = sorted(when for one, when in visits if one == name)
        assert all((b - a).days >= 3 for a, b in pairwise(dates))
    # A wish goes before a promise.
    publish_all(programme, WEEK[:1])
    again = week.days[0].plan.tasks[0].who
    assert again in who(plan(programme, WEEK[1], must=[again]))


def test_room_is_made_for_those_who_are_due_together(tmp_path):
    log = LOG + "".join(f"2026-10-30,P{n},good,Anna\n" for n in range(6))
    programme = made(tmp_path, people(6, ",14", ",every"), log=log)
    # All six are due on Friday; there is room for four on a day, and Bo is away.
    set_absent(programme, "Bo", WEEK[1], WEEK[4])
    week = plan_week(programme, WEEK, policy="price")
    assert {t.who for day in week.days for t in day.plan.tasks} >= {f"P{n}" for n in range(6)}


def test_exactly_once_is_once(tmp_path):
    programme = made(tmp_path, people(3, ",5", ",once in"))
    week = plan_week(programme, WEEK, policy="price")
    # Windows of five days begin on 2 and 7 November: the second ends on Wednesday.
    first = [t.who for day in week.days[:3] for t in day.plan.tasks]
    assert sorted(first) == ["P0", "P1", "P2"]


def test_promises_that_do_not_fit_are_named_with_the_least_way_out(tmp_path):
    log = LOG + "".join(f"2026-10-26,P{n},good,Anna\n" for n in range(5))
    programme = made(tmp_path, people(5, ",14", ",every"), log=log)
    with pytest.raises(InfeasibleSpace) as stop:
        plan(programme)
    said = str(stop.value)
    assert "due by 2026-11-09: at least every 14 days" in said
    assert "these contradict: " in said
    assert said.endswith("The least that makes room: --never 'P4' (at least every 14 days).")
    assert who(plan(programme, never=["P4"])) == {"P0", "P1", "P2", "P3"}
    # A day later P4 is overdue, and goes first.
    publish_all(programme, [MONDAY])
    assert "P4" in who(plan(programme, WEEK[1]))


@pytest.mark.parametrize("counts", [True, False])
def test_attempts_keep_a_promise_where_the_settings_say_so(tmp_path, counts):
    log = LOG + "2026-10-26,P0,good,Anna\n2026-11-09,P0,good,\n"
    log += "".join(f"2026-11-09,P{n},at risk,\n" for n in range(1, 6))
    settings = f"\n[promises]\nattempts = {str(counts).lower()}\n"
    roster = people(6, "", ",every").replace("P0,20", "P0,20,14")
    roster = "\n".join(line + "," * (2 - line.count(",")) for line in roster.splitlines())
    programme = made(tmp_path, roster, log=log, settings=settings)
    record(programme, ["P0=not at home"], date(2026, 11, 6))
    assert ("P0" in who(plan(programme))) is not counts


def test_whoever_visits_offers_what_is_needed(tmp_path):
    roster = "name,cost,needs,not by\nAda,20,german,\nBen,20,German; Woman,\n"
    roster += "Cleo,20,,bo\nDora,20,Turkish,\n"
    programme = made(tmp_path, roster)
    found = plan(programme)
    by = {task.who: task.by for task in found.stored.tasks}
    assert "Dora" not in by
    assert {by.get(name, "Anna") for name in ("Ada", "Ben", "Cleo")} == {"Anna"}
    assert len(by) == 2
    assert "Dora needs 'Turkish', which nobody offers." in found.situation.remarks
    with pytest.raises(InfeasibleSpace, match="Ada needs german"):
        plan(programme, must=["Ada"], absent=["Anna"])


def test_breaks_and_most_visits(tmp_path):
    staff = "name,capacity,most visits,break\nAnna,60,1,\nBo,60,,25\n"
    found = plan(made(tmp_path, people(6), staff))
    by = [task.by for task in found.stored.tasks]
    assert by.count("Anna") == 1
    # Bo has 35 of 60 minutes.
    assert by.count("Bo") == 1


@pytest.mark.parametrize(
    ("roster", "staff", "settings", "wanted"),
    [
        (
            people(1, ",often", ",every"),
            STAFF,
            "",
            "P0, column 'every' is 'often'; a number of days",
        ),
        (people(1, ",2,5", ",every,apart"), STAFF, "", "that is a contradiction"),
        (people(1, ",2,5", ",every,once in"), STAFF, "", "'once in' beside 'every'"),
        (people(1), "name,capacity,break\nBo,60,long\n", "", "Bo, column 'break' is 'long'"),
        (people(1), STAFF, "\n[promises.groups.all]\nevry = 3\n", "perhaps 'every' is meant"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, roster, staff, settings, wanted):
    programme = made(tmp_path, roster, staff, settings=settings)
    with pytest.raises(FileError, match=wanted) as stop:
        plan(programme)
    assert len(stop.value.lines) == 1


def test_the_worker_of_last_time_comes_again_where_that_costs_nothing(tmp_path):
    staff = "name,capacity\nAnna,40\nBo,40\n"
    log = LOG + "".join(f"2026-11-06,P{n},at risk,{'Bo' if n < 2 else 'Anna'}\n" for n in range(4))
    programme = made(tmp_path, people(4), staff, log, "\n[promises]\nsame_worker = true\n")
    found = plan(programme)
    assert {task.who: task.by for task in found.stored.tasks} == {
        **{"P0": "Bo", "P1": "Bo"},
        **{"P2": "Anna", "P3": "Anna"},
    }
    # Whom to visit is not a matter of who came last.
    assert who(plan(programme, absent=["Bo"])) <= {"P0", "P1", "P2", "P3"}
    assert {task.by for task in plan(programme, absent=["Bo"]).stored.tasks} == {"Anna"}
