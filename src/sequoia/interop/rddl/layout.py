"""The layout of the ground fluents of an instance in rows of numbers."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sequoia.interop.rddl.compiler import Array
from sequoia.interop.rddl.reading import RddlModel
from sequoia.validation import FloatArray


class Layout:
    """Names, places and values of state and action fluents.

    Attributes
    ----------
    states, actions
        Names of the lifted fluents.
    """

    def __init__(self, model: RddlModel) -> None:
        self._model, self._lifted = model, model.lifted
        self.states: list[str] = list(model.lifted.state_fluents)
        self.actions: list[str] = list(model.lifted.action_fluents)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return how many objects there are for each parameter of a fluent."""
        objects = self._lifted.type_to_objects
        return tuple(len(objects[kind]) for kind in self._lifted.variable_params[name])

    def size(self, name: str) -> int:
        """Return the number of ground fluents of a fluent."""
        return int(np.prod(self.shape(name), dtype=np.int64))

    def kind(self, name: str) -> str:
        """Return the type of the values of a fluent."""
        return str(self._lifted.variable_ranges[name])

    def names(self, fluents: Sequence[str]) -> Iterator[str]:
        """Yield the names of ground fluents, such as ``running(c1)``."""
        for name in fluents:
            for objects in self._lifted.ground_types(self._lifted.variable_params[name]):
                yield f"{name}({', '.join(objects)})" if objects else name

    @cached_property
    def ranges(self) -> list[tuple[slice, int]]:
        """The components of each state fluent, and their number of values: 0 for amounts."""
        ranges, first = [], 0
        for name in self.states:
            values = {"bool": 2, "int": 0, "real": 0}.get(self.kind(name))
            if values is None:
                values = len(self._lifted.type_to_objects[self.kind(name)])
            ranges.append((slice(first, first + self.size(name)), values))
            first += self.size(name)
        return ranges

    @cached_property
    def columns(self) -> dict[str, int]:
        """Number of the first ground action of each action fluent."""
        ends = np.cumsum([0, *(self.size(name) for name in self.actions)])
        return dict(zip(self.actions, ends[:-1].tolist(), strict=True))

    @property
    def n_actions(self) -> int:
        """The number of ground actions, possible or not."""
        return sum(self.size(name) for name in self.actions)

    def fluents(self, states: Array) -> dict[str, Array]:
        """Return the value of every state fluent, ``(B, objects)`` each."""
        fluents: dict[str, Array] = {}
        for name, (part, _) in zip(self.states, self.ranges, strict=True):
            columns = states[:, part]
            if self.kind(name) == "bool":
                columns = columns != 0
            elif self.kind(name) != "real":
                columns = columns.astype(np.int64)
            fluents[name] = columns.reshape(len(states), *self.shape(name))
        return fluents

    def action_fluents(self, every: Array) -> dict[str, Array]:
        """Return the value of every action fluent from all ground actions, ``(B, all)``."""
        return {
            name: every[:, first : first + self.size(name)].reshape(len(every), *self.shape(name))
            for name, first in self.columns.items()
        }

    def rows(self, fluents: Mapping[str, Array]) -> Array:
        """Return states, ``(B, D)``, from the value of every state fluent."""
        is_real = any(self.kind(name) == "real" for name in self.states)
        parts = [fluents[name].reshape(len(fluents[name]), -1) for name in self.states]
        return np.concatenate(parts, axis=1).astype(np.float64 if is_real else np.int64)

    def features(self, states: Array) -> FloatArray:
        """Return truth values, an indicator for each object, and amounts made small."""
        parts = []
        for part, values in self.ranges:
            columns = states[:, part].astype(np.float64)
            if values == 0:
                columns = np.sign(columns) * np.log1p(np.abs(columns))
            elif values > 2:
                columns = (columns[:, :, None] == np.arange(values)).reshape(len(columns), -1) * 1.0
            parts.append(columns)
        return np.concatenate(parts, axis=1)

    def read_value(self, component: int, text: str) -> float:
        """Return the value of a component from a text: a truth value, an object, a number."""
        where = next(i for i, (part, _) in enumerate(self.ranges) if component < part.stop)
        kind = self.kind(self.states[where])
        known: dict[str, int] = {"true": 1, "false": 0, "1": 1, "0": 0} if kind == "bool" else {}
        objects = self._lifted.type_to_objects.get(kind, ())
        known |= {name_of_object: index for index, name_of_object in enumerate(objects)}
        if not known:
            return float(text)
        if text.lstrip("@") not in known:
            raise ValueError(text)
        return float(known[text.lstrip("@")])

    def fixed_features(self, most: int) -> FloatArray:
        """Return what never changes about each component, ``(D, F)``.

        Its objects, where a type has at most so many, and the values of the non-fluents of the
        same objects, in units of the largest.
        """
        kinds = [
            kind for kind, objects in self._lifted.type_to_objects.items() if len(objects) <= most
        ]
        about = [name for name in self._lifted.non_fluents if self._lifted.variable_params[name]]
        return np.concatenate([self._fixed_of(fluent, kinds, about) for fluent in self.states])

    def _fixed_of(self, fluent: str, kinds: Sequence[str], about: Sequence[str]) -> FloatArray:
        parameters, size = self._lifted.variable_params[fluent], self.size(fluent)
        shape = self.shape(fluent)
        places = np.indices(shape).reshape(len(shape), size)
        parts = [np.empty((size, 0))]
        for kind in kinds:
            indicators = np.zeros((size, len(self._lifted.type_to_objects[kind])))
            for place, other in zip(places, parameters, strict=True):
                if other == kind:
                    indicators[np.arange(size), place] = 1.0
            parts.append(indicators)
        for name in about:
            known = np.asarray(self._model.start[name], dtype=np.float64)
            is_same = self._lifted.variable_params[name] == parameters
            values = known.reshape(-1) if is_same else np.zeros(size)
            parts.append((values / (np.abs(known).max(initial=0.0) or 1.0))[:, None])
        return np.concatenate(parts, axis=1)

    def ground_actions(self) -> list[Any]:
        """Return the names that pyRDDLGym has for all ground actions."""
        return [g for name in self.actions for g in self._lifted.variable_groundings[name]]
