from functools import partial

import networkx as nx
import numpy as np
import pytest

from sequoia import Arms, Assignment, Budget, Custom, Problem, Rules, Schedule
from sequoia.errors import FileError, ProblemError
from sequoia.plots import (
    plot_episode,
    plot_problem,
    plot_sigmoid,
    plot_underground,
    save_plot,
)
from sequoia.plots.canvas import new_axes, phone_axes
from sequoia.plots.draw_network import draw_network
from sequoia.plots.names import short_names
from sequoia.policies import Random
from sequoia.problem.families import (
    capacity,
    epidemic,
    interventions,
    rota,
    routing,
    scheduling,
    standard,
    team,
    trap,
    wildfire,
)
from sequoia.problem.families.routing import route_on
from sequoia.problem.underground import underground
from sequoia.simulate import Scenarios, rollout

PEOPLE = ["Ada Lovelace", "Grace Hopper", "Katherine Coleman Goble Johnson", "Annie Easley"]
NURSES = ["Nurse Anna", "Nurse Berta"]
DAYS = ["Mon", "Tue", "Wed"]


def clinic(space, influence=None) -> Problem:
    arms = Arms.ladder(np.tile([0.0, 1.0], (4, 1)), np.tile([0.1, 0.5, 0.8], (4, 1)), names=PEOPLE)
    return Problem("people with names", arms, space, np.tile([1.0, 0.0], (4, 1)), influence)


PROBLEMS = {
    "interventions": interventions(),
    "scheduling": scheduling(),
    "capacity": capacity(),
    "routing": routing(),
    "standard": standard(),
    "trap": trap(),
    "epidemic": epidemic(),
    "epidemic 100": epidemic(arms=100),
    "epidemic, one node": epidemic(arms=1),
    "epidemic on a route": epidemic(route=True),
    "epidemic on a lattice": epidemic(arms=23, graph="lattice"),
    "epidemic in a small world": epidemic(arms=62, graph="small-world", disease="sir"),
    "epidemic in pieces": epidemic(arms=30, graph="small-world", degree=0),
    "wildfire": wildfire(),
    "rota": rota(),
    "team": team(),
    "team 100": team(arms=100, depots=3),
    "rota 100": rota(arms=100, slots=10),
    "rota without workers": rota(workers=0),
    "interventions 100": interventions(arms=100),
    "scheduling 100": scheduling(arms=100),
    "capacity 100": capacity(arms=100),
    "routing 100": routing(arms=100),
    "standard 1000": standard(arms=1000),
    "one station": routing(arms=1),
    "no workers": capacity(workers=0),
    "no workers in slots": scheduling(workers=0),
    "lengths": routing(longest_edge=3),
    "no positions": route_on(nx.relabel_nodes(nx.cycle_graph(9), lambda i: f"site {i}"), "site 0"),
    "named costs": clinic(Assignment(np.ones(4), [2.0, 1.0], PEOPLE, NURSES)),
    "named slots": clinic(
        Schedule(np.ones((2, 3)), np.ones((4, 3)), 2, 2, False, PEOPLE, NURSES, DAYS)
    ),
    "named budget": clinic(Budget(np.ones(4), 2, PEOPLE)),
    "named campaigns": clinic(
        Budget(np.ones(2), 1, ["spots on the radio", "leaflets"]),
        np.array([[1, 1], [1, 0], [0, 1], [0, 0]]),
    ),
    "custom rows": clinic(Custom(np.ones((1, 4)), [-np.inf], [2.0], PEOPLE)),
    "with rules": capacity().with_rules(Rules(must=["arm 1"], absent=["worker 2"])),
}


def assert_fine(ax, path):
    """Nothing is empty or cut off, and no two labels of an axis overlap."""
    save_plot(ax, path)
    assert path.stat().st_size > 3_000
    figure = ax.figure
    assert ax.collections or ax.patches or ax.lines
    renderer = figure.canvas.get_renderer()
    whole = figure.bbox.padded(1.0)
    for one in figure.axes:
        assert whole.containsx(one.get_tightbbox(renderer).x0)
        for text in [*one.texts, one.title, one._left_title, one.xaxis.label, one.yaxis.label]:
            if text.get_text():
                box = text.get_window_extent(renderer)
                assert whole.x0 <= box.x0 <= box.x1 <= whole.x1, text.get_text()
                assert whole.y0 <= box.y0 <= box.y1 <= whole.y1, text.get_text()
        for axis in (one.xaxis, one.yaxis):
            ticks = [t.get_window_extent(renderer) for t in axis.get_ticklabels() if t.get_text()]
            if one.axison:
                assert not overlapping(ticks)
    written = [t.get_window_extent(renderer) for t in [*ax.texts, ax._left_title] if t.get_text()]
    assert not overlapping(written)


def overlapping(boxes) -> bool:
    corners = np.array([[b.x0 + 0.5, b.y0 + 0.5, b.x1 - 0.5, b.y1 - 0.5] for b in boxes])
    if len(corners) < 2:
        return False
    low = np.maximum(corners[:, None, :2], corners[None, :, :2])
    high = np.minimum(corners[:, None, 2:], corners[None, :, 2:])
    both = (low < high).all(axis=2)
    return bool(np.triu(both, 1).any())


# Every picture is looked at in one of two widths; reports of every family have both.
@pytest.mark.parametrize("name", list(PROBLEMS)[::2])
def test_every_problem_has_a_picture(tmp_path, name):
    assert_fine(plot_problem(PROBLEMS[name]), tmp_path / "p.png")


@pytest.mark.parametrize(("size", "columns"), [(20, 5), (100, 10)])
def test_a_lattice_looks_like_one(size, columns):
    rows, across = np.divmod(np.arange(size), columns)
    places = draw_network(epidemic(arms=size, graph="lattice")).collections[1].get_offsets()
    edges = np.argwhere(np.abs(rows[:, None] - rows) + np.abs(across[:, None] - across) == 1)
    along = np.abs(places[edges[:, 0]] - places[edges[:, 1]])
    assert (along.min(axis=1) < 0.5 * along.max(axis=1)).all(), "edges lie along the axes"
    apart = np.linalg.norm(places[:, None] - places, axis=2) + np.eye(size)
    assert apart.min() > 0.3 * np.linalg.norm(along, axis=1).mean(), "no two nodes are folded"


def on_a_phone(draw):
    """Draw once more, as wide as a phone."""
    return draw(phone_axes(draw(None)))


@pytest.mark.parametrize("name", list(PROBLEMS)[1::2])
def test_every_problem_has_a_picture_for_a_phone(tmp_path, name):
    assert_fine(on_a_phone(partial(plot_problem, PROBLEMS[name])), tmp_path / "p.png")


@pytest.mark.parametrize(
    "name", ["interventions", "trap", "routing 100", "standard 1000", "named slots"]
)
def test_an_episode_as_a_heat_map(tmp_path, name):
    problem = PROBLEMS[name]
    played = rollout(problem, Random(problem), Scenarios.sample(problem, 2, seed=0))
    ax = plot_episode(played.episode(1), problem)
    assert_fine(ax, tmp_path / "e.png")
    assert_fine(on_a_phone(partial(plot_episode, played.episode(1), problem)), tmp_path / "p.png")
    dots = ax.collections[1].get_offsets()
    reached = problem.levels(played.actions[1]) > 0
    assert len(dots) == reached.sum()


def test_what_pays_most_is_brightest():
    problem = wildfire(arms=4, budget=1, burning=1)
    played = rollout(problem, Random(problem), Scenarios.sample(problem, 1, seed=0))
    ax = plot_episode(played.episode(0), problem)
    names = [text.get_text() for text in ax.figure.axes[1].get_yticklabels()]
    assert names == ["burning", "burnt", "tree"]
    shown = np.asarray(ax.collections[0].get_array()).reshape(4, -1)
    assert (shown == np.array([2, 0, 1])[played.states[0].T]).all()


def test_link_curves(tmp_path):
    assert_fine(plot_sigmoid(interventions()), tmp_path / "s.png")
    assert_fine(plot_sigmoid(interventions(link="submodular")), tmp_path / "t.png")
    one_state = Arms([[1.0]], [[0.0]], [[[[1.0]]]])
    lonely = Problem("lonely", one_state, Budget([], 0, []), [[1.0]], np.zeros((1, 0)))
    with pytest.raises(ProblemError, match="no link to draw"):
        plot_sigmoid(lonely)


def test_the_underground(tmp_path):
    ax = plot_underground(underground())
    assert_fine(ax, tmp_path / "u.png")
    assert len(ax.texts) > 80
    assert [text.get_text()[:3].strip() for text in ax.get_legend().get_texts()] == [
        "20",
        "40",
        "60",
        "80",
        "100",
    ]


def test_all_stations_of_a_small_map_have_their_names():
    assert len(plot_problem(PROBLEMS["routing"]).texts) == 20


def test_pictures_go_where_they_are_told():
    ax = new_axes()
    assert plot_problem(trap(), ax) is ax


@pytest.mark.parametrize("name", ["p.docx", "p", "missing/p.png"])
def test_what_cannot_be_written_is_one_error(tmp_path, name):
    with pytest.raises(FileError):
        save_plot(plot_problem(trap()), tmp_path / name)


def test_short_names():
    assert short_names(["arm 0", "arm 12"]) == ("arms", ["0", "12"])
    assert short_names(["Ada", "arm 1"]) == ("", ["Ada", "arm 1"])
