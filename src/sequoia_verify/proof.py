"""What no choice exceeds: weak duality at the leaves of a tree, in exact fractions.

For any multipliers ``y`` of rows and any 0-1 choice ``x`` that satisfies them,
``w x <= sum_r max(y_r low_r, y_r high_r) + sum_c max(0, (w - y A)_c)``. A tree splits the choices
by columns that are 0 or 1, and by neurons that are off or on; what holds at its leaves holds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from sequoia_verify.words import NotVerified, System, Terms, Unreadable

ZERO = Fraction(0)
Row = tuple[Terms, Fraction | None, Fraction | None]


def exact(number: Any) -> Fraction:
    """Return a number of a machine as it is, to the last bit."""
    try:
        return Fraction(float(number))
    except (TypeError, ValueError, OverflowError):
        raise Unreadable(f"{number!r} stands where a finite number is wanted.") from None


@dataclass(frozen=True)
class Box:
    """Smallest and largest value of columns; 0 and 1 where nothing else is said."""

    ends: Mapping[int, tuple[Fraction, Fraction]] = field(default_factory=dict)

    def of(self, column: int) -> tuple[Fraction, Fraction]:
        """Return both ends of a column."""
        return self.ends.get(column, (ZERO, Fraction(1)))

    def most(self, terms: Terms) -> Fraction:
        """Return the largest value of a sum, without any rows."""
        return sum((max(w * end for end in self.of(c)) for c, w in terms.items()), ZERO)

    def fixed(self, column: int, to: int) -> "Box":
        """Return the part in which a column is 0 or 1."""
        return Box({**self.ends, column: (Fraction(to), Fraction(to))})


def ceiling(terms: Terms, rows: Sequence[Row], y: Mapping[str, Any], box: Box) -> Fraction:
    """Return what ``terms`` do not exceed in a box, by multipliers of rows."""
    left, total = dict(terms), ZERO
    for row, multiplier in y.items():
        price = exact(multiplier)
        if not 0 <= int(row) < len(rows):
            raise NotVerified(f"a multiplier is of row {row}, of which there are {len(rows)}.")
        used, low, high = rows[int(row)]
        end = high if price > 0 else low
        if end is None and price:
            raise NotVerified(f"the multiplier of row {row} has the wrong sign.")
        total += price * (end or ZERO)
        for column, value in used.items():
            left[column] = left.get(column, ZERO) - price * value
    return total + box.most(left)


@dataclass(frozen=True)
class Neuron:
    """A ReLU: the sum it sees, its bias, its range, and its own column."""

    terms: Terms
    bias: Fraction
    column: int
    low: Fraction
    high: Fraction
    is_on: bool | None = None

    def within(self, box: Box) -> "Neuron":
        """Return it with the range that a box leaves."""
        high = self.bias + box.most(self.terms)
        low = self.bias - box.most({c: -w for c, w in self.terms.items()})
        low, high = max(low, self.low), min(high, self.high)
        if self.is_on is not None:
            low, high = (max(low, ZERO), high) if self.is_on else (low, min(high, ZERO))
        return replace(self, low=min(low, high), high=high)

    def rows(self) -> list[Row]:
        """Return ``h >= v``, ``h`` below the chord of the range, and the side of a split."""
        low, high = min(self.low, ZERO), max(self.high, ZERO)
        slope = Fraction(1) if self.low >= 0 else high / (high - low) if high > low else ZERO
        above = {c: -w for c, w in self.terms.items()} | {self.column: Fraction(1)}
        chord = {c: -slope * w for c, w in self.terms.items()} | {self.column: Fraction(1)}
        top = slope * self.bias if self.low >= 0 else slope * (self.bias - low)
        side: Row = ({}, None, None)
        if self.is_on is not None:
            side = (self.terms, -self.bias, None) if self.is_on else (self.terms, None, -self.bias)
        return [(above, self.bias, None), (chord, None, top), side]


@dataclass(frozen=True)
class Part:
    """A part of the choices: a box, the rules, and neurons with their ranges there."""

    box: Box
    rules: Sequence[Row]
    neurons: Sequence[Neuron] = ()

    @cached_property
    def rows(self) -> list[Row]:
        """All rows: the rules first, then three for each neuron."""
        return [*self.rules, *(row for neuron in self.neurons for row in neuron.rows())]

    def with_neurons(self, neurons: Sequence[Neuron]) -> "Part":
        """Return it with other neurons, each one's range narrowed by what comes before."""
        box, narrowed = self.box, list[Neuron]()
        for neuron in neurons:
            neuron = neuron.within(box)
            ends = max(neuron.low, ZERO), max(neuron.high, ZERO)
            box = Box({**box.ends, neuron.column: ends})
            narrowed.append(neuron)
        return Part(box, self.rules, narrowed)

    def halves(self, tree: Mapping[str, Any]) -> Iterator[tuple["Part", Mapping[str, Any]]]:
        """Yield the parts into which a node of a tree splits, with their own trees."""
        place = int(tree["column"] if "column" in tree else tree["neuron"])
        for side, key in enumerate(("zero", "one")):
            if "column" in tree:
                part = Part(self.box.fixed(place, side), self.rules)
                yield part.with_neurons(self.neurons), tree[key]
            else:
                neurons = list(self.neurons)
                neurons[place] = replace(neurons[place], is_on=bool(side))
                yield self.with_neurons(neurons), tree[key]

    def bound(self, terms: Terms, tree: Mapping[str, Any], whole: set[int]) -> Fraction | None:
        """Return what ``terms`` do not exceed here; ``None`` where leaves show there is nothing."""
        if "y" in tree:
            return ceiling(terms, self.rows, tree["y"], self.box)
        if "empty" in tree:
            if ceiling({}, self.rows, tree["empty"], self.box) >= 0:
                raise NotVerified("a leaf is said to be empty, and its multipliers do not show it.")
            return None
        if "column" in tree and int(tree["column"]) not in whole:
            raise NotVerified(f"column {tree['column']} is split and need not be whole.")
        parts = [part.bound(terms, own, whole) for part, own in self.halves(tree)]
        return max((part for part in parts if part is not None), default=None)


def whole_space(system: System) -> Part:
    """Return all choices that a system allows."""
    return Part(Box(), [(terms, low, high) for _, terms, low, high in system.rows])


@dataclass(frozen=True)
class Network:
    """``constant + linear x + output relu(... relu(W x + b) ...)`` of sums of columns."""

    inputs: Sequence[Terms]
    content: Mapping[str, Any]

    def terms(self, weights: Sequence[Any]) -> Terms:
        """Return a sum of inputs as a sum of columns."""
        total: Terms = {}
        for weight, own in zip(weights, self.inputs, strict=True):
            for column, value in own.items():
                total[column] = total.get(column, ZERO) + exact(weight) * value
        return {column: value for column, value in total.items() if value}

    def part(self, system: System, ranges: Sequence[Sequence[Mapping[str, Any]]]) -> Part:
        """Return all choices with neurons, in ranges that multipliers show."""
        part, last, fresh = whole_space(system), list[int](), len(system.columns)
        for layer, own in zip(self.content["layers"], ranges, strict=True):
            added: list[Neuron] = []
            for row, bias, proof in zip(layer["weights"], layer["bias"], own, strict=True):
                terms = (
                    {c: exact(w) for c, w in zip(last, row, strict=True) if w}
                    if last or part.neurons
                    else self.terms(row)
                )
                high = exact(bias) + ceiling(terms, part.rows, proof["high"], part.box)
                falling = {c: -w for c, w in terms.items()}
                low = exact(bias) - ceiling(falling, part.rows, proof["low"], part.box)
                added.append(Neuron(terms, exact(bias), fresh + len(added), min(low, high), high))
            part = part.with_neurons([*part.neurons, *added])
            last = [neuron.column for neuron in added]
            fresh += len(added)
        return part

    def worth(self, part: Part) -> Terms:
        """Return the value without its constant, as a sum of columns and last neurons."""
        output = self.content["output"]
        last = part.neurons[len(part.neurons) - len(output) :]
        weights = zip(last, output, strict=True)
        return self.terms(self.content["linear"]) | {n.column: exact(w) for n, w in weights}

    def value(self, chosen: Mapping[int, int]) -> Fraction:
        """Return the value of a choice by a forward pass, exactly."""
        x = [sum((v * chosen.get(c, 0) for c, v in own.items()), ZERO) for own in self.inputs]

        def dot(row: Sequence[Any], values: Sequence[Fraction]) -> Fraction:
            return sum((exact(w) * v for w, v in zip(row, values, strict=True)), ZERO)

        hidden = x
        for layer in self.content["layers"]:
            pairs = zip(layer["weights"], layer["bias"], strict=True)
            hidden = [max(dot(row, hidden) + exact(bias), ZERO) for row, bias in pairs]
        last = dot(self.content["output"], hidden) if self.content["layers"] else ZERO
        return exact(self.content["constant"]) + dot(self.content["linear"], x) + last
