"""A problem in numbers and in words."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from sequoia.problem.arms import Arms
from sequoia.problem.capabilities import capabilities_of, dependencies_of, limits_of
from sequoia.problem.contagion import Contagion
from sequoia.problem.environment import Environment
from sequoia.problem.names import Numbered, between, count, say
from sequoia.problem.problem import Problem
from sequoia.problem.spaces import ActionSpace
from sequoia.problem.system import LinearSystem


def rules_in_words(space: ActionSpace) -> list[str]:
    """Say what is allowed: the rules of the space first, then the extra ones."""
    extra = space.rules.rows(space.names).names
    rules = space.rules
    staff = [f"{worker} is off" for worker in rules.absent]
    staff += [f"{worker} has {hours:g} hours" for worker, hours in rules.hours.items()]
    staff += [f"locked: {', then '.join(order)}" for order in rules.orders]
    return [space.summary(), *extra, *staff]


def summary(environment: Environment) -> dict[str, Any]:
    """Return the numbers that ``sequoia show`` prints, ready for JSON."""
    problem = capabilities_of(environment).problem
    if problem is None:
        return _plain_summary(environment)
    arms, space = problem.arms, problem.space
    return {
        "problem": problem.name,
        "fingerprint": problem.fingerprint,
        "arms": arms.n_arms,
        "models": arms.n_models,
        "states": arms.n_states,
        "doses": np.unique(arms.doses).tolist(),
        **_called(arms),
        "rewards": {"least": float(arms.rewards.min()), "most": float(arms.rewards.max())},
        "infects": not problem.is_decoupled,
        "budgets": [] if problem.purse is None else [str(limit) for limit in problem.purse.limits],
        "promises": [] if problem.keeper is None else problem.keeper.promises.words(),
        "horizon": problem.horizon,
        "discount": problem.discount,
        "actions": space.n_actions,
        "space": space.base.kind,
        "rules": rules_in_words(space),
        "paper_form": _sizes(space.system),
        "compact_form": _sizes(space.compact),
    }


def _called(arms: Arms) -> dict[str, Any]:
    """Return the names that were given, and none that are just numbers."""
    called: dict[str, Any] = {}
    for key, names in (("state_names", arms.state_names), ("model_names", arms.model_names)):
        if not isinstance(names, Numbered):
            called[key] = list(names)
    if arms.dose_names:
        called["dose_names"] = {f"{dose:g}": name for dose, name in arms.dose_names.items()}
    return called


def _sizes(system: LinearSystem) -> dict[str, int]:
    return {"columns": system.n_columns, "rows": system.n_rows, "entries": int(system.matrix.nnz)}


def _plain_summary(environment: Environment) -> dict[str, Any]:
    """Return what can be said of any environment."""
    space, start = environment.space, environment.draw_start(np.random.default_rng(0), 1)
    limits = limits_of(environment, start, np.zeros(1, np.int64))
    depends = dependencies_of(environment)
    return {
        "problem": environment.name,
        "fingerprint": environment.fingerprint,
        "components": start.shape[1],
        "uniforms": environment.n_noise,
        "horizon": environment.horizon,
        "discount": environment.discount,
        "actions": space.n_actions,
        "space": space.base.kind,
        "rules": rules_in_words(space),
        "allowed_at_first": space.n_actions if limits is None else int(limits.upper[0].sum()),
        "is_allowed_by_state": limits is not None,
        "rows_by_state": 0 if limits is None else len(limits.row_names),
        "dependencies": None
        if depends is None
        else {"among": int(depends.components.nnz), "on_actions": int(depends.columns.nnz)},
    }


def _plain_lines(environment: Environment) -> Iterable[tuple[str, str]]:
    numbers = _plain_summary(environment)
    yield "fingerprint", numbers["fingerprint"]
    state = count(numbers["components"], "number")
    yield "state", f"{state}; {count(numbers['uniforms'], 'uniform')} of luck a step"
    yield "horizon", f"{count(numbers['horizon'], 'step')}, discount {numbers['discount']:g}"
    yield "actions", count(numbers["actions"], "column")
    for number, rule in enumerate(numbers["rules"]):
        yield "rules" if number == 0 else "", rule
    if numbers["is_allowed_by_state"]:
        rows = count(numbers["rows_by_state"], "row")
        first = f"{numbers['allowed_at_first']} of {count(numbers['actions'], 'column')} are open"
        yield "by state", f"bounds of columns and of {rows}; at first {first}"
    if numbers["dependencies"] is not None:
        among, on = numbers["dependencies"]["among"], numbers["dependencies"]["on_actions"]
        yield "depends", f"{count(among, 'pair')} of components, {on} of component and column"


def lines(environment: Environment) -> Iterable[tuple[str, str]]:
    """Yield what ``sequoia show`` prints: a label and its text."""
    problem = capabilities_of(environment).problem
    if problem is None:
        yield from _plain_lines(environment)
        return
    arms, space = problem.bare_arms, problem.space
    doses = np.unique(arms.doses)
    listed = ", ".join(map(arms.say_dose, doses[:8])) + (", …" if len(doses) > 8 else "")
    best = arms.rewards.max(axis=1)[arms.model]
    yield "fingerprint", problem.fingerprint
    yield "arms", f"{arms.n_arms}, each with {count(arms.n_states, 'state')}; doses {listed}"
    if not isinstance(arms.state_names, Numbered):
        yield "states", ", ".join(f"{s} ({name})" for s, name in enumerate(arms.state_names))
    if not isinstance(arms.model_names, Numbered):
        yield "models", _models(arms)
    yield "rewards", f"{between(arms.rewards)}; the best state of an arm pays {between(best)}"
    yield "start", _start(problem)
    if problem.contagion is not None:
        yield "contagion", _contagion(problem.contagion, arms)
    for number, limit in enumerate([] if problem.purse is None else problem.purse.limits):
        yield "budgets" if number == 0 else "", str(limit)
    if problem.keeper is not None:
        for number, line in enumerate(problem.keeper.promises.words()):
            yield "promises" if number == 0 else "", line
    yield "horizon", f"{count(problem.horizon, 'step')}, discount {problem.discount:g}"
    yield "actions", f"{count(space.n_actions, 'column')}, {_influence(problem)}"
    for number, rule in enumerate(rules_in_words(space)):
        yield "rules" if number == 0 else "", rule
    for label, system in (("paper's form", space.system), ("compact form", space.compact)):
        yield label, f"{count(system.n_columns, 'column')}, {count(system.n_rows, 'row')}"


def _start(problem: Problem) -> str:
    free, kept = problem.unlimited, problem.keeper
    share = (free if kept is None else kept).start.mean(axis=0)
    words = problem.bare_arms.state_in_words
    parts = [f"{part:.0%} in {words(s)}" for s, part in enumerate(share) if part > 0]
    return ", ".join(parts)


def _models(arms: Arms) -> str:
    followed = np.bincount(arms.model, minlength=arms.n_models).tolist()
    pairs = zip(arms.model_names, followed, strict=True)
    parts = [f"{name} ({count(n, 'arm')})" for name, n in pairs]
    return ", ".join(parts if len(parts) <= 8 else [*parts[:7], f"and {len(parts) - 7} more"])


def _contagion(contagion: Contagion, arms: Arms) -> str:
    spreading = [arms.state_in_words(s) for s in np.flatnonzero(contagion.sources).tolist()]
    neighbours = np.diff(contagion.neighbours.indptr)
    return f"{say(spreading)} of an arm bears on its neighbours, {between(neighbours)} of them"


def _influence(problem: Problem) -> str:
    if problem.is_identity:
        return "one per arm"
    reach = np.bincount(problem.influence.indices, minlength=problem.space.n_actions)
    return f"each reaches {between(reach)} {'arm' if reach.max(initial=0) == 1 else 'arms'}"
