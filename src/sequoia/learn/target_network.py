"""A network in training: its weights, a slower copy of them, and the optimiser's memory."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sequoia.learn.q_learning_config import QLearningConfig

Single = NDArray[np.float32]
Tensors = dict[str, torch.Tensor]
Forward = Callable[[Tensors], torch.Tensor]


class TargetNetwork:
    """Weights that descend, and a target copy that follows.

    Attributes
    ----------
    online, target
        Parameters by name.
    batches
        How many gradient steps were taken.
    """

    def __init__(
        self,
        shapes: Mapping[str, tuple[int, ...]],
        config: QLearningConfig,
        rng: np.random.Generator,
    ) -> None:
        self._config = config
        draw = _FIRST_WEIGHTS[config.network.initial]
        self.online: Tensors = {
            name: torch.from_numpy(weights).requires_grad_()
            for name, weights in draw(shapes, rng).items()
        }
        self.target: Tensors = self.copy()
        self.optimizer = torch.optim.Adam(
            list(self.online.values()), config.learning_rate, eps=config.adam_epsilon, fused=True
        )
        self.batches = 0

    def copy(self) -> Tensors:
        """Return a copy of the online weights."""
        return {name: weight.detach().clone() for name, weight in self.online.items()}

    def slow_down(self, share: float) -> None:
        """Set the learning rate to a share of that of the settings."""
        for group in self.optimizer.param_groups:
            group["lr"] = share * self._config.learning_rate

    def descend(self, forward: Forward, targets: Single, weights: Single) -> Single:
        """Take one step towards ``targets``, ``(B,)``, and return how far off it was."""
        error = forward(self.online) - torch.from_numpy(targets)
        loss = (torch.from_numpy(weights) * error**2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(self.online.values()), self._config.max_grad_norm)
        self.optimizer.step()
        self.batches += 1
        if self.batches % self._config.target_update_interval == 0:
            self.follow(self._config.tau)
        found: Single = error.detach().numpy()
        return found

    def follow(self, rate: float = 1.0) -> None:
        """Move the target towards the online weights, by default all the way."""
        with torch.no_grad():
            for name, weight in self.target.items():
                weight.lerp_(self.online[name], rate)

    def ask_target(self, forward: Forward) -> NDArray[np.float64]:
        """Return what the target network says."""
        with torch.no_grad():
            return forward(self.target).numpy().astype(np.float64)

    def state(self) -> dict[str, torch.Tensor]:
        """Return everything that changes, by name, for a checkpoint."""
        moments = self.optimizer.state_dict()["state"]
        parts = {f"online.{name}": weight.detach() for name, weight in self.online.items()}
        parts |= {f"target.{name}": weight for name, weight in self.target.items()}
        for index, values in moments.items():
            parts |= {f"adam.{index}.{name}": value for name, value in values.items()}
        return parts

    def restore(self, parts: Mapping[str, torch.Tensor], batches: int) -> None:
        """Take over what `state` returned."""
        with torch.no_grad():
            for name, weight in self.online.items():
                weight.copy_(parts[f"online.{name}"])
                self.target[name].copy_(parts[f"target.{name}"])
        moments: dict[int, dict[str, Any]] = {}
        for key, value in parts.items():
            kind, index, *rest = key.split(".")
            if kind == "adam":
                moments.setdefault(int(index), {})[".".join(rest)] = value
        known = self.optimizer.state_dict()
        self.optimizer.load_state_dict({**known, "state": moments})
        self.batches = batches


def _he_weights(
    shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
) -> dict[str, Single]:
    """Return the weights that the presets other than ``paper`` begin with."""
    return {name: _he(name, shape, rng) for name, shape in shapes.items()}


def _he(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> Single:
    """Return random weights for hidden layers, and zeros for whatever adds to the value."""
    if name in ("output", "value.out", "constant") or name.startswith("linear") or len(shape) < 2:
        return np.zeros(shape, np.float32)
    spread = np.sqrt(2.0 / shape[1])
    weights: Single = (spread * rng.standard_normal(shape)).astype(np.float32)
    return weights


def _torch_weights(
    shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
) -> dict[str, Single]:
    """Return weights as ``torch.nn.Linear`` draws them: within ``1 / sqrt(inputs)`` of 0.

    State and action are the inputs of the first layer together; what is no weight of a layer of
    the network over both begins as `_he` has it.
    """
    inputs = {name: shape[-1] for name, shape in shapes.items() if name.startswith("weight.")}
    if "output" in shapes:
        first = shapes["state"][1] + shapes["action"][1]
        inputs |= {"state": first, "action": first, "bias.0": first}
        inputs |= {name.replace("weight", "bias"): size for name, size in inputs.items()}
        inputs |= dict.fromkeys(("output", "constant"), shapes["output"][0])
    drawn = {}
    for name, shape in shapes.items():
        if name in inputs:
            limit = 1 / np.sqrt(inputs[name])
            drawn[name] = np.asarray(rng.uniform(-limit, limit, shape), np.float32)
        else:
            drawn[name] = _he(name, shape, rng)
    return drawn


_FIRST_WEIGHTS = {"he": _he_weights, "torch": _torch_weights}
