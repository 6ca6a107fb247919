"""RDDL, measured: what loads, whether decisions are legal, whether steps are right, what is earned.

    python benchmarks/bench_rddl.py load                   sizes and load times of all instances
    python benchmarks/bench_rddl.py speed                  transitions a second
    python benchmarks/bench_rddl.py legal 100000           decisions judged by pyRDDLGym
    python benchmarks/bench_rddl.py returns                our steps against its simulator
    python benchmarks/bench_rddl.py train NAME [ROUNDS [SEED [POLICIES [EPISODES]]]]
                                                           an instance: train, compare policies
    python benchmarks/bench_rddl.py play NAME [POLICIES [EPISODES]]
                                                           the same without training

Each prints lines of CSV. Seeds are fixed; times are of the processor. JaxPlan is run by
`bench_jaxplan.py`, in an environment of its own.
"""

import sys
import time
from collections.abc import Iterator

import numpy as np

from sequoia.errors import SequoiaError
from sequoia.evaluation.intervals import estimate
from sequoia.interop.rddl import RddlEnvironment, from_rddl, repository
from sequoia.learn import make_config, train
from sequoia.models.model import Model
from sequoia.policies import make_policy
from sequoia.problem import sample_actions
from sequoia.simulate import Scenarios, rollout

# Fully observed, boolean, and able to act in several places at once.
CONCURRENT = [
    "Traffic_CTM_MDP_ippc2011",
    "Traffic_MDP_ippc2014",
    "Elevators_MDP_ippc2011",
    "Elevators_MDP_ippc2014",
    "AcademicAdvising_MDP_ippc2014",
    "AcademicAdvising_ippc2018",
    "RedFinnedBlueEye_ippc2018",
    "Manufacturer_ippc2018",
    "CooperativeRecon_ippc2018",
    "EarthObservation_ippc2018",
    "ChromaticDice_ippc2018",
    "PushYourLuck_ippc2018",
    "RecSim_ippc2023",
    "Pizza_rddlsim",
    "Logistics_rddlsim",
    "Reservoir_Discrete",
    "Elevators",
]
LEGAL = [f"{name}/{i}" for name, i in (
    ("Traffic_MDP_ippc2014", 1), ("Elevators_MDP_ippc2014", 5), ("AcademicAdvising_ippc2018", 5),
    ("RedFinnedBlueEye_ippc2018", 1), ("Manufacturer_ippc2018", 1),
    ("CooperativeRecon_ippc2018", 1), ("EarthObservation_ippc2018", 1),
    ("ChromaticDice_ippc2018", 1), ("PushYourLuck_ippc2018", 20),
    ("RecSim_ippc2023", 0), ("Pizza_rddlsim", 0), ("Logistics_rddlsim", 0), ("Elevators", 0),
    ("SysAdmin_MDP_ippc2011", 1),
)]  # fmt: skip
RETURNS = [name for name in LEGAL if not name.startswith("Logistics")]
SPEED = [
    "SysAdmin_MDP_ippc2011/1",
    "SysAdmin_MDP_ippc2011/10",
    "GameOfLife_MDP_ippc2011/1",
    "Traffic_CTM_MDP_ippc2011/5",
    "CooperativeRecon_ippc2018/1",
    "Manufacturer_ippc2018/1",
]
EPISODES = 30


def most_at_once(environment: RddlEnvironment) -> int:
    """Return how many actions may be chosen at once."""
    return int(environment.model.lifted.max_allowed_actions)


def load() -> None:
    """Read every instance of the concurrent domains; one whose cap is 1 is sequential."""
    print(
        "domain,instance,components,columns,possible columns,rows,rows by state,uniforms,s,why not"
    )
    for domain, instances in repository().items():
        for instance in instances if domain in CONCURRENT else ():
            began = time.process_time()
            try:
                found = from_rddl(f"rddl:{domain}/{instance}")
            except SequoiaError as error:
                print(f'{domain},{instance},,,,,,,,"{error}"', flush=True)
                continue
            spent = time.process_time() - began
            if most_at_once(found) == 1 and found.layout.n_actions > 1:
                continue
            start = found.draw_start(np.random.default_rng(0), 1)
            limits = found.action_limits(start, np.zeros(1, np.int64))
            print(
                f"{domain},{instance},{start.shape[1]},{found.layout.n_actions},"
                f"{found.space.n_actions},{found.space.system.n_rows},"
                f"{0 if limits is None else len(limits.row_names)},{found.n_noise},{spent:.2f},",
                flush=True,
            )


def speed() -> None:
    """Take 20 steps of 256 states side by side, with some random actions."""
    print("instance,transitions a second")
    for name in SPEED:
        environment, rng = from_rddl(f"rddl:{name}"), np.random.default_rng(0)
        states, spent = environment.draw_start(rng, 256), 0.0
        for step in range(20):
            few = sample_actions(environment, states[:8], np.full(8, step), rng)
            actions, noise = few[rng.integers(0, 8, 256)], rng.random((256, environment.n_noise))
            began = time.process_time()
            _, states = environment.step(states, actions, noise)
            spent += time.process_time() - began
        print(f"{name},{20 * 256 / spent:.0f}", flush=True)


class Judge:
    """pyRDDLGym's own simulator, put into our states."""

    def __init__(self, environment: RddlEnvironment, seed: int = 0) -> None:
        from pyRDDLGym.core.simulator import RDDLSimulator

        self._environment = environment
        self._simulator = RDDLSimulator(environment.model.lifted, rng=np.random.default_rng(seed))
        self._simulator.reset()

    def allows(self, state: np.ndarray, action: np.ndarray) -> bool:
        """Say whether it accepts an action in a state."""
        for name, value in self._environment.layout.fluents(state[None]).items():
            self._simulator.subs[name] = value[0]
        actions = self._simulator.prepare_actions_for_sim(self._environment.ground(action))
        self._simulator.check_default_action_count(actions)
        return self._simulator.check_action_preconditions(actions, silent=True)

    def random_returns(self, episodes: int, seed: int) -> np.ndarray:
        """Play it with random actions of ours."""
        rng = np.random.default_rng(seed)
        environment, totals = self._environment, []
        for _ in range(episodes):
            self._simulator.reset()
            state, total = environment.draw_start(rng, 1), 0.0
            for step in range(environment.horizon):
                action = sample_actions(environment, state, np.array([step]), rng)[0]
                actions = self._simulator.prepare_actions_for_sim(environment.ground(action))
                _, reward, done = self._simulator.step(actions)
                total += reward
                known = {
                    name: np.asarray(self._simulator.subs[name])[None]
                    for name in environment.layout.states
                }
                state = environment.layout.rows(known)
                if done:
                    break
            totals.append(total)
        return np.array(totals)


def decisions(
    environment: RddlEnvironment, share: int
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield decisions of random, learned and lookahead policies with their states."""
    config = make_config("default", rounds=1)
    q = train(environment, config, seed=0).model
    parts = {"random": 0.6, "sequoia": 0.38, "lookahead": 0.02}
    for name, part in parts.items():
        episodes = max(1, int(share * part / environment.horizon))
        policy = make_policy(name, environment, q, rollouts=32)
        played = rollout(environment, policy, Scenarios.sample(environment, episodes, seed=11))
        for episode in range(episodes):
            for step in range(environment.horizon):
                yield name, played.states[episode, step], played.actions[episode, step]


def legal(total: int, names: list[str]) -> None:
    """Let pyRDDLGym judge decisions of ours."""
    print("instance,policy,decisions,rejected,s")
    for name in names:
        began = time.process_time()
        environment = from_rddl(f"rddl:{name}")
        judge = Judge(environment)
        counts: dict[str, list[int]] = {}
        for policy, state, action in decisions(environment, total // len(LEGAL)):
            own = counts.setdefault(policy, [0, 0])
            own[0] += 1
            own[1] += not judge.allows(state, action)
        for policy, (made, rejected) in counts.items():
            spent = time.process_time() - began
            print(f"{name},{policy},{made},{rejected},{spent:.0f}", flush=True)


def returns(names: list[str]) -> None:
    """Compare random play in our steps and in pyRDDLGym's simulator."""
    print("instance,ours,±,pyRDDLGym,±,difference within both")
    for name in names:
        environment = from_rddl(f"rddl:{name}")
        scenarios = Scenarios.sample(environment, 10 * EPISODES, seed=5)
        played = rollout(environment, make_policy("random", environment), scenarios)
        ours = estimate(played.rewards.sum(axis=1))
        theirs = estimate(Judge(environment, 1).random_returns(2 * EPISODES, seed=6))
        apart = abs(ours.mean - theirs.mean) <= np.hypot(ours.half, theirs.half)
        print(
            f"{name},{ours.mean:.2f},{ours.half:.2f},{theirs.mean:.2f},{theirs.half:.2f},{apart}",
            flush=True,
        )


def train_one(
    name: str,
    rounds: str = "6",
    seed: str = "0",
    policies: str = "idle,random,sequoia,lookahead",
    episodes: str = str(EPISODES),
) -> None:
    """Train, then compare policies under the same luck."""
    environment = from_rddl(f"rddl:{name}")
    began = time.process_time()
    config = make_config("default", rounds=int(rounds))
    q = train(environment, config, seed=int(seed)).model
    print(f"{name},training,seed {seed},{time.process_time() - began:.0f} s", flush=True)
    _play(name, environment, q, policies, int(episodes))


def play(name: str, policies: str = "idle,random,lookahead", episodes: str = str(EPISODES)) -> None:
    """Compare policies that need no training."""
    _play(name, from_rddl(f"rddl:{name}"), None, policies, int(episodes))


def _play(
    name: str, environment: RddlEnvironment, q: Model | None, policies: str, episodes: int
) -> None:
    """Print what policies earn, and how much more than the better of idle and random."""
    scenarios = Scenarios.sample(environment, episodes, seed=7)
    floor: list[np.ndarray] = []
    for policy in policies.split(","):
        began = time.process_time()
        try:
            made = make_policy(policy, environment, q, rollouts=128)
            played = rollout(environment, made, scenarios)
        except SequoiaError as error:
            print(f'{name},{policy},,"{error}"', flush=True)
            continue
        rewards = played.rewards.sum(axis=1)
        found, each = estimate(rewards), (time.process_time() - began) / played.actions[..., 0].size
        if policy in ("idle", "random"):
            floor.append(rewards)
        more = estimate(rewards - max(floor, key=np.mean)) if floor else found
        print(
            f"{name},{policy},{found.mean:.2f},{found.half:.2f},"
            f"{1000 * each:.1f} ms a decision,{more.mean:.2f} ± {more.half:.2f}",
            flush=True,
        )


def main(arguments: list[str]) -> None:
    what, *rest = arguments or ["load"]
    if what == "load":
        load()
    elif what == "speed":
        speed()
    elif what == "legal":
        legal(int(rest[0]), rest[1:] or LEGAL)
    elif what == "returns":
        returns(rest or RETURNS)
    elif what == "train":
        train_one(*rest)
    elif what == "play":
        play(*rest)


if __name__ == "__main__":
    main(sys.argv[1:])
