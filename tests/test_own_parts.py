"""Parts of one's own: the checks anybody can call, a simulator, and a package that adds parts."""

import sys
from pathlib import Path

import numpy as np
import pytest

import sequoia
from sequoia import Budget, Simulator
from sequoia.errors import ProblemError
from sequoia.plugins import Parts
from sequoia.policies import FunctionPolicy, Random
from sequoia.problem.families import FAMILIES
from sequoia.testing import check_environment, check_policy, check_space

PLUGIN = Path(__file__).parents[1] / "examples" / "plugin"
TRAP = sequoia.make("trap")


@pytest.mark.parametrize("family", FAMILIES)
def test_the_spaces_of_the_library_pass(family):
    few = {} if family == "trap" else {"arms": 16 if family == "wildfire" else 6}
    check_space(sequoia.make(family, **few).space)


class Draws(Budget):
    """A budget that draws more than is allowed."""

    def sample(self, rng):
        return sequoia.Decision(np.ones(3, np.int8), np.empty(0, np.int8))


class Forgets(Budget):
    """A budget whose best action is not the best."""

    def argmax_linear(self, weights):
        return np.zeros(3, np.int8)


@pytest.mark.parametrize(
    ("space", "words"),
    [(Draws([1] * 3, 2), "a draw of Draws breaks"), (Forgets([1] * 3, 2), "by argmax_linear")],
)
def test_a_space_that_breaks_a_promise_is_named(space, words):
    with pytest.raises(ProblemError, match=words):
        check_space(space)


def remembering(environment):
    """Return a policy that acts on every second call only."""
    calls = []

    def decide(state, step, rng):  # noqa: ARG001
        calls.append(step)
        return environment.space.certify([len(calls) % 2, 0])

    return FunctionPolicy("remembering", decide)


def test_policies_pass_unless_they_remember_earlier_episodes():
    check_policy(Random, TRAP)
    with pytest.raises(ProblemError, match="alone than beside others"):
        check_policy(remembering, TRAP)


def pumps(**changes):
    """Return three pumps that wear out; a repair makes one like new."""

    def move(wear, repaired, luck):
        after = np.where(repaired == 1, 0, np.minimum(wear + (luck < 0.4), 3))
        return (after < 3).sum(axis=1), after

    options = {"n_noise": 3, "horizon": 8} | changes
    return Simulator(
        "pumps",
        Budget(np.ones(3), 1, ["a", "b", "c"]),
        lambda rng, count: rng.integers(0, 4, (count, 3)),
        options.pop("move", move),
        **options,
    )


def test_a_simulator_is_an_environment():
    simulator = pumps()
    check_environment(simulator)
    check_policy(Random, simulator)
    assert simulator.features(np.array([[0, 3, 1]])).tolist() == [[0, 1, 1 / 3]]
    assert pumps(version="2").fingerprint != simulator.fingerprint
    found = sequoia.evaluate(simulator, ["idle", "lookahead"], episodes=10, rollouts=32)
    assert found.paired("lookahead", "idle").low > 0


def test_arrays_of_another_library_become_those_of_numpy():
    class Foreign:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.values, dtype)

    def move(wear, repaired, luck):  # noqa: ARG001
        return Foreign(wear.sum(axis=1)), Foreign(wear)

    check_environment(pumps(move=move))


def test_a_simulator_with_luck_of_its_own_is_refused():
    rng = np.random.default_rng(0)
    simulator = pumps(move=lambda wear, _, __: (wear.sum(axis=1), rng.integers(0, 4, wear.shape)))
    with pytest.raises(ProblemError, match="all luck comes from noise"):
        check_environment(simulator)


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Install the example package, for this test."""
    import tomllib

    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    about = tmp_path / "sequoia_example_plugin-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0\n")
    lines = [
        f"[{group}]\n" + "\n".join(f"{name} = {value}" for name, value in points.items())
        for group, points in project["entry-points"].items()
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(PLUGIN / "src")
    monkeypatch.delitem(sys.modules, "sequoia_example_plugin", raising=False)


@pytest.mark.usefixtures("plugin")
def test_a_package_adds_a_policy_and_a_space_by_being_installed():
    neediest = Parts("sequoia.policies", {})["neediest"]
    check_policy(neediest, TRAP)
    problem = sequoia.make("standard", arms=6, budget=2)
    chosen = neediest(problem).decide(np.array([3, 0, 3, 0, 3, 3]), 0, None, 0).decision
    assert chosen.action.tolist() == [0, 1, 0, 1, 0, 0]
    space = Parts("sequoia.spaces", {})["pairs"](["a", "b", "c", "d"], [(0, 1)], 3)
    check_space(space)
    assert len(space.enumerate(100)) == 7
    assert len(type(space).from_tables(space.to_tables()).enumerate(100)) == 7


def test_names_and_policies_of_ones_own_are_evaluated_together():
    problem = sequoia.make("standard", arms=4, budget=1, horizon=5)
    neediest = FunctionPolicy(
        "neediest", lambda state, *_: problem.space.certify(np.eye(4, dtype=int)[state.argmin()])
    )
    found = sequoia.evaluate(problem, ["random", neediest], episodes=6)
    assert list(found.names) == ["random", "neediest"]
    alone = sequoia.evaluate(problem, {"neediest": lambda _: neediest}, episodes=6)
    assert found.mean("neediest") == alone.mean("neediest")
    with pytest.raises(ProblemError, match="neediest is named twice"):
        sequoia.evaluate(problem, [neediest, neediest])


def test_a_simulator_in_jax():
    jax = pytest.importorskip("jax", reason="jax is not installed")

    @jax.jit
    def move(wear, repaired, luck):
        after = jax.numpy.where(repaired == 1, 0, jax.numpy.minimum(wear + (luck < 0.4), 3))
        return (after < 3).sum(axis=1), after

    check_environment(pumps(move=move))
    quick, slow = (sequoia.evaluate(each, ["random"], 5) for each in (pumps(move=move), pumps()))
    assert quick.mean("random") == slow.mean("random")
