"""One small network for all action columns: messages over the dependency graph, then scores.

Written once for numpy arrays and for torch tensors, as `q_network` is. With ``x_v`` the features of
node v and A the matrices of the graph,

``h_v = relu(W x_v + b)``, then in each layer ``h_v += relu(S h_v + sum_k M_k (A_k h)_v + c)``,

and the score of node v is ``U h_v``, one number for each kind of input that reaches a node. All
nodes share W, S, M and U, so what is learned in one place holds everywhere (Gilmer et al. 2017).
"""

from collections.abc import Mapping, Sequence
from typing import Any

Parameters = Mapping[str, Any]


def shapes(
    features: int, kinds: int, matrices: int, hidden: int, layers: int
) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter.

    Parameters
    ----------
    features
        Of a node.
    kinds
        Number of scores of a node.
    matrices
        Number of matrices that messages go along.
    hidden, layers
        Width of a node's memory, and rounds of messages.
    """
    result: dict[str, tuple[int, ...]] = {
        "in": (features, hidden),
        "in.bias": (hidden,),
        "out": (hidden, kinds),
    }
    for layer in range(layers):
        result |= {f"self.{layer}": (hidden, hidden), f"bias.{layer}": (hidden,)}
        result |= {f"heard.{layer}.{k}": (hidden, hidden) for k in range(matrices)}
    return result


def node_scores(parameters: Parameters, seen: Any, matrices: Sequence[Any]) -> Any:
    """Return the scores of each node, ``(V, B, K)``.

    Parameters
    ----------
    seen
        Features of each node in each state, ``(V, B, F)``.
    matrices
        Sparse, ``(V, V)`` each: row v says whom node v hears.
    """
    nodes, batch, features = seen.shape
    hidden = (seen.reshape(-1, features) @ parameters["in"] + parameters["in.bias"]).clip(min=0)
    for layer in range(n_layers(parameters)):
        after = hidden @ parameters[f"self.{layer}"] + parameters[f"bias.{layer}"]
        for k, matrix in enumerate(matrices):
            heard = (matrix @ hidden.reshape(nodes, -1)).reshape(hidden.shape)
            after = after + heard @ parameters[f"heard.{layer}.{k}"]
        hidden = hidden + after.clip(min=0)
    return (hidden @ parameters["out"]).reshape(nodes, batch, -1)


def n_layers(parameters: Parameters) -> int:
    """Return the number of rounds of messages."""
    return sum(name.startswith("self.") for name in parameters)
