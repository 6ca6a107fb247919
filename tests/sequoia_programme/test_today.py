"""Today's plan: for those who are there, kept once, with what was asked for."""

from datetime import date, timedelta

import pytest

from programme_cases import MONDAY, TRANSITIONS, begin, content, fill, known, sheet
from sequoia.errors import FileError, InfeasibleSpace, ProblemError
from sequoia_programme.absences import set_absent, set_back
from sequoia_programme.cancelling import cancel_visits
from sequoia_programme.changing import rename
from sequoia_programme.importing import import_sheets
from sequoia_programme.plans import plans_between
from sequoia_programme.recording import record
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import read_programme
from sequoia_programme.situation import find_situation
from sequoia_programme.today import plan_today, publish_proposed

WEDNESDAY, THURSDAY = date(2026, 11, 4), date(2026, 11, 5)


@pytest.fixture
def programme(tmp_path):
    return known(tmp_path)


def plan(programme, day=WEDNESDAY, **more):
    overrides = {key: more.pop(key) for key in ("absent", "must", "never") if key in more}
    return plan_today(find_situation(programme, day), overrides, **more)


def visited(made):
    return {task.who for task in made.stored.tasks}


def test_the_plan_fits_into_the_hours_and_says_which_policy_and_why(programme):
    made = plan(programme)
    minutes: dict[str, float] = {}
    for task in made.stored.tasks:
        minutes[task.by] = minutes.get(task.by, 0) + task.minutes
    assert visited(made) == {"Ada", "Grace", "Zoë"}
    assert minutes["Nurse Anna"] <= 60
    assert minutes["Nurse Bo"] <= 30
    assert made.stored.policy in ("price", "whittle", "myopic")
    assert "simulated runs from today" in made.stored.reason
    gains = [task.gain for task in made.stored.tasks if task.by == "Nurse Anna"]
    assert gains == sorted(gains, reverse=True)


def holding(programme, day=WEDNESDAY):
    with programme.store.reading() as connection:
        return plans_between(connection, day, day)


def test_the_same_plan_is_kept_once_and_the_last_published_holds(programme):
    for asked in ([], [], ["Ada"]):
        plan(programme, never=asked)
        publish_proposed(programme, WEDNESDAY)
    assert plan(programme).published.overrides == {"never": ["Ada"]}
    assert len(content(programme)["plans"]) == 2
    assert holding(programme)[0].overrides == {"never": ["Ada"]}
    publish_proposed(programme, WEDNESDAY)
    found = content(programme)
    assert len(found["plans"]) == 2
    assert sum("Published" in row[1] for row in found["journal"]) == 3
    assert holding(programme)[0].overrides == {}


def test_a_proposal_is_not_published_and_only_the_last_is_kept(programme):
    for asked in (["Ada"], ["Grace"]):
        plan(programme, never=asked)
    assert len(content(programme)["plans"]) == 1
    assert not holding(programme)
    assert find_situation(programme, THURSDAY).expected == []
    assert publish_proposed(programme, WEDNESDAY).plan.overrides == {"never": ["Grace"]}
    with pytest.raises(ProblemError, match="no plan is proposed for 2026-11-05; sequoia programme"):
        publish_proposed(programme, THURSDAY)


def test_what_is_published_is_expected_until_it_is_recorded_cancelled_or_past(programme):
    made = plan(programme)
    before = find_situation(programme, THURSDAY)
    publish_proposed(programme, WEDNESDAY)
    after = find_situation(programme, THURSDAY)
    ada = list(after.problem.arms.names).index("Ada")
    assert {task.who for task in after.expected} == visited(made) == {"Ada", "Grace", "Zoë"}
    # As if the visit were in the log, and what it showed were not.
    first = find_situation(programme, WEDNESDAY).belief[ada]
    visit = [[0.9, 0.1, 0], [0.6, 0.3, 0.1], [0.2, 0.4, 0.4]]
    assert after.belief[ada] == pytest.approx(first @ visit)
    assert after.knowledge[ada].endswith(", visit expected on 2026-11-04")
    assert after.remarks[0] == "Taken to happen, as published: 3 visits of 2026-11-04."
    # Of next Monday's plan: made on Wednesday or Thursday, and on Friday, when it is past by a day.
    for today, number in ((WEDNESDAY, 3), (THURSDAY, 3), (date(2026, 11, 6), 0)):
        later = find_situation(programme, date(2026, 11, 9), today=today)
        assert len(later.expected) == number
    record(programme, ["Ada=lapsed"], WEDNESDAY)
    record(programme, ["Grace=not at home"], WEDNESDAY)
    now = find_situation(programme, THURSDAY)
    assert [task.who for task in now.expected] == ["Zoë"]
    assert now.belief[1] == pytest.approx(before.belief[1])
    assert cancel_visits(programme, WEDNESDAY, ["zoë"]) == ["Zoë"]
    assert find_situation(programme, THURSDAY).expected == []
    with pytest.raises(ProblemError, match="no visit to 'Zoo'; perhaps 'Zoë' is meant"):
        cancel_visits(programme, WEDNESDAY, ["Zoo"])


def test_a_plan_that_records_have_overtaken_is_not_published(programme):
    plan(programme)
    record(programme, ["Ada=lapsed"], WEDNESDAY)
    with pytest.raises(ProblemError, match="records changed since the plan of 2026-11-04 was made"):
        publish_proposed(programme, WEDNESDAY)
    assert not holding(programme)


def test_what_is_asked_for_is_done_and_kept(programme):
    made = plan(programme, never=["arm:Ada"], absent=["worker:Nurse Anna"], why=["Ada"])
    assert "Ada" not in visited(made)
    assert {task.by for task in made.stored.tasks} == {"Nurse Bo"}
    assert made.stored.overrides == {"never": ["arm:Ada"], "absent": ["worker:Nurse Anna"]}
    assert made.why[0].name == "Ada"
    assert [one.wish.words for one in made.costs] == ["Nurse Anna is off", "Ada is not acted on"]
    # A whole nurse less costs something; what nobody asked for costs nothing and is not said.
    assert made.costs[0].cost.long_run > 0
    assert not plan(programme).costs
    with pytest.raises(InfeasibleSpace, match="must act on Ada"):
        plan(programme, must=["Ada"], never=["Ada"])


def test_absences_keep_people_from_visiting_and_from_being_visited(programme):
    set_absent(programme, "nurse anna", WEDNESDAY, WEDNESDAY + timedelta(days=1))
    set_absent(programme, "Grace", WEDNESDAY, WEDNESDAY)
    made = plan(programme)
    assert {task.by for task in made.stored.tasks} == {"Nurse Bo"}
    assert "Grace" not in visited(made)
    set_back(programme, "Nurse Anna", WEDNESDAY + timedelta(days=1))
    assert "Nurse Anna" in {
        t.by for t in plan(programme, WEDNESDAY + timedelta(days=1)).stored.tasks
    }
    with pytest.raises(ProblemError, match="perhaps 'Grace' is meant"):
        set_absent(programme, "Grce", WEDNESDAY, WEDNESDAY)
    with pytest.raises(ProblemError, match="before it begins"):
        set_absent(programme, "Grace", WEDNESDAY, MONDAY)


def test_whoever_joins_or_leaves_is_in_or_out_at_once(programme, tmp_path):
    more = "name,group,cost,joined,left\nAda,young,20,,2026-11-04\nMary,old,20,2026-11-05,\n"
    import_sheets(programme, {ARM: sheet(tmp_path, "more.csv", more)})
    assert list(find_situation(programme, WEDNESDAY).problem.arms.names) == ["Grace", "Zoë"]
    thursday = find_situation(programme, WEDNESDAY + timedelta(days=1))
    assert list(thursday.problem.arms.names) == ["Grace", "Zoë", "Mary"]
    bo_leaves = "name,capacity,left\nNurse Bo,30,2026-11-04\nNurse Anna,90,\n"
    import_sheets(programme, {WORKER: sheet(tmp_path, "staff.csv", bo_leaves)})
    space = find_situation(programme, WEDNESDAY).problem.space
    assert list(space.worker_names) == ["Nurse Anna"]
    assert space.capacities.tolist() == [90]


def test_only_what_was_known_that_day_is_used(programme):
    record(programme, ["Ada=lapsed"], WEDNESDAY)
    before = find_situation(programme, date(2026, 11, 3))
    after = find_situation(programme, WEDNESDAY)
    assert "lapsed" not in before.knowledge[0]
    assert "lapsed" in after.knowledge[0]


def test_names_change_and_the_records_follow(programme):
    plan(programme)
    record(programme, ["Ada=good"], WEDNESDAY)
    rename(programme, "name", "Ada", "Ada Lovelace")
    rename(programme, "name", "Nurse Bo", "Nurse Beau")
    situation = find_situation(programme, WEDNESDAY)
    assert situation.problem.arms.names[0] == "Ada Lovelace"
    assert "Nurse Bo" not in str(content(programme)["visits"])
    toml = programme.folder / "programme.toml"
    toml.write_text(toml.read_text().replace('"at risk"', '"shaky"'))
    sheet(programme.folder, "transitions.csv", TRANSITIONS.replace("at risk", "shaky"))
    with pytest.raises(FileError, match=r"2 rows with the state 'at risk', which .* rename"):
        find_situation(read_programme(programme.folder), WEDNESDAY)
    rename(programme, "state", "at risk", "shaky")
    changed = find_situation(read_programme(programme.folder), WEDNESDAY)
    assert changed.believed.original.arms.state_names[1] == "shaky"
    with pytest.raises(ProblemError, match="there already"):
        rename(programme, "name", "Grace", "Zoë")
    with pytest.raises(ProblemError, match="no state 'nonsense'"):
        rename(programme, "state", "nonsense", "x")


def test_rules_by_group_and_by_what_the_roster_says(programme):
    toml = programme.folder / "programme.toml"
    rules = """
[space.rules]
groups = { northern = { area = "north" } }
floors = [{ group = "northern", share = 1.0 }, { group = "old", count = 1 }]
never = ["Ada"]
"""
    toml.write_text(toml.read_text() + rules)
    fresh = read_programme(programme.folder)
    assert visited(plan(fresh)) == {"Zoë"}
    toml.write_text(toml.read_text().replace('group = "old"', 'group = "odl"'))
    with pytest.raises(FileError, match="perhaps 'old' is meant"):
        find_situation(read_programme(programme.folder), WEDNESDAY)


def test_a_rule_about_somebody_who_left_is_no_mistake(programme, tmp_path):
    toml = programme.folder / "programme.toml"
    rules = '\n[space.rules]\nmust = ["Ada"]\nfloors = [{ group = "young", count = 1 }]\n'
    toml.write_text(toml.read_text() + rules)
    fresh = read_programme(programme.folder)
    assert "Ada" in visited(plan(fresh))
    import_sheets(fresh, {ARM: sheet(tmp_path, "x.csv", "name,left,cost\nAda,2026-11-04,20\n")})
    situation = find_situation(fresh, WEDNESDAY)
    assert situation.remarks == ["Nobody of young is there, so its floor is left out."]


def test_a_day_without_steps_is_planned_for_the_next(programme):
    assert find_situation(programme, date(2026, 11, 7)).day == date(2026, 11, 9)


def test_what_is_missing_is_one_clear_line(tmp_path):
    programme = begin(tmp_path)
    with pytest.raises(FileError, match="nobody is on the roster"):
        find_situation(programme, MONDAY)
    roster = sheet(tmp_path, "r.csv", "name,group\nAda,young\n")
    import_sheets(programme, {ARM: roster})
    staff = sheet(tmp_path, "s.csv", "name\nBo\n")
    import_sheets(programme, {WORKER: staff})
    sheet(programme.folder, "transitions.csv", TRANSITIONS)
    with pytest.raises(FileError, match="the roster has no column 'cost'"):
        find_situation(programme, MONDAY)


def test_a_week_with_slots_and_dates(tmp_path):
    programme = begin(tmp_path, kind="schedule", limit=3, slots=["Mon", "Wed"], step="week")
    fill(
        programme,
        tmp_path,
        roster="name,mon,WED\nAda,1,0\nGrace,0,1\nZoë,1,1\n",
        staff="name,Mon,Wed\nNurse Anna,1,1\nNurse Bo,0,1\n",
    )
    sheet(programme.folder, "transitions.csv", TRANSITIONS)
    made = plan(programme, date(2026, 11, 12))
    publish_proposed(programme, date(2026, 11, 12))
    days = {task.who: task.date for task in made.stored.tasks}
    assert days["Ada"] == date(2026, 11, 9)
    assert days["Grace"] == date(2026, 11, 11)
    record(programme, ["Grace=good"], date(2026, 11, 13))
    by = {task.who: task.by for task in made.stored.tasks}
    assert content(programme)["visits"][-1][3] == by["Grace"]


def test_a_rota_with_slots_and_minutes(tmp_path):
    programme = begin(tmp_path, kind="rota", slots=["08:00", "13:00"])
    fill(
        programme,
        tmp_path,
        roster="name,Minutes,Visits,08:00,13:00\nAda,30,1,1,0\nGrace,30,1,1,1\nZoë,45,1,0,1\n",
        staff="name,08:00,13:00\nNurse Anna,60,0\nNurse Bo,0,60\n",
    )
    sheet(programme.folder, "transitions.csv", TRANSITIONS)
    made = plan(programme)
    slots = {task.who: (task.by, task.when, task.minutes) for task in made.stored.tasks}
    assert slots["Ada"] == ("Nurse Anna", "08:00", 30)
    assert slots["Zoë"] == ("Nurse Bo", "13:00", 45)
    off = plan(programme, absent=["Nurse Anna"])
    assert {task.by for task in off.stored.tasks} == {"Nurse Bo"}


TWO_DOSES = """dose,state,good,at risk,lapsed
none,good,0.7,0.2,0.1
none,at risk,0.1,0.6,0.3
none,lapsed,0,0.1,0.9
call,good,0.9,0.1,0
call,at risk,0.3,0.5,0.2
call,lapsed,0,0.2,0.8
visit,good,0.9,0.1,0
visit,at risk,0.6,0.3,0.1
visit,lapsed,0.4,0.4,0.2
"""


def two_doses(tmp_path, more=""):
    """Return a programme of calls, which take 5 minutes, and visits."""
    programme = begin(tmp_path)
    toml = programme.folder / "programme.toml"
    text = toml.read_text().replace("\nvisit = 1\n", "\ncall = 1\nvisit = 4\n")
    toml.write_text(text + more)
    programme = read_programme(programme.folder)
    roster = "name,group,cost call,Cost Visit\nAda,young,5,20\nGrace,old,5,30\nZoë,old,5,30\n"
    log = "date,who,state,by,dose\n2026-11-03,Ada,good,Nurse Anna,call\n2026-11-03,Zoë,lapsed,,4\n"
    fill(programme, tmp_path, roster, "name,capacity\nNurse Anna,40\n", log)
    sheet(programme.folder, "transitions.csv", TWO_DOSES)
    return programme


def test_a_call_or_a_visit(tmp_path):
    programme = two_doses(tmp_path)
    situation = find_situation(programme, WEDNESDAY)
    # After a call Ada is good or at risk, after a visit Zoë may be anything.
    assert situation.belief[0].tolist() == pytest.approx([0.9, 0.1, 0])
    assert situation.belief[2].tolist() == pytest.approx([0.4, 0.4, 0.2])
    made = plan_today(situation, {}, policy="price")
    given = {task.who: (task.dose, task.minutes) for task in made.stored.tasks}
    assert len(given) == len(made.stored.tasks)
    assert given["Ada"] == ("call", 5)
    assert sum(minutes for _, minutes in given.values()) <= 40
    assert "visit" in {dose for dose, _ in given.values()}
    set_absent(programme, "Ada", WEDNESDAY, WEDNESDAY)
    assert "Ada" not in visited(plan(programme, policy="price"))
    one = plan(programme, policy="price", never=["Grace"], must=["Zoë"])
    assert visited(one) == {"Zoë"}


def test_rules_about_people_hold_for_all_doses(tmp_path):
    rules = 'never = ["Zoë"]\nmust = ["Grace"]\nfloors = [{ group = "old", share = 0.5 }]\n'
    programme = two_doses(tmp_path, f"\n[space.rules]\n{rules}")
    assert visited(plan(programme, policy="price")) == {"Ada", "Grace"}
