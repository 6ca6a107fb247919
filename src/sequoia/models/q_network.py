"""The form of Q(s, a), written once for numpy arrays and for torch tensors.

``Q(s, a) = price part + scale * network`` with
``network = value(z) + linear(z) @ x + output @ relu(... relu(W x + U z + b))``,
where ``z`` are the features of the state and ``x`` the inputs of the action (as `ActionEncoding`
encodes it). Everything but the last term is linear in the action, and the state only shifts the
first bias, so that the whole function of the action is a `ReluNet`.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

Parameters = Mapping[str, Any]


def shapes(
    features: int, inputs: int, hidden: Sequence[int], value: int, linear: bool
) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter.

    Parameters
    ----------
    hidden
        Widths of the hidden layers that see state and action; they end up in the program.
    value
        Width of the hidden layer that sees the state alone; 0 for none. It shapes the constant
        and the linear part, and costs the program nothing.
    linear
        Whether there is a part linear in the action.
    """
    result: dict[str, tuple[int, ...]] = {"constant": ()}
    if value:
        result |= {"value.in": (value, features), "value.bias": (value,), "value.out": (value,)}
    if linear:
        result |= {"linear.state": (inputs, features), "linear.bias": (inputs,)}
        if value:
            result["linear.hidden"] = (inputs, value)
    if hidden:
        result |= {"state": (hidden[0], features), "action": (hidden[0], inputs)}
        result["bias.0"] = (hidden[0],)
        for layer, (before, after) in enumerate(pairwise(hidden), 1):
            result |= {f"weight.{layer}": (after, before), f"bias.{layer}": (after,)}
        result["output"] = (hidden[-1],)
    return result


def of_state(parameters: Parameters, features: Any) -> tuple[Any, Any, Any]:
    """Return what the state decides: first bias ``(B, P)``, linear ``(B, I)``, constant ``(B,)``.

    A part that the network does not have is ``None``.
    """
    first = linear = None
    constant = parameters["constant"] + 0.0 * features[:, 0]
    if "linear.state" in parameters:
        linear = features @ parameters["linear.state"].T + parameters["linear.bias"]
    if "value.in" in parameters:
        hidden = features @ parameters["value.in"].T + parameters["value.bias"]
        hidden = hidden.clip(min=0)
        constant = constant + hidden @ parameters["value.out"]
        if linear is not None:
            linear = linear + hidden @ parameters["linear.hidden"].T
    if "state" in parameters:
        first = features @ parameters["state"].T + parameters["bias.0"]
    return first, linear, constant


def of_pairs(parameters: Parameters, features: Any, inputs: Any) -> Any:
    """Return the value of each pair of features ``(B, F)`` and inputs ``(B, I)``, ``(B,)``."""
    first, linear, total = of_state(parameters, features)
    if linear is not None:
        total = total + (linear * inputs).sum(-1)
    if first is not None:
        hidden = (first + inputs @ parameters["action"].T).clip(min=0)
        for layer in range(1, n_hidden(parameters)):
            weight, bias = parameters[f"weight.{layer}"], parameters[f"bias.{layer}"]
            hidden = (hidden @ weight.T + bias).clip(min=0)
        total = total + hidden @ parameters["output"]
    return total


def n_hidden(parameters: Parameters) -> int:
    """Return the number of hidden layers that see the action."""
    return sum(name.startswith("bias.") for name in parameters)
