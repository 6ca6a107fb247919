"""The page of the demo: three pictures of what happened, and what to do next."""

from functools import partial
from html import escape

import numpy as np

from sequoia.evaluation.evaluation import Evaluation
from sequoia.plots import plot_comparison, plot_network, plot_reward_over_time
from sequoia.policies import Policy
from sequoia.problem import Problem
from sequoia.problem.names import say
from sequoia.report.html import page, picture, quiet

_NEXT = (
    (
        "I plan visits",
        "sequoia serve --demo",
        "shows the planner's page with a programme that is ready; your own begins from two "
        "spreadsheets (docs/programmes.md).",
    ),
    (
        "I have a simulator",
        "examples/own_simulator.py",
        "is all that it takes: a step, a start, and which actions are allowed "
        "(docs/doors/simulator.md).",
    ),
    (
        "I study bandits and RL",
        "sequoia evaluate problem.npz --policies random,myopic,price --episodes 20",
        "compares policies under the same luck; how the learner works is on one page "
        "(docs/how-it-learns.md).",
    ),
)


def demo_page(found: Evaluation, problem: Problem, ahead: Policy, short: Policy) -> str:
    """Return the page.

    Parameters
    ----------
    ahead, short
        The policy that was learned, and one to compare a day of it with.
    """
    sections = [
        ("1. Who keeps people well", _comparison(found)),
        ("2. Day by day", _over_time(found)),
        ("3. One day, two plans", _one_day(found, problem, ahead, short)),
        ("What to do next", _next()),
    ]
    return page("Whom to visit, when illness spreads", _headline(found, problem), sections)


def _headline(found: Evaluation, problem: Problem) -> str:
    gain = {name: found.paired(found.best, name) for name in found.names if name != found.best}
    nearest = min(gain, key=lambda name: gain[name].mean)
    text = (
        f"{problem.arms.n_arms} people in households, five visits a day. A visit cures the ill and "
        f"protects the well. {found.best} keeps {found.percent_of_bound(found.best):.0f} % of what "
        f"is possible at all, {gain[nearest]} a day more than {nearest}, the next best."
    )
    return f'<p class="verdict">{escape(text)}</p>'


def _comparison(found: Evaluation) -> str:
    text = (
        "All policies had the same people, the same start and the same luck. The dashed line is "
        "certified: no policy, however clever, is above it on average. lrie is a published rule "
        "(Scaman and others, 2015); price looks ahead without learning."
    )
    return picture(partial(plot_comparison, found), "Reward of each policy, and the bound") + quiet(
        text
    )


def _over_time(found: Evaluation) -> str:
    text = (
        "Whoever looks one day ahead treats whom it pays to treat today, and falls behind as "
        "illness goes round. Bands are 95 % intervals."
    )
    return picture(partial(plot_reward_over_time, found), "Reward day by day") + quiet(text)


def _one_day(found: Evaluation, problem: Problem, ahead: Policy, short: Policy) -> str:
    """Show the day on which two policies differ most in the same state, while many are ill."""
    days = found.examples[ahead.name].states[:-1]
    plans = {policy.name: _chosen(policy, problem, days) for policy in (ahead, short)}
    mine, theirs = plans.values()
    assert problem.contagion is not None
    ill = (problem.contagion.sources[days] > 0).sum(axis=1)
    day = int(np.argmax([n * len(mine[k] ^ theirs[k]) for k, n in enumerate(ill.tolist())]))
    parts = []
    for name, chosen in plans.items():
        names = [arm for arm in problem.arms.names if arm in chosen[day]]
        drawn = picture(
            partial(plot_network, problem, days[day], names), f"Whom {name} visits on day {day}"
        )
        parts.append(f"<p><b>{escape(name)}</b> visits {escape(say(names))}.</p>{drawn}")
    text = f"Day {day} of the first episode: the same people are ill in both pictures."
    return quiet(text) + "".join(parts)


def _chosen(policy: Policy, problem: Problem, states: np.ndarray) -> list[set[str]]:
    """Return whom a policy visits in each state."""
    policy.reset(1)
    rng = np.random.default_rng(0)
    made = [policy.act(state[None], step, [rng])[0] for step, state in enumerate(states)]
    return [set(problem.space.chosen(decision.action)) for decision in made]


def _next() -> str:
    items = (
        f"<li><b>{escape(who)}.</b> <code>{escape(what)}</code> {escape(why)}</li>"
        for who, what, why in _NEXT
    )
    return f"<ul>{''.join(items)}</ul>"
