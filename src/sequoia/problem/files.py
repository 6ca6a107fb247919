"""Problems on disk: one archive, or a folder that a person edits. Both hold the same sheets."""

import csv
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from sequoia.errors import FileError, SequoiaError
from sequoia.io import (
    UNFINISHED,
    clear_unfinished,
    held,
    read_toml,
    refuse_to_replace,
    require_unpackable,
    sync,
)
from sequoia.problem.assortment import Assortment
from sequoia.problem.capabilities import capabilities_of
from sequoia.problem.names import composed_options
from sequoia.problem.problem import Problem
from sequoia.problem.reading import OPTIONAL_TABLES, TABLES, in_todays_words, read_problem
from sequoia.problem.spreadsheet import read_csv
from sequoia.problem.tables import Column, Table, TableSet

HEADER = "problem.toml"
# A million arms, each with transitions of its own between five states, have 400 MB inside.
_MOST_UNPACKED = 2_000_000_000
_KINDS: dict[str, Callable[[TableSet], Problem | Assortment]] = {
    "arms": read_problem,
    "assortment": Assortment.from_tables,
}


def save(
    problem: Problem | Assortment, path: str | os.PathLike[str], overwrite: bool = False
) -> None:
    """Write ``problem`` to an ``.npz`` archive, or to a folder of TOML and CSV.

    The target appears complete or not at all.

    Examples
    --------
    >>> import os, sequoia, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> sequoia.save(sequoia.make('trap'), f'{folder}/trap')  # a folder of TOML and CSV
    >>> sorted(os.listdir(f'{folder}/trap'))
    ['actions.csv', 'arms.csv', 'problem.toml', 'rewards.csv', 'transitions.csv']
    """
    target = Path(path)
    if target.suffix not in ("", ".npz"):
        raise FileError(f"{target} ends in {target.suffix!r}; a folder or .npz is wanted.")
    refuse_to_replace([target], overwrite)
    is_archive = target.suffix == ".npz"
    if target.is_symlink():
        target = Path(os.path.realpath(target))
    if not target.parent.is_dir():
        raise FileError(f"{target.parent} is not a folder; make it first.")
    if target.exists() and target.is_dir() == is_archive:
        raise FileError(f"{target} exists and is {'a folder' if is_archive else 'not a folder'}.")
    if target.is_dir():
        _refuse_others(target)
    content = problem.to_tables()
    with _replacing(target) as fresh:
        if is_archive:
            _write_archive(content, problem.fingerprint, fresh)
        else:
            _write_folder(content, problem.fingerprint, fresh)


def load(path: str | os.PathLike[str]) -> Problem:
    """Read a problem of arms from an archive or a folder.

    Examples
    --------
    >>> import sequoia, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> sequoia.save(sequoia.make('trap'), f'{folder}/trap.npz')
    >>> sequoia.load(f'{folder}/trap.npz').name
    'trap'
    """
    content = load_any(path)
    problem = capabilities_of(content).problem
    if problem is None:
        raise FileError(
            f"{path} is {content.name}, which has no arms; a problem of arms is wanted."
        )
    return problem


def load_any(path: str | os.PathLike[str]) -> Problem | Assortment:
    """Read a problem, with arms or without, from an archive or a folder."""
    source = Path(path)
    if not source.exists():
        raise FileError(f"{source} does not exist.")
    if source.is_dir():
        return _read(_read_folder(source)[0])
    if source.suffix != ".npz":
        raise FileError(f"{source} is neither a folder nor an .npz archive.")
    content = _read_archive(source)
    problem = _read(content)
    if problem.fingerprint != in_todays_words(content).fingerprint():
        raise FileError(f"{source} was not written by this version: it reads as another problem.")
    return problem


def edited_since_written(path: str | os.PathLike[str]) -> bool:
    """Say whether a folder was edited since it was written."""
    source = Path(path)
    if not source.is_dir():
        return False
    content, fingerprint = _read_folder(source)
    return _read(content).fingerprint != fingerprint


def _read(content: TableSet) -> Problem | Assortment:
    """Read what the options say it is: a problem of arms where they say nothing."""
    kind = content.options.get("kind", "arms")
    if kind not in _KINDS:
        raise FileError(f"{content.where} is of kind {kind!r}; known: {', '.join(_KINDS)}.")
    return _KINDS[kind](content)


def holds(path: Path, problem: Problem | Assortment) -> bool:
    """Say whether ``problem``, and nothing else, is at ``path``."""
    try:
        return load_any(path).fingerprint == problem.fingerprint
    except SequoiaError:
        return False


def _refuse_others(folder: Path) -> None:
    """Raise unless everything in ``folder`` belongs to the problem in it."""
    try:
        tables: Iterable[str] = {*load_any(folder).to_tables().tables, *OPTIONAL_TABLES}
    except SequoiaError:
        tables = TABLES
    written = {HEADER, *(f"{name}.csv" for name in tables)} if (folder / HEADER).exists() else set()
    others = sorted(file.name for file in folder.iterdir() if file.name not in written)
    if others:
        raise FileError(
            f"{folder} holds other things than a problem: {others[0]}; it is not overwritten."
        )


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``target`` that takes its place at the end."""
    try:
        clear_unfinished(target.parent)
        with (
            tempfile.TemporaryDirectory(dir=target.parent, prefix=UNFINISHED) as room,
            held(Path(room)),
        ):
            fresh, old = Path(room) / "new", Path(room) / "old"
            yield fresh
            for file in (*(fresh.iterdir() if fresh.is_dir() else ()), fresh):
                sync(file)
            if target.is_dir():
                target.rename(old)
            try:
                os.replace(fresh, target)
            except BaseException:
                if old.exists():
                    old.rename(target)
                raise
            sync(target.parent)
    except OSError as error:
        raise FileError(f"{target} cannot be written: {error}.") from None


def _write_archive(content: TableSet, fingerprint: str, path: Path) -> None:
    names = {name: list(table.columns) for name, table in content.tables.items()}
    header = {"options": content.options, "tables": names, "fingerprint": fingerprint}
    arrays: dict[str, Any] = {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)}
    for name, table in content.tables.items():
        for index, cells in enumerate(table.columns.values()):
            is_array = isinstance(cells, np.ndarray)
            arrays[f"{name}.{index}"] = cells if is_array else np.array(list(cells), dtype=np.str_)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _read_archive(path: Path) -> TableSet:
    try:
        with zipfile.ZipFile(path) as archive:
            require_unpackable(path, archive, _MOST_UNPACKED)
            broken = archive.testzip()
        if broken is not None:
            raise ValueError(f"{broken} is damaged")
        with np.load(path, allow_pickle=False) as arrays:
            header = json.loads(arrays["header"].tobytes())
            tables = {
                name: Table(
                    f"{path}: {name}",
                    {
                        column: _cells(arrays[f"{name}.{index}"])
                        for index, column in enumerate(columns)
                    },
                )
                for name, columns in header["tables"].items()
            }
        content = TableSet(dict(header["options"]), tables, str(path))
        if content.fingerprint() != header["fingerprint"]:
            raise ValueError("its content was changed after it was written")
        return content
    except FileError:
        raise
    except Exception as error:  # there is no end to what damaged bytes provoke
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileError(f"{path} is not a whole sequoia archive: {reason[:200]}.") from None


def _cells(array: Any) -> Column:
    if array.ndim != 1:
        raise ValueError("a column has more than one axis")
    return array if array.dtype.kind in "bif" else [str(cell) for cell in array]


def _write_folder(content: TableSet, fingerprint: str, path: Path) -> None:
    path.mkdir()
    header = {"fingerprint": fingerprint, **content.options}
    (path / HEADER).write_text(tomli_w.dumps(header), encoding="utf-8")
    for name, table in content.tables.items():
        with (path / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(table.columns)
            writer.writerows(zip(*map(_texts, table.columns.values()), strict=True))


def _texts(column: Column) -> list[str]:
    if not isinstance(column, np.ndarray):
        return list(column)
    if column.dtype.kind == "b":
        column = column.astype(np.int64)
    return [repr(cell) for cell in column.tolist()]


def _read_folder(path: Path) -> tuple[TableSet, str]:
    header = path / HEADER
    if not header.exists():
        raise FileError(f"{path} has no problem.toml; a problem folder is wanted.")
    options = composed_options(read_toml(header))
    fingerprint = options.pop("fingerprint", "")
    content = TableSet(options, where=str(header))
    tables = {
        name: content.attempt(partial(read_csv, path / f"{name}.csv"))
        for name in sorted(TABLES & {file.stem for file in path.glob("*.csv")})
    }
    content.settle()
    whole = {name: table for name, table in tables.items() if table is not None}
    return TableSet(options, whole, str(header)), str(fingerprint)
