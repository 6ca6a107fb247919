"""Connections that are not held for ever: a request arrives within a time, or its line is cut."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# What a browser sends at once; and a sheet of 20 MB over a slow line.
HEAD_SECONDS, REQUEST_SECONDS = 20.0, 180.0
# More at once than an office ever has.
_MOST = 500
# Where nobody knows how many files may be open: the least that systems allow.
_USUAL_FILES = 256


class TimedConnection(H11Protocol):
    """A connection whose requests must arrive in time.

    Uvicorn waits for ever for the rest of a request. Here, its head and all of it have a time each;
    and where there are too many connections, the one goes whose request has been awaited longest,
    so that connections that ask for nothing cost each other their place.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._is_in_body = False
        self._wait(HEAD_SECONDS)
        if len(self.connections) > (most := most_connections()):
            self._make_room(most)

    def data_received(self, data: bytes) -> None:
        """Read on, and wait for what is missing."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            if self._timer is None:
                self._wait(HEAD_SECONDS)
        elif self.conn.their_state is h11.SEND_BODY:
            # Once for each body: whoever sends a byte now and then gains no time by it.
            if not self._is_in_body:
                self._wait(REQUEST_SECONDS)
            self._is_in_body = True
        else:
            self._is_in_body = False
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait."""
        self._stop()
        super().connection_lost(exc)

    def _make_room(self, most: int) -> None:
        """Cut the connection whose request has been awaited longest, if there are too many."""
        timed = (one for one in self.connections if isinstance(one, TimedConnection))
        # A connection that was cut is among them until the next turn of the loop.
        there = [one for one in timed if not one.transport.is_closing()]
        if len(there) > most:
            waiting = [one for one in there if one.conn.their_state is h11.IDLE]
            min(waiting, key=lambda one: one.awaited_since, default=self).transport.abort()

    def _wait(self, seconds: float) -> None:
        self._stop()
        self.awaited_since = self.loop.time()
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def most_connections() -> int:
    """Return how many connections there may be: half of the open files are for the database."""
    try:
        import resource
    except ImportError:  # Windows counts files otherwise.
        return min(_MOST, _USUAL_FILES // 2)
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if allowed < 0 else min(_MOST, max(1, allowed // 2))
