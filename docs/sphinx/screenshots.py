"""Take the pictures of the planner's page: ``python docs/sphinx/screenshots.py docs/images``.

A demo programme on a fixed day, with two wishes, two rules and a note, in the system's Chromium.
"""

import io
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from sequoia_programme.demo import make_demo
from sequoia_programme.drafts import set_wish
from sequoia_programme.pdf import find_browser
from sequoia_programme.people import add_note
from sequoia_programme.quality import find_quality, write_quality
from sequoia_programme.rules import FLOORS, NEVER, WrittenRule, add_rule
from sequoia_programme.settings import Programme, read_programme
from sequoia_programme.situation import find_situation
from sequoia_programme.today import Planning, publish
from sequoia_programme.web.app import create_app
from sequoia_programme.web.planner import PlannerProcess

DAY = date(2026, 11, 16)
PORT = 8123
WHO = "Grace Abara"
WIDE = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True}


def prepare(folder: Path) -> Programme:
    """Return a programme with something to see on every page."""
    programme = make_demo(folder, DAY)
    add_rule(programme, WrittenRule(FLOORS, ("country",), count=3), DAY)
    add_rule(programme, WrittenRule(NEVER, ("Kofi Castillo",)), DAY)
    add_note(programme, WHO, "Rings twice; the key is with the neighbour.")
    programme = read_programme(folder)
    write_quality(programme, find_quality(find_situation(programme, DAY), lambda *_: None))
    set_wish(programme, DAY, "must", WHO, wanted=True)
    set_wish(programme, DAY, "absent", "Dana Levi", wanted=True)
    return programme


def serve(folder: Path) -> uvicorn.Server:
    """Serve the page in a thread."""
    app = create_app(folder, DAY, PlannerProcess(folder, lambda: ThreadPoolExecutor(1)), 60.0)
    server = uvicorn.Server(uvicorn.Config(app, port=PORT, log_level="warning"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return server


def open_page(browser: Browser, path: str, **options: object) -> Page:
    """Open a page when it is ready."""
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(120_000)
    page.goto(f"http://127.0.0.1:{PORT}{path}")
    return page


def save(page: Page, path: Path, full_page: bool = False) -> None:
    """Take a picture, with 256 colours: half the size."""
    picture = Image.open(io.BytesIO(page.screenshot(full_page=full_page))).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def shoot(browser: Browser, programme: Programme, target: Path) -> None:
    """Take all pictures."""
    shots = {
        "page-today": ("/", WIDE),
        "page-map": ("/?view=map", {**WIDE, "color_scheme": "dark"}),
        "page-person": (f"/people/one?who={WHO}", WIDE),
        "page-staff": ("/staff", WIDE),
        "page-quality": ("/quality", WIDE),
    }
    for name, (path, options) in shots.items():
        page = open_page(browser, path, **options)
        if name == "page-today":
            page.locator(".visit summary").first.click()
            page.wait_for_selector(".inside [data-here] p")
        page.wait_for_selector("main:not(:has([data-again]))")
        save(page, target / f"{name}.png", full_page=name == "page-quality")
    plan = Planning(find_situation(programme, DAY)).plan({"must": [WHO], "absent": ["Dana Levi"]})
    publish(programme, plan.stored)
    options = {**PHONE, "locale": "de-DE", "color_scheme": "dark"}
    page = open_page(browser, "/record?by=Anna%20Berg", **options)
    page.locator('.thumbs button[value="good"]').first.tap()
    page.wait_for_selector(".outcome.done")
    save(page, target / "page-record.png")


def main() -> None:
    """Take the pictures."""
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        programme = prepare(Path(made) / "clinic")
        server = serve(programme.folder)
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        shoot(browser, programme, target)
        browser.close()
        server.should_exit = True


if __name__ == "__main__":
    main()
