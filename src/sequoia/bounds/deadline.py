"""The clock as a last resort."""

import time


class Deadline:
    """Until when a search may go on; searches end by their work, unless this comes first.

    Attributes
    ----------
    has_cut
        Whether it ended anything: then the result depends on the machine, and has to say so.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.perf_counter() + seconds
        self.has_cut = False

    @property
    def left(self) -> float:
        """Seconds that are left; never negative."""
        return max(self._end - time.perf_counter(), 0.0)

    def is_over(self) -> bool:
        """Say whether time is up; whoever asks stops then, so that it is noted."""
        self.has_cut |= time.perf_counter() >= self._end
        return self.has_cut
