"""Networks fitted to what linear parts leave; kept where held-out states say that they help."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sequoia.learn.pairs import Pairs
from sequoia.learn.play import Play
from sequoia.learn.potential import Potential
from sequoia.models.graph_network import node_scores, shapes
from sequoia.models.joint_part import JointPart, joint_shapes, joint_values
from sequoia.models.network import Network, features, messages
from sequoia.models.sight import Sight
from sequoia.validation import BoolArray, FloatArray, IntArray

Parameters = Mapping[str, NDArray[np.float32]]
Weights = dict[str, torch.Tensor]

# Width and rounds of messages of the network that components share; width of those of the whole.
_SHARED, _LAYERS, _WHOLE = 32, 2, 64
_VALUE_HIDDEN = 128
# Adam, with a rate that falls to 0 along a cosine.
_RATE, _DECAY = 1e-3, 1e-5
_STEPS, _VALUE_STEPS, _JOINT_STEPS = 400, 300, 600
_BATCH_STATES, _BATCH_VALUES = 64, 256
# Nodes in a batch at most: more make each step slow, and teach little more.
_BATCH_NODES, _FEWEST_IN_BATCH = 8_000, 8
# The whole state is one node where that is no more than so many numbers.
_MOST_WHOLE = 64
_LAMBDA, _SWEEPS = 0.8, 3
# Every fifth episode judges critics.
_KEPT_BACK = 5


def first_parameters(
    sizes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
) -> dict[str, NDArray[np.float32]]:
    """Return random weights (He et al. 2015) with which every output is 0."""
    result = {}
    for name, shape in sizes.items():
        weights = np.zeros(shape)
        if len(shape) == 2 and name != "out":
            factor = 1.0 if name in ("in", "state", "action") else 0.5
            weights = rng.standard_normal(shape) * factor * np.sqrt(2 / shape[0])
        result[name] = weights.astype(np.float32)
    return result


def descend(
    parameters: Parameters,
    loss: Callable[[Weights, IntArray], torch.Tensor],
    rows: int,
    batch: int,
    rng: np.random.Generator,
    steps: int = _STEPS,
) -> dict[str, NDArray[np.float32]]:
    """Return parameters after some steps of Adam on random rows."""
    weights = {name: torch.from_numpy(a.copy()).requires_grad_() for name, a in parameters.items()}
    optimizer = torch.optim.Adam(list(weights.values()), _RATE, weight_decay=_DECAY, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        error = loss(weights, rng.integers(0, rows, min(batch, rows)))
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
        schedule.step()
    return {name: weight.detach().numpy().copy() for name, weight in weights.items()}


def _tensor(matrix: csr_array) -> torch.Tensor:
    with warnings.catch_warnings():
        # Torch says once that sparse matrices are new to it; products with them are tested here.
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(matrix.data),
            matrix.shape,
            check_invariants=False,
        )


def may_be_whole(sight: Sight) -> bool:
    """Whether a network of the whole state is small enough to be learned."""
    return sight.n_components * sight.n_shown <= _MOST_WHOLE


def _batch(sight: Sight) -> int:
    return int(np.clip(_BATCH_NODES // sight.n_components, _FEWEST_IN_BATCH, _BATCH_STATES))


# ------------------------------------------------------------------ critics


@dataclass(frozen=True, eq=False)
class SumCritic:
    """What several critics say together; 0 when the episode is over, but for what lasts."""

    parts: Sequence[Any]
    sight: Sight
    lasting: Potential | None = None

    def values(self, states: NDArray[Any], steps: IntArray) -> FloatArray:
        """Return the worth of states, ``(B,)``."""
        found = sum(part.values(states, steps) for part in self.parts)
        total = np.where(self.sight.is_over(steps), 0.0, found)
        return total if self.lasting is None else total + self.lasting.values(states, steps)


@dataclass(frozen=True, eq=False)
class Returns:
    """Plays cut into episodes, with what they earned.

    Attributes
    ----------
    states, steps
        Of all steps and of the end: ``(H + 1, E, D)`` and ``(H + 1, E)``.
    rewards
        ``(H, E)``, less what a step earns on average where rewards go on for ever.
    """

    states: NDArray[Any]
    steps: IntArray
    rewards: FloatArray
    strayed: BoolArray
    discount: float

    @classmethod
    def of(cls, plays: Sequence[Play], sight: Sight, discount: float) -> "Returns":
        """Put plays side by side."""
        horizon = sight.horizon
        states, rewards, strayed = [], [], []
        for own in plays:
            by_step = own.states.reshape(horizon, -1, own.states.shape[1])
            states.append(np.concatenate([by_step, own.following[None, -by_step.shape[1] :]]))
            rewards.append(own.rewards.reshape(horizon, -1))
            strayed.append(own.strayed.reshape(horizon, -1))
        every, earned = np.concatenate(states, axis=1), np.concatenate(rewards, axis=1)
        steps = np.repeat(np.arange(horizon + 1)[:, None], every.shape[1], axis=1)
        if sight.n_times == 1:
            earned = earned - earned.mean()
        return cls(every, steps, earned, np.concatenate(strayed, axis=1), discount)

    @property
    def kept_back(self) -> BoolArray:
        """Which episodes judge, ``(E,)``."""
        return np.asarray(np.arange(self.rewards.shape[1]) % _KEPT_BACK == 0)

    def values(self, critic: Any) -> FloatArray:
        """Return what a critic says of every state, ``(H + 1, E)``."""
        flat = self.states.reshape(-1, self.states.shape[2])
        found: FloatArray = critic.values(flat, self.steps.reshape(-1)).reshape(self.steps.shape)
        return found

    def targets(self, values: FloatArray, trace: float) -> FloatArray:
        """Return lambda-returns, ``(H, E)``, that end in ``values``."""
        found = np.empty_like(self.rewards)
        ahead = values[-1]
        for step in reversed(range(len(found))):
            mixed = (1 - trace) * values[step + 1] + trace * ahead
            if step + 1 < len(found):
                mixed = np.where(self.strayed[step + 1], values[step + 1], mixed)
            ahead = self.rewards[step] + self.discount * mixed
            found[step] = ahead
        return found

    def errors(self, values: FloatArray) -> FloatArray:
        """Return squared errors against what was earned, by episode kept back, ``(E',)``."""
        error = (self.targets(values, 1.0) - values[:-1])[:, self.kept_back]
        error = error - error.mean(axis=1, keepdims=True)
        return np.asarray((error**2).mean(axis=0))


def fit_value_network(
    returns: Returns,
    sight: Sight,
    previous: Network | None,
    rng: np.random.Generator,
) -> Network:
    """Return a network of the whole state by TD(lambda), in a few sweeps."""
    ends = sight.n_times > 1
    flat = returns.states[:-1].reshape(-1, returns.states.shape[2])
    seen = torch.from_numpy(features(sight, True, flat, returns.steps[:-1].reshape(-1)))
    taught = np.flatnonzero((~returns.kept_back & ~returns.strayed).reshape(-1))
    network = previous
    if network is None:
        sizes = shapes(seen.shape[2], 1, 0, _VALUE_HIDDEN, 1)
        network = Network(sight, True, first_parameters(sizes, rng), 0.0)
    for _ in range(_SWEEPS):
        values = np.zeros(returns.steps.shape)
        if network.scale:
            values = returns.values(network)
        if ends:
            values[-1] = 0.0
        wanted = returns.targets(values, _LAMBDA).reshape(-1)
        wanted = wanted - wanted.mean()
        scale = network.scale or float(wanted.std()) or 1.0
        target = torch.from_numpy((wanted / scale).astype(np.float32))

        def loss(weights: Weights, rows: IntArray, target: torch.Tensor = target) -> torch.Tensor:
            few = torch.from_numpy(taught[rows])
            found = node_scores(weights, seen[:, few], ()).sum((0, 2))
            error: torch.Tensor = ((found - target[few]) ** 2).mean()
            return error

        size = (len(taught), _BATCH_VALUES)
        weights = descend(network.parameters, loss, *size, rng, _VALUE_STEPS)
        network = Network(sight, True, weights, scale)
    return network


# ------------------------------------------------------------------ actors


@dataclass(frozen=True, eq=False)
class _Lessons:
    """All comparisons of several rounds, one after the other."""

    states: NDArray[Any]
    steps: IntArray
    actions: NDArray[np.float32]
    state: IntArray
    tried: NDArray[np.float32]
    rest: FloatArray
    scale: float

    @classmethod
    def of(cls, pairs: Sequence[Pairs], rest: Sequence[FloatArray]) -> "_Lessons":
        first = np.cumsum([0, *(len(own.states) for own in pairs)])
        state = [own.state + shift for own, shift in zip(pairs, first, strict=False)]
        values = np.concatenate(list(rest))
        return cls(
            np.concatenate([own.states for own in pairs]),
            np.concatenate([own.steps for own in pairs]),
            np.concatenate([own.actions for own in pairs]).astype(np.float32),
            np.concatenate(state),
            np.concatenate([own.tried for own in pairs]).astype(np.float32),
            values,
            float(values.std()) or 1.0,
        )


def fit_score_network(
    sight: Sight,
    pairs: Sequence[Pairs],
    rest: Sequence[FloatArray],
    previous: Network | None,
    rng: np.random.Generator,
) -> Network:
    """Return scores by a network that components share."""
    own = _Lessons.of(pairs, rest)
    seen = torch.from_numpy(features(sight, False, own.states, own.steps))
    tensors = [_tensor(matrix) for matrix in messages(sight, False)]
    rank = sight.rank
    parameters: Parameters
    if previous is None:
        kinds = int(rank.max(initial=0)) + 1
        sizes = shapes(seen.shape[2], kinds, len(tensors), _SHARED, _LAYERS)
        parameters = first_parameters(sizes, rng)
    else:
        share = np.float32(previous.scale / own.scale)
        parameters = dict(previous.parameters) | {"out": previous.parameters["out"] * share}
    order = np.argsort(own.state, kind="stable")
    first = np.searchsorted(own.state[order], np.arange(len(own.states) + 1))
    taught = np.flatnonzero(np.diff(first) > 0)
    target = torch.from_numpy((own.rest / own.scale).astype(np.float32))
    apart = torch.from_numpy(own.tried - own.actions[own.state])
    column, node = torch.from_numpy(sight.column), torch.from_numpy(sight.node)
    place = torch.from_numpy(rank)

    def loss(weights: Weights, rows: IntArray) -> torch.Tensor:
        few = np.unique(taught[rows])
        chosen = np.concatenate([order[first[one] : first[one + 1]] for one in few.tolist()])
        which = torch.from_numpy(np.searchsorted(few, own.state[chosen]))
        outputs = node_scores(weights, seen[:, torch.from_numpy(few)], tensors)
        by_column = torch.zeros(len(few), sight.n_columns)
        by_column = by_column.index_add(1, column, outputs[node, :, place].T)
        lessons = torch.from_numpy(chosen)
        found = (apart[lessons] * by_column[which]).sum(1)
        return ((found - target[lessons]) ** 2).mean()

    weights = descend(parameters, loss, len(taught), _batch(sight), rng)
    return Network(sight, False, weights, own.scale)


def fit_joint_part(
    sight: Sight,
    pairs: Sequence[Pairs],
    rest: Sequence[FloatArray],
    previous: JointPart | None,
    rng: np.random.Generator,
) -> JointPart:
    """Return a network over state and action."""
    own = _Lessons.of(pairs, rest)
    seen = torch.from_numpy(features(sight, True, own.states, own.steps)[0])
    actions, tried = torch.from_numpy(own.actions), torch.from_numpy(own.tried)
    parameters: Parameters
    if previous is None:
        sizes = joint_shapes(seen.shape[1], actions.shape[1], _WHOLE)
        parameters = first_parameters(sizes, rng)
    else:
        share = np.float32(previous.scale / own.scale)
        scaled = {name: previous.parameters[name] * share for name in ("out", "output")}
        parameters = dict(previous.parameters) | scaled
    order = np.argsort(own.state, kind="stable")
    first = np.searchsorted(own.state[order], np.arange(len(own.states) + 1))
    taught = np.flatnonzero(np.diff(first) > 0)
    target = torch.from_numpy((own.rest / own.scale).astype(np.float32))

    def loss(weights: Weights, rows: IntArray) -> torch.Tensor:
        few = np.unique(taught[rows])
        chosen = torch.from_numpy(
            np.concatenate([order[first[one] : first[one + 1]] for one in few.tolist()])
        )
        which = torch.from_numpy(np.repeat(np.arange(len(few)), first[few + 1] - first[few]))
        at = seen[torch.from_numpy(few)]
        mine = joint_values(weights, at, actions[torch.from_numpy(few)])
        error = joint_values(weights, at[which], tried[chosen]) - mine[which] - target[chosen]
        # The luck of the policy's own action is in all comparisons of its state alike.
        sums = torch.zeros(len(few)).index_add(0, which, error)
        counts = torch.from_numpy(first[few + 1] - first[few] + 1)
        total: torch.Tensor = (error**2).sum() - (sums**2 / counts).sum()
        return total / len(chosen)

    weights = descend(parameters, loss, len(taught), 2 * _BATCH_STATES, rng, _JOINT_STEPS)
    return JointPart(sight, weights, own.scale)
