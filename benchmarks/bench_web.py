"""The planner's page under load, and what is left when its server is killed.

``python benchmarks/bench_web.py --users 50 --minutes 5 --records 200 --people 10000``: users
load pages and record while plans are computed beside them; then a server is killed in the middle of
200 records, started again, and every record that was acknowledged is counted; then the plan and the
pages of a large programme are timed. 0 leaves a part out.
"""

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import date
from http.cookiejar import CookieJar
from pathlib import Path

import numpy as np

from sequoia.problem.spreadsheet import csv_text
from sequoia_programme.creating import Beginning, create
from sequoia_programme.demo import make_demo
from sequoia_programme.history import events
from sequoia_programme.importing import import_sheets
from sequoia_programme.proposal import propose
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import Programme
from sequoia_programme.situation import find_situation
from sequoia_programme.today import Planning

TODAY = date(2026, 11, 16)
PAGES = ("/", "/people", "/people?search=ad", "/record", "/staff", "/people/one?who=Ada%20Abara")
SERVE = (
    "import sys; from datetime import date; from pathlib import Path; "
    "from sequoia_programme.web.app import serve; "
    "serve(Path(sys.argv[1]), port=int(sys.argv[2]), today=date.fromisoformat(sys.argv[3]))"
)


class User:
    """A browser with a session."""

    def __init__(self, url: str) -> None:
        self.url, self.jar = url, CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        self.csrf = re.search(r'data-csrf="(\w+)"', self.get("/staff"))[1]

    def get(self, path: str) -> str:
        """Load a page."""
        with self.opener.open(self.url + path, timeout=60) as answer:
            return answer.read().decode()

    def post(self, path: str, **fields: str) -> None:
        """Send a form."""
        content = urllib.parse.urlencode({**fields, "csrf": self.csrf}).encode()
        asked = urllib.request.Request(self.url + path, content, {"Accept": "application/json"})
        with self.opener.open(asked, timeout=60) as answer:
            answer.read()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def serving(folder: Path, port: int) -> subprocess.Popen:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(folder), str(port), str(TODAY)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    for _ in range(1200):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return process
        time.sleep(0.05)
    raise SystemExit("the server did not start")


def names_of(folder: Path) -> list[str]:
    lines = (folder / "patients.csv").read_text().splitlines()[1:]
    return [line.split(",")[0] for line in lines]


def load(folder: Path, users: int, seconds: float) -> None:
    """Let users load pages and record; somebody changes wishes all the time."""
    port = free_port()
    process = serving(folder, port)
    names, times, wrong, sent = names_of(folder), [], [], []
    ends = time.monotonic() + seconds

    def play(number: int) -> None:
        rng = np.random.default_rng(number)
        try:
            user = User(f"http://127.0.0.1:{port}")
            while time.monotonic() < ends:
                page = PAGES[int(rng.integers(len(PAGES)))]
                began = time.perf_counter()
                user.get(page)
                times.append(time.perf_counter() - began)
                if number == 0:
                    who = names[int(rng.integers(len(names)))]
                    user.post("/today/wish", add=f"must:{who}", date=str(TODAY))
                    user.post("/today/undo", date=str(TODAY))
                elif number < len(names) and rng.random() < 0.1:
                    # Each user has a person of their own, so that every record can be counted.
                    day = f"2026-11-{int(rng.integers(2, 14)):02d}"
                    key, who = f"{number}-{day}", f"{names[number]}"
                    fields = {"who": who, "state": "good", "by": f"user {number}", "date": day}
                    user.post("/record/send", **fields, key=key, correct="1")
                    sent.append((who, day, f"user {number}"))
                # People read what they see.
                time.sleep(float(rng.exponential(3.0)))
        except Exception as error:
            wrong.append(f"{number}: {error!r}")

    threads = [threading.Thread(target=play, args=(number,)) for number in range(users)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    process.terminate()
    process.wait()
    lost, doubled = missing(folder, set(sent))
    middle, high = np.quantile(times, (0.5, 0.95))
    print(
        f"{users} users, {seconds:.0f} s: {len(times)} pages, median {1000 * middle:.0f} ms, "
        f"95 % within {1000 * high:.0f} ms; {len(wrong)} errors; {len(set(sent))} records, "
        f"{lost} lost, {doubled} doubled"
    )
    for line in wrong[:5]:
        print("  ", line)


def missing(folder: Path, sent: set[tuple[str, str, str]]) -> tuple[int, int]:
    """Return how many records are not there, and how many are there twice."""
    from sequoia_programme.settings import read_programme

    with read_programme(folder).store.reading() as connection:
        found = [
            (one.who, str(one.date), one.by)
            for one in events(connection, date.min, date.max)
            if one.dose
        ]
    return len(sent - set(found)), len([one for one in found if one in sent]) - len(
        sent & set(found)
    )


def kill(folder: Path, records: int) -> None:
    """Kill the server again and again while somebody records; count what was acknowledged."""
    port, acknowledged, kills = free_port(), set(), 0
    names = names_of(folder)
    process = serving(folder, port)
    user = User(f"http://127.0.0.1:{port}")
    rng = np.random.default_rng(0)
    for number in range(records):
        who, day = names[number % len(names)], f"2026-10-{5 + number // len(names):02d}"
        by = f"kill {number}"
        fields = {"who": who, "state": "good", "by": by, "date": day, "correct": "1"}
        while True:
            timer = None
            if rng.random() < 0.1:
                timer = threading.Timer(
                    float(rng.uniform(0, 0.03)), process.send_signal, (signal.SIGKILL,)
                )
                timer.start()
            try:
                user.post("/record/send", **fields, key=by)
                acknowledged.add((who, day, by))
                is_done = True
            except (urllib.error.URLError, ConnectionError, OSError):
                is_done = False
            if timer is not None:
                timer.join()
            if timer is not None or not is_done:
                process.kill()
                process.wait()
                kills += 1
                process = serving(folder, port)
            if is_done:
                break
    process.terminate()
    process.wait()
    lost, doubled = missing(folder, acknowledged)
    print(
        f"{records} records, {kills} times killed: {len(acknowledged)} acknowledged, {lost} lost, "
        f"{doubled} doubled"
    )


def time_plans(programme: Programme, who: str) -> None:
    """Time the first plan of a day, and one more wish with what it costs."""
    began = time.process_time()
    planning = Planning(find_situation(programme, TODAY))
    propose(planning, {})
    middle = time.process_time()
    propose(planning, {"must": [who]})
    first, wish = middle - began, time.process_time() - middle
    print(f"the first plan takes {first:.1f} s of processor time, a wish {wish:.1f} s")


def large(folder: Path, people: int) -> None:
    """Time the pages of a large programme, one user at a time."""
    start = date(2026, 10, 5)
    beginning = Beginning("large", start, {"lapsed": 0.0, "at risk": 0.5, "good": 1.0})
    programme = create(folder, beginning)
    rng = np.random.default_rng(0)
    names = [f"Person {number:05d}" for number in range(people)]
    roster = [("name", "group", "cost"), *((n, f"g{i % 3}", 30) for i, n in enumerate(names))]
    staff = [("name", "capacity"), *((f"Nurse {n}", 480) for n in range(20))]
    states = list(programme.states)
    log = [("date", "who", "state", "by")]
    log += [
        (f"2026-10-{d:02d}", names[int(i)], states[int(rng.integers(3))], f"Nurse {int(i) % 20}")
        for d in range(5, 31)
        for i in rng.choice(people, 300, replace=False)
    ]
    paths = {}
    for name, rows in (("roster", roster), ("staff", staff), ("log", log)):
        paths[name] = folder / f"{name}.csv"
        paths[name].write_text(csv_text(rows))
    import_sheets(programme, {ARM: paths["roster"], WORKER: paths["staff"]}, paths["log"])
    time_plans(programme, names[7])
    port = free_port()
    process = serving(folder, port)
    user = User(f"http://127.0.0.1:{port}")
    pages = ("/people", "/people?search=person%2004", "/people/one?who=Person%2000001", "/record")
    for page in ("/", *pages, "/staff", "/quality", "/people/names?search=42", "/journal"):
        times = []
        for _ in range(10):
            began = time.perf_counter()
            user.get(page)
            times.append(time.perf_counter() - began)
        middle, worst = 1000 * float(np.median(times)), 1000 * max(times)
        print(f"{people} people, {page}: median {middle:.0f} ms, at most {worst:.0f} ms")
    process.terminate()
    process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--records", type=int, default=200)
    parser.add_argument("--people", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if options.users:
            make_demo(folder / "load", TODAY)
            load(folder / "load", options.users, 60 * options.minutes)
        if options.records:
            make_demo(folder / "kill", TODAY)
            kill(folder / "kill", options.records)
        if options.people:
            large(folder / "large", options.people)


if __name__ == "__main__":
    main()
