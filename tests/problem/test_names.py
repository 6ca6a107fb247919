"""Names, and how several of them are said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sequoia.errors import ProblemError
from sequoia.problem.names import (
    Numbered,
    checked_names,
    duration,
    flaw_of,
    index_of,
    roughly,
    say,
)


def test_numbered_behaves_like_a_list():
    names = Numbered("arm", 3)
    assert list(names) == ["arm 0", "arm 1", "arm 2"]
    assert names[-1] == "arm 2"
    assert names[1:] == ["arm 1", "arm 2"]
    assert names.index("arm 2") == 2
    assert "arm 3" not in names
    with pytest.raises(IndexError):
        names[3]


def test_numbered_equals_what_it_says():
    assert Numbered("arm", 2) == ("arm 0", "arm 1")
    assert Numbered("arm", 2) == Numbered("arm", 2)
    assert Numbered("arm", 2) != Numbered("node", 2)
    assert Numbered("arm", 2) != Numbered("arm", 3)
    assert Numbered("arm", 2) != 2
    assert hash(Numbered("arm", 2)) == hash(Numbered("arm", 2))


def test_names_default_to_numbers():
    assert list(checked_names("space.names", None, "arm", 2)) == ["arm 0", "arm 1"]
    assert checked_names("space.names", ["a", "b"], "arm", 2) == ("a", "b")
    assert checked_names("space.names", [1, 2], "arm", 2) == ("1", "2")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a"], r"space\.names has 1 entry; 2 are wanted"),
        (Numbered("arm", 3), r"space\.names has 3 entries; 2 are wanted"),
        (["a", "a"], r"space\.names\[1\] repeats 'a'; names must differ"),
        (["a", ""], r"space\.names\[1\] is ''; a name without outer blanks"),
        ([" a", "b"], r"space\.names\[0\] is ' a'"),
        (["a", "b\n"], r"space\.names\[1\] is 'b\\n'"),
        (["a", "b\tc"], r"space\.names\[1\] is 'b\\tc'.*control"),
    ],
)
def test_bad_names_say_where(names, message):
    with pytest.raises(ProblemError, match=message):
        checked_names("space.names", names, "arm", 2)


def test_index_of_says_what_is_known():
    assert index_of("rules.must", ["a", "b"], "b") == 1
    with pytest.raises(ProblemError, match=r"rules\.must names 'c', .* from 'a' to 'b'"):
        index_of("rules.must", ["a", "b"], "c")
    with pytest.raises(ProblemError, match=r"rules\.must names 'c', but there are no names"):
        index_of("rules.must", [], "c")


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([], "nothing"),
        (["arm 4"], "arm 4"),
        (["arm 4", "arm 11"], "arms 4 and 11"),
        (["arm 4", "arm 7", "arm 11"], "arms 4, 7 and 11"),
        (["arm 4", "worker 7"], "arm 4 and worker 7"),
        (["Bank", "Oval"], "Bank and Oval"),
        (["Green Park", "Hyde Park", "Oval"], "Green Park, Hyde Park and Oval"),
        (["1", "2"], "1 and 2"),
    ],
)
def test_several_names_in_words(items, text):
    assert say(items) == text
    assert say(iter(items)) == text


@given(st.integers(1, 50))
def test_every_number_is_said(size):
    text = say(Numbered("arm", size))
    assert [int(part) for part in text.replace(",", " ").split() if part.isdigit()] == list(
        range(size)
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 ms"),
        (3e-9, "under 0.0001 ms"),
        (3.01e-7, "0.0003 ms"),
        (0.0004, "0.4 ms"),
        (0.0123, "12 ms"),
        (0.96, "960 ms"),
        (8.27, "8.3 s"),
        (89.0, "89 s"),
        (300.0, "5 min"),
        (9000.0, "2.5 h"),
        (3.6e7, "10,000 h"),
    ],
)
def test_times_are_said_in_two_digits(seconds, text):
    assert duration(seconds) == text


def test_expected_times_are_rough():
    assert [roughly(seconds) for seconds in (0.2, 7.6, 7200)] == [
        "about 1 s",
        "about 8 s",
        "about 2 h",
    ]


@pytest.mark.parametrize(
    "name", ["Ada\u200b", "\u202eAda", "A\u200dda", "Ada\x00", "A\u00adda", " Ada", ""]
)
def test_what_is_not_seen_is_no_name(name):
    assert "is wanted" in flaw_of(name)


@pytest.mark.parametrize("name", ["Ada", "Zoë", "Ada\u00a0King", "می\u200cخواهم", "O'Neil", "李"])
def test_names_of_all_scripts_are_names(name):
    assert flaw_of(name) == ""
