"""Prices for many arms: Newton's method on a smoothed dual.

The Lagrangian dual (Hawkins 2003) is a sum over classes of arms of small dynamic programs, plus
what the rules pay back::

    D(lambda) = sum_c mass_c . V_c(lambda) + sum_t max_u lambda_t . u,  u allowed by the rules

With a little random choice, of temperature mu, every ``max(a, b)`` becomes
``a + mu log(1 + exp((b - a) / mu))`` (entropy smoothing; Nesterov 2005), too high by at most
``mu log 2``. Its gradient is the expected use of each row, and its Hessian a sum of
small products, so Newton's method finds its minimum in a few steps while mu is lowered. The
cost of a step is linear in the number of classes. Whatever prices come out, the bound is computed
from them without smoothing.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import expit
from threadpoolctl import ThreadpoolController

from sequoia.bounds.certificate import Deadline
from sequoia.bounds.lagrangian.arm_classes import ArmClasses, expected
from sequoia.bounds.lagrangian.coupling import Coupling
from sequoia.validation import FloatArray, IntArray

# Thousands of small products: several threads would mostly wait for each other.
_BLAS = ThreadpoolController()
# Classes that prices are found on, then improved on. Prices depend on shares of kinds of classes,
# whose error in a sample falls with the root of its size; the second takes seconds.
_SAMPLES = (512, 4_096)
# Temperatures, as shares of the spread of rewards: the first smooths all but the clearest
# choices, the second begins from good prices, and the last is below what a bound shows in six
# digits. Each is a quarter of the one before: then a few Newton steps follow the minimum.
_FIRST, _AGAIN, _LAST, _FACTOR = 0.05, 0.01, 2e-6, 0.25
# Measured with 200 to 300 classes: 3 to 14 at one temperature.
_MAX_STEPS = 40
# A predicted fall that is not worth a step, beside the value: what rounding leaves is 1e-10 or so.
_ENOUGH = 1e-7
# A temperature that improves the bound by less is the last.
_WORTHWHILE = 1e-6
# Backtracking (Armijo): a step must bring a tenth of the fall that its slope promises; else it is
# cut to two fifths, thrice at most, before the damping is raised instead.
_PROMISED, _SHORTER, _SHORTEST = 0.1, 0.4, 0.05
# Damping (Levenberg 1944), as a share of the Hessian's diagonal: where to begin, how low it may
# get, and by how much it falls after a full step or rises after none.
_DAMPING, _LEAST_DAMPING, _CALMER, _WILDER = 1e-6, 1e-9, 10.0, 100.0
# Keeps a zero diagonal, of rows that nobody uses, from dividing by zero; entries are about 1.
_TINY = 1e-12
# The damping rises until the Hessian can be factorised; after 20 times a hundred it is steepest
# descent.
_MAX_RAISES = 20


def minimise_smoothed_dual(
    arm_classes: ArmClasses, coupling: Coupling, deadline: Deadline
) -> FloatArray:
    """Return good row prices, ``(B, R)``, for arms that are their own action columns.

    Prices are found on a small sample of the classes, then improved on a larger one.
    """
    scale = float(np.ptp(arm_classes.rewards)) or 1.0
    prices = np.zeros((arm_classes.horizon.n_blocks, coupling.n_rows))
    mu = _FIRST * scale
    for size in _SAMPLES:
        sample = _sample(arm_classes, coupling, prices, size)
        with _BLAS.limit(limits=1, user_api="blas"):
            prices = _anneal(_Dual.of(sample, coupling), prices, mu, scale, deadline)
        mu = _AGAIN * scale
        if sample is arm_classes:
            break
    return coupling.project_sign(prices)


def _anneal(
    dual: "_Dual", prices: FloatArray, mu: float, scale: float, deadline: Deadline
) -> FloatArray:
    """Return the best prices met while the temperature is lowered from ``mu``."""
    best, best_value = prices, dual.exact(prices)
    while mu > _LAST * scale and not deadline.is_over():
        prices = _descend(dual, prices, mu)
        value = dual.exact(prices)
        done = mu < _AGAIN * scale and best_value - value < _WORTHWHILE * abs(value)
        if value < best_value:
            best, best_value = prices, value
        if done:
            break
        mu *= _FACTOR
    return best


def _sample(
    arm_classes: ArmClasses, coupling: Coupling, prices: FloatArray, size: int
) -> ArmClasses:
    """Return at most ``size`` classes that stand for all, in proportion to their mass.

    Classes are drawn at even distances after sorting by price class and by what a member earns at
    ``prices``, so that the sample has the right share of every kind.
    """
    if arm_classes.n_classes <= size:
        return arm_classes
    sizes = arm_classes.initial_mass.sum(axis=1)
    table = coupling.level_prices(coupling.project_sign(prices), arm_classes.allowed.shape[1])
    order = np.lexsort((arm_classes.dual_value(table) / sizes, arm_classes.price_class))
    reach = sizes[order].cumsum()
    share = reach[-1] / size
    marks = (np.arange(size) + 0.5) * share
    drawn, times = np.unique(order[np.searchsorted(reach, marks)], return_counts=True)
    return arm_classes.only(drawn, times * share / sizes[drawn])


def _descend(dual: "_Dual", prices: FloatArray, mu: float) -> FloatArray:
    """Return the minimiser of the smoothed dual, by Newton's method with a damped Hessian."""
    damping = _DAMPING
    value, slope, curve = dual.derivatives(prices, mu)
    for _ in range(_MAX_STEPS):
        step = _newton(slope.reshape(-1), curve, damping).reshape(prices.shape)
        fall = -float((slope * step).sum())
        if fall <= _ENOUGH * max(abs(value), 1.0):
            break
        length = 1.0
        while dual.value(prices + length * step, mu) > value - _PROMISED * length * fall:
            length *= _SHORTER
            if length < _SHORTEST:
                break
        else:
            prices = prices + length * step
            value, slope, curve = dual.derivatives(prices, mu)
            damping = max(damping / (_CALMER if length == 1.0 else 1.0), _LEAST_DAMPING)
            continue
        damping *= _WILDER
    return prices


def _newton(slope: FloatArray, curve: FloatArray, damping: float) -> FloatArray:
    """Return the step that would end at the minimum of a quadratic, shortened by ``damping``.

    It solves ``(H + damping diag(H)) step = -slope``.
    """
    diagonal = curve.diagonal()
    for _ in range(_MAX_RAISES):
        damped = curve.copy()
        np.fill_diagonal(damped, diagonal + damping * (diagonal + diagonal.mean() + _TINY))
        try:
            step: FloatArray = -cho_solve(cho_factor(damped, overwrite_a=True), slope)
            return step
        except LinAlgError:
            damping *= _WILDER
    steepest: FloatArray = -slope / (diagonal.max() + _TINY)
    return steepest


@dataclass(frozen=True, eq=False)
class _Dual:
    """The dual function of row prices, with classes sorted by price class.

    Attributes
    ----------
    use
        Row coefficients of acting, by row and price class, ``(R, T)``.
    rewards, kernels
        By class and whether it is acted on, ``(C, 2, S)`` and ``(C, 2, S, S)``.
    least, most
        Smallest and largest value that each row can have, ``(R,)``.
    """

    arm_classes: ArmClasses
    coupling: Coupling
    use: FloatArray
    rewards: FloatArray
    kernels: FloatArray
    initial_mass: FloatArray
    price_class: IntArray
    least: FloatArray
    most: FloatArray

    @classmethod
    def of(cls, arm_classes: ArmClasses, coupling: Coupling) -> "_Dual":
        order = np.argsort(arm_classes.price_class, kind="stable")
        acted = arm_classes.allowed[order, 1:].any(axis=2).argmax(axis=1) + 1
        model = arm_classes.model[order]
        pair = np.stack([np.zeros_like(acted), acted], axis=1)
        price_class, initial_mass = arm_classes.price_class[order], arm_classes.initial_mass[order]
        by_level = coupling.use.toarray().reshape(coupling.n_rows, -1, arm_classes.allowed.shape[1])
        use = by_level[:, :, 1:].sum(axis=2)
        sizes = np.bincount(price_class, initial_mass.sum(axis=1), minlength=use.shape[1])
        columns = coupling.own.toarray()
        down = np.minimum(use, 0) @ sizes + np.minimum(columns, 0) @ coupling.own_upper
        up = np.maximum(use, 0) @ sizes + np.maximum(columns, 0) @ coupling.own_upper
        # What a state does not allow costs more than anything could earn in all steps.
        dear = 10 * float(np.ptp(arm_classes.rewards)) * arm_classes.horizon.n_blocks
        is_barred = ~arm_classes.allowed[order[:, None], pair]
        return cls(
            arm_classes,
            coupling,
            use,
            arm_classes.rewards[model[:, None], pair] - dear * is_barred,
            arm_classes.kernels[model[:, None], pair],
            initial_mass,
            price_class,
            np.maximum(coupling.lower, np.minimum(down, coupling.upper)),
            np.minimum(coupling.upper, np.maximum(up, coupling.lower)),
        )

    def exact(self, prices: FloatArray) -> float:
        """Return the dual without smoothing."""
        prices = self.coupling.project_sign(prices)
        table = self.coupling.level_prices(prices, self.arm_classes.allowed.shape[1])
        return float(self.arm_classes.dual_value(table).sum()) + float(
            self.coupling.support(prices).sum()
        )

    def value(self, prices: FloatArray, mu: float) -> float:
        """Return the smoothed dual."""
        values = np.zeros(self.initial_mass.shape)
        for paid in (prices @ self.use)[::-1]:
            ahead = self.rewards + expected(self.kernels, values)
            edge = (ahead[:, 1] - ahead[:, 0] - paid[self.price_class][:, None]) / mu
            values = ahead[:, 0] + mu * np.logaddexp(0.0, edge)
        return float((self.initial_mass * values).sum()) + self._rules(prices, mu)[0]

    def derivatives(self, prices: FloatArray, mu: float) -> tuple[float, FloatArray, FloatArray]:
        """Return value, gradient ``(B, R)`` and Hessian ``(B R, B R)`` of the smoothed dual."""
        blocks, rows = prices.shape
        value, slope, curve_rules = self._rules(prices, mu)
        worth, usage, curve_arms = self._arms(prices @ self.use, mu)
        slope = slope - usage @ self.use.T
        curve = np.einsum("ktu,rk,qk->truq", curve_arms, self.use, self.use, optimize=True)
        steps = np.arange(blocks)
        curve[steps, :, steps, :] += curve_rules
        return value + worth, slope, curve.reshape(blocks * rows, blocks * rows)

    def _rules(self, prices: FloatArray, mu: float) -> tuple[float, FloatArray, FloatArray]:
        """Return what the rules pay back, its gradient ``(B, R)`` and Hessians ``(B, R, R)``."""
        columns, upper = self.coupling.own, self.coupling.own_upper
        width = self.most - self.least
        row, column = -prices / mu, -(prices @ columns) / mu
        value = prices @ self.most + mu * (np.logaddexp(0.0, row) @ width)
        value = value + mu * (np.logaddexp(0.0, column) @ upper)
        low, used = expit(row), expit(column)
        slope = self.most - width * low - (used * upper) @ columns.T
        curve = np.zeros((*prices.shape, prices.shape[1]))
        index = np.arange(prices.shape[1])
        curve[:, index, index] = width * low * (1 - low) / mu
        if columns.shape[1]:
            dense = columns.toarray()
            spread = used * (1 - used) * upper / mu
            curve += np.einsum("rm,bm,qm->brq", dense, spread, dense, optimize=True)
        return float(value.sum()), slope, curve

    def _arms(self, paid: FloatArray, mu: float) -> tuple[float, FloatArray, FloatArray]:
        """Return what arms are worth, their use ``(B, T)`` and curvatures ``(T, B, B)``."""
        blocks, n_price_classes = paid.shape
        count, states = self.initial_mass.shape
        values, later = np.zeros((count, states)), np.zeros((count, states, 0))
        chance = np.empty((blocks, count, states))
        change: list[FloatArray] = []
        for step in range(blocks - 1, -1, -1):
            ahead = self.rewards + expected(self.kernels, values)
            edge = (ahead[:, 1] - ahead[:, 0] - paid[step, self.price_class][:, None]) / mu
            values = ahead[:, 0] + mu * np.logaddexp(0.0, edge)
            chance[step] = expit(edge)
            # How acting now, rather than not, changes the expected use of every step.
            flat = self.kernels.reshape(count, 2 * states, states)
            use = np.zeros((count, 2, states, blocks - step))
            use[..., 1:] = (flat @ later).reshape(count, 2, states, -1)
            use[:, 1, :, 0] = 1.0
            difference = use[:, 1] - use[:, 0]
            later = use[:, 0] + chance[step][:, :, None] * difference
            change.append(difference)
        worth = float((self.initial_mass * values).sum())
        per_class = (self.initial_mass[:, :, None] * later).sum(axis=1)
        first = np.searchsorted(self.price_class, np.arange(n_price_classes))
        usage = np.add.reduceat(per_class, first, axis=0).T
        return worth, usage, self._curvature(chance, change[::-1], mu)

    def _curvature(self, chance: FloatArray, change: list[FloatArray], mu: float) -> FloatArray:
        """Return the curvature of what arms are worth, by price class, ``(T, B, B)``."""
        blocks = len(chance)
        n_price_classes = self.use.shape[1]
        edges = np.searchsorted(self.price_class, np.arange(n_price_classes + 1))
        result = np.zeros((n_price_classes, blocks, blocks))
        where = self.initial_mass[:, None, :]
        for step in range(blocks):
            odds = chance[step]
            weight = where[:, 0] * odds * (1 - odds) / mu
            part = change[step]
            scaled = weight[:, :, None] * part
            for price_class in range(n_price_classes):
                block = slice(edges[price_class], edges[price_class + 1])
                left = scaled[block].reshape(-1, blocks - step)
                right = part[block].reshape(-1, blocks - step)
                result[price_class, step:, step:] += left.T @ right
            mixed = (
                self.kernels[:, 0] * (1 - odds)[:, :, None] + self.kernels[:, 1] * odds[:, :, None]
            )
            where = where @ mixed
        return result
