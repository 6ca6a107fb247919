"""Finished pieces of an evaluation, kept until all of it is done."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sequoia.bounds.certificate import Bound
from sequoia.errors import FileError
from sequoia.evaluation.block_runner import Played
from sequoia.evaluation.evaluation import bound_from_json, bound_to_json
from sequoia.io import (
    UNFINISHED,
    clear_unfinished,
    locked,
    make_folder,
    read_json,
    write_bytes,
    write_text,
)

_FIELDS = ("rewards", "seconds", "gaps", "is_at_limit", "states", "actions")


@dataclass(frozen=True)
class BlockCache:
    """A folder of pieces, each named by everything that its content depends on.

    A piece of another problem, seed or model has another name, so it is never mistaken for one
    that is wanted. A damaged piece counts as missing.
    """

    folder: Path

    def make(self) -> None:
        """Make the folder."""
        make_folder(self.folder)
        clear_unfinished(self.folder)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other evaluations out, and leave no empty folder behind."""
        try:
            with locked(self.folder, "evaluation"):
                yield
        finally:
            self.drop_if_empty()

    def drop_if_empty(self) -> None:
        """Remove the folder unless it holds a piece."""
        with suppress(OSError):
            self.folder.rmdir()

    def _path(self, ending: str, key: tuple[object, ...]) -> Path:
        digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:20]
        return self.folder / f"{key[0]}-{digest}{ending}"

    def load(self, key: tuple[object, ...]) -> Played | None:
        """Return what was kept under ``key``; ``None`` when there is nothing."""
        try:
            content = io.BytesIO(self._path(".npz", key).read_bytes())
            with np.load(content, allow_pickle=False) as arrays:
                return Played(*(arrays[field] for field in _FIELDS))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None

    def save(self, key: tuple[object, ...], played: Played) -> None:
        """Keep a piece."""
        buffer = io.BytesIO()
        np.savez(buffer, **{field: getattr(played, field) for field in _FIELDS})
        write_bytes(self._path(".npz", key), buffer.getvalue())

    def load_bound(self, key: tuple[object, ...]) -> Bound | None:
        """Return the bound that was kept under ``key``."""
        try:
            return bound_from_json(read_json(self._path(".json", key)))
        except (FileError, LookupError, TypeError, ValueError):
            return None

    def save_bound(self, key: tuple[object, ...], bound: Bound) -> None:
        """Keep a bound."""
        write_text(self._path(".json", key), json.dumps(bound_to_json(bound)))

    def clear(self) -> None:
        """Forget all pieces, also half-written ones, and the folder if nothing else is in it."""
        patterns = [f"*-{'[0-9a-f]' * 20}{ending}" for ending in (".npz", ".json")]
        for pattern in (*patterns, f"{UNFINISHED}*"):
            for file in self.folder.glob(pattern):
                file.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()
