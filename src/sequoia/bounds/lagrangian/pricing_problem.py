"""The pricing problem of column generation: which whole action pays back most at given prices."""

import numpy as np

from sequoia.bounds.certificate import Deadline
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.argmax import LinearArgmax
from sequoia.solvers import Limits
from sequoia.validation import ActionArray, FloatArray

# The first actions need not be best: later rounds ask for what they miss.
_NEARLY = 1e-2
# Any bound on how many arms an action reaches is valid; the root of the program gives a good one.
_COUNTING_NODES = 10
# No answer has to be closer than this to the best: a solver's own tolerance is 1e-6 to 1e-7.
_CLOSEST = 1e-7


class PricingProblem:
    """Answers many questions about one action set and learns from each answer.

    For row prices that make weights ``w`` of inputs, the pricing problem of one step is
    ``h(w) = max over actions a of w . x(a)``, the support function of the action set. It changes
    little when prices do: inputs are 0 or 1, and no action has more than m of them at 1, so
    ``h(w) <= h(w') + the sum of the m largest of max(w - w', 0)``. So an answer for other prices
    often bounds a new one well enough, and no solver is called.
    """

    def __init__(self, columns: ActionEncoding, deadline: Deadline) -> None:
        self._columns = columns
        self._deadline = deadline
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
            limits = Limits(deadline.left, nodes=_COUNTING_NODES)
            largest = self._linear.maximise(counted[None], limits).bounds[0]
            # A bound on a whole number may be rounded down; 1e-6 is what a solver leaves of it.
            self._most = int(min(np.floor(largest + 1e-6), self._size))

    @property
    def vertices(self) -> FloatArray:
        """The inputs of the actions met so far, ``(V, I)``."""
        return np.array(list(self._known.values())).reshape(-1, self._size)

    def meet(self, weights: FloatArray, nodes: int) -> ActionArray | None:
        """Return a good action for ``weights``, ``(I,)``, if ``nodes`` find one; remember it."""
        best = self._linear.maximise(weights[None], Limits(self._deadline.left, _NEARLY, nodes))
        if not best.is_found[0]:
            return None
        action: ActionArray = best.actions[0]
        self._remember(action)
        return action

    def ask(
        self, weights: FloatArray, allowance: float, nodes: int
    ) -> tuple[FloatArray, bool, bool]:
        """Bound the best weight of an action for each row of ``weights``, ``(B, I)``.

        Parameters
        ----------
        allowance
            Bounds need be no closer than this to the best.
        nodes
            Of branch and bound that one call of the solver may take.

        Returns
        -------
        bounds, is_new, is_cut
            Proven bounds, ``(B,)``, whether an action was met for the first time, and whether a
            limit kept a bound further away than allowed.
        """
        if self._linear.is_hard and self._quickly(weights, allowance):
            # Better actions come first: proofs are worth their time once none is left to find.
            return np.array([self._by_memory(weight) for weight in weights]), True, True
        bounds = np.empty(len(weights))
        is_new = is_cut = False
        for row, weight in enumerate(weights):
            bounds[row] = self._by_memory(weight)
            values = self.vertices @ weight
            value = float(values.max(initial=-np.inf))
            if bounds[row] - value <= allowance:
                continue
            if self._deadline.is_over():
                is_cut = True
                continue
            known = self._actions[int(values.argmax())][None] if len(values) else None
            gap = max(_CLOSEST, allowance / max(abs(value), 1e-9)) if len(values) else _CLOSEST
            limits = Limits(self._deadline.left, gap, nodes)
            best = self._linear.maximise(weight[None], limits, known)
            bounds[row] = min(bounds[row], best.bounds[0])
            self._asked.append(weight)
            self._bounds.append(float(bounds[row]))
            if best.is_found[0]:
                is_new |= self._remember(best.actions[0])
            # Twice, because the solver's gap is relative to a value that it may improve.
            is_cut |= bool(bounds[row] - max(value, best.values[0]) > 2 * allowance)
        return bounds, is_new, is_cut

    def _quickly(self, weights: FloatArray, allowance: float) -> bool:
        """Look for better actions without a solver; return whether one was new."""
        is_new = False
        for weight in weights:
            if self._deadline.is_over():
                break
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
