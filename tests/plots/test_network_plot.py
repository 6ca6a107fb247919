"""A network shows who is ill and who is acted on."""

import pytest

import sequoia
from sequoia.errors import ProblemError
from sequoia.plots import plot_network


def test_a_network_names_everybody_and_rings_who_is_acted_on():
    problem = sequoia.make("epidemic", arms=8)
    ax = plot_network(problem, [0, 1] * 4, ["node 2", "node 5"])
    assert {text.get_text() for text in ax.texts} >= set(problem.arms.names)
    everybody, ringed = ax.collections
    assert len(everybody.get_offsets()) == 8
    assert len(ringed.get_offsets()) == 2
    colours = everybody.get_facecolors()
    assert (colours[0] == colours[2]).all()
    assert (colours[0] != colours[1]).any()


def test_only_arms_that_interact_have_one():
    with pytest.raises(ProblemError, match="no network"):
        plot_network(sequoia.make("trap"), [0, 0])
