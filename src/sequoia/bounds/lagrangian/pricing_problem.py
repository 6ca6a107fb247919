"""Which whole action pays back most: proven answers for many prices, with few calls of a solver."""

import time

import numpy as np

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.argmax import LinearArgmax
from sequoia.solvers import Limits
from sequoia.validation import ActionArray, FloatArray

_NEARLY = 1e-2


class PricingProblem:
    """Answers many questions about one action set and learns from each answer.

    The most that an action can pay back changes little when prices do: by no more than the best
    action earns from the difference. So an answer for other prices often bounds a new one well
    enough, and no solver is called.
    """

    def __init__(self, columns: ActionEncoding) -> None:
        self._columns = columns
        self._linear = LinearArgmax(columns)
        self._size = columns.n_inputs
        self._known: dict[bytes, FloatArray] = {}
        self._actions: list[ActionArray] = []
        self._asked: list[FloatArray] = []
        self._bounds: list[float] = []
        self._most = self._size
        if not self._linear.is_easy:
            counted = np.zeros(self._size)
            counted[columns.level_input[columns.level_input >= 0]] = 1.0
            largest = self._linear.maximise(counted[None], Limits(seconds=5.0)).bounds[0]
            self._most = int(min(np.floor(largest + 1e-6), self._size))

    @property
    def vertices(self) -> FloatArray:
        """The inputs of the actions met so far, ``(V, I)``."""
        return np.array(list(self._known.values())).reshape(-1, self._size)

    def meet(self, weights: FloatArray, seconds: float) -> ActionArray | None:
        """Return a good action for ``weights``, ``(I,)``, if one is found quickly; remember it."""
        best = self._linear.maximise(weights[None], Limits(seconds, _NEARLY))
        if not best.is_found[0]:
            return None
        action: ActionArray = best.actions[0]
        self._remember(action)
        return action

    def ask(
        self,
        weights: FloatArray,
        allowance: float,
        deadline: float,
        patience: float = float("inf"),
    ) -> tuple[FloatArray, bool]:
        """Bound the best weight of an action for each row of ``weights``, ``(B, I)``.

        Parameters
        ----------
        allowance
            Bounds need be no closer than this to the best.
        deadline
            When to stop, on the clock of `time.perf_counter`.
        patience
            Seconds that one call of the solver may take.

        Returns
        -------
        bounds, is_new
            Proven bounds, ``(B,)``, and whether an action was met for the first time.
        """
        if self._linear.is_hard and self._quickly(weights, allowance):
            # Better actions come first: proofs are worth their time once none is left to find.
            return np.array([self._by_memory(weight) for weight in weights]), True
        bounds = np.empty(len(weights))
        is_new = False
        for row, weight in enumerate(weights):
            bounds[row] = self._by_memory(weight)
            values = self.vertices @ weight
            value = float(values.max(initial=-np.inf))
            if bounds[row] - value <= allowance:
                continue
            known = self._actions[int(values.argmax())][None] if len(values) else None
            left = deadline - time.perf_counter()
            share = max(min(patience, left), 0.01)
            gap = max(1e-7, allowance / max(abs(value), 1e-9)) if np.isfinite(value) else 1e-7
            best = self._linear.maximise(weight[None], Limits(seconds=share, gap=gap), known)
            bounds[row] = min(bounds[row], best.bounds[0])
            self._asked.append(weight)
            self._bounds.append(float(bounds[row]))
            if best.is_found[0]:
                is_new |= self._remember(best.actions[0])
        return bounds, is_new

    def _quickly(self, weights: FloatArray, allowance: float) -> bool:
        """Look for better actions without a solver; return whether one was new."""
        is_new = False
        for weight in weights:
            known = float((self.vertices @ weight).max(initial=-np.inf))
            action = self._linear.hint(weight)
            if action is not None and weight @ action > known + allowance:
                is_new |= self._remember(action)
        return is_new

    def _by_memory(self, weight: FloatArray) -> float:
        """Return the best bound that follows from earlier answers."""
        if not self._asked:
            return float("inf")
        extra = np.maximum(weight - np.array(self._asked), 0.0)
        if self._most < self._size:
            extra = -np.partition(-extra, self._most - 1, axis=1)[:, : self._most]
        return float((np.array(self._bounds) + extra.sum(axis=1)).min())

    def _remember(self, action: ActionArray) -> bool:
        """Keep an action, ``(N,)``; return whether its inputs are new."""
        inputs = self._columns.encode(action[None])[0]
        key = inputs.astype(np.int8).tobytes()
        if key in self._known:
            return False
        self._known[key] = inputs
        self._actions.append(action)
        return True
