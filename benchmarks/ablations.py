"""What each part of the one learner is worth: it is taken out, and training is run again.

    python benchmarks/ablations.py --seeds 5 --jobs 2

Prints a table in Markdown for docs/ablations.md: what the policy earns without the part, in % of
what the whole learner earns on the same row, mean over seeds with a 95 % interval. Costs are turned
round, so that more is better everywhere. All are judged by 400 fresh episodes of the same luck.
Each training is a line on stderr as it ends.
"""

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from experiments.blind import Blind
from experiments.field import maintenance
from sequoia.learn import actor, learner, pairs
from sequoia.learn.guard import Guard
from sequoia.learn.improvement_config import ImprovementConfig
from sequoia.learn.learner import Effort, PolicyImprovement
from sequoia.problem import Dependencies, Environment
from sequoia.problem.families import make
from sequoia.rng import stream

EPISODES, ROUNDS = 400, 12
ROWS: dict[str, Callable[[int], Environment]] = {
    "capacity 40": lambda seed: make("capacity", arms=40, seed=100 + seed),
    "scheduling 20": lambda seed: make("scheduling", arms=20, seed=100 + seed),
    "epidemic 30": lambda seed: make("epidemic", arms=30, seed=seed),
    "1-of-4": lambda seed: maintenance.make(k=1),  # noqa: ARG005
}


def no_critic() -> list:
    """Comparisons see rewards alone."""
    return [mock.patch.object(pairs.Pairs, "advantages", lambda own, *_: own.gained)]


def no_pairs() -> list:
    """Candidate and policy's action meet different luck."""
    whole = pairs.compare

    def apart(environment, act, states, steps, actions, tried, *rest):
        size = environment.n_noise

        class OwnLuck:
            horizon, n_noise = environment.horizon, size
            rng = np.random.default_rng(0)

            def step(self, states, actions, noise):
                return environment.step(states, actions, self.rng.random(noise.shape))

        return whole(OwnLuck(), act, states, steps, actions, tried, *rest)

    return [mock.patch.object(learner, "compare", apart)]


def no_mask() -> list:
    """Every column is scored by all components."""
    find = learner.discover

    def everything(*given):
        found = find(*given)
        return Dependencies(found.components, np.ones(found.columns.shape), found.kinds)

    return [mock.patch.object(learner, "discover", everything)]


def no_price_of_places() -> list:
    """A chosen column pays nothing for what it takes from others."""
    return [mock.patch.object(PolicyImprovement, "_find_prices", return_value=None)]


def no_sharing() -> list:
    """Columns share nothing."""
    return [mock.patch.object(actor, "_SHARED_RIDGE", 1e12)]


def no_own() -> list:
    """No column has a correction of its own."""
    return [mock.patch.object(actor, "_OWN_RIDGE", 1e12)]


def with_luck() -> list:
    """The paired test leaves all luck in."""
    whole = Guard.test
    plain = lambda own, ours, theirs, critic, luck: whole(own, ours, theirs, None, luck)  # noqa: ARG005, E731
    return [mock.patch.object(Guard, "test", plain)]


def stays() -> list:
    """Play goes on with the policy that is kept, not with the one that was tried."""
    whole = PolicyImprovement._judge

    def judge(own, challenger, critic):
        won = whole(own, challenger, critic)
        own.current = own.kept
        return won

    return [mock.patch.object(PolicyImprovement, "_judge", judge)]


def no_guard() -> list:
    """Every round's policy is kept."""
    whole = Guard.test

    def always(*given):
        _, gain, held = whole(*given)
        return True, gain, held

    return [mock.patch.object(Guard, "test", always)]


def _only(*kept: Effort) -> list:
    return [mock.patch.object(PolicyImprovement, "efforts", property(lambda own: list(kept)))]  # noqa: ARG005


ABLATIONS: dict[str, Callable[[], list]] = {
    "the whole learner": list,
    "no critic": no_critic,
    "no pairs: different luck": no_pairs,
    "no price of places": no_price_of_places,
    "no mask": no_mask,
    "no sharing": no_sharing,
    "no own corrections": no_own,
    "luck is left in the test": with_luck,
    "play stays with what is kept": stays,
    "depth 1 only, no networks": lambda: _only(Effort(1, False)),
    "depth 12 only, no networks": lambda: _only(Effort(12, False)),
    "no networks, no ReLU part": lambda: _only(Effort(1, False), Effort(12, False)),
    "no guard": no_guard,
    "structure declared": list,
}


def earned(row: str, what: str, seed: int) -> float:
    """Return what the policy earns per step."""
    torch.set_num_threads(1)
    environment = ROWS[row](seed)
    if what != "structure declared":
        environment = Blind(environment)
    patches = ABLATIONS[what]()
    for one in patches:
        one.start()
    try:
        found = PolicyImprovement(environment, ImprovementConfig(rounds=ROUNDS), seed)
        found.begin()
        while not found.is_done:
            found.play_round()
    finally:
        for one in patches:
            one.stop()
    judge = replace(found._guard, episodes=EPISODES)
    return float(judge.earned(found._act_by(found.kept), stream(7, "ablation"))[0].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rows", default=",".join(ROWS))
    options = parser.parse_args()
    chosen, seeds, known = options.rows.split(","), range(options.seeds), {}
    cells = [(row, what, seed) for seed in seeds for row in chosen for what in ABLATIONS]
    with ProcessPoolExecutor(options.jobs) as pool:
        for cell, value in zip(cells, pool.map(earned, *zip(*cells, strict=True)), strict=True):
            known[cell] = value
            print(*cell, f"{value:.4f}", sep=",", file=sys.stderr, flush=True)
    print("| " + " | ".join(["", *chosen]) + " |")
    print("|---" * (1 + len(chosen)) + "|")
    for what in ABLATIONS:
        texts = [what]
        for row in chosen:
            whole = np.array([known[row, "the whole learner", s] for s in range(options.seeds)])
            own = np.array([known[row, what, s] for s in range(options.seeds)])
            if what == "the whole learner":
                texts.append(f"{own.mean():.2f} per step")
                continue
            share = 100 * (1 + (own - whole) / np.abs(whole))
            half = 1.96 * share.std(ddof=1) / np.sqrt(len(share)) if len(share) > 1 else np.nan
            texts.append(f"{share.mean():.1f} ± {half:.1f}")
        print("| " + " | ".join(texts) + " |")


if __name__ == "__main__":
    main()
