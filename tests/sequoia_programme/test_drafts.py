"""Wishes for a day: changed, undone, published, taken back; and what they cost."""

from datetime import date

import pytest

from programme_cases import known
from sequoia_programme.changing import rename
from sequoia_programme.drafts import read_draft, set_wish, undo_wish, wishes_for
from sequoia_programme.history import find_history, read_journal
from sequoia_programme.proposal import explain, propose
from sequoia_programme.situation import find_situation
from sequoia_programme.standing import standing
from sequoia_programme.today import Planning, plan_today, publish, withdraw

DAY = date(2026, 11, 4)


def _wishes(programme):
    with programme.store.reading() as connection:
        return wishes_for(connection, DAY)


def test_each_change_of_the_wishes_can_be_undone(tmp_path):
    programme = known(tmp_path)
    before = standing(programme)
    set_wish(programme, DAY, "must", "Ada")
    set_wish(programme, DAY, "absent", "Nurse Bo")
    set_wish(programme, DAY, "never", "Ada")
    assert _wishes(programme) == {"absent": ["Nurse Bo"], "never": ["Ada"]}
    undo_wish(programme, DAY)
    assert _wishes(programme) == {"absent": ["Nurse Bo"], "must": ["Ada"]}
    set_wish(programme, DAY, "must", "Ada", wanted=False)
    assert _wishes(programme) == {"absent": ["Nurse Bo"]}
    for _ in range(3):
        assert undo_wish(programme, DAY)
    assert _wishes(programme) == {}
    assert not undo_wish(programme, DAY)
    assert standing(programme) == before


def test_a_published_plan_is_no_draft_until_it_is_taken_back(tmp_path):
    programme = known(tmp_path)
    planning = Planning(find_situation(programme, DAY))
    publish(programme, planning.plan({}).stored)
    set_wish(programme, DAY, "never", "Zoë")
    publish(programme, planning.plan(_wishes(programme)).stored)
    with programme.store.reading() as connection:
        assert read_draft(connection, DAY) is None
    assert _wishes(programme) == {"never": ["Zoë"]}
    assert withdraw(programme, DAY)
    assert find_history(programme, DAY, DAY)[0].plan.overrides == {}
    assert _wishes(programme) == {"never": ["Zoë"]}
    assert withdraw(programme, DAY)
    assert not withdraw(programme, DAY)
    assert find_history(programme, DAY, DAY) == []


def test_publishing_keeps_wishes_that_the_plan_does_not_have(tmp_path):
    programme = known(tmp_path)
    planning = Planning(find_situation(programme, DAY))
    plan = planning.plan({}).stored
    set_wish(programme, DAY, "never", "Zoë")
    assert not publish(programme, plan)
    assert find_history(programme, DAY, DAY) == []
    made = plan_today(planning.situation, {"must": ["Ada"]}, policy="price")
    assert made.situation.remarks[-1].endswith("are not in this plan: never Zoë.")
    assert _wishes(programme) == {"never": ["Zoë"]}


def test_a_plan_for_wishes_is_that_of_the_command_and_says_what_they_cost(tmp_path):
    programme = known(tmp_path)
    situation = find_situation(programme, DAY)
    planning = Planning(situation, policy="price")
    wishes = {"absent": ["Nurse Anna"], "never": ["Zoë"]}
    proposal = propose(planning, wishes)
    same = plan_today(situation, wishes, policy="price")
    assert proposal.plan.digest == same.stored.digest
    free = plan_today(situation, {}, policy="price")
    assert proposal.cost == free.found.worth - same.found.worth
    assert proposal.cost.long_run > 0
    alone = plan_today(situation, {"never": ["Zoë"]}, policy="price")
    assert [(one.option, one.text) for one in proposal.costs] == [
        ("absent", "Nurse Anna"),
        ("never", "Zoë"),
    ]
    assert proposal.costs[0].cost == alone.found.worth - same.found.worth
    assert set(proposal.knowledge) == set(proposal.worth) == {"Ada", "Grace", "Zoë"}
    assert explain(planning, {}, "Ada") == planning.planner.why(free.found, "Ada")


@pytest.mark.parametrize("actor", ["", "anna"])
def test_the_journal_says_whose_account_it_was(tmp_path, actor):
    from dataclasses import replace

    programme = replace(known(tmp_path), actor=actor)
    set_wish(programme, DAY, "must", "Ada")
    assert read_journal(programme, 1)[0].by == actor


def test_somebody_with_another_name_has_it_in_wishes_too(tmp_path):
    programme = known(tmp_path)
    for option, text in (("must", "Ada"), ("lock", "Nurse Bo=Ada"), ("order", "Grace > Ada")):
        set_wish(programme, DAY, option, text)
    rename(programme, "name", "Ada", "Ada King")
    assert _wishes(programme) == {
        "must": ["Ada King"],
        "lock": ["Nurse Bo=Ada King"],
        "order": ["Grace > Ada King"],
    }
