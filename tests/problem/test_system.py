"""Rules as linear rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sequoia.errors import InfeasibleDecision
from sequoia.problem.system import Decision, LinearSystem, Rows
from sequoia.solvers import Highs, Status


def small():
    """Two actions and a plan: at most one action, the plan pays for the second, x + y + z = 1."""
    return LinearSystem.from_rows(
        [
            Rows.at_most([[1, 1, 0]], 1, ["one of x and y"]),
            Rows.at_least([[0, -1, 1]], 0, ["y needs z"]),
            Rows.equal([[1, 0, 1]], 1, ["x or z"]),
        ],
        2,
        ["x", "y", "z"],
    )


def decision(*values):
    return Decision(np.array(values[:2], dtype=np.int8), np.array(values[2:], dtype=np.int8))


def test_shape_and_names():
    system = small()
    assert (system.n_rows, system.n_columns, system.n_actions) == (3, 3, 2)
    assert system.row_names == ["one of x and y", "y needs z", "x or z"]
    assert system.lower.tolist() == [-np.inf, 0, 1]
    assert system.upper.tolist() == [1, np.inf, 1]
    assert system.is_integer.all()
    assert (system.column_upper == 1).all()


@pytest.mark.parametrize(
    ("values", "broken"),
    [
        ((1, 0, 0), []),
        ((0, 1, 1), []),
        ((1, 1, 1), ['row "one of x and y": 2 > 1', 'row "x or z": 2 > 1']),
        ((0, 1, 0), ['row "y needs z": -1 < 0', 'row "x or z": 0 < 1']),
        ((0, 0, 2), ['"z" is 2; 0 or 1 is wanted', 'row "x or z": 2 > 1']),
        ((1, 0, -1), ['"z" is -1; 0 or 1 is wanted', 'row "y needs z": -1 < 0', 'row "x or z"']),
        ((1, 0), ["2 columns were given; 3 are wanted"]),
    ],
)
def test_violations_name_the_broken_rows(values, broken):
    found = small().violations(decision(*values))
    assert len(found) == len(broken)
    for line, start in zip(found, broken, strict=True):
        assert line.startswith(start)


def test_require_raises_all_lines_at_once():
    small().require(decision(1, 0, 0))
    with pytest.raises(InfeasibleDecision, match=r'and y": 2 > 1; row "x or z": 2 > 1\.$'):
        small().require(decision(1, 1, 1))


@given(st.lists(st.tuples(*[st.integers(0, 1)] * 3), max_size=8))
def test_holds_agrees_with_violations(batch):
    expected = [not small().violations(decision(*values)) for values in batch]
    assert small().holds(np.reshape(batch, (-1, 3))).tolist() == expected


def test_rounding_is_forgiven_but_not_more():
    system = LinearSystem.from_rows([Rows.at_most([[0.1, 0.2]], 0.3, ["sum"])], 2, ["x", "y"])
    assert system.holds([[1, 1]])[0]
    tight = LinearSystem.from_rows([Rows.at_most([[0.1, 0.2]], 0.2999, ["sum"])], 2, ["x", "y"])
    assert not tight.holds([[1, 1]])[0]


def test_further_rows_stand_on_the_actions():
    more = small().with_rows(Rows.at_least([[1, 0]], 1, ["x"]))
    assert (more.n_rows, more.n_columns) == (4, 3)
    assert more.violations(decision(0, 1, 1)) == ['row "x": 0 < 1']
    assert small().n_rows == 3


def test_no_rows_forbid_nothing():
    free = LinearSystem.from_rows([], 2, ["x", "y"])
    assert free.holds([[1, 1], [0, 0]]).all()
    assert free.with_rows(Rows.at_most([[1, 1]], 1, ["one"])).holds([[1, 1]]).tolist() == [False]


def test_program_maximises_over_the_actions():
    solution = Highs().solve(small().program([1, 3]))
    assert solution.status is Status.OPTIMAL
    assert solution.values.tolist() == [0, 1, 1]
    assert solution.objective == 3


def test_program_with_a_fixed_action_finds_its_plan():
    system = small()
    found = {
        action: Highs().solve(system.program([0, 0], fixed=action)).values
        for action in [(0, 0), (0, 1), (1, 0), (1, 1)]
    }
    assert found[1, 1] is None
    assert found[1, 0].tolist() == [1, 0, 0]
    assert found[0, 1].tolist() == [0, 1, 1]
    assert found[0, 0].tolist() == [0, 0, 1]


def test_program_does_not_change_the_system():
    system = small()
    system.program([1, 1], fixed=[0, 0])
    assert (system.column_upper == 1).all()
