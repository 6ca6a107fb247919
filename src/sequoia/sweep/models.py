"""The one place where a sweep trains."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sequoia.models.folder import ABOUT, load_model, read_about
from sequoia.policies import QFunction
from sequoia.problem import Problem


class Model(NamedTuple):
    """A trained model and how long it took."""

    q: QFunction
    seconds: float


def settings_of(preset: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that training with ``preset`` depends on, or say what is wrong."""
    # Torch costs seconds of imports, which sweeps without training should not pay.
    from sequoia.learn import make_config

    return make_config(preset, **overrides).model_dump(mode="json")


def trained_model(
    problem: Problem, preset: str, overrides: Mapping[str, Any], seed: int, folder: Path
) -> Model:
    """Return the model in ``folder``, after training it if need be; half a training goes on."""
    if not (folder / ABOUT).exists():
        from sequoia.learn import make_config, train

        config = make_config(preset, **overrides)
        train(problem, config, seed=seed, folder=folder, resume=True)
    # Also a fresh model is read back, so that a cell that goes on later decides the same.
    return Model(load_model(folder, problem), float(read_about(folder)["seconds"]))
