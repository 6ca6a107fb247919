"""`sequoia verify`, and the certificates that `bound` and `plan` write."""

import json
from pathlib import Path


def test_bound_and_plan_write_certificates_that_verify_says_hold(command) -> None:
    assert command("make", "capacity", "--arms", "6", "--workers", "2", "-o", "p").code == 0
    assert command("make", "capacity", "--arms", "5", "--workers", "2", "-o", "other").code == 0
    out = command("bound", "p", "--kind", "hull", "--certificate", "bound.json").out
    assert "bound.json, a proof of" in out
    Path("today.csv").write_text("arm,state\n" + "".join(f"arm {j},0\n" for j in range(6)))
    planned = command("plan", "p", "--state", "today.csv", "--certificate", "plan.json")
    assert "Wrote plan.json." in planned.out
    found = command("verify", "bound.json", "plan.json", "--problem", "p")
    assert found.code == 0
    assert "no policy earns more than" in found.out
    assert "no action is worth more than" in found.out

    other = command("verify", "bound.json", "--problem", "other")
    assert (other.code, "another problem" in other.out) == (1, True)
    content = json.loads(Path("bound.json").read_text())
    Path("low.json").write_text(json.dumps(content | {"total": 0.9 * content["total"]}))
    low = command("verify", "low.json", "bound.json")
    assert (low.code, "NOT VERIFIED: the proof shows" in low.out) == (1, True)
    assert "no policy earns more than" in low.out


def test_what_cannot_be_verified_is_one_line(command) -> None:
    Path("no.json").write_text("{}")
    assert command("verify", "no.json").code == 2
    assert command("verify", "missing.json").code == 2
    assert command("make", "epidemic", "-o", "e").code == 0
    said = command("bound", "e", "--certificate", "c.json")
    assert said.code == 2
    assert "have no certificate" in said.err
    assert not Path("c.json").exists()
