"""Arms that infect each other: what they follow, how they are checked, and their files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from sequoia import Arms, Budget, Problem, load, save
from sequoia.errors import FileError, ProblemError
from sequoia.problem.contagion import Contagion
from sequoia.problem.families import FAMILIES, epidemic

# Model 0 stays, model 1 moves up, model 2 moves down; each with a dose that does the opposite.
STAY, UP, DOWN = np.eye(3), np.eye(3)[[1, 2, 2]], np.eye(3)[[0, 0, 1]]
KERNELS = np.array([[STAY, STAY], [UP, DOWN], [DOWN, UP]])
BONDS = [[0, 2, 0], [1, 0, 1], [0, 0, 0]]
MODELS = [[0, 1, 2], [1, 2, 0], [0, 2, 2]]


def chain(**changes) -> Problem:
    arms = Arms([[0, 1, 2]] * 3, [[0, 1]] * 3, KERNELS, model=[0, 1, 0])
    contagion = Contagion(BONDS, [0, 0, 1], MODELS)
    start = np.tile([1.0, 0.0, 0.0], (3, 1))
    return replace(
        Problem("chain", arms, Budget(np.ones(3), 1), start, contagion=contagion), **changes
    )


def test_pressure_is_what_neighbours_exert_and_at_most_the_most():
    states = [[0, 0, 0], [0, 2, 0], [2, 0, 2], [2, 2, 2]]
    contagion = chain().contagion
    pressure = [[0, 0, 0], [2, 0, 0], [0, 2, 0], [2, 2, 0]]
    assert contagion.pressure(states).tolist() == pressure
    strong = Contagion(np.array(BONDS) * 5, [0, 0, 3], MODELS)
    assert strong.pressure(states).tolist() == pressure


def test_the_model_of_an_arm_depends_on_its_neighbours():
    problem = chain()
    assert problem.models([[0, 0, 0], [2, 0, 2]]).tolist() == [[0, 1, 0], [0, 0, 0]]
    assert problem.models([0, 2, 0]).tolist() == [2, 1, 0]
    nothing, noise = np.zeros((2, 3)), np.full((2, 3), 0.5)
    # Arm 0 stays without pressure, and moves down when arm 1 presses on it.
    states = np.array([[1, 1, 1], [1, 2, 1]])
    assert problem.transition(states, nothing, noise).tolist() == [[1, 2, 1], [0, 2, 1]]
    assert problem.expected_reward(states, nothing).tolist() == [4, 3]
    acted = np.array([[1, 0, 0], [1, 0, 0]])
    assert problem.transition(states, acted, noise).tolist() == [[1, 2, 1], [2, 2, 1]]


def test_a_network_sees_states_and_pressures():
    seen = chain().features([[0, 2, 0], [2, 0, 0]])
    # First which state each arm is in; then, in the same places, how hard it is pressed.
    assert seen[:, :9].tolist() == [[1, 0, 0, 0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 0, 0, 1, 0, 0]]
    assert seen[:, 9:].tolist() == [[1, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0.5, 0, 0, 0, 0, 0]]
    without = chain(contagion=Contagion(BONDS, [0, 0, 1], np.array(MODELS)[:, :1]))
    assert (without.features([[0, 2, 0]])[0, 9:] == 0).all()


def test_an_epidemic_spreads_only_from_the_infected():
    problem = epidemic(arms=8, arrive=0.0, recover=0.0)
    nothing = np.zeros((1, 8))
    healthy = np.ones((1, 8), dtype=np.int64)
    assert (problem.transition(healthy, nothing, np.zeros((1, 8))) == 1).all()
    states = healthy.copy()
    states[0, 2] = 0
    after = problem.transition(states, nothing, np.zeros((1, 8)))[0]
    ill = set(np.flatnonzero(after == 0))
    assert ill == {2, *np.flatnonzero(problem.contagion.neighbours.toarray()[2])}


def test_without_contagion_fingerprints_stay_what_they_were():
    assert FAMILIES["trap"]().fingerprint == "4b4d82d82260b1c3"
    assert FAMILIES["standard"]().fingerprint == "4072e8cb2ad9c1a7"


def test_contagion_is_part_of_the_fingerprint():
    wanted = chain().fingerprint
    assert chain().fingerprint == wanted
    for other in (
        None,
        Contagion(np.array(BONDS) * 2, [0, 0, 1], MODELS),
        Contagion(BONDS, [0, 1, 1], MODELS),
        Contagion(BONDS, [0, 0, 1], [*MODELS[:2], [0, 0, 0]]),
    ):
        assert chain(contagion=other).fingerprint != wanted


@pytest.mark.parametrize("target", ["p.npz", "p"])
def test_files_keep_it(target, tmp_path):
    problem = chain()
    save(problem, tmp_path / target)
    again = load(tmp_path / target)
    assert again.fingerprint == problem.fingerprint
    states = np.random.default_rng(0).integers(3, size=(50, 3))
    np.testing.assert_array_equal(again.models(states), problem.models(states))


def test_rows_of_a_folder_may_stand_in_any_order(tmp_path):
    save(chain(), tmp_path / "p")
    for name in ("contagion.csv", "neighbours.csv"):
        file = Path(tmp_path / "p" / name)
        head, *rows = file.read_text().splitlines()
        file.write_text("\n".join([head, *rows[::-1]]) + "\n")
    assert load(tmp_path / "p").fingerprint == chain().fingerprint


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("neighbours.csv", "arm 2", "arm 7", r"neighbours.csv row 4 names 'arm 7', which is unk"),
        ("neighbours.csv", "arm 1,arm 2", "arm 1,arm 0", "names a pair of arms twice"),
        ("neighbours.csv", "arm 0,arm 1,2", "arm 0,arm 1,0.5", "'0.5' is not a whole number"),
        ("neighbours.csv", "arm 0,arm 1,2", "arm 0,arm 1,-2", "-2; 0 to 1000000 is wanted"),
        ("contagion.csv", "arm 2", "arm 1", "does not name each arm of arms.csv once"),
        ("contagion.csv", "arm 0,0,1,2", "arm 0,0,1,3", "models run from 0 to 2"),
        ("contagion.csv", "model_0", "model_9", "has no column model_0"),
        ("problem.toml", "sources", "sauces", r"unknown option 'sauces'; known: sources"),
        ("problem.toml", "    1,\n]", "    0.5,\n]", "sources holds values that are not int64"),
    ],
)
def test_a_wrong_edit_is_told_where(file, old, new, message, tmp_path):
    save(chain(), tmp_path / "p")
    path = tmp_path / "p" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises((FileError, ProblemError), match=message):
        load(tmp_path / "p")


@pytest.mark.parametrize(
    ("neighbours", "sources", "models", "message"),
    [
        (np.eye(2), [0, 0, 1], MODELS, r"neighbours has shape \(2, 2\); \(3, 3\) is wanted"),
        ("words", [0, 0, 1], MODELS, "neighbours is not a matrix of numbers"),
        (-np.eye(3), [0, 0, 1], MODELS, "-1; 0 to 1000000 is wanted"),
        (np.eye(3) / 2, [0, 0, 1], MODELS, "are not int64"),
        (BONDS, [0, 1], MODELS, "sources has 2 entries; 3 are wanted"),
        (BONDS, [0, 0, -1], MODELS, r"sources\[2\] is -1; at least 0"),
        (csr_array((2, 2)), [0, 0, 1], MODELS[:2], "models has 2 rows; 3 are wanted"),
        (BONDS, [0, 0, 1], [[], [], []], "models has no columns"),
        (BONDS, [0, 0, 1], [[0], [1], [3]], r"models\[2, 0\] is 3; models run from 0 to 2"),
        (BONDS, [0, 0, 1], [[0], [1], [1]], r"models\[:, 0\]\[2\] is 1; arms.model is wanted"),
    ],
)
def test_what_does_not_fit_is_one_line(neighbours, sources, models, message):
    with pytest.raises(ProblemError, match=message):
        chain(contagion=Contagion(neighbours, sources, models))


def test_all_models_of_an_arm_have_the_same_doses():
    arms = Arms([[0, 1, 2]] * 3, [[0, 1], [0, 1], [0, 2]], KERNELS, model=[0, 1, 0])
    with pytest.raises(ProblemError, match=r"models\[0, 2\] is 2; all models of an arm have the"):
        chain(arms=arms)


def test_it_is_read_only():
    contagion = chain().contagion
    with pytest.raises(ValueError, match="read-only"):
        contagion.neighbours.data[0] = 7
