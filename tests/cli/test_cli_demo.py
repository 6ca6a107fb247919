import importlib
import json
from pathlib import Path

import pytest

from sequoia.problem.families import FAMILIES


def test_the_gallery_plays_and_draws_every_family(command):
    outcome = command("gallery", "--output", "out/gallery")
    assert outcome.code == 0
    assert max(map(len, outcome.out.splitlines())) <= 80
    pictures = {file.stem: file.stat().st_size for file in Path("out/gallery").glob("*.png")}
    for family in FAMILIES:
        assert f" {family} " in outcome.out
        assert pictures[family] > 3_000
        assert pictures[f"{family}-episode"] > 3_000
        assert Path(f"out/gallery/{family}.npz").exists()
    assert {"underground", "interventions-links"} <= set(pictures)


@pytest.fixture
def small(monkeypatch):
    """The demo with fewer people."""
    # By name: the package's attribute "demo" is the command, not the module.
    module = importlib.import_module("sequoia.cli.demo")
    people = module._PEOPLE[:8]
    for name, value in (("_PEOPLE", people), ("_EPISODES", 10), ("_ROUNDS", 1)):
        monkeypatch.setattr(module, name, value)


@pytest.mark.usefixtures("small")
def test_the_demo_trains_compares_and_writes_pages(command):
    outcome = command("demo", "--output", "out/demo")
    assert outcome.code == 0
    folder = Path("out/demo")
    assert "No policy earns more than" in outcome.out
    found = json.loads((folder / "evaluation.json").read_text())["policies"]
    assert list(found) == ["random", "myopic", "lrie", "price", "sequoia"]
    assert found["sequoia"]["mean"] > 1.1 * found["random"]["mean"]
    page = (folder / "demo.html").read_text()
    assert page.count("<h2>") == 4
    assert page.count("<img") >= 3
    assert "Ada" in page
    assert "lrie" in (folder / "report.html").read_text()
    assert (folder / "comparison.png").stat().st_size > 3_000
    trained = (folder / "model" / "weights.safetensors").stat().st_mtime_ns
    assert command("demo", "--output", "out/demo").code == 0
    assert (folder / "model" / "weights.safetensors").stat().st_mtime_ns == trained
