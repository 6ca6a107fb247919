"""Rules of a programme: told one by one, added and removed without touching anything else."""

import re

import pytest

from programme_cases import MONDAY, known
from sequoia.errors import FileError, ProblemError, SequoiaError
from sequoia_programme.history import read_journal
from sequoia_programme.rules import (
    AT_MOST_ONE,
    FLOORS,
    MUST,
    NEVER,
    WrittenRule,
    add_rule,
    read_number,
    remove_rule,
    written_rules,
)
from sequoia_programme.settings import FILE, read_programme
from sequoia_programme.situation import find_situation

RULES = [
    WrittenRule(MUST, ("Ada",)),
    WrittenRule(NEVER, ("Zoë",)),
    WrittenRule(AT_MOST_ONE, ("Ada", "Grace")),
    WrittenRule(FLOORS, ("old",), count=1),
    WrittenRule(FLOORS, ("young",), share=0.25),
]


def _now(programme):
    return written_rules(read_programme(programme.folder))


def test_rules_come_and_go_and_all_else_stays(tmp_path):
    programme = known(tmp_path)
    path = programme.folder / FILE
    before = path.read_text()
    for number, rule in enumerate(RULES):
        add_rule(programme, rule, MONDAY)
        assert set(_now(programme)) == set(RULES[: number + 1])
    assert path.read_text().startswith(before.rstrip())
    rows = find_situation(read_programme(programme.folder), MONDAY).problem.space.rules
    assert rows.must == ("Ada",)
    assert rows.never == ("Zoë",)
    assert [(one.group, one.count, one.share) for one in rows.floors] == [
        ("old", 1, 0.0),
        ("young", 0, 0.25),
    ]
    for rule in RULES:
        remove_rule(programme, rule, MONDAY)
    assert _now(programme) == []
    assert path.read_text().rstrip() == before.rstrip()
    assert read_journal(programme, 1)[0].words.startswith("Removed a rule: at least 25 %")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (WrittenRule(NEVER, ("Nobody",)), "Nobody"),
        (WrittenRule(FLOORS, ("nowhere",), count=1), "nowhere"),
    ],
)
def test_a_rule_about_nobody_changes_nothing(tmp_path, rule, said):
    programme = known(tmp_path)
    before = (programme.folder / FILE).read_text()
    with pytest.raises(SequoiaError, match=said):
        add_rule(programme, rule, MONDAY)
    assert (programme.folder / FILE).read_text() == before


def test_rules_twice_or_not_there_are_said(tmp_path):
    programme = known(tmp_path)
    with pytest.raises(ProblemError, match="not there"):
        remove_rule(programme, RULES[0], MONDAY)
    add_rule(programme, RULES[0], MONDAY)
    with pytest.raises(ProblemError, match="already there"):
        add_rule(programme, RULES[0], MONDAY)


def test_groups_and_comments_of_the_settings_survive(tmp_path):
    programme = known(tmp_path)
    path = programme.folder / FILE
    own = '\n[space.rules]\ngroups = { north = { area = "north" } }\nnever = ["Zoë"]\n'
    path.write_text(path.read_text() + own + "\n[rewards.old]\ngood = 2 # twice\n")
    add_rule(programme, WrittenRule(FLOORS, ("north",), count=1), MONDAY)
    now = read_programme(programme.folder)
    assert now.space["rules"]["groups"] == {"north": {"area": "north"}}
    assert now.group_rewards == {"old": {"good": 2.0}}
    assert "good = 2 # twice" in path.read_text()


COMMENTED = """
[space.rules] # ours
# Zoë is in hospital
never = ["Zoë"] # till Christmas # or so
at_most_one = [
  ["Ada", "Grace"] # neighbours
]

[[space.rules.floors]]
group = "old" # as the board wants
count = 1
"""


def test_comments_beside_rules_survive(tmp_path):
    programme = known(tmp_path)
    path = programme.folder / FILE
    path.write_text(path.read_text() + COMMENTED)
    add_rule(programme, RULES[0], MONDAY)
    assert COMMENTED.replace("]\n\n[[", ']\nmust = ["Ada"]\n\n[[') in path.read_text()
    add_rule(programme, WrittenRule(NEVER, ("Grace",)), MONDAY)
    add_rule(programme, RULES[4], MONDAY)
    remove_rule(programme, RULES[2], MONDAY)
    wanted = [RULES[0], RULES[1], WrittenRule(NEVER, ("Grace",)), RULES[3], RULES[4]]
    assert set(_now(programme)) == set(wanted)
    for rule in wanted:
        remove_rule(programme, rule, MONDAY)
    left = path.read_text()
    for words in re.findall("#.*", COMMENTED):
        assert words in left


def test_a_floor_in_a_table_of_its_own_comes_and_goes(tmp_path):
    programme = known(tmp_path)
    path = programme.folder / FILE
    before = path.read_text()
    path.write_text(before + '\n[[space.rules.floors]]\ngroup = "old"\ncount = 1\n')
    remove_rule(programme, RULES[3], MONDAY)
    assert path.read_text() == before


def test_rules_that_only_an_editor_can_change_are_left_alone(tmp_path):
    programme = known(tmp_path)
    path = programme.folder / FILE
    text = re.sub(r"(?m)^\[space\]$", '[space]\nrules = { never = ["Zoë"] }', path.read_text())
    path.write_text(text)
    with pytest.raises(FileError, match="only an editor"):
        add_rule(programme, RULES[0], MONDAY)
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("text", "wanted"), [("3", (3, 0.0)), ("30 %", (0, 0.3)), ("12,5%", (0, 0.125))]
)
def test_numbers_of_floors(text, wanted):
    assert read_number(text) == wanted


@pytest.mark.parametrize(
    "make",
    [
        lambda: read_number("many"),
        lambda: WrittenRule("rule", ("Ada",)),
        lambda: WrittenRule(NEVER, ("",)),
        lambda: WrittenRule(AT_MOST_ONE, ("Ada",)),
        lambda: WrittenRule(FLOORS, ("old",)),
        lambda: WrittenRule(FLOORS, ("old",), share=1.5),
    ],
)
def test_what_is_no_rule_is_one_line(make):
    with pytest.raises(ProblemError):
        make()
