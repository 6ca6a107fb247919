"""The verdict of an evaluation, in plain words."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from sequoia.evaluation.evaluation import Evaluation, per_step
from sequoia.evaluation.intervals import Estimate
from sequoia.policies import POLICIES
from sequoia.problem.names import say

_RANDOM, _MYOPIC = "random", "myopic"


@dataclass(frozen=True)
class Verdict:
    """Sentences; empty where there is nothing to say.

    Attributes
    ----------
    use
        Which policy to use.
    earns
        What it earns, and how much more than acting at random and looking one step ahead.
    others
        Who is as good, or how much less the next one earns.
    learning
        What learning gained over the best policy that needs none.
    left
        How far it is from the bound.
    sure
        How sure all this is.
    """

    use: str
    earns: str
    others: str
    learning: str
    left: str
    sure: str

    def __str__(self) -> str:
        """Return the sentences as one paragraph."""
        return " ".join(filter(None, (getattr(self, field.name) for field in fields(self))))


def verdict(evaluation: Evaluation) -> Verdict:
    """Say what to use, how much better it is, what is left to gain, and how sure that is.

    A policy is as good as the best where the 95 % interval of their paired difference includes 0.
    Of those that are as good, one that needs no training is recommended.
    """
    name = recommended(evaluation)
    is_choice = len(evaluation.names) > 1 and evaluation.n_episodes > 1
    return Verdict(
        use=f"Use {name}." if is_choice else "",
        earns=_earns(evaluation, name, "It" if is_choice else name),
        others=_others(evaluation, name) if is_choice else "",
        learning=_learning(evaluation) if is_choice else "",
        left=_left(evaluation, name),
        sure=_sure(evaluation),
    )


def recommended(evaluation: Evaluation) -> str:
    """Return the best of those that need no training, unless a trained one is clearly better."""
    as_good = evaluation.as_good_as_best
    return _best_of(evaluation, _untrained(as_good) or as_good)


def cut_off(evaluation: Evaluation, name: str) -> str:
    """Say how many decisions a limit ended, and how far these may be from the best."""
    gaps = evaluation.gaps_at_limit(name)
    if gaps is None:
        return "0"
    text = f"{evaluation.decisions_at_limit(name)} of {evaluation.rewards[0].size}"
    late = evaluation.decisions_by_clock(name)
    text += f" ({late} by the clock)" if late else ""
    mean, largest = gaps
    if not np.isfinite(mean):
        return f"{text}, gap unknown"
    return f"{text}, gap {100 * mean:.2g} %, at most {100 * largest:.2g} %"


def _earns(evaluation: Evaluation, name: str, subject: str) -> str:
    text = f"{subject} earns {evaluation.mean(name)} per step"
    parts = []
    if name != _RANDOM:
        more, base = evaluation.over_random(name), float(evaluation.random.mean())
        parts.append(_compared(more, base, _RANDOM))
    if name != _MYOPIC and _MYOPIC in evaluation.names:
        more, base = evaluation.paired(name, _MYOPIC), evaluation.mean(_MYOPIC).mean
        parts.append(_compared(more, base, _MYOPIC))
    return f"{text}, {say(parts)}." if parts else f"{text}."


def _compared(more: Estimate, base: float, other: str) -> str:
    """Say how much more than ``other`` somebody earns: in per cent where that means something."""
    if np.isnan(more.half):
        return f"{more} more than {other}"
    if more.includes_zero:
        return f"not clearly more than {other} ({more})"
    if more.mean < 0:
        return f"{-more} less than {other}"
    if base <= 0:
        return f"{more} more than {other}"
    times = 1 + more.mean / base
    return (
        f"{times:.2g} times what {other} earns"
        if times >= 2
        else f"{100 * (times - 1):.2g} % more than {other}"
    )


def _others(evaluation: Evaluation, name: str) -> str:
    as_good = [other for other in evaluation.as_good_as_best if other != name]
    if len(as_good) > 1:
        return f"It is a tie with {say(as_good)}: the differences may be luck."
    if as_good:
        difference = evaluation.paired(as_good[0], name)
        return f"It is a tie with {as_good[0]}: the difference, {difference} per step, may be luck."
    second = _best_of(evaluation, [other for other in evaluation.names if other != name])
    return f"The next, {second}, earns {evaluation.paired(name, second)} less."


def _left(evaluation: Evaluation, name: str) -> str:
    bound, mean = evaluation.bound, evaluation.mean(name)
    if bound is None:
        return "Without a bound it is not known how much more could be earned."
    text = (
        f"On average no policy earns more than {per_step(bound, 4)} per step ({bound.kind} bound)"
    )
    if np.isnan(mean.half):
        return f"{text}."
    if mean.high >= bound.per_step:
        luck = " (to be above it is luck)" if mean.mean > bound.per_step else ""
        return f"{text}: these episodes cannot tell {name} from that{luck}."
    share = evaluation.percent_of_bound(name)
    most = bound.per_step + bound.margin_per_step - mean.low
    reached = "" if share is None else f"{name} earns {share:.1f} % of that, so "
    return f"{text}; {reached}at most {most:.2g} per step is left to gain."


def _learning(evaluation: Evaluation) -> str:
    untrained = _untrained(evaluation.names)
    trained = [name for name in evaluation.names if name not in untrained]
    if not trained or not untrained:
        return ""
    learned, base = _best_of(evaluation, trained), _best_of(evaluation, untrained)
    gain = evaluation.paired(learned, base)
    if gain.includes_zero:
        return f"Learning gained nothing over {base} that is more than luck."
    if gain.mean < 0:
        return f"Learning gained nothing: {learned} earns {-gain} less than {base}."
    return f"Learning gained {gain} per step over {base}."


def _sure(evaluation: Evaluation) -> str:
    if evaluation.n_episodes == 1:
        return "One episode does not say how sure this is; evaluate more."
    texts = [
        f"In the {evaluation.n_episodes} episodes all policies had the same starts and the same "
        "luck; ± is a 95 % confidence interval."
    ]
    cut = [name for name in evaluation.names if evaluation.decisions_at_limit(name)]
    if cut:
        texts.append(
            f"Some decisions of {say(cut)} were cut off by a limit; without it they may earn more."
        )
    return " ".join(texts)


def _untrained(names: Sequence[str]) -> list[str]:
    return [name for name in names if name not in POLICIES or not POLICIES[name].needs_model]


def _best_of(evaluation: Evaluation, names: Sequence[str]) -> str:
    return max(names, key=lambda name: evaluation.mean(name).mean)
