import pytest

from sequoia.errors import FileError
from sequoia.sweep import make_plan, read_plan

PLAN = """
policies = ["random", "myopic"]
seeds = 2
episodes = 3

[[problems]]
family = "capacity"
arms = [8, 10]
workers = 3

[[problems]]
family = "routing"
seeds = [7]
bound = "none"
policies = ["random"]
decision_seconds = 1
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    return read_plan(tmp_path / "plan.toml")


def test_lists_make_a_grid_and_problems_may_differ(plan):
    cells = plan.cells()
    assert [(c.family, c.knobs.get("arms"), c.seed) for c in cells] == [
        ("capacity", 8, 1),
        ("capacity", 8, 2),
        ("capacity", 10, 1),
        ("capacity", 10, 2),
        ("routing", None, 7),
    ]
    assert [entry.name for entry in cells[0].entries] == ["random", "myopic"]
    assert [entry.name for entry in cells[-1].entries] == ["random"]
    assert (cells[0].bound, cells[-1].bound) == ("auto", "none")
    assert (cells[0].decision_seconds, cells[-1].decision_seconds) == (10.0, 1.0)
    problem = cells[2].problem()
    assert problem.arms.n_arms == 10
    assert problem.name.endswith("3 workers, seed 1")


def test_a_cell_is_named_by_everything_that_its_numbers_depend_on():
    base = {"policies": ["random"], "problems": [{"family": "capacity", "arms": 8}]}
    (cell,) = make_plan(base, "plan").cells()
    assert cell.key.startswith("capacity-8-seed1-")
    for change in (
        {"policies": ["random", "myopic"]},
        {"episodes": 3},
        {"bound": "hull"},
        {"decision_seconds": 2.0},
        {"problems": [{"family": "capacity", "arms": 8, "horizon": 5}]},
    ):
        (other,) = make_plan(base | change, "plan").cells()
        assert other.key != cell.key, change
    # The default, said aloud, is the same cell.
    said = base | {"problems": [{"family": "capacity", "arms": 8, "horizon": 20}] * 2}
    assert [one.key for one in make_plan(said, "plan").cells()] == [cell.key]


def test_another_version_makes_another_cell(plan, monkeypatch):
    before = plan.cells()[0].key
    monkeypatch.setattr("sequoia.sweep.cell.__version__", "99")
    assert plan.cells()[0].key != before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("policies = [", "cannot be read as TOML"),
        ('policies = ["random"]', "problems: Field required"),
        ('policies = []\n[[problems]]\nfamily = "trap"', "policies: Tuple should have at least 1"),
        ('polices = ["random"]\n[[problems]]\nfamily = "trap"', "policies: Field required"),
        (
            'policies = ["random"]\nepisode = 3\n[[problems]]\nfamily = "trap"',
            "episode: Extra inputs are not permitted, not 3; perhaps 'episodes' is meant.",
        ),
        ('policies = ["nonsense"]\n[[problems]]\nfamily = "trap"', "no policy 'nonsense'"),
        ('policies = ["idle", "idle"]\n[[problems]]\nfamily = "trap"', "'idle' is named twice"),
        ('policies = ["idle"]\n[[problems]]\nfamily = "tarp"', "problems[0]: there is no family"),
        (
            'policies = ["idle"]\n[[problems]]\nfamily = "capacity"\narmz = 3',
            "problems[0]: capacity has no knob 'armz'; known: arms, workers",
        ),
        (
            'policies = ["idle"]\n[[problems]]\nfamily = "capacity"\narms = [8, "9"]',
            "problems[0].arms[1]: Input should be a valid integer, not '9'.",
        ),
        (
            'policies = ["idle"]\n[[problems]]\nfamily = "capacity"\nseed = 3',
            "seed is not a knob here; write seeds = [...]",
        ),
        ('policies = ["idle"]\nseeds = 0\n[[problems]]\nfamily = "trap"', "seeds: "),
        ('policies = ["idle"]\nseeds = [-1]\n[[problems]]\nfamily = "trap"', "seeds[0]: "),
        ('policies = ["idle"]\nseeds = [1, 1]\n[[problems]]\nfamily = "trap"', "1 is named twice"),
        ('policies = ["idle"]\nepisodes = 0\n[[problems]]\nfamily = "trap"', "episodes: "),
        ('policies = ["idle"]\nbound = "x"\n[[problems]]\nfamily = "trap"', "bound: "),
        (
            'policies = ["x"]\n[[trained]]\nname = "x"\npolicy = "idle"\n'
            '[[problems]]\nfamily = "trap"',
            "trained[0]: idle is not trained",
        ),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, content, words):
    path = tmp_path / "plan.toml"
    path.write_text(content)
    with pytest.raises(FileError) as caught:
        read_plan(path)
    assert str(caught.value).startswith(str(path))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_plan_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        read_plan(tmp_path / "nowhere.toml")
