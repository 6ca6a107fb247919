"""Programmes with ways between places, and with rules on who visits whom."""

from datetime import date, timedelta

import pytest

from programme_cases import MONDAY, TRANSITIONS, begin, fill, sheet
from sequoia.errors import FileError
from sequoia.problem import Team
from sequoia_programme import today
from sequoia_programme.estimates import estimate
from sequoia_programme.output import calendar_text
from sequoia_programme.settings import read_programme
from sequoia_programme.situation import find_situation
from sequoia_programme.today import plan_today

WALK_ROSTER = "name,group,left\nBase,x,\nAda,x,\nGrace,x,\nZoë,x,2026-11-10\n"
EDGES = "from,to,length\nBase,Ada,1\nAda,Grace,1\nGrace,Base,1\nZoë,Ada,1\n"


def settled(programme, **sheets):
    for name, text in {"transitions": TRANSITIONS, **sheets}.items():
        sheet(programme.folder, f"{name}.csv", text)
    return programme


def planned(programme, day=MONDAY, **overrides):
    return plan_today(find_situation(programme, day), overrides, policy="price")


def test_a_walk_visits_whom_it_passes_in_their_order(tmp_path):
    programme = begin(tmp_path, kind="walk", source="Base", length=3, limit=3)
    fill(programme, tmp_path, roster=WALK_ROSTER, staff="name\nAnna\n", log="")
    made = planned(settled(programme, edges=EDGES))
    names = [task.who for task in made.stored.tasks]
    assert set(names) == {"Base", "Ada", "Grace"}
    whens = [int(task.when.removeprefix("step ")) for task in made.stored.tasks]
    assert whens == sorted(whens)
    # Whoever has left is no place any more.
    later = find_situation(programme, MONDAY + timedelta(days=14))
    assert list(later.problem.space.base.names) == ["Base", "Ada", "Grace"]


TEAM_ROSTER = "name,group,minutes,left\nAda,x,20,\nGrace,x,20,\nZoë,x,20,2026-11-10\n"
TEAM = "name,depot,minutes\nAnna,Clinic,120\n"
TRAVEL = "from,to,minutes\nClinic,Zoë,10\nZoë,Clinic,10\nZoë,Ada,10\nAda,Zoë,10\nAda,Grace,5\n"
TRAVEL += "Grace,Ada,5\n"


def test_a_team_keeps_ways_past_those_who_left(tmp_path):
    programme = begin(tmp_path, kind="team")
    fill(programme, tmp_path, roster=TEAM_ROSTER, staff=TEAM, log="")
    settled(programme, travel=TRAVEL, places="name\nClinic\n")
    made = planned(programme, MONDAY + timedelta(days=14))
    tasks = made.stored.tasks
    # Either way round takes as long: 20 minutes to Ada past Zoë's, 5 more to Grace.
    first = {"Ada": "08:50", "Grace": "08:55"}[tasks[0].who]
    second = {"Ada": "09:20", "Grace": "09:15"}[tasks[1].who]
    assert [task.when for task in tasks] == [first, second]
    text = calendar_text(programme, made.stored)
    assert f"DTSTART:20261116T{first.replace(':', '')}00" in text


PLACES = "name,group,minutes,lat,lon,earliest\nAda,x,20,-15.41,28.28,\n"
PLACES += "Grace,x,20,-15.42,28.29,10:00\n"


def test_a_team_finds_its_ways_by_coordinates(tmp_path):
    programme = begin(tmp_path, kind="team")
    staff = "name,minutes,lat,lon,begins\nAnna,240,-15.4,28.28,\nBo,240,-15.4,28.3,09:15\n"
    fill(programme, tmp_path, roster=PLACES, staff=staff, log="")
    made = planned(settled(programme))
    at = {task.who: (task.by, task.when) for task in made.stored.tasks}
    assert at["Grace"][1] >= "10:00"
    assert at["Ada"][1] > {"Anna": "08:30", "Bo": "09:15"}[at["Ada"][0]]


def test_policies_are_not_played_where_each_decision_takes_seconds(tmp_path, monkeypatch):
    programme = begin(tmp_path, kind="team")
    staff = "name,minutes,lat,lon\nAnna,240,-15.4,28.28\n"
    fill(programme, tmp_path, roster=PLACES, staff=staff, log="")
    situation = find_situation(settled(programme), MONDAY)
    monkeypatch.setattr(Team, "decision_seconds", 2.0)
    monkeypatch.setattr(today, "evaluate", None)
    choice = today.choose(situation.problem, situation.state)
    assert choice.policy == "price"
    assert "takes too long" in choice.reason


def test_coordinates_that_cannot_be_meant_name_their_rows(tmp_path):
    programme = begin(tmp_path, kind="team")
    rows = [f"P{i},x,20,-15.4{i},28.28\n" for i in range(8)]
    rows[4] = "P4,x,20,28.28,-15.44\n"
    roster = "".join(["name,group,minutes,lat,lon\n", *rows])
    staff = "name,minutes,lat,lon\nAnna,240,-15.4,28.28\n"
    with pytest.raises(FileError, match=r"roster.csv row 6: P4 .* look swapped\.$"):
        fill(programme, tmp_path, roster=roster, staff=staff, log="")


def test_ways_to_nobody_are_said(tmp_path):
    programme = begin(tmp_path, kind="team")
    fill(programme, tmp_path, roster=TEAM_ROSTER, staff=TEAM, log="")
    settled(programme, travel=TRAVEL + "Grce,Ada,5\n", places="name\nClinic\n")
    with pytest.raises(FileError, match=r"travel\.csv row 8.*Grace"):
        find_situation(programme, MONDAY)


ROTA_ROSTER = "name,group,minutes,visits,am,pm\nAda,x,30,1,1,1\nGrace,x,30,1,1,1\n"
ROTA_STAFF = "name,am,pm\nAnna,60,0\nBo,60,60\n"


@pytest.mark.parametrize("doses", ["visit = 1", "call = 1\nvisit = 2"])
def test_a_rota_asks_who_may_visit_whom(tmp_path, doses):
    programme = begin(tmp_path, kind="rota", slots=("am", "pm"))
    settings = programme.folder / "programme.toml"
    settings.write_text(settings.read_text().replace("\nvisit = 1\n", f"\n{doses}\n"))
    programme = read_programme(programme.folder)
    fill(programme, tmp_path, roster=ROTA_ROSTER, staff=ROTA_STAFF, log="")
    rows = TRANSITIONS
    if "call" in doses:
        rows += "".join(f"call{line[5:]}\n" for line in rows.splitlines() if "visit" in line)
    settled(programme, visitors="name,Anna,Bo\nAda,0,1\nGrace,1,0\n", transitions=rows)
    made = planned(programme, must=["Ada", "Grace"])
    assert {(task.who, task.by) for task in made.stored.tasks} == {("Ada", "Bo"), ("Grace", "Anna")}


def test_a_walk_has_one_dose(tmp_path):
    programme = begin(tmp_path, kind="walk", source="Base", length=3, limit=3)
    settings = programme.folder / "programme.toml"
    settings.write_text(settings.read_text().replace("\nvisit = 1\n", "\ncall = 1\nvisit = 2\n"))
    programme = read_programme(programme.folder)
    fill(programme, tmp_path, roster=WALK_ROSTER, staff="name\nAnna\n", log="")
    with pytest.raises(FileError, match=r"\[doses\] names 2; a walk has one"):
        find_situation(settled(programme, edges=EDGES), MONDAY)


def test_features_of_groups_are_columns_of_the_roster(tmp_path, monkeypatch):
    def stop(*_, features, **__):
        raise RuntimeError(features.tolist())

    monkeypatch.setattr("sequoia_programme.estimates.fit", stop)
    programme = begin(tmp_path)
    settings = programme.folder / "programme.toml"
    settings.write_text(settings.read_text() + '\n[known]\nfeatures = ["age"]\n')
    programme = read_programme(programme.folder)
    roster = "name,group,cost,age\nAda,young,20,30\nGrace,old,30,70\nZoë,old,30,80\n"
    fill(programme, tmp_path, roster=roster)
    with pytest.raises(RuntimeError, match=r"\[\[75\.0\], \[30\.0\]\]"):
        estimate(programme, date(2026, 11, 4))
    wrong = roster.replace("Ada,young,20,30", "Ada,young,20,thirty")
    fill(programme, tmp_path, roster=wrong)
    with pytest.raises(FileError, match="Ada has 'thirty' in column 'age'"):
        estimate(programme, date(2026, 11, 4))
