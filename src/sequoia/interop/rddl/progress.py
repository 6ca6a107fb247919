"""Progress of actions towards the goals of a reward, where chances are known."""

from typing import Protocol

import numpy as np

from sequoia.interop.rddl.compiler import Array
from sequoia.validation import ActionArray, FloatArray, IntArray

# States whose chances are computed at once.
_TOGETHER = 512


class Chances(Protocol):
    """The part of an instance of RDDL that progress needs."""

    horizon: int

    def next_shares(self, states: Array, actions: ActionArray) -> FloatArray:
        """Return the chance of each next value of each component, ``(B, D, K)``."""
        ...

    def allowed_alone(self, states: Array) -> ActionArray:
        """Return all columns that are allowed, whatever rules say of them together, ``(B, N)``."""
        ...


class Progress:
    """By how many tries a step brings the goals nearer, component by component.

    A goal is a component whose leaving of its first value makes the reward grow; with ``p_g(s)``
    the chance that a step with all actions brings it about, it takes ``1 / p_g(s)`` tries, which
    add up to ``tries(s)`` over the goals that are left. What a component promises is

    ``progress_f(s) = (P(f | all actions) - P(f | none)) * (tries(s) - tries(s with f))``:

    1 for a goal, and for what makes goals likelier the tries that it saves. So it is one step of
    policy improvement over trying the goals one by one, whatever else may help them.

    Parameters
    ----------
    first
        The first state, ``(D,)``.
    goals, helpers
        Components that are goals, and such that help one.
    """

    def __init__(self, instance: Chances, first: Array, goals: IntArray, helpers: IntArray) -> None:
        self._instance, self._goals, self._helpers = instance, goals, helpers
        self._first = first.astype(np.int64)

    def __call__(self, states: Array) -> FloatArray:
        """Return what each component promises in each state, ``(B, D)``."""
        progress = np.zeros(states.shape)
        few = max(1, _TOGETHER // (1 + len(self._helpers)))
        for begin in range(0, len(states), few):
            part = slice(begin, begin + few)
            progress[part] = self._of(states[part])
        return progress

    def _of(self, states: Array) -> FloatArray:
        progress = np.zeros(states.shape)
        every = self._instance.allowed_alone(states)
        facts = np.concatenate([self._goals, self._helpers])
        leaves = self._leaving(states, every, facts)
        gained = leaves - self._leaving(states, np.zeros_like(every), facts)
        tries = self._tries(states, leaves[:, : len(self._goals)])
        progress[:, self._goals] = gained[:, : len(self._goals)] * tries
        row, helper = np.nonzero(states[:, self._helpers] == self._first[self._helpers])
        if len(row):
            column = self._helpers[helper]
            helped = states[row]
            helped[np.arange(len(row)), column] = 1 - self._first[column]
            allowed = self._instance.allowed_alone(helped)
            after = self._tries(helped, self._leaving(helped, allowed, self._goals))
            saved = np.maximum(tries[row] - after, 0.0).sum(axis=1)
            progress[row, column] = gained[row, len(self._goals) + helper] * saved
        return progress

    def _leaving(self, states: Array, actions: ActionArray, facts: IntArray) -> FloatArray:
        """Return the chances that facts have left their first value after the step."""
        shares = self._instance.next_shares(states, actions)
        left: FloatArray = 1.0 - shares[:, facts, self._first[facts]]
        return left

    def _tries(self, states: Array, chances: FloatArray) -> FloatArray:
        """Return the tries that each goal takes, none once it is there; at most the horizon."""
        is_left = states[:, self._goals] == self._first[self._goals]
        needed: FloatArray = is_left / np.maximum(chances, 1.0 / self._instance.horizon)
        return needed
