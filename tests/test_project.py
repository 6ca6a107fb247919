"""What a public project promises beside its code: versions, workflows, the changelog."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import same_version

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
FORMS = sorted(ROOT.glob(".github/ISSUE_TEMPLATE/*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)


def content(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def jobs():
    return [
        (path.stem, name, job) for path in WORKFLOWS for name, job in content(path)["jobs"].items()
    ]


JOBS = pytest.mark.parametrize(
    "job", [job for *_, job in jobs()], ids=[f"{file}-{name}" for file, name, _ in jobs()]
)


def test_one_version_is_written_everywhere():
    assert same_version.differences() == []


def test_a_tag_of_another_version_is_refused():
    assert any("the tag is v9.9.9" in line for line in same_version.differences("v9.9.9"))


def test_the_changelog_keeps_its_form():
    """What is not released yet may still be in the words of whoever wrote it."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first, *others = re.findall(r"^## (.+)$", text, re.M)
    assert first == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", other) for other in others)
    _, _, *released = re.split(r"^## .+$", text, flags=re.M)
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    titles = re.findall(r"^### (.+)$", "".join(released), re.M)
    assert {title.partition(":")[0] for title in titles} <= kinds


@JOBS
def test_a_job_says_where_it_runs_and_how_long_at_most(job):
    assert job["runs-on"]
    assert job["timeout-minutes"] <= 60
    assert all(("run" in step) != ("uses" in step) for step in job["steps"])


@JOBS
def test_what_a_job_uses_has_a_version(job):
    for step in job["steps"]:
        assert "uses" not in step or re.fullmatch(
            r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step["uses"]
        )


@JOBS
def test_what_a_job_calls_is_there(job):
    for line in [step["run"] for step in job["steps"] if "run" in step]:
        for target in re.findall(r"\bmake ([\w-]+)", line):
            assert target in TARGETS
        for script in re.findall(r"python ([\w/]+\.py)", line):
            assert (ROOT / script).is_file()
        for package in re.findall(r"--editable (\w+)", line):
            assert (ROOT / package / "pyproject.toml").is_file()
        for extra in re.findall(r"\.\[([\w,]+)\]", line):
            assert set(extra.split(",")) <= PROJECT["optional-dependencies"].keys()


def test_no_job_may_write_unless_it_says_so():
    for path in WORKFLOWS:
        assert content(path)["permissions"] == {"contents": "read"}
    publishing = [job for _, name, job in jobs() if name == "publish"]
    assert [job["permissions"] for job in publishing] == [{"id-token": "write"}]


def test_tests_run_on_three_systems_with_every_python_from_the_oldest_on():
    (matrix,) = [job["strategy"]["matrix"] for _, name, job in jobs() if name == "tests"]
    assert [system.partition("-")[0] for system in matrix["os"]] == ["ubuntu", "macos", "windows"]
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"
    said = [line.rpartition(" :: ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line]
    assert said == matrix["python"]


@pytest.mark.parametrize("form", FORMS, ids=[form.stem for form in FORMS])
def test_a_form_for_issues_is_one(form):
    fields = content(form)
    if form.stem == "config":
        assert fields.keys() == {"blank_issues_enabled"}
        return
    assert {"name", "description", "body"} <= fields.keys()
    questions = [field for field in fields["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in questions}) == len(questions)
    assert all(field["attributes"]["label"] for field in questions)
