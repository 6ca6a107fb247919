"""What may happen to a file between two commands: bytes, cells, tokens, whole files."""

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.random import Generator

NUMBERS = [
    "3000000000",
    "1e18",
    "1e308",
    "-1",
    "nan",
    "inf",
    "-inf",
    "0",
    "1e-12",
    "0.5",
    "9" * 400,
]
WORDS = [
    "",
    " ",
    "x",
    "1.0",
    "TRUE",
    "0,5",
    "arm 0",
    "state 1",
    "Łódź 東京 🚇",
    "e\u0301",
    "\0",
    '"',
]
VALUES = [*NUMBERS[:8], "true", '"x"', "[]", "{}", "[[1]]", "-0.0", "[" * 3000 + "]" * 3000]


def pick(rng: Generator, items: list[str]) -> str:
    return items[int(rng.integers(len(items)))]


def truncated(data: bytes, rng: Generator) -> bytes:
    return data[: int(rng.integers(len(data) + 1))]


def flipped(data: bytes, rng: Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        if changed:
            changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
    return bytes(changed)


def spliced(data: bytes, rng: Generator) -> bytes:
    a, b = sorted(int(i) for i in rng.integers(len(data) + 1, size=2))
    return data[:a] + data[b:] if rng.random() < 0.5 else data[:b] + data[a:]


def lines_moved(data: bytes, rng: Generator) -> bytes:
    lines = data.split(b"\n")
    a, b = (int(i) for i in rng.integers(len(lines), size=2))
    what = rng.integers(3)
    if what == 0:
        lines.insert(a, lines[b])
    elif what == 1:
        del lines[a]
    else:
        lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def recoded(data: bytes, rng: Generator) -> bytes:
    text = data.decode("utf-8", "replace")
    encoding = pick(rng, ["cp1252", "utf-16", "utf-8-sig", "latin-1", "utf-32"])
    return text.replace("\n", "\r\n").encode(encoding, "replace")


def separated(data: bytes, rng: Generator) -> bytes:
    return data.replace(b",", pick(rng, [";", "\t", "|", ";;"]).encode())


def cells_changed(data: bytes, rng: Generator) -> bytes:
    rows = list(csv.reader(io.StringIO(data.decode("utf-8", "replace"))))
    rows = [row for row in rows if row]
    for _ in range(int(rng.integers(1, 4))):
        if not rows:
            break
        row = rows[int(rng.integers(len(rows)))]
        cell = int(rng.integers(len(row)))
        what = rng.integers(4)
        if what == 0:
            other = rows[int(rng.integers(len(rows)))]
            row[cell] = other[int(rng.integers(len(other)))]
        elif what == 1:
            row.append(row[cell])
        else:
            row[cell] = pick(rng, NUMBERS + WORDS)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8", "replace")


def tokens_changed(data: bytes, rng: Generator) -> bytes:
    """Replace a number, a text or a name in TOML or JSON."""
    text = data.decode("utf-8", "replace")
    tokens = list(re.finditer(r"-?\d[\d.e+-]*|\"[^\"\n]*\"|\w+", text))
    for token in sorted(rng.choice(len(tokens), min(2, len(tokens)), False), reverse=True):
        start, end = tokens[token].span()
        text = text[:start] + pick(rng, VALUES) + text[end:]
    return text.encode()


def json_changed(data: bytes, rng: Generator) -> bytes:
    """Replace or drop one value somewhere inside JSON, which stays JSON."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return flipped(data, rng)
    node = content
    for _ in range(int(rng.integers(1, 6))):
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            break
        key = keys[int(rng.integers(len(keys)))]
        if isinstance(node[key], dict | list) and node[key] and rng.random() < 0.8:
            node = node[key]
            continue
        values = [None, -1, 3e9, 1e308, float("nan"), "x", [], {}, True, [[1, 2], [3]], 10**400]
        if rng.random() < 0.2:
            del node[key]
        else:
            node[key] = values[int(rng.integers(len(values)))]
        break
    return json.dumps(content).encode()


OF_BYTES = [truncated, flipped, spliced]
OF_TEXT = [*OF_BYTES, lines_moved, recoded]
BY_ENDING: dict[str, list[Callable[[bytes, Generator], bytes]]] = {
    ".csv": [*OF_TEXT, separated, *[cells_changed] * 6],
    ".toml": [*OF_TEXT, *[tokens_changed] * 5],
    ".json": [*OF_TEXT, *[json_changed] * 6, tokens_changed],
}


def mutate(path: Path, rng: Generator) -> str:
    """Change one file at or below ``path``, or the file as a whole; return what was done."""
    files = [file for file in sorted([path, *path.rglob("*")]) if file.is_file()]
    if not files:
        return "nothing is left"
    file = files[int(rng.integers(len(files)))]
    if rng.random() < 0.06:
        return _whole(file, rng)
    ways = BY_ENDING.get(file.suffix, OF_BYTES)
    way = ways[int(rng.integers(len(ways)))]
    data = file.read_bytes()
    try:
        changed = way(data, rng)
    except (
        ValueError,
        TypeError,
        LookupError,
        csv.Error,
    ):  # what was changed before is no table any more
        changed = flipped(data, rng)
    file.write_bytes(changed)
    return f"{way.__name__} {file.name}"


def _whole(file: Path, rng: Generator) -> str:
    what = pick(rng, ["gone", "empty", "a folder", "a loop", "another"])
    others = sorted(other for other in file.parent.iterdir() if other.is_file())
    content = others[int(rng.integers(len(others)))].read_bytes()
    file.unlink()
    if what == "empty":
        file.write_bytes(b"")
    elif what == "a folder":
        file.mkdir()
    elif what == "a loop":
        file.symlink_to(file.name)
    elif what == "another":
        file.write_bytes(content)
    return f"{file.name} is {what}"


def copy_of(source: Path, target: Path) -> Path:
    """Copy a file or a folder."""
    return Path(shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target))


def resigned(path: Path, rng: Generator) -> str:
    """Change an array of a problem's archive and sign it again, so that it is read."""
    from sequoia.problem import files
    from sequoia.problem.tables import Table, TableSet

    content = files._read_archive(path)
    names = sorted(content.tables)
    name = names[int(rng.integers(len(names)))]
    table = content.tables[name]
    column = pick(rng, list(table.columns))
    cells = table.columns[column]
    if isinstance(cells, np.ndarray) and cells.size:
        cells = cells.astype(np.float64) if rng.random() < 0.5 else cells.copy()
        value = float(pick(rng, NUMBERS[:-1]))
        with np.errstate(all="ignore"):
            cells[int(rng.integers(cells.size))] = np.array(value).astype(cells.dtype)
    elif len(cells):
        cells = list(cells)
        cells[int(rng.integers(len(cells)))] = pick(rng, WORDS)
    tables = {**content.tables, name: Table(table.where, {**table.columns, column: cells})}
    changed = TableSet(content.options, tables)
    path.unlink()
    files._write_archive(changed, changed.fingerprint(), path)
    return f"resigned {name}.{column}"
