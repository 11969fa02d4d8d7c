"""Why a call has no answer."""

from typing import Any

import httpx


class PlacewrightError(Exception):
    """Why a call has no answer."""


class Unreachable(PlacewrightError):
    """The server cannot be reached, or does not answer in time."""


class Refused(PlacewrightError):
    """The server refuses the call."""

    def __init__(self, response: httpx.Response) -> None:
        """Read it from an answer."""
        try:
            body = response.json()
        except ValueError:
            body = {}
        self.body: dict[str, Any] = body if isinstance(body, dict) else {}
        self.status = response.status_code
        # A unit that is refused comes with what was found, and where.
        outcome = self.body.get("outcome")
        outcome = outcome if isinstance(outcome, dict) else {}
        found = f"the unit is refused: {outcome['why']}" if outcome.get("why") else "it gives no reason"
        self.code = str(self.body.get("code", "unit-refused" if outcome.get("why") else ""))
        """The kind of problem, for programs; empty if it is not told."""
        self.detail = str(self.body.get("detail", found))
        """What was wrong, and what to do about it."""
        self.errors: list[dict[str, Any]] = list(self.body.get("errors", []))
        """Everything that is wrong with what was sent, each with its place."""
        self.request = self.body.get("instance")
        """Names the request in the server's log."""
        after = response.headers.get("Retry-After", "")
        self.retry_after = float(after) if after.isdigit() else None
        """Seconds that the server asks to wait."""
        super().__init__(f"{response.url.host} answers {self.status}: {self.detail}")

    @property
    def asks_to_wait(self) -> bool:
        """Whether the same call may be carried out later."""
        return self.status in (429, 503)
