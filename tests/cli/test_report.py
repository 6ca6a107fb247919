import json
import re
import shutil
import subprocess
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from real_command import PATIENCE
from sequoia import save
from sequoia.problem.families import FAMILIES

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--virtual-time-budget=4000",
]
# Said by the page itself, once it has loaded everything; a window is never narrower than 500
# pixels, a frame in it is.
_ASK = """<script>
window.onerror = (text) => { parent.document.title = "script error: " + text; };
window.onload = () => {
  const images = [...document.images];
  const missing = images.filter((image) => !image.complete || !image.naturalWidth).length;
  const narrow = images.filter((image) => image.currentSrc !== image.src).length;
  const wide = document.documentElement.scrollWidth > window.innerWidth;
  parent.document.title =
    `width ${window.innerWidth} images ${images.length} missing ${missing} narrow ${narrow} ` +
    `wide ${wide}`;
};
</script>"""


class Tags(HTMLParser):
    """Counts tags and remembers what they point to."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []
        self.alts: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        if tag not in ("meta", "img", "link", "source"):
            self.open.append(tag)
        found = dict(attrs)
        self.sources += [found[key] for key in ("src", "srcset", "href") if found.get(key)]
        if tag == "img":
            self.alts.append(found["alt"])

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def page(command, tmp_path, request) -> Path:
    family = request.param
    sizes = {} if family == "trap" else {"arms": 8}
    save(FAMILIES[family](horizon=5, **sizes), tmp_path / "p.npz")
    evaluated = command(
        "evaluate", "p.npz", "--policies", "idle,random,myopic", "--episodes", 3, "-o", "e.json"
    )
    assert evaluated.code == 0
    made = command("report", "e.json", "-o", "r.html")
    assert made == (0, "Wrote r.html.\n", "")
    return tmp_path / "r.html"


# One family of each kind of space and of dynamics.
@pytest.mark.parametrize(
    "page", sorted(FAMILIES.keys() - {"standard", "trap", "wildfire"}), indirect=True
)
def test_a_page_for_every_family(page):
    text = page.read_text()
    tags = Tags()
    tags.feed(text)
    assert not tags.open
    assert len(tags.alts) == 7
    assert all(tags.alts)
    assert all(source.startswith("data:") for source in tags.sources)
    assert "<script" not in text
    assert "http" not in re.sub(r'src(set)?="[^"]*"', "", text)


@pytest.mark.parametrize(
    ("page", "width"), [("routing", 320), ("capacity", 390), ("routing", 1000)], indirect=["page"]
)
def test_it_opens_in_a_browser(page, width, tmp_path):
    """Whatever is wider than the window scrolls in a box of its own."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    asking = tmp_path / "asking.html"
    content = escape(page.read_text().replace("</head>", _ASK + "</head>"), quote=True)
    frame = f'<iframe srcdoc="{content}" width="{width}" height="900" frameborder="0"></iframe>'
    asking.write_text(f"<!doctype html><title>waiting</title>{frame}")
    shown = subprocess.run(
        [
            CHROMIUM,
            *FLAGS,
            "--window-size=1100,1200",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            asking.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    narrow = 7 if width < 500 else 0
    said = f"width {width} images 7 missing 0 narrow {narrow} wide false"
    assert f"<title>{said}</title>" in shown.stdout, shown.stdout[:500]
    assert "CONSOLE" not in shown.stderr


def test_what_goes_wrong_is_one_line(command, tmp_path):
    save(FAMILIES["trap"](horizon=2), tmp_path / "p.npz")
    save(FAMILIES["trap"](horizon=3), tmp_path / "other.npz")
    command("evaluate", "p.npz", "--policies", "idle", "--episodes", 2, "-o", "e.json")
    Path("broken.json").write_text("{")
    for arguments, words in {
        "nowhere.json -o r.html": "does not exist",
        "broken.json -o r.html": "cannot be read",
        "e.json -o r.pdf": ".html is wanted",
        "e.json -o nowhere/r.html": "is not a folder",
        "e.json": "--output",
        "e.json -o r.html --problem other.npz": "was evaluated; it was changed since",
        "e.json -o r.html --problem nowhere.npz": "does not exist",
    }.items():
        outcome = command("report", *arguments.split())
        assert outcome.code == 2, arguments
        assert words in outcome.err
        assert outcome.err.count("\n") == 1
    Path("p.npz").rename("moved.npz")
    outcome = command("report", "e.json", "-o", "r.html")
    assert "p.npz, which was evaluated, is not there; give it with --problem" in outcome.err
    assert command("report", "e.json", "-o", "r.html", "--problem", "moved.npz").code == 0


def test_the_problem_is_found_from_another_folder(command, tmp_path, monkeypatch):
    save(FAMILIES["trap"](horizon=2), tmp_path / "p.npz")
    (tmp_path / "results").mkdir()
    command("evaluate", "p.npz", "--policies", "idle", "--episodes", 2, "-o", "results/e.json")
    monkeypatch.chdir(tmp_path / "results")
    assert command("report", "e.json", "-o", "r.html").code == 0


def test_names_are_written_as_they_are(command, tmp_path):
    from dataclasses import replace

    save(replace(FAMILIES["trap"](horizon=2), name="a <b>bold</b> & 'quoted' trap"), "p.npz")
    command("evaluate", "p.npz", "--policies", "exact", "--episodes", 2, "-o", "e.json")
    assert command("report", "e.json", "-o", "r.html").code == 0
    text = (tmp_path / "r.html").read_text()
    assert "<b>bold" not in text
    assert "a &lt;b&gt;bold&lt;/b&gt; &amp; &#x27;quoted&#x27; trap" in text


def text_of(page: Path) -> str:
    """Return what a reader sees, in order."""
    body = page.read_text().partition("<body>")[2]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body))


def test_the_verdict_comes_first_and_fingerprints_last(command, tmp_path):
    problem = FAMILIES["capacity"](arms=8, workers=2, horizon=5)
    save(problem, tmp_path / "p.npz")
    command("evaluate", "p.npz", "--policies", "random,price", "--episodes", 8, "-o", "e.json")
    assert command("report", "e.json", "-o", "r.html").code == 0
    text = text_of(tmp_path / "r.html").strip()
    assert text.startswith(f"{problem.name} Use price. It earns ")
    assert text.count(problem.fingerprint) == 1
    assert text.index(problem.fingerprint) > text.index("How this was measured")
    assert "cut off" not in text


def test_decisions_that_were_cut_off_are_counted(command, tmp_path):
    save(FAMILIES["trap"](horizon=5), tmp_path / "p.npz")
    command("evaluate", "p.npz", "--policies", "random,myopic", "--episodes", 4, "-o", "e.json")
    content = json.loads((tmp_path / "e.json").read_text())
    content["data"]["at_limit"]["myopic"] = [[0, 1, 0.02], [3, 4, 0.06]]
    (tmp_path / "e.json").write_text(json.dumps(content))
    assert command("report", "e.json", "-o", "r.html").code == 0
    text = text_of(tmp_path / "r.html")
    assert "cut off by a limit" in text
    assert "2 of 20, gap 4 %, at most 6 %" in text
    assert "Some decisions of myopic were cut off by a limit" in text
