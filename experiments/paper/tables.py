"""The tables of the paper, and ours beside them: for people, for LaTeX and for programs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

import numpy as np

from experiments.paper.experiment import ABLATIONS, BEYOND, POLICIES, RIVALS, SETTINGS
from experiments.paper.results import Results, standard_error
from sequoia.evaluation.intervals import Estimate, estimate, pooled
from sequoia.report import html as page
from sequoia.sweep.tables import to_csv
from sequoia.validation import FloatArray

_ESCAPES = str.maketrans(
    {"%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "±": r"$\pm$", "×": r"$\times$", "–": "--"}
)
PAPER_MINUTES = {20: 25.5, 40: 76.7, 100: 475.2}
# With three seeds and 150 comparisons an interval is 55 standard errors wide, with five eleven.
_FEWEST_SEEDS = 5
EVERYWHERE = {**SETTINGS, **BEYOND}
# Who stands in the one view of all.
FIELD = ("myopic", "iterative-dqn", "lookahead", "price", *RIVALS)
_EXISTING = ("sampling", "iterative-myopic", "myopic")
_NONE = "–"
ALL = "all settings"


@dataclass(frozen=True)
class Table:
    """Rows of text under heads.

    Attributes
    ----------
    name
        Of its files.
    note
        What a reader has to know.
    """

    name: str
    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def csv(self) -> str:
        """Return it as CSV."""
        return to_csv([dict(zip(self.heads, row, strict=True)) for row in self.rows])

    def html(self) -> str:
        """Return it as HTML."""
        head = "".join(f"<th>{escape(text)}</th>" for text in self.heads)
        rows = ["".join(f"<td>{escape(text)}</td>" for text in row) for row in self.rows]
        note = page.quiet(self.note) if self.note else ""
        return f'<div class="tight">{page.table(head, rows)}</div>{note}'

    def markdown(self) -> str:
        """Return it as a table of Markdown."""
        lines = [self.heads, ["---"] * len(self.heads), *self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def latex(self) -> str:
        """Return it as a LaTeX table, for the package booktabs."""
        lines = [" & ".join(text.translate(_ESCAPES) for text in row) for row in self.rows]
        head = " & ".join(rf"\textbf{{{text.translate(_ESCAPES)}}}" for text in self.heads)
        body = "\n".join(f"    {line} \\\\" for line in lines)
        return (
            "\\begin{table}[ht]\n  \\centering\n"
            f"  \\caption{{{self.title.translate(_ESCAPES)}. {self.note.translate(_ESCAPES)}}}\n"
            f"  \\begin{{tabular}}{{l{'r' * (len(self.heads) - 1)}}}\n    \\toprule\n"
            f"    {head} \\\\\n    \\midrule\n{body}\n    \\bottomrule\n"
            "  \\end{tabular}\n\\end{table}\n"
        )


def plus_minus(one: Estimate, digits: int = 1) -> str:
    """Say a mean with its interval, where it has one."""
    # Adding 0 makes a 0 of what is rounded to -0.
    text = f"{round(one.mean, digits) + 0.0:.{digits}f}"
    return text if one.half != one.half else f"{text} ± {one.half:.{digits}f}"


def all_tables(results: Results) -> list[Table]:
    """Return every table that there is something to say in."""
    made = (claims, field, differences, rewards, training, ablations, decisions)
    return [table for make in made if (table := make(results)).rows]


def _places(results: Results, families: Iterable[str] = SETTINGS) -> Iterator[tuple[str, int]]:
    """Yield settings and sizes."""
    for family in families:
        for arms in results.sizes(family):
            yield family, arms


class Difference(NamedTuple):
    """How much more a policy earns than SEQUOIA on the same seeds, in per cent.

    The interval holds for all comparisons of a run together (Bonferroni).
    """

    family: str
    arms: int
    policy: str
    seeds: int
    change: Estimate

    @property
    def is_telling(self) -> bool:
        """Whether there are seeds enough for an interval that is corrected so much to say much."""
        return self.seeds >= _FEWEST_SEEDS


def compared(results: Results) -> list[Difference]:
    """Return everybody against SEQUOIA, by setting, size and policy."""
    pairs = [
        (family, arms, name, change)
        for family, arms in _places(results, EVERYWHERE)
        for name in (*POLICIES, "lookahead", *RIVALS)
        if name != "sequoia" and len(change := results.percent_over(family, arms, name, "sequoia"))
    ]
    return [
        Difference(family, arms, name, len(change), estimate(change, comparisons=len(pairs)))
        for family, arms, name, change in pairs
    ]


def differences(results: Results) -> Table:
    """Return by how much everybody else earns more or less than SEQUOIA, on the same seeds."""
    found = compared(results)
    rows = []
    for family, arms, name, seeds, change in found:
        minutes = _minutes(results, family, arms, name)
        spent = _NONE if not minutes else _or_none(minutes, ".1f")
        said = (str(seeds), plus_minus(change), _said(change), spent)
        rows.append((EVERYWHERE[family], str(arms), name, *said))
    return Table(
        "differences",
        "Everybody against SEQUOIA",
        ("setting", "J", "policy", "seeds", "more than SEQUOIA, %", "verdict", "training, min"),
        rows,
        f"Paired: the same problems, episodes and luck. ± is an interval over seeds that holds for "
        f"all {len(found)} comparisons together with 95 % (Bonferroni). A tie is a difference that "
        "these seeds do not resolve; with one seed nothing is said.",
    )


def field(results: Results) -> Table:
    """Return the same in one view: a row for each setting and size, a column for each policy."""
    found = {(one.family, one.arms, one.policy): one for one in compared(results)}
    names = [n for n in FIELD if any(name == n for _, _, name in found)]
    rows = []
    for family, arms in _places(results, EVERYWHERE):
        own = [found.get((family, arms, name)) for name in names]
        if any(own):
            cells = [_NONE if one is None else _in_short(one) for one in own]
            seeds = sorted({one.seeds for one in own if one is not None}, reverse=True)
            rows.append((EVERYWHERE[family], str(arms), ", ".join(map(str, seeds)), *cells))
    return Table(
        "field",
        "The field: more than SEQUOIA, %",
        ("setting", "J", "seeds", *names),
        rows,
        f"Paired: the same problems, episodes and luck. ± is an interval over seeds that holds for "
        f"all {len(found)} comparisons together with 95 % (Bonferroni); ties, which these seeds do "
        f"not resolve, are in brackets. With fewer than {_FEWEST_SEEDS} seeds only the mean is "
        "said. Where there are two numbers of seeds, rivals have fewer. Rivals learn from "
        "samples, in a given time; SEQUOIA starts from prices that the known model gives.",
    )


def _in_short(one: Difference) -> str:
    """Say a difference, with its verdict where there are seeds enough."""
    if not one.is_telling:
        return plus_minus(Estimate(one.change.mean, float("nan"), float("nan")))
    text, verdict = plus_minus(one.change), _said(one.change)
    return {"tie": f"({text})", "ahead": f"{text} ahead"}.get(verdict, text)


def _said(change: Estimate) -> str:
    """Call a difference by its name."""
    if np.isnan(change.half):
        return _NONE
    if change.includes_zero:
        return "tie"
    return "ahead" if change.mean > 0 else "behind"


def claims(results: Results) -> Table:
    """Return what the paper claims beside what is measured."""
    questions: tuple[tuple[str, dict[str, str], tuple[str, ...]], ...] = (
        ("SEQUOIA over myopic", {}, ("sequoia", "myopic")),
        ("SEQUOIA over the best existing", {"all": "24.8"}, ("sequoia", *_EXISTING)),
        ("SEQUOIA over iterative DQN", {"capacity": "13.8"}, ("sequoia", "iterative-dqn")),
        ("SEQUOIA of the bound", {}, ("sequoia",)),
    )
    rows = []
    for words, paper, names in questions:
        groups = {
            place: values
            for place in _places(results)
            if len(values := _measured(results, place, *names))
        }
        # One seed of a size tells no interval; it waits for the next, unless all have but one.
        groups = {place: own for place, own in groups.items() if len(own) > 1} or groups
        for family in (*SETTINGS, "all"):
            own = [v for (where, _), v in groups.items() if family in (where, "all")]
            if own:
                count = str(sum(map(len, own)))
                said = (paper.get(family, _NONE), plus_minus(pooled(own)), count)
                rows.append((words, SETTINGS.get(family, ALL), *said))
    return Table(
        "claims",
        "Headline claims",
        ("claim", "setting", "paper, %", "measured, %", "problems"),
        rows,
        "Every size and setting counts the same; ± is a 95 % confidence interval over seeds, "
        "with problems taken as independent of each other. A size with one seed so far is left "
        "out. "
        "Existing methods are sampling, iterative myopic and myopic, the best of them for each "
        "seed. The paper says that iterative DQN earns 12.1 % less than SEQUOIA in capacity, which "
        "is SEQUOIA earning 13.8 % more.",
    )


def _measured(results: Results, place: tuple[str, int], *names: str) -> FloatArray:
    if len(names) == 1:
        return results.percent_of_bound(*place, *names)
    return results.percent_over(*place, *names)


def rewards(results: Results) -> Table:
    """Return the numbers of the main figure."""
    rows = []
    for family, arms in _places(results):
        for policy in POLICIES:
            own = results.of(family, arms, policy)
            if not own:
                continue
            relative = results.relative(family, arms, policy)
            percent = results.percent_of_bound(family, arms, policy)
            rows.append(
                (
                    SETTINGS[family],
                    str(arms),
                    policy,
                    str(len(own)),
                    f"{np.mean([one.mean for one in own.values()]):.3f}",
                    f"{relative.mean():.3f}",
                    _or_none(standard_error(relative), ".3f"),
                    f"{percent.mean():.1f}" if len(percent) else _NONE,
                )
            )
    return Table(
        "rewards",
        "Rewards",
        ("setting", "J", "policy", "seeds", "per step", "× random", "standard error", "% of bound"),
        rows,
        "Each seed is divided by what random decisions earn on it; the standard error is over "
        "seeds.",
    )


def training(results: Results) -> Table:
    """Return how long training takes, beside the paper's table."""
    variants = {"sequoia": "default", "as in the paper": "paper"}
    rows = []
    for arms in sorted({arms for _, arms in _places(results)}):
        for policy, preset in variants.items():
            minutes = [_minutes(results, family, arms, policy) for family in SETTINGS]
            known = [one for one in minutes if not np.isnan(one)]
            if known:
                paper = f"{PAPER_MINUTES[arms]}" if arms in PAPER_MINUTES else _NONE
                cells = [_or_none(one, ".2f") for one in minutes]
                rows.append((str(arms), preset, *cells, f"{np.mean(known):.2f}", paper))
    return Table(
        "training",
        "Minutes of training",
        ("J", "preset", *SETTINGS.values(), "mean", "paper"),
        rows,
        "Ours: processor time of one core, mean over seeds. The paper's: a cluster with Gurobi; "
        "this does not compare programs on one machine.",
    )


def _minutes(results: Results, family: str, arms: int, policy: str) -> float:
    """Return the mean time of training; NaN where there was none."""
    own = results.of(family, arms, policy).values()
    return float(np.mean([(one.times.training or 0.0) / 60 for one in own])) if own else np.nan


def ablations(results: Results) -> Table:
    """Return what is lost when a part is taken away."""
    rows = []
    for family, arms in _places(results):
        for name in ("sequoia", *ABLATIONS):
            own = results.of(family, arms, name)
            if not own or not any(results.of(family, arms, other) for other in ABLATIONS):
                continue
            change = results.percent_over(family, arms, name, "sequoia")
            seconds = np.mean([one.times.training or 0.0 for one in own.values()])
            percent = results.percent_of_bound(family, arms, name)
            rows.append(
                (
                    SETTINGS[family],
                    str(arms),
                    "default" if name == "sequoia" else name,
                    str(len(own)),
                    plus_minus(estimate(percent)) if len(percent) else _NONE,
                    _NONE if name == "sequoia" or not len(change) else plus_minus(estimate(change)),
                    f"{seconds:.0f}",
                )
            )
    return Table(
        "ablations",
        "Ablations",
        ("setting", "J", "network", "seeds", "% of bound", "change, %", "training, s"),
        rows,
        "The change is against the default on the same seeds. A frozen target takes over a "
        "millionth of the weights in each step, as in the paper's table.",
    )


def decisions(results: Results) -> Table:
    """Return how long decisions take."""
    rows = []
    for family, arms in _places(results):
        for policy in POLICIES:
            times = [one.times for one in results.of(family, arms, policy).values()]
            if not times:
                continue
            total = sum(one.decisions for one in times)
            share = 100 * sum(one.at_limit for one in times) / total
            rows.append(
                (
                    SETTINGS[family],
                    str(arms),
                    policy,
                    *(
                        f"{1000 * np.mean([getattr(one, name) for one in times]):.3g}"
                        for name in ("median", "mean", "slow")
                    ),
                    f"{share:.2g}",
                )
            )
    return Table(
        "decisions",
        "Milliseconds per decision",
        ("setting", "J", "policy", "median", "mean", "slowest 5 %", "% at the limit"),
        rows,
        "Means over seeds. A decision that runs into its time limit takes the best action found by "
        "then, so it depends on the machine; the last column says how many did.",
    )


def _or_none(value: float, form: str) -> str:
    return _NONE if np.isnan(value) else f"{value:{form}}"
