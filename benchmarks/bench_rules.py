"""What extra rules cost a decision: processor time with one to five rules against none.

Rules are added one by one: somebody must be acted on, a group has a share, somebody must not be,
another group has a number, of some at most one. With ``--overlap`` the other group has some of the
first one's members. SEQUOIA acts by a network of 16-16 with random weights on top of the rewards of
the next step, as to train one for 1,000 arms would take longer than all the rest; with
``--trained`` by one that learned a little, from the problem without rules.
"""

import argparse
import time
from dataclasses import replace

import numpy as np

import sequoia
from sequoia.learn import make_config, train
from sequoia.models.model import QFunction
from sequoia.optimize import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.policies import make_policy
from sequoia.problem import Problem, Rules, with_rules
from sequoia.problem.rules import Floor
from sequoia.rng import stream


def rules(names: list[str], number: int, overlap: bool, rng: np.random.Generator) -> Rules:
    """Return the first ``number`` of the rules above, about names drawn at random."""
    drawn = [names[index] for index in rng.permutation(len(names))]
    third = len(names) // 3
    first = third // 2 if overlap else third
    every = [
        Rules(must=drawn[:1]),
        Rules(groups={"north": drawn[:third]}, floors=[Floor("north", share=0.4)]),
        Rules(never=drawn[1:2]),
        Rules(groups={"south": drawn[first : first + third]}, floors=[Floor("south", count=2)]),
        Rules(at_most_one=[drawn[2:8]]),
    ]
    result = Rules()
    for rule in every[:number]:
        result = result.and_also(rule)
    return result


class Network:
    """Q-values: the next step's rewards, and what a network of two layers makes of the action."""

    def __init__(self, problem: Problem) -> None:
        self._problem, self._encoding = problem, ActionEncoding.of_problem(problem)
        rng, size = stream(0, "bench:rules:network"), self._encoding.n_inputs
        self._first = rng.normal(size=(16, size)) / np.sqrt(size)
        self._second = rng.normal(size=(16, 16)) / 4
        self._output = rng.normal(size=16) / 4
        self._state = rng.normal(size=(size, 16)) / np.sqrt(size)

    def fold(self, states: np.ndarray, steps: np.ndarray) -> ReluNet:
        """Return the network over actions for some states; time does not matter."""
        del steps
        table = np.array([self._problem.dose_rewards(state) for state in states])
        linear, constant = self._encoding.objective(table)
        bias = states @ self._state
        layers = (self._first, self._second)
        return ReluNet(layers, bias, (np.zeros(16),), self._output, linear, constant)


def learned(problem: Problem) -> QFunction:
    """Return a network that was trained on a few hundred states."""
    little = {"rounds": 1, "n_eval_episodes": 5, "samples": 300, "epochs": 5}
    return train(problem, make_config("scratch", hidden=[16, 16], **little)).model


def times(
    problem: Problem, policy: str, q: QFunction | None, decisions: int
) -> tuple[list[float], int]:
    """Return the seconds of each decision, and how many a limit cut off."""
    rng = stream(0, "bench:rules")
    acting = make_policy(policy, problem, q)
    acting.reset(1)
    seconds, cut_off = [], 0
    # The first two are not counted: they build what later ones use.
    for state in rng.integers(0, problem.arms.n_states, (decisions + 2, problem.arms.n_arms)):
        begin = time.process_time()
        decided = acting.act(state[None], 0, [rng])
        seconds.append(time.process_time() - begin)
        cut_off += int(decided.is_at_limit.sum())
    return seconds[2:], cut_off


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--families", nargs="+", default=["standard", "capacity", "scheduling", "rota"]
    )
    parser.add_argument("--arms", nargs="+", type=int, default=[60, 100, 1_000])
    parser.add_argument("--policies", nargs="+", default=["myopic", "price", "sequoia"])
    parser.add_argument("--rules", nargs="+", type=int, default=[0, 1, 2, 5])
    parser.add_argument("--decisions", type=int, default=30)
    parser.add_argument("--trained", action="store_true", help="SEQUOIA learned a little")
    parser.add_argument("--overlap", action="store_true", help="groups share some members")
    wanted = parser.parse_args()
    print("| family | arms | policy | rules | median | largest | median against none | cut off |")
    print("|---|---|---|---|---|---|---|---|")
    for family in wanted.families:
        for arms in wanted.arms:
            plain = sequoia.make(family, arms=arms, seed=1)
            assert isinstance(plain, Problem)
            for policy in wanted.policies:
                without, q = 0.0, None
                if policy == "sequoia":
                    q = learned(plain) if wanted.trained else Network(plain)
                for number in wanted.rules:
                    extra = rules(
                        list(plain.space.names), number, wanted.overlap, stream(5, "bench:rules")
                    )
                    space = with_rules(plain.space, extra) if number else plain.space
                    seconds, cut_off = times(
                        replace(plain, space=space), policy, q, wanted.decisions
                    )
                    median = float(np.median(seconds))
                    without = without or median
                    print(
                        f"| {family} | {arms} | {policy} | {number} | {1e3 * median:.2f} ms "
                        f"| {1e3 * max(seconds):.1f} ms | {median / without:.1f} | {cut_off} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
