"""Sheets come in through the page: matched, checked, whole or not at all."""

import io
import re
import zipfile

import pytest
from web_cases import DAY, csrf, local_page, page_of

from programme_cases import begin
from sequoia.problem.spreadsheet import Limits, xlsx_bytes
from sequoia_programme import matching
from sequoia_programme.people import find_people
from sequoia_programme.web import importing

PATIENTS = "Patient,Area,Duration\nAda,north,20\nGrace,south,30\n"
NURSES = "nurse;shift\nAnna;60\nBo;30\n"


def _upload(client, **sheets):
    files = {kind: (name, content) for kind, (name, content) in sheets.items()}
    return client.post("/import/check", data={"csrf": csrf(client)}, files=files)


def _chosen(page):
    """Return the form as the browser would send it."""
    upload = re.search(r'name="upload" value="(\w+)"', page.text)[1]
    fields = {"upload": upload}
    for name, options in re.findall(r'<select id="[^"]+" name="([^"]+)">(.*?)</select>', page.text):
        picked = re.search(r'<option value="([^"]*)" selected>', options)
        fields[name] = picked[1] if picked else ""
    return fields


def test_two_sheets_with_other_columns_are_matched_and_imported(tmp_path):
    programme = begin(tmp_path)
    client = page_of(programme)
    page = _upload(client, arm=("patients.csv", PATIENTS), worker=("nurses.csv", NURSES))
    fields = _chosen(page)
    assert [fields[f"arm {n}"] for n in range(3)] == ["name", "group", "cost"]
    assert [fields[f"worker {n}"] for n in range(2)] == ["name", "capacity"]
    done = client.post("/import/start", data={**fields, "csrf": csrf(client)})
    assert done.status_code == 303
    assert not list((programme.folder / "uploads").iterdir())
    assert [one.group for one in find_people(programme, DAY).people] == ["north", "south"]


def test_what_is_wrong_is_said_by_row_and_nothing_is_imported(tmp_path):
    programme = begin(tmp_path)
    client = page_of(programme)
    bad = PATIENTS + "Zoë,north,many\n"
    book = xlsx_bytes({"staff": [("name", "capacity"), ("Anna", 60)]})
    fields = _chosen(_upload(client, arm=("p.csv", bad), worker=("n.xlsx", book)))
    answer = client.post("/import/start", data={**fields, "csrf": csrf(client)})
    assert answer.status_code == 422
    assert "roster.csv row 4" in answer.text
    assert str(programme.folder) not in answer.text
    assert find_people(programme, DAY).total == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("roster.exe", b"MZ"),
        ("roster.xlsx", b"no workbook"),
        ("roster.csv", b""),
        ("roster.csv", b"\xff\xfe\x00\x01"),
        ("../../roster.csv", b"name\n\x00\n"),
    ],
)
def test_bad_uploads_are_one_clear_line(tmp_path, name, content):
    programme, client = local_page(tmp_path)
    answer = _upload(client, arm=(name, content))
    assert answer.status_code in (200, 422)
    assert find_people(programme, DAY).total == 3


def test_what_a_killed_server_left_goes_with_the_next(tmp_path):
    programme, client = local_page(tmp_path)
    page = _upload(client, arm=("roster.csv", PATIENTS))
    assert list((programme.folder / "uploads").rglob("roster.csv"))
    page_of(programme)
    assert not (programme.folder / "uploads").exists()
    again = client.post("/import/start", data={**_chosen(page), "csrf": csrf(client)})
    assert "too old" in again.text


def test_a_large_upload_is_refused(tmp_path, monkeypatch):
    _, client = local_page(tmp_path)
    monkeypatch.setattr(importing, "_MOST_BYTES", 100)
    assert "more than" in _upload(client, arm=("roster.csv", "name\n" + "x" * 200)).text


def test_a_workbook_that_unpacks_to_very_much_is_not_read(tmp_path, monkeypatch):
    _, client = local_page(tmp_path)
    monkeypatch.setattr(matching, "SENT", Limits(cells=1000, unpacked=1000))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/workbook.xml", "x" * 5000)
    assert "MB inside" in _upload(client, arm=("bomb.xlsx", packed.getvalue())).text
