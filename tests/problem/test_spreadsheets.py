"""Tables as people keep them: in spreadsheets, with names, and with mistakes."""

import io
import unicodedata
import zipfile
from pathlib import Path

import numpy as np
import pytest

from sequoia import Arms, Budget, Problem, load, save
from sequoia.errors import FileError
from sequoia.planning.state_file import read_states
from sequoia.problem import files
from sequoia.problem.families import capacity, epidemic, routing, trap
from sequoia.problem.files import edited_since_written
from sequoia.problem.spreadsheet import SENT, read_csv, read_spreadsheet, xlsx_bytes
from sequoia.problem.summary import lines, summary

KERNELS = [[[[0.9, 0.1], [0.3, 0.7]], [[0.2, 0.8], [0.1, 0.9]]]] * 2


def clinic(**more):
    """Return a problem in which everything has a name."""
    arms = Arms(
        rewards=[[0, 1], [0, 2]],
        doses=[[0, 1]] * 2,
        kernels=KERNELS,
        model=[1, 0, 1],
        names=["Zoë", "Ada", "José"],
        **{
            "model_names": ["young", "old"],
            "state_names": ["at risk", "well"],
            "dose_names": {0: "no visit", 1: "a visit"},
        }
        | more,
    )
    return Problem("clinic", arms, Budget([1, 1, 1], 1, arms.names), [[0.5, 0.5]] * 3)


@pytest.fixture
def folder(tmp_path):
    save(clinic(), tmp_path / "p")
    return tmp_path / "p"


def rewrite(folder, change):
    for file in folder.glob("*.csv"):
        change(file)


@pytest.mark.parametrize("target", ["p", "p.npz"])
def test_names_survive_a_round_trip(target, tmp_path):
    problem = clinic()
    save(problem, tmp_path / target)
    again = load(tmp_path / target)
    assert again.fingerprint == problem.fingerprint
    assert not edited_since_written(tmp_path / target)
    assert list(again.arms.model_names) == ["young", "old"]
    assert list(again.arms.state_names) == ["at risk", "well"]
    assert dict(again.arms.dose_names) == {0.0: "no visit", 1.0: "a visit"}
    np.testing.assert_array_equal(again.arms.model, [1, 0, 1])


def test_without_names_files_and_fingerprints_are_those_of_before():
    plain = clinic(model_names=None, state_names=None, dose_names=None)
    assert plain.fingerprint != clinic().fingerprint
    assert set(plain.to_tables().tables) == {"arms", "rewards", "transitions", "actions"}
    # Written down before there were names.
    assert trap().fingerprint == "4b4d82d82260b1c3"
    assert capacity().fingerprint == "023cf362cdff691c"
    assert routing().fingerprint == "c0c8c020541d31f4"
    assert epidemic().fingerprint == "dff21f6c3bca1c37"


def test_contagion_calls_models_by_name_too(tmp_path):
    problem = epidemic(arms=6)
    arms = problem.arms
    named = Problem(
        problem.name,
        Arms(
            arms.rewards,
            arms.doses,
            arms.kernels,
            arms.model,
            arms.names,
            [f"pressure {m}" for m in range(arms.n_models)],
        ),
        problem.space,
        problem.start,
        contagion=problem.contagion,
    )
    save(named, tmp_path / "p")
    assert "pressure 0" in (tmp_path / "p" / "contagion.csv").read_text()
    assert load(tmp_path / "p").fingerprint == named.fingerprint


def test_names_may_be_used_wherever_numbers_are(folder):
    file = folder / "transitions.csv"
    text = file.read_text()
    assert "young,0.0,0," in text
    file.write_text(text.replace("young,0.0,0,", "young,no visit,at risk,"))
    assert load(folder).fingerprint == clinic().fingerprint


def test_names_are_said(folder):
    problem = load(folder)
    said = dict(lines(problem))
    assert said["states"] == "0 (at risk), 1 (well)"
    assert said["models"] == "young (1 arm), old (2 arms)"
    assert 'in state "at risk"' in said["start"]
    assert "doses 0 (no visit), 1 (a visit)" in said["arms"]
    assert summary(problem)["state_names"] == ["at risk", "well"]


def test_a_state_file_may_use_names_numbers_and_decomposed_letters(tmp_path):
    jose = unicodedata.normalize("NFD", "José")
    assert jose != "José"
    (tmp_path / "today.csv").write_text(f"arm;state\nZoë;at risk\nAda;1.0\n{jose};well\n")
    assert read_states(tmp_path / "today.csv", clinic()).tolist() == [0, 1, 1]
    (tmp_path / "today.csv").write_text("arm,state\nZoe,at rsik\nAda,2\nJosé,1\n")
    with pytest.raises(FileError) as error:
        read_states(tmp_path / "today.csv", clinic())
    assert [line.partition("today.csv ")[2] for line in error.value.lines] == [
        "row 2, column 'state' is 'at rsik'; states run from 0 to 1; perhaps 'at risk' is meant.",
        "row 3, column 'state' is '2'; states run from 0 to 1.",
        "row 2 names 'Zoe', which is unknown; names run from 'Zoë' to 'José'; perhaps 'Zoë' "
        "is meant.",
    ]


def with_semicolons(file):
    text = file.read_text(encoding="utf-8").replace(",", ";").replace(".", ",")
    file.write_text(text, encoding="utf-8")


def as_windows_does(file):
    file.write_bytes(file.read_text(encoding="utf-8").replace("\n", "\r\n").encode("cp1252"))


def as_unicode_text(file):
    file.write_bytes(file.read_text(encoding="utf-8").replace(",", "\t").encode("utf-16"))


def decomposed(file):
    text = unicodedata.normalize("NFD", file.read_text(encoding="utf-8"))
    file.write_text(text, encoding="utf-8-sig")


def with_empty_rows(file):
    commas = "," * file.read_text(encoding="utf-8").partition("\n")[0].count(",")
    file.write_text(f"{file.read_text(encoding='utf-8')}{commas}\n\n{commas}\n", encoding="utf-8")


def with_points(file):
    if file.name == "transitions.csv":
        text = file.read_text().replace(",0,", ",0.0,").replace(",1,", ",1.0,")
        file.write_text(text)


@pytest.mark.parametrize(
    "change",
    [with_semicolons, as_windows_does, as_unicode_text, decomposed, with_empty_rows, with_points],
)
def test_what_spreadsheets_make_of_it_is_the_same_problem(folder, change):
    rewrite(folder, change)
    assert load(folder).fingerprint == clinic().fingerprint


def test_rows_are_numbered_as_in_the_spreadsheet(tmp_path):
    (tmp_path / "t.csv").write_text('name,cost\n"a\nb",1\n,\nc,x\n')
    table = read_csv(tmp_path / "t.csv")
    table.floats("cost")
    assert table.found == [f"{tmp_path / 't.csv'} row 4, column 'cost': 'x' is not a number."]


def test_true_and_false_are_one_and_zero(tmp_path):
    (tmp_path / "t.csv").write_text("open\nTRUE\nfalse\n1.0\n0\n2\n")
    table = read_csv(tmp_path / "t.csv")
    assert table.booleans("open").tolist() == [True, False, True, False, False]
    assert [text.partition("t.csv ")[2] for text in table.found] == [
        "row 6, column 'open': '2' is not 0 or 1."
    ]


def test_everything_that_is_wrong_is_said_at_once(folder):
    def edit(name, *changes):
        text = Path(folder, name).read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        Path(folder, name).write_text(text)

    edit("arms.csv", ("old", "odl"), ("0.5,0.5", "0.5,0.4"))
    edit("rewards.csv", ("2.0", "two"))
    edit("transitions.csv", ("0.9,0.1", "0.8,0.1"), ("0.3,0.7", "-0.3,1.3"))
    edit("actions.csv", ("Ada", "Zoë"), ("José,1.0", "José,-1.0"))
    edit("problem.toml", ("horizon = 20", "horizon = 0"), ("limit", "limmit"))
    with pytest.raises(FileError) as error:
        load(folder)
    found = [line.replace(f"{folder}/", "") for line in error.value.lines]
    assert found == [
        "problem.toml, option 'horizon' is 0; from 1 to 100000 is wanted.",
        "problem.toml [space] has an unknown option 'limmit'; known: kind, limit; perhaps 'limit' "
        "is meant.",
        "actions.csv row 4, column 'cost' is -1.0; a cost is not negative.",
        "problem.toml [space] has no option 'limit'.",
        "actions.csv row 3, column 'name' repeats 'Zoë' of row 2; names must differ.",
        "arms.csv row 2, column 'model' is 'odl'; models run from 0 to 1; perhaps 'old' is meant.",
        "rewards.csv row 3, column 'reward_1': 'two' is not a number.",
        "transitions.csv row 3, column 'to_0' is -0.3; a probability is wanted.",
        "transitions.csv row 3, column 'to_1' is 1.3; a probability is wanted.",
        "transitions.csv row 2: to_0 + to_1 is 0.9; a row must sum to 1.",
        "arms.csv row 2: start_0 + start_1 is 0.9; a row must sum to 1.",
    ]
    assert str(error.value) == " ".join(error.value.lines)


def test_of_very_many_only_the_first_are_said(tmp_path):
    save(capacity(arms=40), tmp_path / "p")
    file = tmp_path / "p" / "actions.csv"
    head, *rows = file.read_text().splitlines()
    file.write_text("\n".join([head, *(f"{row.partition(',')[0]},x" for row in rows)]))
    with pytest.raises(FileError) as error:
        load(tmp_path / "p")
    assert len(error.value.lines) == 21
    assert error.value.lines[-1] == "and 20 more."


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("states.csv", "1,well", "2,well", r"column 'state': 0 to 1, each once, is wanted"),
        ("states.csv", "well", "at risk", r"row 3, column 'name' repeats 'at risk' of row 2"),
        ("doses.csv", "1.0,", "0.0,", r"names a dose twice"),
        ("doses.csv", "1.0,", "x,", r"row 3, column 'dose': 'x' is not a number"),
        ("rewards.csv", "old", "young", r"column 'model' repeats 'young' of row 2"),
        ("transitions.csv", "old,0.0,1", "old,0.0,0", r"model 'old', dose 0, state 'at risk' is"),
        ("transitions.csv", "old,0.0", "young,2", r"model 'old' has"),
        ("transitions.csv", "dose", "doze", r"no column 'dose'; .* perhaps 'doze' is meant"),
    ],
)
def test_a_wrong_name_is_told_where(file, old, new, message, folder):
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(FileError, match=message):
        load(folder)


def test_a_state_file_may_be_a_workbook(tmp_path):
    names = clinic().arms.names
    rows = [("Arm", "State"), (names[2], "well"), (names[0], 0), (names[1], 1.0)]
    (tmp_path / "today.xlsx").write_bytes(xlsx_bytes({"today": rows}))
    assert read_states(tmp_path / "today.xlsx", clinic()).tolist() == [0, 1, 1]


def workbook(path, rows="", **parts):
    """Write a workbook whose sheet has rows of XML, or with other parts changed."""
    made = io.BytesIO(xlsx_bytes({"log": [("who", "state"), ("Ada", "good")]}))
    sheet = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == sheet:
                content = content.replace(b"</sheetData>", f"{rows}</sheetData>".encode())
                content = parts.pop("change", lambda text: text)(content)
            new.writestr(name, parts.get(name, content))
    return path


def cell(place, text="1"):
    row = place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return f'<row r="{row}"><c r="{place}"><v>{text}</v></c></row>'


WIDE = "".join(cell(f"XFD{row}") for row in range(3, 1400))


@pytest.mark.parametrize(
    ("rows", "said"),
    [(cell("A1000000000"), "rows after 1048576"), (WIDE, "more than 20,000,000 cells")],
)
def test_a_small_workbook_that_would_fill_the_memory_is_refused(tmp_path, rows, said):
    with pytest.raises(FileError, match=said):
        read_spreadsheet(workbook(tmp_path / "a.xlsx", rows))


def test_a_cell_far_out_takes_no_room(tmp_path):
    table = read_spreadsheet(workbook(tmp_path / "a.xlsx", cell("A1000000", "7")), limits=SENT)
    assert table.rows == [2, 1_000_000]
    assert table.columns["who"] == ["Ada", "7"]
    with pytest.raises(FileError, match=r"names (a|the) column"):
        read_spreadsheet(workbook(tmp_path / "b.xlsx", cell("XFD3")))


def test_what_is_packed_too_well_is_refused(tmp_path, monkeypatch):
    zeros = b"<a>" + b"0" * 61_000_000 + b"</a>"
    path = workbook(tmp_path / "a.xlsx", **{"xl/styles.xml": zeros})
    with pytest.raises(FileError, match="61 MB inside; at most 60 are read"):
        read_spreadsheet(path, limits=SENT)
    save(clinic(), tmp_path / "p.npz")
    monkeypatch.setattr(files, "_MOST_UNPACKED", 10_000_000)
    with zipfile.ZipFile(tmp_path / "p.npz", "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("more.npy", bytes(11_000_000))
    with pytest.raises(FileError, match="11 MB inside; at most 10 are read"):
        load(tmp_path / "p.npz")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:0],
        lambda text: text[:-20],
        lambda text: text.replace(b"<sheetData>", b"<sheetData>&nothing;"),
        lambda text: text.replace(b'ref="', b'ref="?'),
        lambda text: text.replace(b'r="2"', b'r="two"'),
    ],
)
def test_a_workbook_with_broken_parts_is_one_line_or_read(tmp_path, change):
    path = workbook(tmp_path / "a.xlsx", change=change)
    said = ""
    try:
        read_spreadsheet(path)
    except FileError as error:
        said = str(error)
    assert not said or "cannot be read as a workbook" in said or "is empty" in said


def test_many_lines_of_nothing_are_few(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("who\n" + "\n" * 3_000_000 + "Ada\n")
    assert read_csv(path, limits=SENT).rows == [3_000_002]
    path.write_text(",".join("ab") + "\n1,2" * 1_000_001)
    with pytest.raises(FileError, match="more than 2,000,000 cells"):
        read_csv(path, limits=SENT)


def test_of_very_many_columns_a_few_are_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(",".join(f"c{number}" for number in range(100_000)) + "\n")
    with pytest.raises(FileError) as stop:
        read_csv(path).strings("who")
    assert len(str(stop.value)) < 300
    assert "100,000 in all" in str(stop.value)
