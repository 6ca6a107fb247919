"""Look for untrue proofs: networks with weights over twelve orders of magnitude, by brute force.

    python benchmarks/hunt_wide_networks.py --first 0 --count 2000

Prints each network in which `Milp` fails, its bound is too low or its proof is untrue; then, by
orders of magnitude, how many there were and how many were proven.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from sequoia.errors import SequoiaError
from sequoia.optimize import Milp

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "optimize"))
from wide_networks import largest_value, wide_network


def main() -> None:
    parser = argparse.ArgumentParser(description="Look for untrue proofs.")
    parser.add_argument("--first", type=int, default=0, help="seed to begin with")
    parser.add_argument("--count", type=int, default=2_000, help="number of networks")
    chosen = parser.parse_args()
    seen: Counter[int] = Counter()
    proven: Counter[int] = Counter()
    wrong = 0
    for seed in range(chosen.first, chosen.first + chosen.count):
        columns, net, orders = wide_network(seed)
        best = largest_value(columns, net)
        seen[orders] += 1
        try:
            found = Milp(columns).best(net)
        except SequoiaError as error:
            wrong += 1
            print(f"seed {seed}, {orders} orders: {error}", flush=True)
            continue
        # What doubles resolve of a value whose terms are so large.
        rounding = 1e-9 * abs(best) + 1e-12 * net.size_of_terms()[0]
        proven[orders] += int(found.is_proven[0])
        is_short = found.is_proven[0] and found.values[0] < best - 4e-6 * abs(best) - rounding
        if is_short or found.bounds[0] < best - rounding:
            wrong += 1
            said = f"value {found.values[0]}, bound {found.bounds[0]}, best {best}"
            print(f"seed {seed}, {orders} orders: {said}", flush=True)
    for orders in sorted(seen):
        print(f"{orders:2d} orders: {seen[orders]} networks, {proven[orders]} proven")
    print(f"{wrong} of {chosen.count} wrong")


if __name__ == "__main__":
    main()
