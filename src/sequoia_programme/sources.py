"""Where sheets come from: systems whose exports are known, and what was said of columns before."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import tomli_w

from sequoia.errors import FileError
from sequoia.io import read_toml, write_text
from sequoia.problem.spreadsheet import USUAL, Limits, read_spreadsheet
from sequoia.problem.tables import Table
from sequoia_programme.json_records import read_records

FILE = "columns.toml"
# What a column is that nobody needs.
LEFT_OUT = "-"


@dataclass(frozen=True)
class Source:
    """A system whose exports are known.

    Attributes
    ----------
    marks
        Some of its exports have each of these columns, in small letters.
    columns
        What its own columns are, by what they are called, in small letters, the best ones first.
    noise
        A pattern of columns that say nothing about people.
    """

    name: str
    marks: Sequence[Sequence[str]]
    columns: Mapping[str, Sequence[str]]
    noise: str


SOURCES = (
    Source(
        "KoBo",
        (("_uuid", "_submission_time"), ("_id", "_submission_time")),
        {
            "date": ("today", "start", "end", "_submission_time"),
            "by": ("username", "_submitted_by"),
            "lat": ("_geolocation_latitude", "_location_latitude", "_gps_latitude"),
            "lon": ("_geolocation_longitude", "_location_longitude", "_gps_longitude"),
        },
        r"_.*|start|end|today|deviceid|subscriberid|simserial|phonenumber|username|formhub/.*"
        r"|meta/.*|__version__|.*_(altitude|precision)",
    ),
    Source(
        "ODK Central",
        (("key", "submissiondate"), ("__id", "__system.submissiondate")),
        {
            "date": ("today", "start", "end", "submissiondate", "__system.submissiondate"),
            "by": ("username", "submittername", "__system.submittername"),
            "lat": ("location-latitude", "gps-latitude", "geopoint-latitude"),
            "lon": ("location-longitude", "gps-longitude", "geopoint-longitude"),
        },
        r"key|submissiondate|__.*|meta-.*|meta\..*|instanceid|instancename|submitter.*"
        r"|attachments.*|status|reviewstate|deviceid|edits|formversion|start|end|today|username"
        r"|.*-(altitude|accuracy)",
    ),
    Source(
        "CommCare",
        (
            ("formid",),
            ("caseid",),
            ("form.case.@case_id",),
            ("case_id", "properties.case_name"),
            ("received_on", "form.meta.username"),
        ),
        {
            "date": ("form.meta.timeend", "info.completed_time", "completed_time", "received_on"),
            "who": ("form.case.update.case_name", "form.case.create.case_name", "case_name"),
            "name": ("properties.case_name", "case_name", "name"),
            "by": ("form.meta.username", "info.username", "username"),
            "joined": ("properties.date_opened", "info.opened_date", "opened_date", "date_opened"),
            "left": ("info.closed_date", "closed_date", "date_closed"),
        },
        r"number|formid|caseid|case_id|id|uuid|domain|app_id|build_id|info\..*|form\.meta\..*"
        r"|form\.@.*|form\.case\..*|form\.#type|indices.*|metadata.*|.*_link|closed|hq_user"
        r"|received_on|server_.*|user_id|owner_.*|xform.*|resource_uri|type|version|archived",
    ),
    Source(
        "DHIS2 tracker",
        (
            ("trackedentity",),
            ("trackedentityinstance",),
            ("tracked entity instance",),
            ("event", "event date"),
            ("event", "occurredat"),
        ),
        {
            "date": ("occurredat", "eventdate", "event date", "scheduledat"),
            "by": ("storedby", "stored by", "createdby.username"),
            "joined": ("enrolledat", "enrollmentdate", "enrollment date"),
            "group": ("orgunitname", "organisation unit name", "orgunit"),
            "lat": ("latitude",),
            "lon": ("longitude",),
        },
        r"tracked ?entity.*|event|program.*|enrollment|enrollmentstatus|orgunit.*"
        r"|organisation unit.*|created.*|updated.*|last updated.*|inactive|deleted|status"
        r"|stored ?by|completed.*|scheduledat|occurredat|followup|potentialduplicate"
        r"|attributecategory.*|attributeoption.*|assigneduser.*|featuretype|geometry.*|coordinate.*|legacyid|incident.*",
    ),
)


def read_source(path: Path, kind: str, heads: Sequence[str], limits: Limits = USUAL) -> Table:
    """Read a sheet, CSV or XLSX, or records in JSON, as text."""
    if path.suffix.lower() == ".json":
        return read_records(path)
    return read_spreadsheet(path, kind, heads, limits)


def source_of(columns: Iterable[str]) -> Source | None:
    """Return the system that writes such columns, if one is known."""
    there = {name.casefold() for name in columns}
    return next((one for one in SOURCES if any(there >= set(marks) for marks in one.marks)), None)


def is_noise(source: Source, column: str) -> bool:
    """Say whether a column of a system says nothing about people."""
    return re.fullmatch(source.noise, column.casefold()) is not None


def renamed(table: Table, names: Mapping[str, str]) -> Table:
    """Return a sheet under the names that its columns are said to have; see `LEFT_OUT`."""
    columns: dict[str, Sequence[str]] = {}
    for old, cells in table.columns.items():
        new = names.get(old) or old
        if new == LEFT_OUT:
            continue
        if new in columns:
            raise FileError(f"{table.where} has two columns that are the {new}; one is wanted.")
        columns[new] = [str(cell) for cell in cells]
    return Table(table.where, columns, table.rows, table.has_decimal_commas)


class Said(NamedTuple):
    """What was said of the columns of a sheet; nothing of those with an empty text."""

    kind: str
    columns: dict[str, str]


def remembered(folder: Path, kind: str, columns: Sequence[str]) -> dict[str, str] | None:
    """Return what was said last of a sheet that had such columns, and no other ones."""
    for one in reversed(_said(folder)):
        if one.kind == kind and set(one.columns) <= set(columns):
            return one.columns
    return None


def remember(folder: Path, kind: str, names: Mapping[str, str]) -> None:
    """Keep what the columns of a sheet are said to be, for the next sheet that has them."""
    own, said = Said(kind, dict(names)), _said(folder)
    if own in said:
        return
    others = [one for one in said if one.kind != kind or set(one.columns) != set(names)]
    parts = [
        f"[[sheet]]\n{tomli_w.dumps({'kind': one.kind})}"
        f"{tomli_w.dumps({'sheet': {'columns': one.columns}})}"
        for one in (*others, own)
    ]
    write_text(folder / FILE, "\n".join(parts))


def _said(folder: Path) -> list[Said]:
    """Return what the file of columns says, sheet by sheet."""
    path = folder / FILE
    if not path.is_file():
        return []
    found = []
    for one in read_toml(path).get("sheet", []):
        is_table = isinstance(one, dict) and isinstance(one.get("columns"), dict)
        if not is_table or not all(isinstance(what, str) for what in one["columns"].values()):
            raise FileError(
                f"{path} cannot be read: [[sheet]] with kind and columns is wanted; without the "
                "file, columns are guessed anew."
            )
        found.append(Said(str(one.get("kind")), one["columns"]))
    return found
