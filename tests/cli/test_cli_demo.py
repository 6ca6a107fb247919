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
    """The demo on fewer arms."""
    # By name: the package's attribute "demo" is the command, not the module.
    module = importlib.import_module("sequoia.cli.demo")
    for name, value in (("_ARMS", 8), ("_EPISODES", 4), ("_ROUNDS", 1)):
        monkeypatch.setattr(module, name, value)


@pytest.mark.usefixtures("small")
def test_the_demo_trains_compares_and_reports(command):
    outcome = command("demo", "--output", "out/demo")
    assert outcome.code == 0
    folder = Path("out/demo")
    assert "No policy earns more than" in outcome.out
    found = json.loads((folder / "evaluation.json").read_text())["policies"]
    assert found["sequoia"]["mean"] > 1.2 * found["random"]["mean"]
    page = (folder / "report.html").read_text()
    assert "sequoia" in page
    assert page.count("data:image/png") + page.count("<svg") >= 3
    trained = (folder / "model" / "weights.safetensors").stat().st_mtime_ns
    assert command("demo", "--output", "out/demo").code == 0
    assert (folder / "model" / "weights.safetensors").stat().st_mtime_ns == trained
