from pathlib import Path

from sequoia.problem.families import FAMILIES


def test_the_demo_plays_and_draws_every_family(command):
    outcome = command("demo", "--output", "out/demo")
    assert outcome.code == 0
    assert max(map(len, outcome.out.splitlines())) <= 80
    pictures = {file.stem: file.stat().st_size for file in Path("out/demo").glob("*.png")}
    for family in FAMILIES:
        assert f" {family} " in outcome.out
        assert pictures[family] > 3_000
        assert pictures[f"{family}-episode"] > 3_000
        assert Path(f"out/demo/{family}.npz").exists()
    assert {"underground", "interventions-links"} <= set(pictures)
