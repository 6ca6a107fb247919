"""JaxPlan on instances of RDDL, for comparison with `bench_rddl.py train`.

    python -m venv jaxplan && jaxplan/bin/pip install pyRDDLGym-jax==3.1 rddlrepository==2.2
    jaxplan/bin/python benchmarks/bench_jaxplan.py AcademicAdvising_ippc2018/5 0.001

Needs nothing of SEQUOIA. A deep reactive policy is trained at the given learning rate for so many
seconds of the processor, 120 unless given, after compiling, and its best parameters are played in
pyRDDLGym. Prints a line of CSV: instance, rate, epochs, mean total reward of 30 episodes, half the
width of its 95 % interval, decisions that acted at all, decisions that broke a precondition (they
are carried out all the same), and seconds of compiling. Seeds are fixed.
"""

import sys
import time
from typing import Any

import numpy as np
from scipy.stats import t as student

EPISODES = 30


def make_planner(env: Any, rate: float) -> Any:
    """Return JaxPlan with its defaults but for the learning rate."""
    import optax
    from pyRDDLGym_jax.core.planner import JaxBackpropPlanner, JaxDeepReactivePolicy

    return JaxBackpropPlanner(
        env.model,
        JaxDeepReactivePolicy(),
        optimizer=optax.rmsprop,
        optimizer_kwargs={"learning_rate": rate},
    )


def train(planner: Any, seconds: float) -> tuple[Any, int, float]:
    """Return the last news of the training, its epochs, and how long compiling took."""
    import jax

    began, compiled, news, epochs = time.process_time(), 0.0, None, 0
    rounds = planner.optimize_generator(
        key=jax.random.PRNGKey(0),
        train_seconds=1e9,
        epochs=10**9,
        print_summary=False,
        print_progress=False,
    )
    for epochs, news in enumerate(rounds, start=1):  # noqa: B007
        if epochs == 1:
            compiled = time.process_time() - began
        if time.process_time() - began - compiled > seconds:
            break
    return news, epochs, compiled


def play(env: Any, planner: Any, news: Any, seed: int) -> tuple[float, int, int]:
    """Return the total reward of an episode, how often it acted, and how often illegally."""
    import jax

    state, _ = env.reset(seed=seed)
    key, total, acted, illegal = jax.random.PRNGKey(seed), 0.0, 0, 0
    for step in range(env.horizon):
        key, own = jax.random.split(key)
        hyper = news["policy_hyperparams"]
        action = planner.get_action(own, news["best_params"], step, state, hyper)
        ready = env.sampler.prepare_actions_for_sim(action)
        illegal += not env.sampler.check_action_preconditions(ready, silent=True)
        acted += any(np.any(value) for value in action.values())
        state, reward, terminated, truncated, _ = env.step(action)
        total += reward
        if terminated or truncated:
            break
    return total, acted, illegal


def main(name: str, rate: float, seconds: float = 120.0) -> None:
    """Train and play."""
    import pyRDDLGym

    domain, instance = name.rsplit("/", 1)
    env = pyRDDLGym.make(domain, instance, vectorized=True)
    planner = make_planner(env, rate)
    news, epochs, compiled = train(planner, seconds)
    totals, acted, illegal = np.transpose([play(env, planner, news, s) for s in range(EPISODES)])
    half = student.ppf(0.975, EPISODES - 1) * totals.std(ddof=1) / np.sqrt(EPISODES)
    print(
        f"{name},{rate:g},{epochs},{totals.mean():.2f},{half:.2f},"
        f"{acted.sum():.0f},{illegal.sum():.0f},{compiled:.0f} s",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), *map(float, sys.argv[3:]))
