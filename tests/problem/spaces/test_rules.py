"""Rules by name on top of any space."""

from fractions import Fraction

import numpy as np
import pytest
from examples import (
    action_of,
    assignment,
    budget,
    check_feasible_set,
    chosen_of,
    custom,
    path,
    ruled,
    schedule,
    slots,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from sequoia.errors import InfeasibleDecision, InfeasibleSpace, ProblemError, SequoiaError
from sequoia.problem.rules import Floor, Rules
from sequoia.problem.spaces import (
    ActionSpace,
    Assignment,
    Budget,
    Schedule,
    read_space,
    with_rules,
    write_space,
)
from sequoia.problem.tables import TableSet

BASES = [
    budget("budget", [1, 2, 1, 3, 1], 5),
    assignment("assignment", [2, 3, 4, 2, 3], [4, 6]),
    schedule("schedule", slots("xx.", ".xx"), slots("xx.", ".xx", "x.x", "..x", "x.."), 3, 1),
    schedule("distinct", slots("xx.", ".xx"), slots("xx.", ".xx", "x.x", "..x", "x.."), 3, 2, True),
    schedule(
        "many slots", slots("x.........x.", ".x........x."), slots(*["xx........x."] * 5), 4, 1
    ),
    path("path", [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)], 0, 6, 3),
    path("long edges", [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)], 0, 8, 3, [2, 1, 2, 1, 1]),
    custom("custom", [[-1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, -3]], [-9, -9], [0, 1], 5),
]

some = st.lists(st.integers(0, 4), max_size=2, unique=True)


@st.composite
def ruled_examples(draw):
    groups = {"g": draw(some), "h": draw(some)}
    share = draw(
        st.sampled_from([None, Fraction(1, 3), Fraction(2, 5), Fraction(1, 2), Fraction(1)])
    )
    return ruled(
        "any",
        draw(st.sampled_from(BASES)),
        groups=groups,
        shares={} if share is None else {"g": share},
        counts={"h": draw(st.integers(0, 2))} if draw(st.booleans()) else {},
        must=draw(st.lists(st.integers(0, 4), max_size=1)),
        never=draw(st.lists(st.integers(0, 4), max_size=1)),
        at_most_one=draw(st.lists(some, max_size=2)),
    )


@settings(deadline=None, max_examples=25)
@given(ruled_examples())
def test_feasible_set_under_any_rules(example):
    check_feasible_set(example)


@settings(deadline=None, max_examples=50)
@given(ruled_examples(), st.integers(0, 2**32))
def test_draws_and_growth_under_any_rules(example, seed):
    """A draw keeps the rules; it grows as in the base, less what rules forbid."""
    space, rng = example.space, np.random.default_rng(seed)
    if not example.feasible:
        with pytest.raises(InfeasibleSpace, match="no decision satisfies the rules"):
            space.sample(rng)
        return
    drawn = space.sample(rng)
    chosen = chosen_of(drawn.action)
    assert space.system.violations(drawn) == []
    assert chosen in example.feasible
    base, extensions = space.base.extensions(drawn), space.extensions(drawn)
    allowed = [
        (column, turn)
        for column, turn in zip(base.columns.tolist(), base.priority.tolist(), strict=True)
        if example.accepts(chosen | {column})
    ]
    assert (
        list(zip(extensions.columns.tolist(), extensions.priority.tolist(), strict=True)) == allowed
    )
    for index, column in enumerate(extensions.columns.tolist()):
        assert chosen_of(extensions[index].action) == chosen | {column}
        assert space.system.violations(extensions[index]) == []


def sets(space):
    return {chosen_of(action) for action in space.enumerate(1000)}


@pytest.mark.parametrize("example", BASES, ids=lambda example: example.name)
def test_no_rules_change_nothing(example):
    assert sets(with_rules(example.space, Rules())) == example.feasible


def test_count_floor():
    space = with_rules(
        Budget([1] * 4, 2), Rules({"old": ["arm 0", "arm 1"]}, [Floor("old", count=2)])
    )
    assert sets(space) == {frozenset([0, 1])}


def test_share_floor_counts_what_is_acted_on():
    """At least 40 % from the group: 1 of 2 and 2 of 3 will do, 1 of 3 will not."""
    space = with_rules(
        Budget([1] * 4, 3), Rules({"old": ["arm 0", "arm 1"]}, [Floor("old", share=0.4)])
    )
    expected = [(), (0,), (1,), (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (0, 1, 2), (0, 1, 3)]
    assert sets(space) == {frozenset(c) for c in expected}


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3, 0.6, 0.7, 1 / 3, 2 / 3])
def test_share_that_is_met_exactly_is_met(share):
    """Rounding of the share must not decide."""
    part = Fraction(share).limit_denominator(10)
    names = [f"arm {i}" for i in range(part.numerator)]
    space = with_rules(Budget([1] * 10, 10), Rules({"g": names}, [Floor("g", share=share)]))
    exact = np.zeros((1, 10), dtype=np.int8)
    exact[0, : part.denominator] = 1
    assert space.contains(exact)[0]
    if part.denominator < 10:
        exact[0, part.denominator] = 1
        assert not space.contains(exact)[0]


def test_must_never_and_at_most_one():
    rules = Rules(must=["arm 0"], never=["arm 1"], at_most_one=[["arm 2", "arm 3"]])
    assert sets(with_rules(Budget([1] * 4, 3), rules)) == {
        frozenset(c) for c in [(0,), (0, 2), (0, 3)]
    }


def test_absent_workers_are_off_today():
    base = Assignment([2, 3], [3, 3])
    space = with_rules(base, Rules(absent=["worker 0"]))
    assert sets(base) == {frozenset(c) for c in [(), (0,), (1,), (0, 1)]}
    assert sets(space) == {frozenset(c) for c in [(), (0,), (1,)]}
    assert space.describe(space.certify([0, 1])) == ["Worker 1 visits arm 1 (3 of 3 units used)"]
    assert sets(space.absent(["worker 1"])) == {frozenset()}
    assert space.absent(["worker 1"]).rules.absent == ("worker 0", "worker 1")
    assert sets(space.base) == sets(base)


def test_absences_in_a_schedule():
    base = Schedule(slots("xx", "xx"), slots("x.", ".x"), 2)
    space = with_rules(base, Rules(absent=["worker 1"], must=[]))
    assert sets(base) == {frozenset(c) for c in [(), (0,), (1,), (0, 1)]}
    assert sets(space) == {frozenset()}


def test_rules_on_rules_are_merged():
    first = Rules({"g": ["arm 0"]}, [Floor("g", count=1)])
    space = with_rules(Budget([1] * 3, 2), first)
    both = with_rules(space, Rules(never=["arm 2"]))
    assert both.base is space.base
    assert sets(both) == {frozenset(c) for c in [(0,), (0, 1)]}
    assert sets(space) == {frozenset(c) for c in [(0,), (0, 1), (0, 2)]}


def test_one_group_name_means_one_group():
    space = with_rules(Budget([1] * 3, 2), Rules({"g": ["arm 0"]}, [Floor("g", count=1)]))
    with pytest.raises(ProblemError, match=r"rules\.groups\[g\] is arm 1, but was arm 0"):
        with_rules(space, Rules({"g": ["arm 1"]}))


def test_lists_and_tuples_are_the_same_rules():
    """So that writing and reading back gives the same fingerprint."""
    assert Rules(must=[], floors=[], at_most_one=[]) == Rules()
    assert Rules({"g": ["a"]}, at_most_one=[["a", "b"]]) == Rules(
        {"g": ("a",)}, at_most_one=(("a", "b"),)
    )
    plain = Budget([1], 1)
    empty = with_rules(plain, Rules(must=[]))
    assert write_space(empty).fingerprint() == write_space(plain).fingerprint()


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (Rules(must=["Bob"]), "rules.must names 'Bob', which is unknown; .*'arm 0' to 'arm 2'"),
        (Rules(never=["arm 3"]), "rules.never names 'arm 3', which is unknown"),
        (Rules(at_most_one=[["arm 0", "x"]]), "rules.at_most_one names 'x', which is unknown"),
        (Rules({"g": ["y"]}, [Floor("g", count=1)]), r"rules.groups\[g\] names 'y', which is"),
        (Rules({"g": []}, [Floor("h", count=1)]), "rules.floors names the group 'h'; known: g"),
        (Rules(absent=["worker 0"]), "a budget space has no workers, so worker 0 cannot be off"),
    ],
)
def test_unknown_names_are_errors_at_once(rules, message):
    with pytest.raises(ProblemError, match=message):
        with_rules(Budget([1] * 3, 2), rules)


def test_unknown_worker_is_an_error_at_once():
    with pytest.raises(ProblemError, match="absent names 'Bob', which is unknown"):
        with_rules(Assignment([1], [1]), Rules(absent=["Bob"]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"share": 1.5}, r"rules\.floors\[g\]\.share is 1\.5; a number from 0 to 1"),
        ({"share": -0.1}, r"rules\.floors\[g\]\.share is -0\.1"),
        ({"share": np.nan}, r"rules\.floors\[g\]\.share is nan"),
        ({"share": "half"}, r"rules\.floors\[g\]\.share is half"),
        ({"count": -1}, r"rules\.floors\[g\]\.count is -1; a whole number of at least 0"),
        ({"count": 1.5}, r"rules\.floors\[g\]\.count is 1\.5"),
        ({"count": np.inf}, r"rules\.floors\[g\]\.count is inf"),
    ],
)
def test_bad_floors_name_the_group(arguments, message):
    with pytest.raises(ProblemError, match=message):
        Floor("g", **arguments)


@pytest.mark.parametrize(
    ("rules", "chosen", "message"),
    [
        (Rules(must=["arm 1"]), {0}, 'arm 0: row "must act on arm 1": 0 < 1'),
        (Rules(never=["arm 0"]), {0}, 'row "never act on arm 0": 1 > 0'),
        (
            Rules(at_most_one=[["arm 0", "arm 2"]]),
            {0, 2},
            'arms 0 and 2: row "at most one of arms 0 and 2": 2 > 1',
        ),
        (
            Rules({"old": ["arm 0"]}, [Floor("old", share=0.125)]),
            {1},
            'row "at least 12.5% from old": -0.125 < 0',
        ),
        (Rules({"old": ["arm 0"]}, [Floor("old", count=1)]), {1}, '"at least 1 of old": 0 < 1'),
        (Rules(), {0, 1, 2}, 'row "budget": 3 > 2'),
    ],
)
def test_refusal_names_the_broken_rule(rules, chosen, message):
    with pytest.raises(InfeasibleDecision, match=message.replace("[", r"\[")):
        with_rules(Budget([1] * 3, 2), rules).certify(action_of(chosen, 3))


def test_mending_may_drop_any_culprit():
    """Of a pair that excludes each other, each survives in some draw, and gaps are filled."""
    space = with_rules(Budget([1] * 3, 2), Rules(at_most_one=[["arm 0", "arm 1"]]))
    rng = np.random.default_rng(0)
    drawn = {chosen_of(space.sample(rng).action) for _ in range(100)}
    assert drawn == {frozenset([0, 2]), frozenset([1, 2])}


def test_share_floors_are_mended_without_the_solver(monkeypatch):
    """Draws from the base that break a share are cut down, not thrown away."""
    rules = Rules({"g": ["arm 0", "arm 1"]}, [Floor("g", share=0.9)])
    space = with_rules(Budget([1] * 30, 10), rules)
    monkeypatch.setattr(ActionSpace, "_draw_by_program", None)
    rng = np.random.default_rng(0)
    drawn = {chosen_of(space.sample(rng).action) for _ in range(50)}
    assert drawn == {frozenset([0, 1])}


def test_options_are_read_back():
    rules = Rules(
        {"g": ("a", "b"), "h": ()},
        (Floor("g", share=0.4), Floor("h", count=0)),
        ("a",),
        ("b",),
        (("a", "b"), ()),
        ("w",),
    )
    assert Rules.from_options(TableSet(rules.to_options()), ["a", "b"], ["w"]) == rules


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"must": ["a", 1]}, "option 'must' is .*; names are wanted"),
        ({"at_most_one": ["ab"]}, "option 'at_most_one' is 'ab'; names are wanted"),
        ({"groups": {"g": "ab"}}, "option 'groups.g' is 'ab'; names are wanted"),
        ({"musst": ["a"]}, "unknown option 'musst'"),
        ({"floors": [{"group": "g", "shar": 1.0}]}, r"floors\[0\] has an unknown option 'shar'"),
        ({"floors": [3]}, r"floors\[0\] has no option 'group'"),
        (
            {"floors": [{"group": "g", "share": 2}]},
            r"floors\[0\], option 'share' is 2\.0; from 0 to 1 is",
        ),
    ],
)
def test_bad_options_name_the_place(options, message):
    content = TableSet(options)
    Rules.from_options(content, ["a", "b"], [])
    with pytest.raises(SequoiaError, match=message):
        content.settle()


def test_space_of_an_unknown_kind():
    with pytest.raises(SequoiaError, match="option 'kind' is 'lottery'; known: assignment, budget"):
        read_space(TableSet({"kind": "lottery"}))
