"""A checker of decisions written from the words of the rules, without their rows.

It reads what a problem was given (costs, capacities, open slots, edges, groups) and what a person
is told to do (tasks), and nothing of how the library checks: no `LinearSystem`, no `contains`.
"""

from collections import Counter
from itertools import pairwise

import numpy as np

from sequoia import Assignment, Budget, Custom, Rota, Schedule, Team, Walk

# Sums of decimal fractions differ from what they mean in the last digits.
ROUNDING = 1e-9


def broken_rules(space, decision):
    """Return, in words, every rule that a decision breaks."""
    action = np.asarray(decision.action)
    plan = np.asarray(decision.plan)
    if not (np.isin(action, (0, 1)).all() and np.isin(plan, (0, 1)).all()):
        return ["a column is neither 0 nor 1"]
    chosen = [name for name, is_on in zip(space.names, action, strict=True) if is_on]
    if len(set(chosen)) != int(action.sum()):
        return ["a name stands for two columns"]
    tasks = space.tasks(decision)
    of_kind = {
        Budget: _budget,
        Assignment: _assignment,
        Schedule: _schedule,
        Rota: _rota,
        Walk: _walk,
        Team: _team,
        Custom: _custom,
    }[type(space.base)]
    return [*of_kind(space.base, chosen, tasks, plan), *_extra(space.rules, chosen, tasks)]


def _exceeds(used, limit):
    return used > limit + ROUNDING * max(abs(limit), ROUNDING)


def _budget(space, chosen, tasks, plan):
    """The costs of the chosen actions add up to at most the limit."""
    cost = dict(zip(space.names, space.costs.tolist(), strict=True))
    if _exceeds(sum(cost[name] for name in chosen), space.limit):
        yield "more than the budget is spent"
    if sorted(task.where for task in tasks) != sorted(chosen) or len(plan):
        yield "the tasks are not what is chosen"


def _assignment(space, chosen, tasks, plan):
    """Each acted-on arm is visited by a worker; each worker stays within capacity."""
    cost = dict(zip(space.names, space.costs.tolist(), strict=True))
    capacity = dict(zip(space.worker_names, space.capacities.tolist(), strict=True))
    load = Counter()
    for task in tasks:
        load[task.who] += cost[task.where]
    for worker, used in load.items():
        if _exceeds(used, capacity[worker]):
            yield f"{worker} carries more than the capacity"
    if {task.where for task in tasks} != set(chosen):
        yield "who is visited is not who is chosen"
    if len(tasks) != int(plan.sum()) or len(plan) != len(cost) * len(capacity):
        yield "the plan is not the tasks"


def _schedule(space, chosen, tasks, plan):
    """Each acted-on arm gets its visits in slots that suit both; one visit per worker and slot."""
    slot = {name: k for k, name in enumerate(space.slot_names)}
    worker = {name: i for i, name in enumerate(space.worker_names)}
    arm = {name: j for j, name in enumerate(space.names)}
    if len(chosen) > space.limit:
        yield "too many arms are acted on"
    for task in tasks:
        if not space.worker_slots[worker[task.who], slot[task.when]]:
            yield f"{task.who} does not work in {task.when}"
        if not space.arm_slots[arm[task.where], slot[task.when]]:
            yield f"{task.when} does not suit {task.where}"
    if max(Counter((task.who, task.when) for task in tasks).values(), default=0) > 1:
        yield "a worker makes two visits in one slot"
    visits = Counter(task.where for task in tasks)
    if set(visits) != set(chosen) or any(times != space.visits for times in visits.values()):
        yield "an arm does not get its visits"
    if space.distinct_workers and len({(task.who, task.where) for task in tasks}) != len(tasks):
        yield "a worker comes twice"
    if len(tasks) != int(plan.sum()):
        yield "the plan is not the tasks"


def _rota(space, chosen, tasks, plan):
    """Each acted-on arm gets its visits, by those who may, within their minutes of a slot."""
    slot = {name: k for k, name in enumerate(space.slot_names)}
    worker = {name: i for i, name in enumerate(space.worker_names)}
    arm = {name: j for j, name in enumerate(space.names)}
    if len(chosen) > space.limit:
        yield "too many arms are acted on"
    used = Counter()
    for task in tasks:
        used[task.who, task.when] += float(space.lengths[arm[task.where]])
        if not space.arm_slots[arm[task.where], slot[task.when]]:
            yield f"{task.when} does not suit {task.where}"
        if not space.may_visit[worker[task.who], arm[task.where]]:
            yield f"{task.who} may not visit {task.where}"
    for (who, when), minutes in used.items():
        if _exceeds(minutes, space.minutes[worker[who], slot[when]]):
            yield f"{who} has fewer minutes in {when}"
    visits = Counter(task.where for task in tasks)
    if visits != {name: int(space.visits[arm[name]]) for name in chosen}:
        yield "an arm does not get its visits"
    if space.distinct_workers and len({(task.who, task.where) for task in tasks}) != len(tasks):
        yield "a worker comes twice"
    busy = {(task.who, slot[task.when]) for task in tasks}
    for who, first in busy if space.most_in_a_row is not None else ():
        if all((who, first + later) in busy for later in range(space.most_in_a_row + 1)):
            yield f"{who} has no slot of rest"
    if space.most_in_a_row is None and len(tasks) != int(plan.sum()):
        yield "the plan is not the tasks"


def _walk(space, chosen, tasks, plan):
    """A closed walk from the source along edges, not too long; act on few of what it visits."""
    length = {}
    for (a, b), steps in zip(space.edges.tolist(), space.lengths.tolist(), strict=True):
        length[space.names[a], space.names[b]] = length[space.names[b], space.names[a]] = steps
    stops = [(task.where, int(task.when.removeprefix("step "))) for task in tasks]
    home = space.names[space.source]
    if stops[0] != (home, 0) or stops[-1][0] != home:
        yield "the walk does not begin and end at the source"
    for (here, now), (there, then) in pairwise(stops):
        if length.get((here, there)) != then - now:
            yield f"there is no way from {here} to {there} in {then - now} steps"
    if stops[-1][1] > space.length:
        yield "the walk is too long"
    acted = [task.where for task in tasks if task.do == "act"]
    if sorted(acted) != sorted(chosen) or len(chosen) > space.limit:
        yield "what is acted on is not visited, or too much"
    if not plan.any():
        yield "the plan is empty"


def _team(space, chosen, tasks, plan):
    """Round trips from the depots, in time; each acted-on arm is served once, by one who may.

    Nobody is served before or after hours that are theirs; whoever comes too early waits.
    """
    place = {name: j for j, name in enumerate([*space.names, *space.places])}
    walker = {name: w for w, name in enumerate(space.worker_names)}
    if sorted(task.where for task in tasks if task.do != "return") != sorted(chosen):
        yield "who is served is not who is chosen, once each"
    for who in {task.who for task in tasks}:
        own, begin = [task for task in tasks if task.who == who], int(space.begins[walker[who]])
        here = home = int(space.depots[walker[who]])
        now = begin
        for task in own:
            there = place[task.where]
            now += int(space.travel[here, there])
            if task.do != "return":
                now = max(now, int(space.windows[there, 0]))
            if task.when != f"{now // 60:02}:{now % 60:02}":
                yield f"{who} is at {task.where} in another minute"
            if task.do != "return":
                if now > space.windows[there, 1]:
                    yield f"{who} is at {task.where} too late"
                now += int(space.service[there])
                if not space.may_serve[walker[who], there]:
                    yield f"{who} may not serve {task.where}"
            here = there
        if here != home or own[-1].do != "return" or now - begin > space.limits[walker[who]]:
            yield f"{who} is not back in time"
    if bool(plan.any()) != bool(tasks):
        yield "the plan is not the tasks"


def _custom(space, chosen, tasks, plan):
    """Every row stays between its limits, over the chosen actions and plan columns."""
    picked = {*chosen, *(n for n, is_on in zip(space.plan_names, plan, strict=True) if is_on)}
    columns = [*space.names, *space.plan_names]
    for row, name in enumerate(space.row_names):
        entries = space.matrix[[row]].toarray()[0].tolist()
        used = sum(v for v, column in zip(entries, columns, strict=True) if column in picked)
        if _exceeds(used, space.upper[row]) or _exceeds(space.lower[row], used):
            yield f"{name} is broken"
    if sorted(task.where for task in tasks) != sorted(picked):
        yield "the tasks are not what is chosen"


def _extra(rules, chosen, tasks):
    """Fairness floors, must, never, at most one of, and who is off."""
    for floor in rules.floors:
        inside = len(set(rules.groups[floor.group]) & set(chosen))
        if inside < floor.share * len(chosen) - ROUNDING:
            yield f"too small a share is from {floor.group}"
        if inside < floor.count:
            yield f"too few are from {floor.group}"
    for name in rules.must:
        if name not in chosen:
            yield f"{name} must be acted on"
    for name in rules.never:
        if name in chosen:
            yield f"{name} must not be acted on"
    for several in rules.at_most_one:
        if len(set(several) & set(chosen)) > 1:
            yield f"more than one of {several} is acted on"
    if {task.who for task in tasks} & set(rules.absent):
        yield "somebody works who is off"
    for lock in rules.locks:
        own = [task for task in tasks if task.where == lock.arm]
        if not any(lock.worker in (None, t.who) and lock.slot in (None, t.when) for t in own):
            yield f"it is not so that {lock}"
    # One walker after the other, each ends with a return: no run goes from one to the next.
    route = [task.where for task in tasks]
    for order in rules.orders:
        runs = zip(*(route[later:] for later in range(len(order))), strict=False)
        if not any([*run] == [*order] for run in runs):
            yield f"{order} are not served one after the other"


def broken_over_time(problem, visits):
    """Yield promises and budgets that visits, ``(H, N)``, break; arms are their own columns."""
    steps = len(visits)
    if problem.keeper is not None:
        promises, first = problem.keeper.promises, problem.keeper.first_clock()
        for arm, name in enumerate(problem.bare_arms.names):
            dates = np.flatnonzero(visits[:, arm]).tolist()
            last = -1 - int(first[arm])
            every, apart = int(promises.every[arm]), int(promises.apart[arm])
            if every and max(np.diff([last, *dates, steps]).tolist()) > every:
                yield f"{name}: at least every {every} steps"
            if apart and min([apart, *np.diff(dates).tolist()]) < apart:
                yield f"{name}: not more often than every {apart} steps"
            window = int(promises.once_in[arm])
            for begin in range(0, steps - window + 1 if window else 0, window or 1):
                if visits[begin : begin + window, arm].sum() != 1:
                    yield f"{name}: once in {window} steps"
    for limit in [] if problem.purse is None else problem.purse.limits:
        counted = [
            column
            for column, name in enumerate(problem.space.names)
            if not limit.actions or name in limit.actions
        ]
        for begin in range(0, steps, limit.steps):
            if visits[begin : begin + limit.steps, counted].sum() > limit.most:
                yield str(limit)
