"""Latent spherical flow policies (Kong et al., ICML 2026, arXiv 2601.22211).

A direction on the sphere scores the columns, and a combinatorial solver, here our linear argmax,
turns it into an action. A flow learns the distribution of good directions by weighted Riemannian
flow matching (Chen & Lipman 2024), so the policy can have several modes. Critics rate directions
rather than actions, so that learning needs no solver; since an action stays the same while its
direction moves a little, what they learn is smoothed by noise on the sphere.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar, cast

import numpy as np
import torch
from pydantic import Field

from experiments.rivals.flow_model import (
    CRITICS,
    FLOW,
    FlowModel,
    carried,
    on_sphere,
    output,
    seen_part,
    shapes,
    tangent,
    velocity,
)
from experiments.rivals.rival import Rival, RivalConfig
from experiments.rivals.scores import ByScores, ScoreArgmax, n_seen, seen
from sequoia.learn.base import Tensors, under
from sequoia.learn.replay import Replay
from sequoia.problem import Environment
from sequoia.rng import stream
from sequoia.validation import IntArray

# As in the authors' code: times nearer to 0 or 1 are not learned, where the target is steep.
_LEAST_TIME = 0.1
# The lowest fifth of the values that are averaged is left out.
_TRIMMED = 0.2
# Standardised values are cut off here before they become weights, and weights at the second.
_MOST_SPREADS, _MOST_WEIGHT = 3.0, 4.0
# Norms at which gradients of the critics and of the flow are clipped.
_CRITIC_NORM, _FLOW_NORM = 10.0, 5.0


class LsFlowConfig(RivalConfig):
    """Settings of ``lsflow``.

    After each step, ``gradient_steps`` batches of ``batch_size`` are learned, from
    ``learning_starts`` transitions on. The flow is cut into ``flow_steps`` steps. A state's best of
    ``candidates`` directions is moved by noise of length ``noise`` before it is carried out.
    Critics learn the mean worth of ``smoothing_candidates`` directions of the next state, moved in
    the same way. Directions are weighted by the exponential of their standardised values over a
    temperature, which falls from ``first_temperature`` to ``last_temperature`` in the course of
    ``annealed`` batches. Target networks take over the share ``tau`` of the weights after each
    batch.
    """

    learner: ClassVar[str] = "lsflow"

    rounds: int = Field(default=60, ge=0)
    episodes: int = Field(default=64, ge=1)
    hidden: int = Field(default=128, ge=1)
    learning_starts: int = Field(default=1_000, ge=0)
    gradient_steps: int = Field(default=2, ge=1)
    batch_size: int = Field(default=128, ge=1)
    buffer_size: int = Field(default=10_000, ge=1)
    flow_steps: int = Field(default=3, ge=1)
    candidates: int = Field(default=12, ge=1)
    smoothing_candidates: int = Field(default=8, ge=1)
    # The authors' concentration of 28 on 40 arms: sqrt(39 / 28). With 28 everywhere, four arms are
    # hardly explored and a hundred are all noise.
    noise: float = Field(default=1.2, ge=0)
    first_temperature: float = Field(default=2.0, gt=0)
    last_temperature: float = Field(default=0.8, gt=0)
    annealed: int = Field(default=1_000, ge=1)
    tau: float = Field(default=0.01, gt=0, le=1)


class LsFlow(Rival[LsFlowConfig]):
    """A flow over directions, and two critics that rate them."""

    name: ClassVar[str] = "lsflow"
    settings = LsFlowConfig

    def __init__(self, environment: Environment, config: LsFlowConfig, seed: int) -> None:
        super().__init__(environment, config, seed)
        self._argmax = ScoreArgmax(environment)
        features, columns = n_seen(environment), environment.space.n_actions
        rng = stream(seed, "lsflow:weights")
        self.online = torch.nn.ModuleDict()
        for name in (FLOW, *CRITICS):
            sizes = shapes(name, features, columns, config.hidden)
            self.online[name] = _first_weights(sizes, features + columns, rng)
        self.target = deepcopy(self.online)
        self._flow_descent = self._descent([FLOW])
        self._critics_descent = self._descent(CRITICS)
        self.replay = Replay(environment, config.buffer_size, 0.0)
        # Of each transition: the direction that was thought best, and the one carried out.
        self._chosen = torch.zeros((config.buffer_size, columns))
        self._tried = torch.zeros((config.buffer_size, columns))
        self.batches = 0

    def _descent(self, names: Sequence[str]) -> torch.optim.Optimizer:
        weights = [weight for name in names for weight in self.online[name].parameters()]
        return torch.optim.Adam(weights, self.config.learning_rate)

    # ------------------------------------------------------------------ acting

    def learn(self, rng: np.random.Generator) -> float:
        """Play what is thought best with noise, and learn after every step."""
        states = self.environment.draw_start(rng, self.config.episodes)
        losses: list[float] = []
        for step in range(self.environment.horizon):
            # Where one argmax takes milliseconds, a round takes longer than there may be.
            if step and self.is_over_time:
                break
            steps = np.full(len(states), step)
            starts = anywhere(rng, (len(states) * self.config.candidates, self._columns))
            chosen = self.best(seen(self.environment, states, steps), starts)
            tried = self.near(chosen, rng)
            actions = self._argmax.best(tried, states, steps)
            noise = rng.random((len(states), self.environment.n_noise))
            rewards, following = self.environment.step(states, actions, noise)
            places = (self.replay.count + np.arange(len(states))) % self.config.buffer_size
            self._chosen[places], self._tried[places] = chosen, tried
            self.replay.add(states, steps, actions, rewards, following)
            states = following
            if self.replay.count >= self.config.learning_starts:
                losses += [self._learn_batch(rng) for _ in range(self.config.gradient_steps)]
        return float(np.mean(losses)) if losses else 0.0

    @property
    def _columns(self) -> int:
        return self.environment.space.n_actions

    @torch.no_grad()
    def best(self, features: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
        """Return for each state the direction that the critics like best, ``(B, N)``."""
        count = len(starts) // len(features)
        found = self.carried(self.online, features, starts)
        values = self.worth(self.online, features, found).reshape(-1, count)
        return found.reshape(-1, count, self._columns)[
            torch.arange(len(features)), values.argmax(dim=1)
        ]

    def carried(
        self, networks: torch.nn.ModuleDict, features: torch.Tensor, starts: torch.Tensor
    ) -> torch.Tensor:
        """Return where the flow carries points; each state has as many in a row."""
        flow = _part(networks, FLOW)
        known = seen_part(flow, features).repeat_interleave(len(starts) // len(features), dim=0)
        found: torch.Tensor = carried(flow, known, starts, self.config.flow_steps)
        return found

    def worth(
        self, networks: torch.nn.ModuleDict, features: torch.Tensor, points: torch.Tensor
    ) -> torch.Tensor:
        """Return the lower of what the two critics say; each state has as many points in a row."""
        count = len(points) // len(features)
        said = []
        for own in (_part(networks, name) for name in CRITICS):
            known = seen_part(own, features).repeat_interleave(count, dim=0)
            said.append(output(own, known, points)[:, 0])
        return torch.minimum(*said)

    def near(self, points: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        """Move points on the sphere about as a von Mises-Fisher distribution does.

        Of concentration kappa, its noise is nearly Gaussian in the tangent space, with variance
        ``1 / kappa`` in each of the N - 1 directions there; so its length is
        ``sqrt((N - 1) / kappa)``.
        """
        size = self.config.noise / max(1, self._columns - 1) ** 0.5
        drawn = size * _noise(rng, tuple(points.shape))
        moved: torch.Tensor = on_sphere(points + tangent(drawn, points))
        return moved

    # ------------------------------------------------------------------ learning from a batch

    def _learn_batch(self, rng: np.random.Generator) -> float:
        replay, own = self.replay, self.config
        places, _ = replay.sample(rng, own.batch_size, 0.0)
        steps = replay.steps[places]
        features = seen(self.environment, replay.states[places], steps)
        ahead = self.ahead(replay.following[places], steps, rng)
        rewards = torch.from_numpy((replay.rewards[places] / self.scale).astype(np.float32))
        loss = self._fit_critics(features, self._tried[places], rewards + ahead)
        self.fit_flow(features, self._chosen[places], rng)
        self.batches += 1
        self._follow()
        return loss

    @torch.no_grad()
    def ahead(self, following: Any, steps: IntArray, rng: np.random.Generator) -> torch.Tensor:
        """Return the smoothed worth of the next states, ``(B,)``; after the last step it is 0.

        ``V(s) = E[ min_i Q_i(s, c') ]`` over directions ``c`` of the policy and ``c'`` near them.
        """
        last = self.environment.horizon - 1
        features = seen(self.environment, following, np.minimum(steps + 1, last))
        count = self.config.smoothing_candidates
        starts = anywhere(rng, (len(steps) * count, self._columns))
        moved = self.near(self.carried(self.target, features, starts), rng)
        values = self.worth(self.target, features, moved).reshape(-1, count)
        kept = count - int(_TRIMMED * count)
        mean = values.topk(kept, dim=1).values.mean(dim=1)
        return mean * torch.from_numpy((steps < last).astype(np.float32))

    def _fit_critics(
        self, features: torch.Tensor, points: torch.Tensor, targets: torch.Tensor
    ) -> float:
        loss = torch.zeros(())
        for own in (_part(self.online, name) for name in CRITICS):
            said = output(own, seen_part(own, features), points)[:, 0]
            loss = loss + torch.nn.functional.mse_loss(said, targets)
        _descend(self._critics_descent, loss, _CRITIC_NORM)
        return float(loss.detach()) / len(CRITICS)

    def fit_flow(
        self, features: torch.Tensor, points: torch.Tensor, rng: np.random.Generator
    ) -> None:
        """Learn to carry random points to ``points``, the better the more.

        On the great circle from ``c_0`` to ``c_1``, which is at ``c_t`` after a share t of the way,
        the velocity is ``log(c_t, c_1) / (1 - t)``.
        """
        weights = self.how_good(features, points, rng)
        begun = anywhere(rng, tuple(points.shape))
        drawn = rng.random((len(points), 1)).clip(_LEAST_TIME, 1 - _LEAST_TIME)
        times = torch.from_numpy(drawn.astype(np.float32))
        between = moved(begun, times * logarithm(begun, points))
        wanted = logarithm(between, points) / (1 - times)
        flow = _part(self.online, FLOW)
        error = velocity(flow, seen_part(flow, features), between, times) - wanted
        loss = (weights * (error**2).sum(dim=1)).mean()
        _descend(self._flow_descent, loss, _FLOW_NORM)

    @torch.no_grad()
    def how_good(
        self, features: torch.Tensor, points: torch.Tensor, rng: np.random.Generator
    ) -> torch.Tensor:
        """Return how much each direction counts: one step of mirror descent, ``exp(Q / lambda)``.

        Values are standardised in the batch, so that the temperature means the same everywhere.
        """
        own = self.config
        values = self.worth(self.target, features, self.near(points, rng))
        values = (values - values.mean()) / (values.std(unbiased=False) + 1e-6)
        done = min(1.0, self.batches / own.annealed)
        temperature = (1 - done) * own.first_temperature + done * own.last_temperature
        most = (values.clamp(-_MOST_SPREADS, _MOST_SPREADS) / temperature).exp()
        return most.clamp(max=_MOST_WEIGHT)

    @torch.no_grad()
    def _follow(self) -> None:
        """Move target networks towards the others."""
        both = zip(self.target.parameters(), self.online.parameters(), strict=True)
        for target, weight in both:
            target.lerp_(weight, self.config.tau)

    # ------------------------------------------------------------------ the result, checkpoints

    def actor(self) -> ByScores:
        """Return the policy of the model: its candidates begin at the same points everywhere."""
        begun = torch.from_numpy(self.model().starts)
        return ByScores(
            self.environment, lambda z: self.best(z, begun.repeat(len(z), 1)), self._argmax
        )

    def model(self) -> FlowModel:
        """Return the flow and the critics."""
        weights = self.online.state_dict().items()
        arrays = {name: weight.numpy().copy() for name, weight in weights}
        own = self.config
        return FlowModel(self.environment, arrays, own.candidates, own.flow_steps)

    def networks(self) -> Mapping[str, torch.nn.Module]:
        """Return the flow and the critics together."""
        return {"networks": self.online}

    def optimizers(self) -> Mapping[str, torch.optim.Optimizer]:
        """Return that of the flow and that of the critics."""
        return {"flow": self._flow_descent, "critics": self._critics_descent}

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Return everything that changes: target networks and what is remembered, too."""
        tensors, facts = super().state()
        tensors |= {f"target/{key}": one for key, one in self.target.state_dict().items()}
        tensors |= {f"replay/{name}": one for name, one in self.replay.state().items()}
        tensors |= {"chosen": self._chosen, "tried": self._tried}
        facts |= {"replay": self.replay.count, "batches": self.batches}
        return tensors, facts

    def restore(self, tensors: Tensors, facts: dict[str, Any]) -> None:
        """Take over what `state` returned."""
        super().restore(tensors, facts)
        self.target.load_state_dict(under(tensors, "target/"))
        self.replay.restore(under(tensors, "replay/"), facts["replay"])
        self._chosen[:], self._tried[:] = tensors["chosen"], tensors["tried"]
        self.batches = facts["batches"]


def _part(networks: torch.nn.ModuleDict, name: str) -> Mapping[str, torch.Tensor]:
    """Return the weights of one network by name."""
    return cast(Mapping[str, torch.Tensor], networks[name])


def _descend(descent: torch.optim.Optimizer, loss: torch.Tensor, norm: float) -> None:
    descent.zero_grad()
    loss.backward()
    for group in descent.param_groups:
        torch.nn.utils.clip_grad_norm_(group["params"], norm)
    descent.step()


def _first_weights(
    sizes: Mapping[str, tuple[int, ...]], inputs: int, rng: np.random.Generator
) -> torch.nn.ParameterDict:
    """Return weights as PyTorch draws them: within ``1 / sqrt(inputs)`` of 0."""
    drawn = {}
    for name, shape in sizes.items():
        width = sizes["bias0"][0] if name[-1] in "12" else inputs
        limit = width**-0.5
        drawn[name] = torch.from_numpy(rng.uniform(-limit, limit, shape).astype(np.float32))
    return torch.nn.ParameterDict(drawn)


def logarithm(begin: torch.Tensor, end: torch.Tensor) -> torch.Tensor:
    """Return the tangent at ``begin`` along which ``end`` is reached in one unit of time."""
    cosine = (begin * end).sum(dim=1, keepdim=True).clamp(-1 + 1e-6, 1 - 1e-6)
    along = end - cosine * begin
    length: torch.Tensor = along.norm(dim=1, keepdim=True).clamp_min(1e-8)
    return along * (cosine.arccos() / length)


def moved(begin: torch.Tensor, along: torch.Tensor) -> torch.Tensor:
    """Return the point on the sphere that is reached along a tangent."""
    length = along.norm(dim=1, keepdim=True).clamp_min(1e-8)
    moved: torch.Tensor = on_sphere(begin * length.cos() + along * (length.sin() / length))
    return moved


def anywhere(rng: np.random.Generator, shape: tuple[int, ...]) -> torch.Tensor:
    """Return points on the sphere, each as likely."""
    found: torch.Tensor = on_sphere(_noise(rng, shape))
    return found


def _noise(rng: np.random.Generator, shape: tuple[int, ...]) -> torch.Tensor:
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))
