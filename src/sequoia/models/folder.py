"""Trained models on disk: weights as safetensors, everything else as JSON."""

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as read_arrays
from safetensors.numpy import save as write_arrays

from sequoia.errors import FileError
from sequoia.frames import Library, frame_of
from sequoia.io import make_folder, read_bytes, read_json, write_bytes, write_text
from sequoia.models.learned_model import LearnedModel
from sequoia.models.model import Model
from sequoia.models.q_model import QModel
from sequoia.plugins import Parts
from sequoia.problem import Environment, Problem, capabilities_of
from sequoia.problem.names import count, duration
from sequoia.shown import Columns, Shown
from sequoia.solvers.registry import DEFAULT
from sequoia.version import __version__

FORMAT = 2
WEIGHTS, ABOUT, HISTORY = "weights.safetensors", "model.json", "history.csv"
_LIBRARY: tuple[type[Model], ...] = (LearnedModel, QModel)
# Every form of model that a folder can hold.
MODELS = Parts("sequoia.models", {model.kind: model for model in _LIBRARY})


@dataclass(frozen=True)
class Meaning:
    """The arms of a problem, as far as a model's weights are about them.

    Attributes
    ----------
    states, doses
        How many each arm has.
    names, groups
        The name and the model of each arm.
    acts_on_arms
        Whether each action is one arm.
    is_coupled
        Whether arms depend on each other's states.
    """

    states: int
    doses: int
    names: list[str]
    groups: list[str]
    acts_on_arms: bool
    is_coupled: bool


def meaning_of(problem: Problem) -> Meaning:
    """Return what a model of ``problem`` is about."""
    arms = problem.arms
    return Meaning(
        states=arms.n_states,
        doses=arms.n_doses,
        names=list(arms.names),
        groups=[arms.model_names[model] for model in arms.model.tolist()],
        acts_on_arms=problem.is_identity,
        is_coupled=not problem.is_decoupled,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Trained(Shown):
    """A trained model and how it came about.

    Attributes
    ----------
    learner, config
        How it was learned, and every setting of that.
    reward
        Mean reward per step in the held-out episodes.
    bound
        No policy earns more per step; ``None`` where none is known. ``bound_stopped_by`` says what
        ended the search for it, and for the prices that learning started from.
    gain
        By how much it earns more per step than where learning started: mean, low and high ends of
        its interval; ``None`` where that is not known.
    seconds
        How long it took the processor, whatever else the machine did.
    history
        One row per round.
    solver
        Who solved the programs.
    played_by
        The name of the policy that plays it.
    structure
        What was found out, or declared, of who depends on whom, in words.
    base
        The policy that learning started from, and that ``gain`` is over.
    """

    model: Model
    learner: str
    config: Mapping[str, Any]
    seed: int
    reward: float
    bound: float | None
    gain: tuple[float, float, float] | None
    seconds: float
    history: Sequence[Mapping[str, Any]]
    solver: str = DEFAULT
    bound_stopped_by: str | None = None
    played_by: str = "sequoia"
    structure: str = ""
    base: str = ""

    def _lines(self) -> list[str]:
        """Return what it earns, what it gained, and how far the bound is."""
        bound = "no bound" if self.bound is None else f"bound {self.bound:.5g}"
        lines = [
            f"Trained on {self.model.environment.name!r} in "
            f"{count(int(self.history[-1]['round']), 'round')}, {duration(self.seconds)}",
            f"reward {self.reward:.5g} per step in held-out episodes, {bound}; "
            f"played by {self.played_by}",
        ]
        if self.gain is not None:
            mean, low, high = self.gain
            base = self.base or "where it started"
            lines.append(f"gain over {base}: {mean:.3g} ± {(high - low) / 2:.2g} per step")
        return lines

    def _shown_table(self) -> Columns:
        """Return a row for each round: what it earned, won and did."""
        names = ("round", "seconds", "reward", "best", "won", "did")
        return {name: [done.get(name) for done in self.history] for name in names}

    def to_frame(self, library: Library = "pandas") -> Any:
        """Return a data frame with a row for each round of training."""
        names = list(self.history[0])
        return frame_of({name: [done[name] for done in self.history] for name in names}, library)


def save_model(folder: Path, trained: Trained) -> None:
    """Write a model to ``folder``, which is made if need be; ``model.json`` comes last."""
    make_folder(folder)
    model = trained.model
    arrays, facts = model.to_arrays()
    weights = write_arrays({name: np.ascontiguousarray(a) for name, a in arrays.items()})
    about = {
        "format": FORMAT,
        "sequoia": __version__,
        "problem": model.environment.name,
        "fingerprint": model.environment.fingerprint,
        "kind": model.kind,
        "facts": facts,
        **_meaning(model.environment),
        "learner": trained.learner,
        "played_by": trained.played_by,
        "config": dict(trained.config),
        "seed": trained.seed,
        "rounds": trained.history[-1]["round"],
        "start": trained.history[0]["reward"],
        "reward": trained.reward,
        "bound": trained.bound,
        "bound_stopped_by": trained.bound_stopped_by,
        "gain": trained.gain,
        "seconds": trained.seconds,
        "solver": trained.solver,
        "structure": trained.structure,
        "base": trained.base,
        "weights": hashlib.sha256(weights).hexdigest(),
    }
    write_bytes(folder / WEIGHTS, weights)
    write_text(folder / HISTORY, _csv(trained.history))
    write_text(folder / ABOUT, json.dumps(about, indent=2, ensure_ascii=False))


def load_model(folder: Path, environment: Environment) -> Model:
    """Read a model that was trained for ``environment``.

    Raises
    ------
    FileError
        One line: what is missing or damaged, or which other problem the model is for.
    """
    about = read_about(folder)
    require_format(folder, about)
    if about.get("fingerprint") != environment.fingerprint:
        raise FileError(
            f"{folder} was trained for {about.get('problem')} ({about.get('fingerprint')}), not "
            f"for {environment.name} ({environment.fingerprint}); train a model for it."
        )
    kind, arrays, facts = read_model(folder)
    try:
        model = MODELS[kind].from_arrays(environment, arrays, facts)
        # Whether its weights fit each other and the problem is seen where they are used.
        model.fold(environment.draw_start(np.random.default_rng(0), 1), np.zeros(1, np.int64))
        return model
    except (LookupError, TypeError, ValueError) as error:
        raise FileError(f"{folder} is damaged: {error}.") from None


def require_format(folder: Path, about: Mapping[str, Any]) -> None:
    """Raise unless this version reads models of that format."""
    if about.get("format") != FORMAT:
        raise FileError(
            f"{folder / ABOUT} has format {about.get('format')}; this version reads {FORMAT}: "
            "train the model again."
        )


def read_model(folder: Path) -> tuple[str, dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the kind of a model, its arrays and its facts."""
    about = read_about(folder)
    if about.get("kind") not in MODELS:
        raise FileError(
            f"{folder} holds a model of the kind {about.get('kind')!r}, which this version does "
            "not know: train the model again."
        )
    content = read_bytes(folder / WEIGHTS)
    if hashlib.sha256(content).hexdigest() != about.get("weights"):
        raise FileError(f"{folder / WEIGHTS} is not the file that {folder / ABOUT} describes.")
    try:
        kind, facts = str(about["kind"]), dict(about["facts"])
        return kind, read_arrays(content), facts
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise FileError(f"{folder} is damaged: {error}.") from None


def _meaning(environment: Environment) -> dict[str, Any]:
    """Return what the model is about, where that are arms."""
    problem = capabilities_of(environment).problem
    return {} if problem is None else {"meaning": asdict(meaning_of(problem))}


def read_about(folder: Path) -> dict[str, Any]:
    """Return what ``model.json`` says."""
    if not (folder / ABOUT).is_file():
        raise FileError(f"{folder} holds no trained model; {ABOUT} is missing.")
    about = read_json(folder / ABOUT)
    if not isinstance(about, dict):
        raise FileError(f"{folder / ABOUT} is not a table of settings.")
    return about


def _csv(history: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    if history:
        writer = csv.DictWriter(text, list(history[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(history)
    return text.getvalue()
