"""Files: lossless, never half-written, and damage is one clear line."""

import csv
import datetime
import io
import itertools
import json
import os
import shutil
import tomllib
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import tomli_w

from sequoia import (
    Arms,
    Assignment,
    Budget,
    Custom,
    Floor,
    Problem,
    Rota,
    Rules,
    Schedule,
    Walk,
    load,
    save,
)
from sequoia.errors import FileError, SequoiaError
from sequoia.problem import files
from sequoia.problem.families import FAMILIES, interventions, routing
from sequoia.problem.files import edited_since_written
from sequoia.problem.rules import Lock
from sequoia.problem.tables import Table

ODD_NAMES = ["Zoë, “the first”", 'quo"te', "Łódź; 東京 🚇"]
SLOTS = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)


def over(space, name="p", **more):
    """Return a problem with three arms that do not move alike."""
    rng = np.random.default_rng(1)
    arms = Arms.ladder(rng.normal(size=(3, 3)), rng.random((3, 2)), names=more.pop("arms", None))
    return Problem(name, arms, space, rng.dirichlet(np.ones(3), 3), **more)


def random_kernels():
    rng = np.random.default_rng(2)
    doses = np.cumsum(rng.random((2, 4)), axis=1) - 0.0
    doses -= doses[:, :1]
    arms = Arms(rng.normal(size=(2, 5)), doses, rng.dirichlet(np.ones(5), (2, 4, 5)), [1, 0, 1])
    influence = np.zeros((3, 4))
    influence[0, 2], influence[1, 0], influence[2, 3] = doses[1, 3], doses[0, 1], doses[1, 2]
    start = rng.dirichlet(np.ones(5), 3)
    return Problem("random", arms, Budget(rng.random(4), np.pi), start, influence, 3, 1 / 3)


PROBLEMS = {
    **{name: family() for name, family in FAMILIES.items()},
    "linear": interventions(link="linear", weight=0.1),
    "unequal edges": routing(longest_edge=3),
    "random": random_kernels(),
    "unicode": over(
        Assignment([1.5, 2, 1 / 3], [2, 1], ODD_NAMES, ["Ærø", "O'Neil"]),
        name="  “odd”, \\ = [x] # 名前\t".replace("\t", " "),
        arms=["a b", "c=d", "[e]"],
    ),
    "schedule": over(
        Schedule(SLOTS, SLOTS[::-1], 2, 2, True, ODD_NAMES, ["A", "B", "C"], ["Mon", "Tue", "Wéd"])
    ),
    "no workers": over(Assignment([1, 1, 1], [])),
    "walk": over(Walk([[0, 1], [1, 2]], 1, 5, 2, [2, 1], ODD_NAMES, [[0, 0.1], [1, 0], [-0.5, 1]])),
    "custom": over(
        Custom(
            [[1, 1, 1, -2], [0.5, 0, 0, 1 / 3]],
            [-np.inf, 0],
            [0, np.inf],
            ["a", "b", "c"],
            ["help"],
            ["few", "some"],
        )
    ),
    "custom without plan": over(Custom([[1, 1, 1]], [1], [2], ODD_NAMES)),
    "custom without rows": over(Custom(np.empty((0, 3)), [], [], ODD_NAMES)),
    "no influence": over(Budget([1, 1], 1), influence=np.zeros((3, 2))),
    "rules": over(Budget(np.ones(3), 2, ODD_NAMES)).with_rules(
        Rules(
            {"grüne Gruppe": ODD_NAMES[:2], "empty": ()},
            (Floor("grüne Gruppe", 0.4, 1), Floor("grüne Gruppe", 1 / 3)),
            must=(ODD_NAMES[0],),
            at_most_one=((ODD_NAMES[0], ODD_NAMES[1]), (ODD_NAMES[2],)),
        )
    ),
    "locked": over(Rota([[60, 30], [0, 45]], [[1, 1], [1, 0], [0, 1]], [30, 30, 45])).with_rules(
        Rules(
            hours={"worker 0": 1.25},
            locks=[Lock("arm 0", "worker 0", "slot 1"), Lock("arm 1", slot="slot 0")],
        )
    ),
    "absent": over(Assignment([1, 1, 1], [1, 2])).with_rules(
        Rules(absent=("worker 1",), never=("arm 2",))
    ),
}


def same(a, b):
    """Compare what a problem is made of, without its sheets or its fingerprint."""
    for field in ("rewards", "doses", "kernels", "model"):
        np.testing.assert_array_equal(getattr(a.arms, field), getattr(b.arms, field))
    np.testing.assert_array_equal(a.start, b.start)
    np.testing.assert_array_equal(a.influence.toarray(), b.influence.toarray())
    assert (a.contagion is None) == (b.contagion is None)
    if a.contagion is not None:
        for field in ("models", "sources"):
            np.testing.assert_array_equal(getattr(a.contagion, field), getattr(b.contagion, field))
        bonds = [one.contagion.neighbours.toarray() for one in (a, b)]
        np.testing.assert_array_equal(*bonds)
    assert (a.name, a.horizon, a.discount) == (b.name, b.horizon, b.discount)
    assert list(a.arms.names) == list(b.arms.names)
    assert list(a.space.names) == list(b.space.names)
    assert type(a.space) is type(b.space)
    assert type(a.space.base) is type(b.space.base)
    first, second = a.space.system, b.space.system
    np.testing.assert_array_equal(first.matrix.toarray(), second.matrix.toarray())
    np.testing.assert_array_equal(first.lower, second.lower)
    np.testing.assert_array_equal(first.upper, second.upper)
    assert list(first.row_names) == list(second.row_names)
    assert list(first.column_names) == list(second.column_names)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("target", ["p.npz", "p"])
def test_a_round_trip_loses_nothing(name, target, tmp_path):
    problem = PROBLEMS[name]
    save(problem, tmp_path / target)
    again = load(tmp_path / target)
    same(problem, again)
    assert again.fingerprint == problem.fingerprint
    assert not edited_since_written(tmp_path / target)
    assert os.listdir(tmp_path) == [target]


def test_from_one_format_to_the_other_and_back(tmp_path):
    problem = PROBLEMS["rules"]
    save(problem, tmp_path / "a")
    save(load(tmp_path / "a"), tmp_path / "b.npz")
    save(load(tmp_path / "b.npz"), tmp_path / "c")
    for file in sorted((tmp_path / "a").iterdir()):
        assert file.read_bytes() == (tmp_path / "c" / file.name).read_bytes()


def test_equal_problems_give_equal_archives(tmp_path):
    for name in ("a.npz", "b.npz"):
        save(FAMILIES["capacity"](seed=3), tmp_path / name)
    assert load(tmp_path / "a.npz").fingerprint == load(tmp_path / "b.npz").fingerprint


def test_a_folder_is_for_people(tmp_path):
    save(PROBLEMS["schedule"], tmp_path / "p")
    assert sorted(os.listdir(tmp_path / "p")) == [
        "actions.csv",
        "arms.csv",
        "influence.csv",  # the arms and the actions of this problem have different names
        "problem.toml",
        "rewards.csv",
        "transitions.csv",
        "workers.csv",
    ]
    options = tomllib.loads((tmp_path / "p" / "problem.toml").read_text(encoding="utf-8"))
    assert options["format"] == 1
    assert options["space"]["slots"] == ["Mon", "Tue", "Wéd"]
    workers = (tmp_path / "p" / "workers.csv").read_text(encoding="utf-8")
    assert workers == "name,Mon,Tue,Wéd\nA,1,1,0\nB,0,1,1\nC,1,0,1\n"


def test_actions_and_arms_are_matched_by_name(tmp_path):
    """Sorting a file in a spreadsheet must not send the nurse to another patient."""
    problem = PROBLEMS["capacity"]
    save(problem, tmp_path / "p")
    file = tmp_path / "p" / "actions.csv"
    head, *rows = file.read_text().splitlines()
    file.write_text("\n".join([head, *rows[::-1]]) + "\n")
    sorted_otherwise = load(tmp_path / "p")
    action = np.zeros((1, problem.space.n_actions), dtype=np.int8)
    action[0, 1] = 1
    same = np.zeros_like(action)
    same[0, list(sorted_otherwise.space.names).index(problem.space.names[1])] = 1
    assert problem.levels(action).sum() == 1
    assert np.array_equal(sorted_otherwise.levels(same), problem.levels(action))


def test_an_edit_is_read_and_noticed(tmp_path):
    save(PROBLEMS["capacity"], tmp_path / "p")
    file = tmp_path / "p" / "problem.toml"
    file.write_text(file.read_text().replace("horizon = 20", "horizon = 21"))
    assert load(tmp_path / "p").horizon == 21
    assert edited_since_written(tmp_path / "p")


def test_what_spreadsheets_do_is_harmless(tmp_path):
    problem = PROBLEMS["unicode"]
    save(problem, tmp_path / "p")
    for file in (tmp_path / "p").iterdir():
        text = file.read_text(encoding="utf-8").replace("\n", "\r\n")
        file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load(tmp_path / "p").fingerprint == problem.fingerprint


def test_the_order_of_rows_does_not_matter_where_they_are_named(tmp_path):
    problem = PROBLEMS["random"]
    save(problem, tmp_path / "p")
    for name in ("transitions.csv", "rewards.csv", "influence.csv"):
        file = tmp_path / "p" / name
        head, *rows = file.read_text().splitlines()
        file.write_text("\n".join([head, *rows[::-1]]) + "\n")
    assert load(tmp_path / "p").fingerprint == problem.fingerprint


@pytest.mark.parametrize("target", ["p.npz", "p"])
def test_overwriting_is_refused_unless_asked(target, tmp_path):
    old, new = PROBLEMS["trap"], PROBLEMS["rules"]
    save(old, tmp_path / target)
    with pytest.raises(FileError, match=r"exists already; choose another name"):
        save(new, tmp_path / target)
    assert load(tmp_path / target).fingerprint == old.fingerprint
    save(new, tmp_path / target, overwrite=True)
    assert load(tmp_path / target).fingerprint == new.fingerprint
    assert os.listdir(tmp_path) == [target]


def test_a_folder_with_other_things_is_not_overwritten(tmp_path):
    problem = PROBLEMS["trap"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("dear")
    for _ in range(2):
        with pytest.raises(FileError, match=r"holds other things than a problem"):
            save(problem, tmp_path / "mine", overwrite=True)
        assert (tmp_path / "mine" / "notes.txt").read_text() == "dear"
        (tmp_path / "mine" / "problem.toml").write_text("")
    (tmp_path / "empty").mkdir()
    save(problem, tmp_path / "empty", overwrite=True)
    assert load(tmp_path / "empty").fingerprint == problem.fingerprint


def test_a_folder_may_be_called_old_or_new(tmp_path):
    for name in ("old", "new"):
        save(PROBLEMS["trap"], tmp_path / name)
        save(PROBLEMS["rules"], tmp_path / name, overwrite=True)
        assert load(tmp_path / name).fingerprint == PROBLEMS["rules"].fingerprint


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("p.csv", r"ends in '\.csv'; a folder or \.npz is wanted"),
        ("nowhere/p.npz", r"nowhere is not a folder; make it first"),
        ("folder.npz", r"exists and is a folder"),
        ("file", r"exists and is not a folder"),
    ],
)
def test_a_bad_target_is_refused(target, message, tmp_path):
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=message):
        save(PROBLEMS["trap"], tmp_path / target, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder.npz"]


class Halt(Exception):
    """Stands for anything that stops a program in the middle."""


def stopping(error, calls, result):
    """Return a function that gives ``result`` so many times and then raises ``error``."""
    left = iter(range(calls))

    def stop(column):
        if next(left, None) is None:
            raise error
        return result * len(column)

    return stop


@pytest.mark.parametrize("target", ["p.npz", "p"])
@pytest.mark.parametrize(("stop", "seen"), [(Halt("now"), Halt), (OSError("disk full"), FileError)])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_failed_write_leaves_no_trace(target, stop, seen, is_new, tmp_path, monkeypatch):
    old = PROBLEMS["trap"]
    if not is_new:
        save(old, tmp_path / target)

    def stop_archive(file, **_):
        file.write(b"half")
        raise stop

    monkeypatch.setattr(files.np, "savez_compressed", stop_archive)
    monkeypatch.setattr(files, "_texts", stopping(stop, 6, ["1"]))
    with pytest.raises(seen, match=r"now|cannot be written: disk full"):
        save(PROBLEMS["rules"], tmp_path / target, overwrite=True)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ([] if is_new else [target])
    if not is_new:
        assert load(tmp_path / target).fingerprint == old.fingerprint
        assert not edited_since_written(tmp_path / target)


@pytest.mark.parametrize("target", ["p.npz", "p"])
def test_a_failed_swap_brings_the_old_one_back(target, tmp_path, monkeypatch):
    old = PROBLEMS["trap"]
    save(old, tmp_path / target)

    def refuse(_source, _target):
        raise PermissionError("no")

    monkeypatch.setattr(files.os, "replace", refuse)
    with pytest.raises(FileError, match="cannot be written: no"):
        save(PROBLEMS["rules"], tmp_path / target, overwrite=True)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == [target]
    assert load(tmp_path / target).fingerprint == old.fingerprint


def test_a_folder_without_permission_is_a_file_error(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.tempfile, "mkdtemp", refuse)
    with pytest.raises(FileError, match=r"cannot be written: .*Permission denied"):
        save(PROBLEMS["trap"], tmp_path / "p")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nothing.npz", "does not exist"),
        ("nothing", "does not exist"),
        ("text.txt", r"is neither a folder nor an \.npz archive"),
        ("text.npz", "is not a whole sequoia archive"),
        ("other.npz", "is not a whole sequoia archive: 'header"),
        ("array.npz", "is not a whole sequoia archive"),
        ("void", r"has no problem\.toml; a problem folder is wanted"),
        ("bad", r"problem\.toml cannot be read"),
    ],
)
def test_what_is_no_problem_is_refused(target, message, tmp_path):
    for name in ("text.txt", "text.npz"):
        (tmp_path / name).write_text("hello")
    np.savez(tmp_path / "other.npz", x=np.arange(3))
    np.save(tmp_path / "array.npy", np.arange(3))
    (tmp_path / "array.npy").rename(tmp_path / "array.npz")
    for name in ("void", "bad"):
        (tmp_path / name).mkdir()
    (tmp_path / "bad" / "problem.toml").write_text("= =")
    with pytest.raises(FileError, match=message):
        load(tmp_path / target)


def test_a_later_format_is_refused(tmp_path):
    save(PROBLEMS["trap"], tmp_path / "p")
    file = tmp_path / "p" / "problem.toml"
    file.write_text(file.read_text().replace("format = 1", "format = 2"))
    with pytest.raises(FileError, match="has format 2; this version reads 1"):
        load(tmp_path / "p")


def test_no_pickle_is_ever_opened(tmp_path):
    ran = []

    class Evil:
        def __reduce__(self):
            return (ran.append, (1,))

    header = np.frombuffer(
        json.dumps({"options": {}, "tables": {"t": ["c"]}, "fingerprint": ""}).encode(), np.uint8
    )
    evil = {"header": header, "t.0": np.array([Evil()], dtype=object)}
    np.savez(tmp_path / "p.npz", allow_pickle=True, **evil)
    with pytest.raises(FileError, match="allow_pickle"):
        load(tmp_path / "p.npz")
    assert ran == []


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("arms.csv", "0.8", "x", r"arms\.csv row 2, column 'start_0': 'x' is not a number"),
        ("arms.csv", "name,", "who,", r"arms\.csv has no column 'name'; it has who, model"),
        ("arms.csv", "model", "name", r"arms\.csv names a column twice"),
        (
            "arms.csv",
            "arm 1,1",
            "arm 1,1.5",
            r"'model' is '1\.5'; models run from 0 to 19",
        ),
        ("arms.csv", "arm 1,1,", "arm 1,", r"arms\.csv row 3 has 5 cells; 6 are wanted"),
        ("arms.csv", "arm 1", "arm 0", r"row 3, column 'name' repeats 'arm 0' of row 2"),
        (
            "arms.csv",
            "0.2",
            "0.3",
            r"arms\.csv row 2: start_0 .* start_3 is 1\.1",
        ),
        ("rewards.csv", "\n1,", "\n7,", r"rewards\.csv, column 'model': 0 to 19, each once"),
        ("transitions.csv", "\n0,0.0,1,", "\n0,0.0,2,", r"model 0, dose 0, state 1 is there 0"),
        ("transitions.csv", "\n1,1.0,0,", "\n1,2.0,0,", r"model 1 has 3 doses; 2 are wanted"),
        ("transitions.csv", "to_3", "to", r"has 3 columns to_0, to_1, …; 4 are wanted"),
        ("problem.toml", "horizon = 20", "", r"problem\.toml has no option 'horizon'"),
        ("problem.toml", "horizon = 20", "horizon = '20'", r"'horizon' is '20'; a value of type"),
        ("problem.toml", "horizon = 20", f"horizon = {10**400}", r"'horizon' is larger than"),
        ("problem.toml", "discount = 0.99", f"discount = {10**400}", r"'discount' is larger"),
        (
            "problem.toml",
            "discount",
            "discont",
            r"unknown option 'discont'; known: budgets, contagion, discount",
        ),
        ("problem.toml", "assignment", "assignation", r"'kind' is 'assignation'; known: assign"),
        ("problem.toml", "horizon = 20", "horizon = " + "[" * 9999, r"cannot be read"),
        ("workers.csv", "capacity", "room", r"workers\.csv has no column 'capacity'"),
        ("workers.csv", "name,capacity", '"a\nb","a\nb"', r"names a column twice: a b"),
    ],
)
def test_a_wrong_edit_is_told_where(file, old, new, message, tmp_path):
    save(PROBLEMS["capacity"], tmp_path / "p")
    text = (tmp_path / "p" / file).read_text()
    assert old in text
    (tmp_path / "p" / file).write_text(text.replace(old, new, 1))
    with pytest.raises(SequoiaError, match=message) as error:
        load(tmp_path / "p")
    assert "\n" not in str(error.value)


# From here on: hundreds of mutations. Each either gives one clear line, or the problem that was
# written, or, in a folder, a problem that is known to have been edited.

FUZZED = ["trap", "rules", "schedule", "walk", "custom", "random", "absent"]
JUNK = ["", "x", "nan", "inf", "-inf", "1e999", "1e308", "-1", "0.5", "7", '"', "'", "\0", "\ufeff"]
JUNK += [
    " ",
    ",",
    "\n",
    "\r",
    "é",
    "9" * 30,
    "9" * 400,
    "1_0",
    "٣",
    "True",
    "arm 0",
    "\ud7ff",
    "0x1",
]
UNQUOTED = ["", "x", '"', "'", "\0", ",", "\n", "\r"]


def refused_or_harmless(path, fingerprint):
    """Load ``path``; return whether it loaded. Anything but a `SequoiaError` passes through."""
    try:
        problem = load(path)
    except SequoiaError as error:
        message = str(error)
    else:
        if path.suffix == ".npz":
            assert problem.fingerprint == fingerprint
        elif problem.fingerprint != fingerprint:
            assert edited_since_written(path)
        return True
    assert message.strip()
    assert "\n" not in message
    return False


@contextmanager
def changing(file):
    """Put ``file`` back as it was, whatever happens to it."""
    data = file.read_bytes()
    try:
        yield data
    finally:
        if file.is_dir():
            file.rmdir()
        file.write_bytes(data)


def flip_bits(data, rng):
    for _ in range(rng.integers(1, 4)):
        data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))


def change_byte(data, rng):
    data[rng.integers(len(data))] = int(rng.integers(256))


def truncate(data, rng):
    del data[rng.integers(len(data)) :]


def behead(data, rng):
    del data[: rng.integers(1, len(data))]


def delete_bytes(data, rng):
    first = int(rng.integers(len(data)))
    del data[first : first + int(rng.integers(1, 20))]


def insert_bytes(data, rng):
    first = int(rng.integers(len(data) + 1))
    data[first:first] = rng.bytes(int(rng.integers(1, 20)))


def swap_chunks(data, rng):
    size = int(rng.integers(1, len(data) // 3))
    a = int(rng.integers(len(data) - 2 * size))
    b = int(rng.integers(a + size, len(data) - size + 1))
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]


def blank_chunk(data, rng):
    first = int(rng.integers(len(data)))
    size = min(len(data) - first, int(rng.integers(1, 200)))
    data[first : first + size] = bytes(size)


BYTES = [
    flip_bits,
    change_byte,
    truncate,
    behead,
    delete_bytes,
    insert_bytes,
    swap_chunks,
    blank_chunk,
]


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Return a folder with every fuzzed problem in both formats."""
    room = tmp_path_factory.mktemp("originals")
    for name in FUZZED:
        save(PROBLEMS[name], room / f"{name}.npz")
        save(PROBLEMS[name], room / name)
    return room


@pytest.mark.parametrize("mutate", BYTES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", FUZZED)
def test_a_damaged_archive(name, mutate, originals, tmp_path):
    rng = np.random.default_rng([FUZZED.index(name), BYTES.index(mutate)])
    data = (originals / f"{name}.npz").read_bytes()
    refused = 0
    for _ in range(25):
        mutant = bytearray(data)
        mutate(mutant, rng)
        target = tmp_path / "p.npz"
        target.write_bytes(mutant)
        refused += not refused_or_harmless(target, PROBLEMS[name].fingerprint)
    assert refused > 0


def test_an_archive_with_damaged_directory_entries(originals, tmp_path):
    """Bytes all over the central directory, which no checksum covers."""
    data = (originals / "trap.npz").read_bytes()
    first = data.index(b"PK\x01\x02")
    rng = np.random.default_rng(0)
    for place in range(first, len(data), 3):
        mutant = bytearray(data)
        mutant[place] = (mutant[place] + int(rng.integers(1, 256))) % 256
        target = tmp_path / "p.npz"
        target.write_bytes(mutant)
        refused_or_harmless(target, PROBLEMS["trap"].fingerprint)


@pytest.mark.parametrize("method", [12, 14])
def test_an_archive_with_another_compression(method, originals, tmp_path):
    data = bytearray((originals / "trap.npz").read_bytes())
    data[data.index(b"PK\x01\x02") + 10] = method
    (tmp_path / "p.npz").write_bytes(data)
    assert not refused_or_harmless(tmp_path / "p.npz", "")


def rezip(source, target, change):
    """Write ``source`` again with valid checksums, each member changed by ``change``."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = change(name, old.read(name))
            if data is not None:
                new.writestr(name, data)


@pytest.mark.parametrize("name", FUZZED)
def test_an_archive_with_changed_members_and_right_checksums(name, originals, tmp_path):
    rng = np.random.default_rng(FUZZED.index(name))
    source = originals / f"{name}.npz"
    members = zipfile.ZipFile(source).namelist()
    for _ in range(60):
        victim = members[rng.integers(len(members))]
        mutate = BYTES[rng.integers(len(BYTES))]

        def change(member, data, victim=victim, mutate=mutate):
            if member != victim:
                return data
            if rng.random() < 0.1:
                return None
            mutant = bytearray(data)
            mutate(mutant, rng)
            return bytes(mutant)

        target = tmp_path / "p.npz"
        rezip(source, target, change)
        refused_or_harmless(target, PROBLEMS[name].fingerprint)


def different(array):
    """Return ``array`` with another first cell."""
    if array.dtype.kind == "U":
        return np.array(["another", *array[1:]])
    changed = array.copy()
    changed[0] = not changed[0] if array.dtype.kind == "b" else np.nan_to_num(changed[0]) + 1
    return changed


@pytest.mark.parametrize("name", FUZZED)
def test_an_archive_with_a_changed_array_is_refused(name, originals, tmp_path):
    with np.load(originals / f"{name}.npz") as archive:
        arrays = dict(archive)
    for key, array in arrays.items():
        if key == "header" or not array.size:
            continue
        for mutant in (different(array), array[:-1], np.concatenate([array, array]), array[None]):
            with (tmp_path / "p.npz").open("wb") as file:
                np.savez(file, **arrays | {key: mutant})
            assert not refused_or_harmless(tmp_path / "p.npz", "")


@pytest.mark.parametrize("cell", [0.5, np.nan, np.inf, 1e300])
def test_a_fraction_in_an_archive_is_not_cut_to_a_whole_number(cell):
    table = Table("p.npz: arms", {"model": np.array([1.0, cell])})
    assert table.integers("model").tolist() == [1, 0]
    assert [f"{str(cell)!r} is not a whole number" in line for line in table.found] == [True]


HEADERS = [
    {},
    [],
    {"options": {}},
    {"tables": {"arms": ["name", 3]}},
    {"tables": []},
    {"tables": {"arms": 5}},
    {"options": []},
    {"options": None},
    {"options": {"name": "\ud800"}},
    {"fingerprint": 7},
    {"fingerprint": None},
]


@pytest.mark.parametrize("header", HEADERS, ids=str)
def test_an_archive_with_a_changed_header_is_refused(header, originals, tmp_path):
    def change(member, data):
        if member != "header.npy":
            return data
        found = json.loads(np.load(io.BytesIO(data)).tobytes())
        mutant = {**found, **header} if header else header
        bytes_ = io.BytesIO()
        np.save(bytes_, np.frombuffer(json.dumps(mutant).encode(), np.uint8))
        return bytes_.getvalue()

    rezip(originals / "trap.npz", tmp_path / "p.npz", change)
    assert not refused_or_harmless(tmp_path / "p.npz", "")


@pytest.fixture
def mutant(request, originals, tmp_path):
    """Return a copy of the folder that the test is about."""
    name = request.node.callspec.params["name"]
    return Path(shutil.copytree(originals / name, tmp_path / name))


@pytest.mark.parametrize("name", FUZZED)
def test_a_folder_with_damaged_bytes(name, mutant):
    rng = np.random.default_rng(FUZZED.index(name))
    files_ = sorted(mutant.iterdir())
    for _ in range(100):
        file = files_[rng.integers(len(files_))]
        with changing(file) as data:
            damaged = bytearray(data)
            for _ in range(rng.integers(1, 3)):
                if len(damaged) > 8:
                    BYTES[rng.integers(len(BYTES))](damaged, rng)
            file.write_bytes(damaged)
            refused_or_harmless(mutant, PROBLEMS[name].fingerprint)


@pytest.mark.parametrize("name", FUZZED)
def test_a_folder_with_changed_lines(name, mutant):
    rng = np.random.default_rng(FUZZED.index(name))
    files_ = sorted(mutant.iterdir())
    for _ in range(100):
        file = files_[rng.integers(len(files_))]
        with changing(file) as data:
            lines = data.decode().splitlines()
            place, other = rng.integers(len(lines), size=2)
            match rng.integers(4):
                case 0:
                    del lines[place]
                case 1:
                    lines.insert(other, lines[place])
                case 2:
                    lines[place], lines[other] = lines[other], lines[place]
                case _:
                    lines[place] = JUNK[rng.integers(len(JUNK))]
            file.write_bytes(("\n".join(lines) + "\n").encode())
            refused_or_harmless(mutant, PROBLEMS[name].fingerprint)


@pytest.mark.parametrize("name", FUZZED)
def test_a_folder_with_junk_in_its_cells(name, mutant):
    rng = np.random.default_rng(FUZZED.index(name))
    loaded = 0
    for file in sorted(mutant.glob("*.csv")):
        with changing(file) as data:
            rows = list(csv.reader(io.StringIO(data.decode())))
            picks = [(c, i) for c in range(len(rows[0])) for i in rng.permutation(len(JUNK))[:5]]
            for column, junk in ((column, JUNK[pick]) for column, pick in picks):
                changed = [list(row) for row in rows]
                changed[rng.integers(len(rows))][column] = junk
                text = io.StringIO()
                csv.writer(text).writerows(changed)
                file.write_bytes(text.getvalue().encode())
                loaded += refused_or_harmless(mutant, PROBLEMS[name].fingerprint)
                if junk in UNQUOTED:
                    file.write_bytes("\n".join(map(",".join, changed)).encode())
                    refused_or_harmless(mutant, PROBLEMS[name].fingerprint)
    assert loaded > 0, "some edits are fine, so the fuzz reaches the depths"


@pytest.mark.parametrize("name", FUZZED)
def test_a_folder_with_a_file_missing_or_empty(name, mutant):
    fingerprint = PROBLEMS[name].fingerprint
    for file in sorted(mutant.iterdir()):
        with changing(file):
            for text in ("", "\n", "\ufeff", "name\n", "\0"):
                file.write_bytes(text.encode())
                refused_or_harmless(mutant, fingerprint)
            file.unlink()
            assert not refused_or_harmless(mutant, fingerprint)
            file.mkdir()
            assert not refused_or_harmless(mutant, fingerprint)


VALUES = ["", "x", 0, 1, -1, 3, 0.5, -0.0, 1e999, float("nan"), True, [], ["x"], [1], [[]], {}]
VALUES += [{"x": 1}, 10**30, 10**400, -(10**400), "a\nb", "\0", [{}], {"a\nb": ["x"]}, [["x"], 1]]
VALUES += [[{"group": "\n", "share": 1.0}], datetime.date(1979, 5, 27), None]


@pytest.mark.parametrize("name", FUZZED)
def test_a_folder_with_values_of_other_types(name, mutant):
    file = mutant / "problem.toml"
    text = file.read_text(encoding="utf-8")
    places = list(places_in(tomllib.loads(text)))
    assert len(places) > 6
    # Each kind of problem has a third of the changes, another third than the one before it.
    for place, value in list(itertools.product(places, VALUES))[FUZZED.index(name) % 3 :: 3]:
        options = tomllib.loads(text)
        inner = options
        for key in place[:-1]:
            inner = inner[key]
        if value is None:
            del inner[place[-1]]
        else:
            inner[place[-1]] = value
        file.write_text(tomli_w.dumps(options), encoding="utf-8")
        refused_or_harmless(mutant, PROBLEMS[name].fingerprint)


def places_in(options, before=()):
    keys = options if isinstance(options, dict) else range(len(options))
    for key in keys:
        yield (*before, key)
        if isinstance(options[key], (dict, list)):
            yield from places_in(options[key], (*before, key))
