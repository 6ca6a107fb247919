"""What every trained model offers: Q-values to act by, and arrays to keep."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self

from numpy.typing import NDArray

from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.validation import IntArray


class QFunction(Protocol):
    """Q(s, a) as a network over actions for every state."""

    def fold(self, states: States, steps: IntArray) -> ReluNet:
        """Return the network over the inputs of `ActionEncoding`.

        Parameters
        ----------
        states
            ``(B, D)``.
        steps
            Steps since the beginning of the episode, ``(B,)``.
        """
        ...


class Model(QFunction, Protocol):
    """A `QFunction` that can be written to a folder.

    Attributes
    ----------
    kind
        Names the form in ``model.json``.
    """

    kind: ClassVar[str]

    @property
    def environment(self) -> Environment:
        """What it was trained for."""
        ...

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return all numbers by name, and facts as JSON holds them."""
        ...

    @classmethod
    def from_arrays(
        cls,
        environment: Environment,
        arrays: Mapping[str, NDArray[Any]],
        facts: Mapping[str, Any],
    ) -> Self:
        """Build it from what `to_arrays` returned."""
        ...
