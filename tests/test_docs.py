"""What the documentation says is true: links resolve, examples run, options exist."""

import inspect
import pkgutil
import re
import shlex
from fnmatch import fnmatch
from pathlib import Path

import pytest

import sequoia
from sequoia import errors
from sequoia.cli import main
from sequoia.problem.families import EVERY

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
# Settings come last in a page's name, and each is the page of a family.
SETTINGS = [f"docs/settings/{family}.md" for family in EVERY]
# Fenced blocks: language, maybe a file name, content.
BLOCK = re.compile(r"^```(\w*) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(name: str, language: str) -> list[tuple[str, str]]:
    found = BLOCK.findall((ROOT / name).read_text(encoding="utf-8"))
    return [(file, content) for kind, file, content in found if kind == language]


def commands(name: str) -> list[list[str]]:
    lines = [line for _, content in blocks(name, "sh") for line in content.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("sequoia ")]


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", NAMES)
def test_links_resolve(name):
    page = ROOT / name
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{name} links to {target}"
        assert not anchor or anchor in anchors(file), f"{name} links to {target}"


def test_every_page_is_linked_from_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert name == "README.md" or f"]({name})" in text


def test_every_page_is_on_the_site():
    """In the contents, by name or by a pattern."""
    text = (ROOT / "docs/sphinx/contents.txt").read_text(encoding="utf-8")
    patterns = [line for line in text.splitlines() if line and line[0] not in "`:"]
    for name in [*NAMES, *(f"examples/{file.name}" for file in ROOT.glob("examples/*.py"))]:
        page = name.rpartition(".")[0]
        assert page == "README" or any(fnmatch(page, pattern) for pattern in patterns), name


def test_every_room_is_in_the_reference():
    pages = "".join(page.read_text() for page in ROOT.glob("docs/reference/*.rst"))
    for room in pkgutil.iter_modules(sequoia.__path__):
        if room.ispkg and room.name != "cli":
            assert f".. room:: sequoia.{room.name}\n" in pages


def test_pictures_are_small_and_used():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for picture in ROOT.glob("docs/images/*"):
        assert picture.stat().st_size < 200_000
        assert f"images/{picture.name})" in text


@pytest.mark.parametrize("name", NAMES)
def test_what_a_page_shows_can_be_done(name, tmp_path, monkeypatch, capsys):
    """Write the files of a page, run its commands, then its Python, all in one folder."""
    monkeypatch.chdir(tmp_path)
    for language in ("toml", "csv"):
        for file, content in blocks(name, language):
            if file:
                Path(file).parent.mkdir(exist_ok=True)
                Path(file).write_text(content, encoding="utf-8")
    for arguments in commands(name):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0, (arguments, capsys.readouterr().err)
    space: dict[str, object] = {}
    for _, content in blocks(name, "python"):
        exec(compile(content, name, "exec"), space)


def test_the_readme_example_is_ten_lines_or_so_and_prints():
    [(_, content)] = blocks("README.md", "python")
    assert len([line for line in content.splitlines() if line.strip()]) <= 12
    assert commands("README.md")[0][:2] == ["make", "capacity"]


def test_the_clinic_that_asks_for_too_much(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = "docs/bring-your-own-problem.md"
    for language in ("toml", "csv"):
        for file, content in blocks(page, language):
            Path(file).parent.mkdir(exist_ok=True)
            Path(file).write_text(content, encoding="utf-8")
    toml = Path("clinic/problem.toml")
    toml.write_text(toml.read_text() + 'must = ["Grace", "Katherine"]\n')
    with pytest.raises(SystemExit) as stop:
        main(["check", "clinic"])
    assert stop.value.code == 2
    *_, last = capsys.readouterr().out.splitlines()
    assert last in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_names_every_knob_and_shows_what_is_printed(name, tmp_path, monkeypatch, capsys):
    text = (ROOT / name).read_text(encoding="utf-8")
    family = Path(name).stem
    for knob in inspect.signature(EVERY[family]).parameters:
        assert f"| `--{knob.replace('_', '-')}` |" in text
    monkeypatch.chdir(tmp_path)
    for arguments in commands(name)[:2]:
        with pytest.raises(SystemExit):
            main(arguments)
    printed = capsys.readouterr().out.splitlines()[1:]
    shown = text.split("```\n" + printed[0])[1].split("```")[0].splitlines()[1:]
    assert shown == [line for line in printed[1:] if not line.startswith(("  fingerprint", "Drew"))]


def test_every_kind_of_error_has_a_section_that_says_what_mends_it():
    text = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (\w+)$", text, re.MULTILINE)
    kinds = {kind.__name__ for kind in vars(errors).values() if inspect.isclass(kind)}
    assert kinds - {"SequoiaError"} <= set(titles)


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("docs/doors/")])
def test_a_door_is_a_path_of_a_few_pages_in_order(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    steps = re.findall(r"^(\d+)\. \[", text, re.MULTILINE)
    assert [int(step) for step in steps] == list(range(1, len(steps) + 1))
    assert 5 <= len(steps) <= 8
    assert f"]({name})" in (ROOT / "README.md").read_text(encoding="utf-8")


# Pages for readers at a door; those of details may be denser.
FOR_READERS = [name for name in NAMES if name.startswith("docs/doors/")] + [
    "docs/errors.md",
    "docs/comparison.md",
    "docs/how-it-learns.md",
]


@pytest.mark.parametrize("name", FOR_READERS)
def test_sentences_for_readers_are_short(name):
    """On average at most 18 words, and none over 45."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$|^\|.*$", "", (ROOT / name).read_text(), flags=re.S | re.M)
    text = re.sub(r"\]\([^)]*\)|`[^`]*`|\$[^$]*\$", "x", text)
    parts = re.split(r"[.!?:](?:\s|$)|\n\n|^\s*(?:-|\d+\.) ", text, flags=re.M)
    sizes = [len(part.split()) for part in parts if part.split()]
    assert max(sizes) <= 45
    assert sum(sizes) / len(sizes) <= 18
