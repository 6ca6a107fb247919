"""A page as PDF, printed by a browser that is on this computer."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from sequoia.errors import FileError

# What Chromium and its relatives are called, on Linux, macOS and Windows.
_BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
# A page of a few tables takes a second or two; a browser that hangs is given up.
_SECONDS = 60


def find_browser() -> str | None:
    """Return the first browser that can print, if there is one."""
    return next((found for name in _BROWSERS if (found := shutil.which(name))), None)


def require_browser(target: Path) -> str:
    """Return a browser, or say how to get ``target`` without one."""
    found = find_browser()
    if found is None:
        raise FileError(
            f"{target} needs Chromium, Chrome or Edge, and none was found; write "
            f"{target.with_suffix('.html').name} and print it from any browser."
        )
    return found


def pdf_bytes(page: str) -> bytes:
    """Print a page that fetches nothing."""
    with tempfile.TemporaryDirectory(prefix="sequoia-") as folder:
        source, target = Path(folder) / "page.html", Path(folder) / "page.pdf"
        source.write_text(page, encoding="utf-8")
        browser = require_browser(target)
        options = ["--headless", "--disable-gpu", "--no-pdf-header-footer"]
        # Its own profile: a browser that is open already would take over and print nothing.
        options += [f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            # The system's first user gets no sandbox; the page is our own and fetches nothing.
            options.append("--no-sandbox")
        try:
            subprocess.run(  # noqa: S603 (no shell; a browser that was found, a file of our own)
                [browser, *options, source.as_uri()],
                check=True,
                capture_output=True,
                timeout=_SECONDS,
            )
            return target.read_bytes()
        except (subprocess.SubprocessError, OSError) as error:
            why = str(error).splitlines()[0][:200]
            raise FileError(
                f"{browser} printed no PDF ({why}); write .html and print it from any browser."
            ) from None
