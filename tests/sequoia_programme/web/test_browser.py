"""The page as people use it: in a real Chromium, against a real server."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import uvicorn
from web_cases import DAY, PASSWORD, with_accounts

from programme_cases import begin, known
from real_command import PATIENCE
from sequoia_programme.history import find_events, find_history
from sequoia_programme.pdf import find_browser
from sequoia_programme.people import find_people
from sequoia_programme.plans import PlannedTask, StoredPlan
from sequoia_programme.recording import record
from sequoia_programme.today import publish
from sequoia_programme.web.app import create_app
from sequoia_programme.web.planner import PlannerProcess

BROWSER = find_browser()
PlaywrightError = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed"
).Error
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is here; make browser")

_CODE = """
import sys
from datetime import date
from pathlib import Path
from sequoia_programme.web.app import serve
serve(Path(sys.argv[1]), port=int(sys.argv[2]), today=date.fromisoformat(sys.argv[3]))
"""
# The same with a planner in a thread, which starts in half the time.
_QUICK_CODE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
import uvicorn
from sequoia_programme.web.app import create_app
from sequoia_programme import today
from sequoia_programme.web.planner import PlannerProcess
today._EPISODES = 2
folder = Path(sys.argv[1])
planner = PlannerProcess(folder, lambda: ThreadPoolExecutor(1))
app = create_app(folder, date.fromisoformat(sys.argv[3]), planner)
uvicorn.run(app, port=int(sys.argv[2]), log_level="warning")
"""


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class ServerThread:
    """The page of a folder, in a thread, which starts at once."""

    def __init__(self, folder):
        planner = PlannerProcess(folder, lambda: ThreadPoolExecutor(1))
        config = uvicorn.Config(create_app(folder, DAY, planner), port=0, log_level="warning")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        deadline = time.monotonic() + PATIENCE
        while not self._server.started and time.monotonic() < deadline:
            time.sleep(0.02)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"

    def end(self):
        self._server.should_exit = True
        self._thread.join(PATIENCE)


class Server:
    """The page of a folder, in a process that can be killed and started again."""

    def __init__(self, folder, code=_QUICK_CODE):
        self.folder, self.code, self.port = folder, code, _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.code, str(self.folder), str(self.port), str(DAY)],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("the server did not start")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)

    def end(self):
        self.process.terminate()
        self.process.wait(PATIENCE)


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


def _open(chromium, server, **options):
    context = chromium.new_context(**options)
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    page.problems = []
    page.on("console", lambda one: page.problems.append(one.text) if one.type == "error" else None)
    page.goto(server.url)
    return page


def _sign_in(page, name):
    page.fill("[name=name]", name)
    page.fill("[name=password]", PASSWORD)
    page.click("main button.strong")


def _kept(page):
    """Return what waits in the browser."""
    return page.evaluate("localStorage.getItem('sequoia outcomes')")


def _wait_until_sent(page):
    deadline = time.monotonic() + PATIENCE
    while _kept(page) != "[]" and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert _kept(page) == "[]"


def _wait_until_kept(page, is_kept):
    """Wait until My visits are kept on the phone, or are gone from it."""
    deadline = time.monotonic() + PATIENCE
    kept = "caches.match('/my').then((found) => Boolean(found))"
    while page.evaluate(kept) is not is_kept and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert page.evaluate(kept) is is_kept


def test_import_plan_lock_publish(chromium, tmp_path):
    programme = begin(tmp_path)
    server = Server(programme.folder, _CODE)
    try:
        page = _open(chromium, server)
        page.goto(f"{server.url}/import")
        files = {
            "arm": ("patients.csv", "Patient,Duration\nAda,20\nGrace,30\nZoe,30\n"),
            "worker": ("nurses.csv", "nurse,capacity\nAnna,60\n"),
        }
        for kind, (name, text) in files.items():
            content = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
            page.set_input_files(f"[name={kind}]", content)
        page.click("main button.strong")
        page.click("main button.strong")
        page.wait_for_selector(".visit")
        assert find_people(programme, DAY).total == 3
        first = page.locator(".visit .who").first.inner_text()
        page.locator(".visit summary").first.click()
        page.wait_for_selector(".inside p")
        page.locator(f'.inside button[value="never:{first}"]').click()
        page.wait_for_selector(".wishes")
        assert first not in page.locator(".visit .who").all_inner_texts()
        page.click('form[action="/today/publish"] button')
        page.wait_for_selector('form[action="/today/withdraw"]')
        plan = find_history(programme, DAY, DAY)[0].plan
        assert plan.overrides == {"never": [first]}
        assert page.problems == []
    finally:
        server.end()


def test_a_phone_records_through_a_lost_connection_and_a_killed_server(chromium, tmp_path):
    programme = known(tmp_path)
    server = Server(programme.folder)
    try:
        phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
        page = _open(chromium, server, **phone)
        page.click('form[action="/today/publish"] button')
        page.wait_for_selector('form[action="/today/withdraw"]')
        tasks = find_history(programme, DAY, DAY)[0].plan.tasks
        planned, by = [task.who for task in tasks], tasks[0].by
        page.goto(f"{server.url}/record")
        box = page.locator(".thumbs button").first.bounding_box()
        assert box["height"] >= 44
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

        def tap(who, state):
            form = page.locator(f'form:has(input[type=hidden][name=who][value="{who}"])')
            form.locator(f'button[value="{state}"]').tap()

        tap(planned[0], "good")
        _wait_until_sent(page)
        page.context.set_offline(True)
        tap(planned[1], "lapsed")
        assert planned[1] in _kept(page)
        with pytest.raises(PlaywrightError):
            page.reload()
        page.context.set_offline(False)
        page.goto(server.url)
        _wait_until_sent(page)
        page.goto(f"{server.url}/record")
        server.kill()
        tap(planned[1], "good")
        assert planned[1] in _kept(page)
        server.start()
        page.reload()
        _wait_until_sent(page)
        record(programme, [f"{planned[0]}=lapsed"], DAY, by=by, correct=True)
        kept = {"who": planned[0], "state": "good", "by": by, "date": str(DAY)}
        page.evaluate(
            "one => localStorage.setItem('sequoia outcomes', JSON.stringify([one]))",
            {"key": "k", "fields": kept, "account": ""},
        )
        for _ in range(2):
            page.reload()
            page.wait_for_selector(".queue .wrong")
        page.get_by_role("button", name="Replace").click()
        _wait_until_sent(page)
        for who in planned[:2]:
            seen = [one for one in find_events(programme, who, DAY, DAY)[1] if one.dose]
            assert [one.state for one in seen] == ["good"]
    finally:
        server.end()


def test_two_people_at_once_and_a_session_that_ended(chromium, tmp_path):
    programme = with_accounts(tmp_path)
    server = ServerThread(programme.folder)
    try:
        first, second = (_open(chromium, server) for _ in range(2))
        for page, name in ((first, "plan"), (second, "administer")):
            _sign_in(page, name)
            page.wait_for_selector(".visit")
        first.fill("#wish-text", "Grace")
        first.click('button[value="never:"]')
        first.wait_for_selector(".wishes")
        second.click('form[action="/today/publish"] button')
        second.wait_for_selector(".wishes")
        assert find_history(programme, DAY, DAY) == []
        assert "Grace" in second.locator(".wishes").inner_text()
        first.context.clear_cookies()
        first.click('form[action="/today/undo"] button')
        first.wait_for_selector("[name=password]")
        _sign_in(first, "plan")
        first.wait_for_selector(".wishes")
        assert re.search("Grace", first.locator(".wishes").inner_text())
    finally:
        server.end()


def test_my_visits_open_without_a_connection_and_what_waits_is_mended(chromium, tmp_path):
    programme = with_accounts(tmp_path)
    task = partial(PlannedTask, DAY, "Nurse Anna", "", dose="visit", minutes=20.0, state="", gain=1)
    publish(programme, StoredPlan(DAY, "price", "", {}, [task(who=who) for who in ("Ada", "Zoë")]))
    server = ServerThread(programme.folder)
    try:
        page = _open(chromium, server, viewport={"width": 320, "height": 640})
        _sign_in(page, "work")
        page.wait_for_url("**/my")
        _wait_until_kept(page, True)
        context = page.context
        page.close()
        context.set_offline(True)
        page = context.new_page()
        # The home screen opens My visits, whatever it was that was asked for.
        page.goto(f"{server.url}/")
        page.wait_for_selector(".outcome")
        assert page.locator(".outcome h3").all_inner_texts() == ["1 Ada", "2 Zoë"]
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        form = page.locator('.outcome:has-text("Ada")')
        form.get_by_role("button", name="lapsed").click()
        assert page.locator(".outcome.done").count() == 0
        page.locator(".queue select").select_option("good")
        page.locator('.outcome:has-text("Zoë") summary').click()
        page.get_by_role("button", name="not at home").click()
        assert page.locator(".queue li").count() == 2
        # The office was quicker, and saw something else.
        record(programme, ["Zoë=good"], DAY, by="Nurse Anna")
        context.set_offline(False)
        page.wait_for_selector(".outcome.done")
        seen = [one.state for one in find_events(programme, "Ada", DAY, DAY)[1]]
        assert seen == ["good"]
        _wait_until_sent(page)
        # Whoever signs out leaves no visits on the phone.
        page.locator(".menu summary").click()
        page.locator("[data-leave] button").click()
        page.wait_for_selector("[name=password]")
        _wait_until_kept(page, False)
        context.set_offline(True)
        with pytest.raises(PlaywrightError):
            page.goto(f"{server.url}/my")
    finally:
        server.end()
