"""Sheets between their upload and their import."""

import secrets
import shutil
import threading
from collections import OrderedDict
from pathlib import Path

from sequoia.errors import FileError

_FOLDER = "uploads"
# Uploads that wait for their columns to be matched.
_MOST_WAITING = 20


class Uploads:
    """A folder for each upload, inside that of the programme, where its records are anyway.

    What a server left that was killed goes when the next one begins.
    """

    def __init__(self, programme: Path) -> None:
        self._folder = programme / _FOLDER
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, Path] = OrderedDict()
        self.clear()

    def begin(self) -> tuple[str, Path]:
        """Return the name of a new upload, and its folder."""
        name = secrets.token_hex(16)
        folder = self._folder / name
        folder.mkdir(parents=True)
        with self._lock:
            self._waiting[name] = folder
            while len(self._waiting) > _MOST_WAITING:
                shutil.rmtree(self._waiting.popitem(last=False)[1], ignore_errors=True)
        return name, folder

    def find(self, name: str) -> Path:
        """Return the folder of an upload."""
        found = self._waiting.get(name)
        if found is None or not found.is_dir():
            raise FileError("the upload is too old; please choose the sheets again.")
        return found

    def end(self, name: str) -> None:
        """Forget an upload that was imported."""
        with self._lock:
            folder = self._waiting.pop(name, None)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._waiting.clear()
        shutil.rmtree(self._folder, ignore_errors=True)
