"""One page that says and shows what an evaluation found."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from html import escape

import numpy as np

from sequoia.errors import ProblemError
from sequoia.evaluation.evaluation import Evaluation, per_step
from sequoia.evaluation.verdict import cut_off, verdict
from sequoia.plots import (
    plot_comparison,
    plot_decision,
    plot_decision_times,
    plot_episode,
    plot_paired,
    plot_problem,
    plot_reward_over_time,
)
from sequoia.policies import POLICIES
from sequoia.problem import Problem
from sequoia.problem.names import count, duration
from sequoia.report.html import page, pairs, picture, quiet, table

_CUT_OFF = (
    "A decision is cut off when a limit of time or work ends the search for it. The gap, on "
    "average and at most, is how far such decisions may be from the best by what the policy "
    "maximises. One that the clock ended may differ on another machine."
)


def report(evaluation: Evaluation, problem: Problem, words: Iterable[tuple[str, str]] = ()) -> str:
    """Return a self-contained page of HTML: pictures inside, no scripts, nothing to fetch.

    Parameters
    ----------
    words
        What there is to say about the problem: labels and texts.
    """
    if problem.fingerprint != evaluation.fingerprint:
        raise ProblemError(
            f"the problem has the fingerprint {problem.fingerprint}, but {evaluation.fingerprint} "
            "was evaluated; it was changed since, or it is another one."
        )
    sections = [
        ("The problem", _problem(problem, words)),
        ("Who earns how much", _comparison(evaluation)),
        ("Step by step", _over_time(evaluation)),
        ("The same luck for all", _paired(evaluation)),
        ("Time of a decision", _times(evaluation)),
        *_example(evaluation, problem),
        ("How this was measured", _measured(evaluation)),
    ]
    return page(evaluation.problem, _headline(evaluation), sections)


def _headline(evaluation: Evaluation) -> str:
    words = verdict(evaluation)
    use = f"<b>{escape(words.use)}</b> " if words.use else ""
    return f'<p class="verdict">{use}{escape(str(replace(words, use="")))}</p>'


def _problem(problem: Problem, words: Iterable[tuple[str, str]]) -> str:
    # The last section says the fingerprint; whoever reads the first does not want it.
    described = pairs(pair for pair in words if pair[1] != problem.fingerprint)
    return described + picture(partial(plot_problem, problem), f"The problem: {problem.name}")


def _comparison(evaluation: Evaluation) -> str:
    heads = ["policy", "reward per step", "× random", "% of bound", "time of a decision"]
    has_cut_off = bool(evaluation.is_at_limit.any())
    heads += ["cut off by a limit"] if has_cut_off else []
    rows = []
    for name in evaluation.names:
        relative, percent = evaluation.relative_to_random(name), evaluation.percent_of_bound(name)
        cells = [
            escape(name),
            str(evaluation.mean(name)),
            "–" if relative is None else f"{relative:.2f}",
            "–" if percent is None else f"{percent:.1f}",
            duration(evaluation.ms_per_decision(name) / 1000),
        ]
        cells += [cut_off(evaluation, name)] if has_cut_off else []
        rows.append("".join(f"<td>{cell}</td>" for cell in cells))
    numbers = table("".join(f"<th>{text}</th>" for text in heads), rows)
    known = [name for name in evaluation.names if name in POLICIES]
    items = "".join(f"<li><b>{name}</b>: {escape(POLICIES[name].words)}</li>" for name in known)
    drawn = picture(partial(plot_comparison, evaluation), "Mean reward of each policy, random = 1")
    notes = quiet(_CUT_OFF) if has_cut_off else ""
    return f"{drawn}{numbers}{notes}<ul>{items}</ul>"


def _over_time(evaluation: Evaluation) -> str:
    text = "Bands are 95 % confidence intervals of the mean of each step."
    if evaluation.bound is not None:
        text += (
            " The bound is on the mean of all steps, at the right; a single step may earn more, "
            "when others earn less."
        )
    return picture(partial(plot_reward_over_time, evaluation), "Reward over time") + quiet(text)


def _paired(evaluation: Evaluation) -> str:
    best = evaluation.best
    text = (
        f"Every policy met the same starts and the same luck, so differences to {best} are known "
        "better than the means themselves. Each dot is an episode."
    )
    rows = [
        f"<td>{escape(name)}</td><td>{evaluation.paired(name, best)}</td>"
        for name in evaluation.names
        if name != best
    ]
    head = f"<th>policy</th><th>per step, minus {escape(best)}</th>"
    drawn = picture(partial(plot_paired, evaluation), "Paired differences of rewards")
    return drawn + quiet(text) + table(head, rows)


def _times(evaluation: Evaluation) -> str:
    text = (
        "The middle half as a bar with its median; all but the outer 5 % on either side as a line."
    )
    return picture(partial(plot_decision_times, evaluation), "Time of a decision") + quiet(text)


def _example(evaluation: Evaluation, problem: Problem) -> list[tuple[str, str]]:
    """Show the first episode of the best policy that was kept, and its busiest decision."""
    kept = [name for name in (evaluation.best, *evaluation.names) if name in evaluation.examples]
    if not kept:
        return []
    name = kept[0]
    example = evaluation.examples[name]
    step = int(np.argmax(example.actions.sum(axis=1)))
    decision = problem.space.certify(example.actions[step])
    lines = "".join(f"<li>{escape(line)}</li>" for line in problem.space.describe(decision))
    episode = picture(partial(plot_episode, example, problem), f"An episode under {name}")
    drawn = picture(partial(plot_decision, problem, decision), f"A decision of {name}")
    return [
        (f"An episode under {name}", episode + quiet("Dots mark the arms that were acted on.")),
        (f"A decision of {name}: step {step} of that episode", f"{drawn}<ul>{lines}</ul>"),
    ]


def _measured(evaluation: Evaluation) -> str:
    bound, steps = evaluation.bound, int(evaluation.rewards.shape[2])
    rows = [
        ("episodes", f"{evaluation.n_episodes}, of {count(steps, 'step')} each"),
        ("±", "95 % confidence interval by Student's t over episodes"),
        ("seed", str(evaluation.seed)),
        ("solver", evaluation.solver),
        ("fingerprint", evaluation.fingerprint),
    ]
    if bound is not None:
        text = f"{bound.kind}, {per_step(bound, 5)} per step, found in {duration(bound.seconds)}"
        late = "; stopped by the clock" if bound.stopped_by == "clock" else ""
        rows.insert(2, ("bound", text + late))
    return pairs(rows)
