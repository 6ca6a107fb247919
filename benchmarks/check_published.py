"""Published bounds, certified: ``python benchmarks/check_published.py --arms 20 --seeds 1 2 3``.

`docs/results/numbers.csv` says which bound no policy exceeds on each problem of the paper. The
problem is made again from its family, size and seed, and is the published one by its fingerprint.
`lp` and `hull` bounds are found and certified, and the lower certificate is verified by
`sequoia_verify`. A published bound holds where what is proven is not above it.
"""

import argparse
import csv
import json
import time
from pathlib import Path

from sequoia.bounds import relax
from sequoia.certificates import bound_certificate
from sequoia.problem.families import make
from sequoia_verify import verify

RESULTS = Path(__file__).parent.parent / "docs" / "results" / "numbers.csv"
# Published numbers and proofs agree up to the gap that hull bounds end at.
GAP = 2e-4


def published(arms: int, seeds: list[int]) -> dict[tuple[str, int], tuple[str, float]]:
    """Return the fingerprint and the bound per step of each problem."""
    with RESULTS.open(newline="") as file:
        return {
            (row["family"], int(row["seed"])): (row["problem"], float(row["bound"]))
            for row in csv.DictReader(file)
            if row["arms"] == str(arms) and int(row["seed"]) in seeds and row["bound"]
        }


def main() -> None:
    parser = argparse.ArgumentParser(description="Certify published bounds.")
    parser.add_argument("--arms", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="*", default=[1])
    parser.add_argument("--families", nargs="*")
    parser.add_argument("--nodes", type=int, default=200)
    chosen = parser.parse_args()
    for (family, seed), (fingerprint, claimed) in published(chosen.arms, chosen.seeds).items():
        if chosen.families and family not in chosen.families:
            continue
        problem = make(family, arms=chosen.arms, seed=seed)
        if problem.fingerprint != fingerprint or not problem.is_decoupled:
            print(f"{family} {chosen.arms}, seed {seed}: another problem, or arms that interact")
            continue
        began, proven = time.perf_counter(), {}
        for kind in ("lp", "hull"):
            content, shown = bound_certificate(problem, relax(problem, kind), chosen.nodes)
            verify(json.dumps(content))
            proven[kind] = shown / problem.horizon
        best = min(proven.values())
        holds = best <= claimed * (1 + GAP)
        said = ", ".join(f"{kind} {value:.6g}" for kind, value in proven.items())
        verdict = "holds" if holds else "not shown"
        spent = time.perf_counter() - began
        print(
            f"{family} {chosen.arms}, seed {seed}: published {claimed:.6g}, proven {said}: "
            f"{verdict}; {spent:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
