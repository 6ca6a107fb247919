"""Objects show themselves in a few lines, and in a table that fits a screen."""

import re

import numpy as np
import pytest

import sequoia
from sequoia.policies import make_policy
from sequoia.problem.families import EVERY
from sequoia.records import Seen, simulate_log
from sequoia.solvers import Highs

SMALL = sequoia.make("capacity", arms=6, workers=2, horizon=4)


def shown_of(thing):
    """Return the lines and the rows of a table after checking that they fit a screen."""
    lines = repr(thing).splitlines()
    assert 1 <= len(lines) <= 3
    assert max(map(len, lines)) <= 200
    html = thing._repr_html_()
    assert html.count("<tr>") <= 13
    assert html.count("<th>") <= 10
    return lines, html


@pytest.mark.parametrize("family", EVERY)
def test_a_problem_its_space_and_its_rules_fit_a_screen(family):
    problem = sequoia.make(family)
    lines, _ = shown_of(problem) if isinstance(problem, sequoia.Problem) else ([problem.name], "")
    assert problem.name in lines[0]
    shown_of(problem.space)
    shown_of(problem.space.system)


def test_a_table_says_how_much_more_there_is():
    _, html = shown_of(sequoia.make("standard", arms=500))
    assert "488 more rows" in html


def test_names_are_escaped():
    arms = sequoia.Arms([[0, 1]], [[0, 1]], [[np.eye(2)] * 2], names=["<b>Ada</b>"])
    problem = sequoia.Problem("p", arms, sequoia.Budget([1], 1), [[1, 0]])
    assert "&lt;b&gt;Ada" in problem._repr_html_()
    assert "<b>Ada" not in problem._repr_html_()


def test_results_say_what_they_found():
    plan = sequoia.plan(SMALL, [0, 1, 2, 3, 0, 0])
    lines, html = shown_of(plan)
    assert "by price" in lines[0]
    assert html.count("<tr>") == len(plan.tasks) + 1
    found = sequoia.evaluate(SMALL, ["random", "price"], episodes=4)
    lines, html = shown_of(found)
    assert lines[1].startswith("best: price")
    assert html.index("price") < html.index("random")
    assert f"{found.bound.per_step:.5g}" in lines[2]
    assert f"{found.bound.per_step:.5g}" in shown_of(found.bound)[0][0]


def test_what_is_learned_from_a_log_says_what_it_rests_on():
    rng = np.random.default_rng(0)
    log = simulate_log(SMALL, make_policy("random", SMALL), 6, Seen(), rng)
    assert "6 arms" in shown_of(log)[0][0]
    fitted = sequoia.fit(log, 4, 2)
    assert re.search(r"\d+ of 48 rows", shown_of(fitted)[0][1])


def test_a_program_and_its_solution_say_their_sizes_and_values():
    program = SMALL.space.system.program(np.ones(6))
    assert "rows" in shown_of(program)[0][0]
    assert "optimal" in shown_of(Highs().solve(program))[0][0]


def test_only_public_names_are_listed():
    assert sorted(dir(sequoia)) == sorted(sequoia.__all__)
    for name in sequoia.__all__:
        assert getattr(sequoia, name) is not None
