"""Sentences for whoever develops or runs the unit; no influence on decisions.

In a component they go to the import `log`, and so does what is printed; natively to
standard error.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

LEVELS = ("error", "warn", "info", "debug")


def _to_stderr(level: str, message: str) -> None:
    print(f"{level}: {message}", file=sys.stderr)


#: Where sentences go; a component puts the import here.
say: Callable[[str, str], None] = _to_stderr


def error(message: str) -> None:
    """Says that something is wrong."""
    say("error", message)


def warn(message: str) -> None:
    """Says that something may be wrong."""
    say("warn", message)


def info(message: str) -> None:
    """Says something worth knowing."""
    say("info", message)


def debug(message: str) -> None:
    """Says something of interest during development."""
    say("debug", message)


class Lines(io.TextIOBase):
    """Stands for a standard stream: each line that is printed becomes a sentence."""

    def __init__(self, level: str) -> None:
        self.level = level
        self.begun = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self.begun = (self.begun + text).split("\n")
        for line in lines:
            say(self.level, line)
        return len(text)
