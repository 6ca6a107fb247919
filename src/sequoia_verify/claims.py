"""What a certificate claims, and whether it holds."""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sequoia_verify.proof import ZERO, Network, exact, whole_space
from sequoia_verify.words import Column, Instance, NotVerified, Terms, Unreadable, number

# A claim was computed with 53 bits; more than this share of its terms is more than rounding.
ROUNDING = Fraction(1, 10**9)
# Bits that are kept of a worth, which is rounded up.
BITS = 120


def verify(text: str, words: Mapping[str, Any] | None = None) -> list[str]:
    """Return what is verified, line by line.

    Parameters
    ----------
    words
        Those of a problem, if the claim is to be about it and no other.

    Raises
    ------
    NotVerified
        Where a claim does not hold, or its proof does not show it.
    Unreadable
        Where there is nothing to verify.
    """
    try:
        content = json.loads(text)
        if words is not None and content["instance"] != json.loads(json.dumps(words)):
            raise NotVerified("it is about another problem.")
        claims = {"plan": _plan, "bound": _bound, "action": _action}
        return claims[content["claim"]](Instance(content["instance"]), content)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise Unreadable(f"this is no whole certificate: {error!r}.") from None


def _chosen(instance: Instance, content: Mapping[str, Any]) -> dict[int, int]:
    """Return the columns that an action and its errands set, after checking every rule."""
    names, tasks = list(content["action"]), content["tasks"]
    kind, columns = instance.space["kind"], instance.system.columns
    if len(set(names)) != len(names):
        raise NotVerified("an action is chosen twice.")
    wanted: list[Column] = [("act", name) for name in names]
    reached = [task["where"] for task in tasks if task["do"] not in ("return", "pass", "begin")]
    if kind in ("assignment", "schedule", "rota"):
        slot = () if kind == "assignment" else ("when",)
        visits = [("visit", t["who"], t["where"], *(t[key] for key in slot)) for t in tasks]
        if len(set(visits)) != len(visits):
            raise NotVerified("a visit is made twice.")
        busy = {("busy", t["who"], t["when"]) for t in tasks}
        wanted += [*visits, *sorted(busy & set(columns)), *_loads(instance, tasks)]
    elif kind == "walk":
        stops = [(task["where"], int(task["when"].removeprefix("step "))) for task in tasks]
        if not stops or stops[0] != (instance.space["source"], 0):
            raise NotVerified("the walk does not begin at its source.")
        wanted += [("hop", u, v, a, b) for (u, a), (v, b) in pairwise(stops)]
    elif kind == "team":
        wanted += _trips(instance, tasks)
    elif kind == "custom":
        reached = [name for name in reached if ("act", name) in columns]
        wanted += [("plan", t["where"]) for t in tasks if ("act", t["where"]) not in columns]
    if set(reached) != set(names) or (
        kind not in ("schedule", "rota") and len(reached) != len(names)
    ):
        raise NotVerified("what is acted on is not where the errands go.")
    for key in wanted:
        if key not in columns:
            raise NotVerified(f"nothing allows {' '.join(map(str, key))}.")
    chosen = {columns[key]: 1 for key in wanted}
    _add_doses(instance, set(names), chosen)
    for row, terms, low, high in instance.system.rows:
        used = sum((value * chosen.get(column, 0) for column, value in terms.items()), ZERO)
        if (low is not None and used < low) or (high is not None and used > high):
            raise NotVerified(f"{row} is broken: {float(used):.12g}.")
    return chosen


def _loads(instance: Instance, tasks: Sequence[Mapping[str, str]]) -> list[Column]:
    """Return a load of each worker, where there are such columns, that has all the visits."""
    if ("actions" not in instance.tables) or "cost" not in instance.tables["actions"]:
        return []
    cost = dict(zip(instance.actions, instance.numbers("actions", "cost"), strict=True))
    carried: dict[str, Column] = {}
    for key in instance.system.columns:
        if key[0] == "load":
            own = [cost[task["where"]] for task in tasks if task["who"] == key[1]]
            counts = [own.count(size) for size in sorted(set(cost.values()))]
            if all(n <= most for n, most in zip(counts, key[2], strict=True)):
                carried[key[1]] = key
    return list(carried.values())


def _trips(instance: Instance, tasks: Sequence[Mapping[str, str]]) -> list[Column]:
    """Return the trips of a team's errands, after checking their minutes."""
    trips: list[Column] = []
    for worker in {task["who"] for task in tasks}:
        own = [task for task in tasks if task["who"] == worker]
        if worker not in instance.depot or own[-1]["do"] != "return":
            raise NotVerified(f"{worker} does not return.")
        here, now, place = None, instance.begins[worker], instance.depot[worker]
        for task in own:
            there = None if task["do"] == "return" else task["where"]
            now += instance.ways[here or place, there or place]
            early, late = instance.windows.get(there or "", (None, None))
            now = now if early is None else max(now, early)
            if task["where"] != (there or place) or task["when"] != _clock(int(now)):
                raise NotVerified(f"{worker} is at {task['where']} at another time.")
            if late is not None and now > late:
                raise NotVerified(f"{worker} is too late for {there}.")
            trips.append(("trip", worker, here, there))
            now += ZERO if there is None else instance.service[there]
            here = there
        if now > instance.begins[worker] + instance.room[worker]:
            raise NotVerified(f"{worker} is back too late.")
    return trips


def _clock(minute: int) -> str:
    days, left = divmod(minute, 24 * 60)
    return f"{left // 60:02d}:{left % 60:02d}" + (f" +{days} d" if days else "")


def _add_doses(instance: Instance, names: set[str], chosen: dict[int, int]) -> None:
    """Set the columns that say which dose the chosen columns make."""
    for key, column in instance.system.columns.items():
        if key[0] == "choice":
            chosen[column] = int(
                all((n in names) == bool(on) for n, on in zip(*key[1:], strict=True))
            )
    for row, terms, *_ in instance.system.rows:
        if row.startswith("dose of "):
            keys = list(instance.system.columns)
            doses = [column for column in terms if keys[column][0] == "dose"]
            given = -sum((v * chosen.get(c, 0) for c, v in terms.items() if c not in doses), ZERO)
            chosen[min(doses, key=lambda c: abs(terms[c] - given))] = 1


def _plan(instance: Instance, content: Mapping[str, Any]) -> list[str]:
    _chosen(instance, content)
    rows = len(instance.system.rows)
    return [f"feasible: the plan keeps all {rows} rows written from the words"]


def _action(instance: Instance, content: Mapping[str, Any]) -> list[str]:
    """No action is worth more, by a network or a sum, than the bound; this one is worth so much."""
    chosen, system = _chosen(instance, content), instance.system
    inputs = [input_terms(instance, one) for one in content["inputs"]]
    network = Network(inputs, content["network"])
    value, claimed = network.value(chosen), exact(content["value"])
    part = network.part(system, content["ranges"])
    terms = network.worth(part)
    most = part.bound(terms, content["proof"], set(range(len(system.columns))))
    if most is None:
        raise NotVerified("the proof says that there is no action, and there is one.")
    most += exact(content["network"]["constant"])
    size = abs(value) + sum(map(abs, terms.values()))
    if abs(value - claimed) > ROUNDING * size:
        raise NotVerified(f"the action is worth {float(value)!r}, not {float(claimed)!r}.")
    if most > exact(content["bound"]) + ROUNDING * size:
        raise NotVerified(f"the proof shows {float(most)!r}, not {content['bound']!r}.")
    return [
        f"feasible: the action keeps all {len(system.rows)} rows written from the words",
        f"value: {float(value)!r} by an exact forward pass",
        f"bound: no action is worth more than {float(most)!r}; {_leaves(content['proof'])} leaves",
    ]


def input_terms(instance: Instance, one: Sequence[Any]) -> Terms:
    """Return the columns of an input: an action is chosen, or an arm gets a dose."""
    kind, name, *dose = one
    if kind == "action":
        return {instance.system.columns["act", name]: Fraction(1)}
    arm = instance.arms.index(name)
    level = instance.level(arm, exact(dose[0]))
    return dict.fromkeys(instance.terms_of_level[arm][level], Fraction(1))


def _bound(instance: Instance, content: Mapping[str, Any]) -> list[str]:
    """No policy earns more: arms at their best under prices, and what the rules pay back."""
    prices, proofs = content["prices"], content["proofs"]
    blocks, is_endless = len(prices), bool(content["endless"])
    discount = number(instance.options["discount"]) if is_endless else Fraction(1)
    if len(proofs) != blocks or not blocks or (is_endless and not 0 < discount < 1):
        raise Unreadable("prices, proofs and discount do not fit together.")
    arms = len(instance.arms)
    weights = [discount**block for block in range(blocks)]
    if is_endless:
        weights[-1] /= 1 - discount
    whole, part, back, leaves = (
        set(range(len(instance.system.columns))),
        whole_space(instance.system),
        ZERO,
        0,
    )
    for weight, table, tree in zip(weights, prices, proofs, strict=True):
        paid, constant = paid_terms(instance, table)
        most = part.bound(paid, tree, whole)
        if most is None:
            raise NotVerified("a proof says that there is no action at all.")
        back += weight * (most + constant)
        leaves += _leaves(tree)
    worth: dict[Any, Fraction] = {}
    earned = ZERO
    for arm in range(arms):
        own = [[exact(cell) for cell in table[arm]] for table in prices]
        after = content["after"][arm] if is_endless else None
        key = (
            instance.model[arm],
            str(own),
            str(after),
            tuple(instance.start[arm]),
            tuple(_levels(instance, arm)),
        )
        if key not in worth:
            first = _best(instance, arm, own, discount, after)
            worth[key] = sum((p * v for p, v in zip(instance.start[arm], first, strict=True)), ZERO)
        earned += worth[key]
    total, claimed = earned + back, exact(content["total"])
    size = sum(map(abs, worth.values()), abs(back)) + abs(earned)
    if total > claimed + ROUNDING * size:
        raise NotVerified(f"the proof shows {float(total)!r}, not {float(claimed)!r}.")
    over = "discounted, for ever" if is_endless else f"over {blocks} steps"
    return [
        f"bound: no policy earns more than {float(total)!r} {over} (claimed: {float(claimed)!r})",
        f"arms: {float(earned)!r} at their best under the prices, by backward induction",
        f"rules: {float(back)!r} is the most they pay back; {leaves} leaves of {blocks} proofs",
    ]


def _levels(instance: Instance, arm: int) -> list[int]:
    return sorted({instance.idle[arm], *instance.terms_of_level[arm]})


def paid_terms(instance: Instance, table: Sequence[Sequence[Any]]) -> tuple[Terms, Fraction]:
    """Return the prices that arms pay as a sum of columns, and those of no dose."""
    terms: Terms = {}
    constant = ZERO
    for arm, own in enumerate(table):
        base = exact(own[instance.idle[arm]])
        constant += base
        for level, columns in instance.terms_of_level[arm].items():
            for column in columns:
                terms[column] = terms.get(column, ZERO) + exact(own[level]) - base
    return terms, constant


def _best(
    instance: Instance,
    arm: int,
    prices: Sequence[Sequence[Fraction]],
    discount: Fraction,
    after: Sequence[Any] | None,
) -> list[Fraction]:
    """Return what an arm earns at best from each state, net of prices, rounded up.

    Without an end, ``after`` are worths of the last block. Where a step gains at most ``g`` over
    them, nobody earns more than ``after + g / (1 - discount)``.
    """
    states, model = range(instance.n_states), instance.model[arm]
    doses, rewards = instance.doses[model], instance.rewards[model]

    def step(paid: Sequence[Fraction], following: Sequence[Fraction]) -> list[Fraction]:
        worth = [reward + discount * v for reward, v in zip(rewards, following, strict=True)]
        chances = instance.chances
        return [
            max(
                sum((p * v for p, v in zip(chances[model, doses[d], s], worth, strict=True)), ZERO)
                - paid[d]
                for d in _levels(instance, arm)
            )
            for s in states
        ]

    values, steps = [ZERO for _ in states], list(prices)
    if after is not None:
        values = [exact(cell) for cell in after]
        ahead = step(steps.pop(), values)
        gain = max(max(new - old for new, old in zip(ahead, values, strict=True)), ZERO)
        values = [value + gain / (1 - discount) for value in values]
    for paid in reversed(steps):
        values = [_rounded_up(value) for value in step(paid, values)]
    return values


def _rounded_up(value: Fraction) -> Fraction:
    """Return a fraction that is not less, with `BITS` bits."""
    if not value:
        return value
    shift = BITS - (abs(value.numerator).bit_length() - value.denominator.bit_length())
    unit = Fraction(2) ** shift
    scaled = value * unit
    return Fraction(-(-scaled.numerator // scaled.denominator)) / unit


def _leaves(tree: Mapping[str, Any]) -> int:
    return sum(_leaves(tree[key]) for key in ("zero", "one")) if "zero" in tree else 1
