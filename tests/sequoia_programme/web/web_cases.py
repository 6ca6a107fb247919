"""A page to test: a small programme, a planner without a process, people who sign in."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

from starlette.testclient import TestClient

from programme_cases import known
from real_command import PATIENCE
from sequoia_programme.accounts import ROLES, WORK, add_account
from sequoia_programme.settings import Programme
from sequoia_programme.web.app import create_app
from sequoia_programme.web.planner import PlannerProcess

DAY = date(2026, 11, 4)
PASSWORD = "correct horse battery"


def page_of(programme: Programme, today: date = DAY) -> TestClient:
    """Return a browser without a session, on this machine."""
    planner = PlannerProcess(programme.folder, lambda: ThreadPoolExecutor(1))
    app = create_app(programme.folder, today, planner, PATIENCE)
    return TestClient(app, "http://localhost:8000", client=("127.0.0.1", 1), follow_redirects=False)


def local_page(folder: Path) -> tuple[Programme, TestClient]:
    """Return a programme without accounts, and its page."""
    programme = known(folder)
    return programme, page_of(programme)


def with_accounts(folder: Path) -> Programme:
    """Return a programme with an account of each role, called by it."""
    programme = known(folder)
    for role in reversed(ROLES):
        add_account(programme, role, role, PASSWORD, "Nurse Anna" if role == WORK else "")
    return programme


def csrf(client: TestClient, path: str = "/login") -> str:
    """Return what forms of the session carry."""
    return re.search(r'name="csrf" value="(\w+)"', client.get(path).text)[1]


def send(client: TestClient, path: str, **values: object):
    """Send a form."""
    return client.post(path, data={"csrf": csrf(client), **values})


def sign_in(client: TestClient, name: str, password: str = PASSWORD):
    """Sign in."""
    return send(client, "/login", name=name, password=password)
