"""What each element of the preset `paper` is worth, in per cent of the price policy.

    python benchmarks/bench_paper_preset.py --family capacity --seeds 1,2 --rounds 0

Every line trains with one setting changed and plays 20 episodes that it has not seen; the price
policy plays the same. `--rounds 0` is the warm start alone, `--rounds 100` the whole preset.
"""

import argparse
import time
from functools import partial

import torch

import sequoia
from sequoia.learn import make_config
from sequoia.learn.q_learning import QLearning
from sequoia.optimize import Auto
from sequoia.policies import Sequoia, make_policy
from sequoia.simulate import Scenarios, rollout

# Never validated on the way: only the end counts here.
QUIET = {"selection.n_eval_episodes": 1, "selection.eval_freq": 1000}
VARIANTS = {
    "preset paper": {},
    "first weights as He et al.": {"network.initial": "he"},
    "states of random play": {"warm_start.strategic": False},
    "a rate that does not fall": {"lr_decay": 1.0},
    "gradients clipped at 100": {"max_grad_norm": 100.0},
    "layers of 16 and 32": {"network.hidden": (16, 32)},
    "before it was mended": {
        "network.initial": "he",
        "lr_decay": 1.0,
        "warm_start.strategic": False,
        "warm_start.samples": 10_000,
        "warm_start.epochs": 50,
        "warm_start.refit": True,
        "warm_start.kept": None,
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", default="capacity")
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--variants", default=",".join(VARIANTS))
    given = parser.parse_args()
    torch.set_num_threads(1)
    for seed in map(int, given.seeds.split(",")):
        problem = sequoia.make(given.family, arms=20, seed=seed)
        scenarios = Scenarios.sample(problem, 20, seed + 77)
        price = rollout(problem, make_policy("price", problem), scenarios).rewards.mean()
        for name in given.variants.split(","):
            began = time.process_time()
            config = make_config("paper", **QUIET, **VARIANTS[name], rounds=given.rounds)
            learner = QLearning(problem, config, seed)
            learner.begin()
            while not learner.is_done:
                learner.play_round()
            # The quick argmax of training: a proof of every decision would take most of the time.
            policy = Sequoia(problem, learner.result(), partial(Auto, gap=None))
            share = 100 * rollout(problem, policy, scenarios).rewards.mean() / price
            spent = time.process_time() - began
            print(
                f"{given.family} {seed}: {name}: {share:.1f} % of price, {spent:.0f} s", flush=True
            )


if __name__ == "__main__":
    main()
