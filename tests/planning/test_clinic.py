"""The worked example of the documentation: a ward of thirty, from its files to this week's plan."""

import csv
import re
import shlex
from pathlib import Path

import pytest

from sequoia import load
from sequoia.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "bring-your-own-problem.md"
BLOCK = re.compile(r"^```(\w*) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def ward(tmp_path_factory) -> Path:
    """The folder in which somebody copied every file and ran every line of the section."""
    folder = tmp_path_factory.mktemp("clinic")
    section = PAGE.read_text(encoding="utf-8").split("## A ward of thirty")[1].split("\n## ")[0]
    (folder / "ward").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        printed = []
        for language, file, content in BLOCK.findall(section):
            if file:
                Path(file).write_text(content, encoding="utf-8")
            elif language == "sh":
                for line in content.splitlines():
                    with pytest.raises(SystemExit) as stop:
                        main(shlex.split(line)[1:])
                    assert stop.value.code == 0, line
            else:
                printed.append(content)
    (folder / "shown").mkdir()
    for number, text in enumerate(printed):
        (folder / "shown" / f"{number}.txt").write_text(text)
    return folder


def test_it_is_as_large_as_it_says(ward):
    problem = load(ward / "ward")
    assert problem.arms.n_arms == 30
    assert len(problem.space.base.worker_names) == 6
    assert len(problem.space.rules.groups["rural"]) == 12


def test_the_plan_keeps_the_rules_and_is_the_one_that_is_shown(ward):
    with (ward / "plan.csv").open() as file:
        rows = list(csv.DictReader(file))
    problem = load(ward / "ward")
    visited = [row["where"] for row in rows]
    rural = set(problem.space.rules.groups["rural"])
    assert len(visited) == len(set(visited)) <= 10
    assert "Ada" in visited
    assert sum(name in rural for name in visited) >= 0.4 * len(visited)
    assert "Nurse Berta" not in {row["who"] for row in rows}
    assert len({(row["who"], row["when"]) for row in rows}) == len(rows)
    shown = (ward / "shown" / "1.txt").read_text()
    for row in rows:
        assert re.search(rf"{row['who']} +{row['when']} +{row['where']} +visit", shown)


def test_the_evaluation_is_the_one_that_is_shown(ward):
    from sequoia.evaluation import load_evaluation

    found = load_evaluation(ward / "ward.json")
    shown = (ward / "shown" / "0.txt").read_text()
    for name in found.names:
        assert re.search(rf"{name} +{re.escape(str(found.mean(name)))} ", shown)
    assert found.paired("price", "myopic").low > 0


def test_the_page_with_pictures_is_there(ward):
    text = (ward / "ward.html").read_text()
    assert text.count("<img alt=") == 7
    assert "at least 40% from rural" in text
