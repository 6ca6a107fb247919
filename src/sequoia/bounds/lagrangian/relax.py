"""Upper bounds on what any policy can earn, and the prices that prove them."""

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from sequoia.bounds.certificate import Bound, Deadline, Kind
from sequoia.bounds.horizon import Horizon
from sequoia.bounds.lagrangian.arm_classes import ArmClasses, start_of
from sequoia.bounds.lagrangian.column_generation import (
    ROUNDS,
    generate_columns,
    solve_restricted_master,
)
from sequoia.bounds.lagrangian.coupling import link_coupling, row_coupling
from sequoia.bounds.lagrangian.occupancy_lp import solve_occupancies
from sequoia.bounds.lagrangian.prices import Prices
from sequoia.bounds.lagrangian.smoothed_dual import minimise_smoothed_dual
from sequoia.bounds.lagrangian.windows import windows_of
from sequoia.defaults import BOUND_SECONDS
from sequoia.errors import ProblemError
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Problem
from sequoia.problem.names import count
from sequoia.proof import StoppedBy
from sequoia.scaling import unit_of
from sequoia.sizes import MOST_OCCUPANCIES, require_at_most, require_memory
from sequoia.validation import BoolArray, FloatArray, IntArray

# Up to here the linear program as a whole takes a second or two, and its prices are the best.
# Newton's method is faster, and leaves up to 2e-5 of the bound.
MAX_LP_CLASSES = 120
# Newton's method factorises a matrix of so many rows and columns: 32 MB and a second at most.
_MAX_SMOOTH_PRICES = 2_000


@dataclass(frozen=True, eq=False)
class Relaxation:
    """An upper bound and the prices that prove it.

    Attributes
    ----------
    vertices
        For ``"hull"``, the inputs of the whole actions met on the way, ``(V, I)``.
    """

    bound: Bound
    prices: Prices
    vertices: FloatArray | None = None


def relax(
    problem: Problem,
    kind: Kind = "lp",
    *,
    horizon: int | None = None,
    discounted: bool = False,
    start: ArrayLike | None = None,
    rounds: int = ROUNDS,
    gap: float = 1e-4,
    seconds: float = BOUND_SECONDS,
) -> Relaxation:
    """Bound what any policy can earn.

    Whatever stops the search for prices, the bound is computed from the prices found by one
    dynamic program per arm, so it is always valid.

    Parameters
    ----------
    kind
        ``"lp"``: rules hold on average and in fractions. ``"hull"``: on average over whole
        actions; tighter and slower.
    horizon
        Number of steps; the problem's unless given. When discounted: the number of steps with
        prices of their own, after which prices stay the same; 0 gives stationary prices.
    discounted
        Whether the horizon has no end and step t counts ``problem.discount ** t``.
    start
        First states, ``(J,)``, or their distributions, ``(J, S)``; the problem's unless given.
    rounds
        How often ``"hull"`` is improved at most.
    gap
        Stop improving ``"hull"`` within this relative distance of its best.
    seconds
        The last resort: stop after so long. Only then does the result depend on the machine, and
        ``bound.stopped_by`` is ``"clock"``.

    Raises
    ------
    InfeasibleSpace
        When no action at all satisfies the rules.
    """
    if kind not in ("lp", "hull"):
        raise ProblemError(f'kind is {kind!r}; "lp" or "hull" is wanted.')
    if rounds < 1:
        raise ProblemError(f"rounds is {rounds}; at least 1 is wanted.")
    require_decoupled(problem)
    first, span = start_of(problem, start), Horizon.of(problem, horizon, discounted)
    began, deadline = time.perf_counter(), Deadline(seconds)
    encoding = ActionEncoding.of_problem(problem)
    encoding.require_feasible()
    prices, total, reached, by_window = _by_rows(problem, encoding, first, span, deadline)
    vertices = None
    if kind == "hull":
        prices = _unmerged(problem, encoding, first, prices)
        search = generate_columns(
            problem,
            encoding,
            prices,
            total,
            windows_of(problem, first, span, np.arange(len(first))),
            by_window,
            rounds=rounds,
            gap=gap,
            deadline=deadline,
        )
        prices, total, reached, vertices = search.prices, search.total, search.gap, search.vertices
    stopped_by: StoppedBy = "optimum" if reached <= gap else "work"
    # So far in units of the largest reward; see `_classes`.
    unit = unit_of(problem.arms.rewards)
    bound = Bound(
        total * unit,
        total * unit / float(span.weights.sum()),
        kind,
        time.perf_counter() - began,
        reached,
        stopped_by="clock" if deadline.has_cut else stopped_by,
    )
    return Relaxation(bound, prices.times(unit), vertices)


def prices_over(
    problem: Problem,
    vertices: FloatArray,
    *,
    horizon: int | None = None,
    start: ArrayLike | None = None,
    seconds: float = BOUND_SECONDS,
) -> Prices | None:
    """Return prices from mixtures of given whole actions; ``None`` if none are found in time.

    Much faster than ``relax(problem, "hull")``, from which ``vertices`` come, but the prices prove
    no bound, because other actions may pay more; they are for acting.
    """
    require_decoupled(problem)
    columns = ActionEncoding.of_problem(problem)
    arms = np.arange(problem.arms.n_arms)
    span = Horizon.of(problem, horizon)
    first = start_of(problem, start)
    arm_classes, arm_class = _classes(problem, columns, first, span, arms)
    deadline = Deadline(seconds)
    windows = windows_of(problem, first, span, arms)
    solved, table = solve_restricted_master(
        problem, columns, arm_classes, vertices, deadline, windows
    )
    if table is None or deadline.has_cut:
        return None
    by_arm = table[:, arm_classes.price_class[arm_class]]
    weights, constant = columns.objective(by_arm)
    support = (weights @ vertices.T).max(axis=1) + constant
    tolls = None
    if windows is not None and solved.tolls is not None:
        tolls = windows.tolls(solved.tolls, table.shape[2])
        table, support = table + tolls, support + windows.support(solved.tolls)
    prices = Prices(arm_classes, arm_class, table, support, tolls)
    return prices.times(unit_of(problem.arms.rewards))


def why_no_prices(problem: Problem) -> str | None:
    """Say why ``problem`` has no prices of single arms; ``None`` when it has."""
    if problem.is_decoupled:
        return None
    return f"prices need arms that evolve on their own; in {problem.name} they infect each other."


def require_decoupled(problem: Problem) -> None:
    """Raise a `ProblemError` when arms infect each other: prices take them one by one."""
    reason = why_no_prices(problem)
    if reason is not None:
        raise ProblemError(reason)


def _by_rows(
    problem: Problem,
    columns: ActionEncoding,
    start: FloatArray,
    horizon: Horizon,
    deadline: Deadline,
) -> tuple[Prices, float, float, FloatArray | None]:
    """Return prices, bound and remaining gap of the linear relaxation; prices of windows."""
    if problem.is_identity:
        coupling, price_class = row_coupling(problem.space.slim, columns)
    else:
        coupling, price_class = link_coupling(columns, None, is_closed=False), np.arange(len(start))
    arm_classes, arm_class = _classes(problem, columns, start, horizon, price_class)
    blocks = horizon.n_blocks
    smooth = problem.is_identity and not horizon.is_endless and coupling.is_finite
    smooth &= coupling.n_rows * blocks <= _MAX_SMOOTH_PRICES
    tolls: FloatArray | None = None
    by_window: FloatArray | None = None
    _, levels, states = problem.arms.next_rewards.shape
    what = f"the linear relaxation over {count(blocks, 'step')}"
    occupancies = float(blocks) * arm_classes.n_classes * levels * states
    require_memory(what, occupancies)
    if smooth and arm_classes.n_classes > MAX_LP_CLASSES:
        rows, reached = minimise_smoothed_dual(arm_classes, coupling, deadline), np.inf
    else:
        require_at_most(what, occupancies, "occupancies", MOST_OCCUPANCIES)
        windows = windows_of(problem, start, horizon, price_class)
        solved = solve_occupancies(arm_classes, coupling, deadline, windows=windows)
        reached = 0.0 if np.isfinite(solved.value) else np.inf
        rows = np.zeros((blocks, coupling.n_rows)) if solved.prices is None else solved.prices
        if windows is not None and solved.tolls is not None:
            by_window = solved.tolls
            tolls = windows.tolls(by_window, arm_classes.allowed.shape[1])
            given_back = windows.support(by_window)
    support = coupling.support(rows)
    table = coupling.level_prices(rows, arm_classes.allowed.shape[1])
    if tolls is not None:
        table, support = table + tolls, support + given_back
    prices = Prices(arm_classes, arm_class, table, support, tolls)
    return (
        prices,
        float(arm_classes.dual_value(table).sum()) + float(horizon.weights @ support),
        reached,
        by_window,
    )


def _classes(
    problem: Problem,
    columns: ActionEncoding,
    start: FloatArray,
    horizon: Horizon,
    price_class: IntArray,
) -> tuple[ArmClasses, IntArray]:
    """Put arms with one model, one price class and the same levels into one class.

    Rewards are in units of about the largest one, so that no tolerance depends on their unit.
    """
    arms = problem.arms
    key = arms.model * (int(price_class.max(initial=0)) + 1) + price_class
    _, example, arm_class = np.unique(key, return_index=True, return_inverse=True)
    arm_class = arm_class.reshape(-1)
    sums = [np.bincount(arm_class, column, minlength=len(example)) for column in start.T]
    initial_mass = np.stack(sums, axis=1).astype(np.float64)
    arm_classes = ArmClasses(
        arms.next_rewards / unit_of(arms.rewards),
        arms.kernels,
        arms.model[example],
        price_class[example],
        initial_mass,
        _allowed(problem, columns, example),
        horizon,
    )
    return arm_classes, arm_class


def _allowed(problem: Problem, columns: ActionEncoding, arms: IntArray) -> BoolArray:
    """Return which levels can be brought about in which state of some arms, ``(c, L, S)``."""
    shape = (len(arms), *problem.arms.next_rewards.shape[1:])
    allowed = np.broadcast_to(columns.allowed[arms][:, :, None], shape)
    if problem.keeper is None:
        return allowed
    barred = problem.keeper.barred
    inside = arms < len(barred)
    return allowed & ~(barred[np.where(inside, arms, 0)] & inside[:, None, None])


def _unmerged(
    problem: Problem, columns: ActionEncoding, start: FloatArray, prices: Prices
) -> Prices:
    """Return the same prices with every arm a class, and a price class, of its own."""
    arms = np.arange(problem.arms.n_arms)
    arm_classes, arm_class = _classes(problem, columns, start, prices.arm_classes.horizon, arms)
    by_arm = prices.arm_classes.price_class[prices.arm_class]
    tolls = None if prices.tolls is None else prices.tolls[:, by_arm]
    table = prices.table[:, by_arm]
    return replace(prices, arm_classes=arm_classes, arm_class=arm_class, table=table, tolls=tolls)
