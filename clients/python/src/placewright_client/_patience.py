"""How long a call is repeated."""

import time

from ._errors import PlacewrightError, Refused, Unreachable

FIRST = 0.1
"""Seconds of the first wait; each is twice the one before."""


class Patience:
    """What is left of a time in which a call is repeated."""

    def __init__(self, seconds: float) -> None:
        """Begin with so many seconds."""
        self._end = time.monotonic() + seconds
        self._wait = FIRST

    def after(self, error: PlacewrightError) -> float | None:
        """How long to wait before the call is made again; None: it is not made again."""
        wait = self._wait
        if isinstance(error, Refused):
            if not error.asks_to_wait:
                return None
            wait = wait if error.retry_after is None else error.retry_after
        elif not isinstance(error, Unreachable):
            return None
        self._wait *= 2
        return wait if time.monotonic() + wait < self._end else None
