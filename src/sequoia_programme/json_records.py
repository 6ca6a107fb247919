"""Records of other systems in JSON, as a table: a row for each innermost record."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sequoia.errors import FileError
from sequoia.io import read_json
from sequoia.problem.spreadsheet import SENT
from sequoia.problem.tables import Table

# Where systems keep their records: ODK Central; KoBo; CommCare; DHIS2, of which the newer first.
_LISTS = (
    *("value", "results", "objects"),
    *("instances", "trackedEntities", "trackedEntityInstances", "events"),
)
# Records inside records, each a row of its own with what stands around it (DHIS2).
_INSIDE = ("enrollments", "events")
# Lists of what a record says, each with what it is about and its value (DHIS2).
_PAIRS = {"attributes": "attribute", "dataValues": "dataElement"}


def read_records(path: Path) -> Table:
    """Read records, as ODK Central, KoBo, CommCare and DHIS2 write them, as a table of text.

    Names inside of names are joined by dots, such as ``form.visit.date``.
    """
    content = read_json(path)
    records = content
    if isinstance(content, dict):
        records = next((content[name] for name in _LISTS if name in content), None)
    if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
        raise FileError(
            f"{path} holds no list of records; one is wanted, or one under {', '.join(_LISTS)}."
        )
    rows = [row for record in records for row in _rows(record)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not names:
        raise FileError(f"{path} holds no records.")
    if len(names) * len(rows) > SENT.cells:
        raise FileError(f"{path} has more than {SENT.cells:,} cells; fewer are wanted.")
    columns = {name: [row.get(name, "") for row in rows] for name in names}
    return Table(str(path), columns, list(range(1, len(rows) + 1)))


def _rows(record: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield a row for each innermost record, with all that stands around it."""
    around = dict(_cells(record, ""))
    inside = [one for name in _INSIDE for one in _list(record, name)]
    if not inside:
        yield around
    for one in inside:
        for row in _rows(one):
            yield {**around, **row}


def _cells(record: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for name, value in record.items():
        if name in _INSIDE and isinstance(value, list):
            continue
        if name in _PAIRS and isinstance(value, list):
            for pair in _list(record, name):
                about = pair.get("displayName") or pair.get(_PAIRS[name])
                if about:
                    yield str(about), _text(pair.get("value"))
        elif isinstance(value, dict):
            yield from _cells(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", _text(value)


def _list(record: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = record.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list):
        return " ".join(_text(one) for one in value if not isinstance(one, dict))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return " ".join(str(value).split())
