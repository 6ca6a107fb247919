"""What the server does, in numbers that Prometheus reads, and as lines of JSON.

Nothing in them says who: an address is the pattern of a route, such as ``/today/file{ending}``.
"""

import json
import logging
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sequoia_programme.web.waiting import WaitingLine

_LOG = logging.getLogger("sequoia.requests")
# Bounds of how long requests take, in seconds: around what the page promises, 0.3 and 1.
_BOUNDS = (0.05, 0.1, 0.3, 1.0, 3.0, 10.0)
KIND = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(eq=False)
class Metrics:
    """Counts requests by method, route and status."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    _within: Counter[float] = field(default_factory=Counter)
    _seconds: float = 0.0

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request, and write its line."""
        with self._lock:
            self._requests[method, route, status] += 1
            self._seconds += seconds
            for bound in _BOUNDS:
                self._within[bound] += seconds <= bound
        _LOG.info(
            json.dumps(
                {
                    "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                    "method": method,
                    "route": route,
                    "status": status,
                    "ms": round(1000 * seconds),
                }
            )
        )

    def text(self, line: WaitingLine, has_job: bool) -> str:
        """Return all numbers in the text format of Prometheus."""
        with self._lock:
            requests, within, seconds = dict(self._requests), dict(self._within), self._seconds
        total = sum(requests.values())
        failed = sum(count for (*_, status), count in requests.items() if status >= 500)
        numbers = [
            ("sequoia_failures_total", "counter", "Requests that failed.", failed),
            ("sequoia_plans_total", "counter", "Plans and reasons that were computed.", line.done),
            ("sequoia_plans_failed_total", "counter", "Those without an answer.", line.failed),
            ("sequoia_plan_seconds_total", "counter", "How long they took.", line.seconds),
            ("sequoia_plans_waiting", "gauge", "What waits to be planned.", line.length),
            ("sequoia_job_running", "gauge", "Whether long work is done.", int(has_job)),
        ]
        lines = ["# HELP sequoia_requests_total Requests.", "# TYPE sequoia_requests_total counter"]
        lines += [
            f'sequoia_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
            for (method, route, status), count in sorted(requests.items())
        ]
        lines += ["# HELP sequoia_request_seconds How long requests take."]
        lines += ["# TYPE sequoia_request_seconds histogram"]
        for bound in _BOUNDS:
            count = within.get(bound, 0)
            lines.append(f'sequoia_request_seconds_bucket{{le="{bound}"}} {count}')
        lines += [f'sequoia_request_seconds_bucket{{le="+Inf"}} {total}']
        lines += [f"sequoia_request_seconds_sum {seconds:.3f}"]
        lines += [f"sequoia_request_seconds_count {total}"]
        for name, kind, words, value in numbers:
            lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}", f"{name} {value:.10g}"]
        return "\n".join(lines) + "\n"


class Stopwatch:
    """Measures a request from when it is made."""

    def __init__(self, metrics: Metrics, method: str, route: str) -> None:
        self._metrics, self._method, self._route = metrics, method, route
        self._begun = time.perf_counter()

    def stop(self, status: int) -> None:
        """Note how it ended."""
        seconds = time.perf_counter() - self._begun
        self._metrics.note(self._method, self._route, status, seconds)
