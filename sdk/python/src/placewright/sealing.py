"""What a unit has not: a clock, chance, files.

In a component such functions would end the call without a word. So they are replaced
before the author's module is imported: while the component is built they do what they
did (a module may read a file of its own when it is imported), and after that they say
what to do instead.
"""

from __future__ import annotations

import builtins
import datetime
import functools
import os
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

_TIME = "a unit has no clock: read `now` of the table `request`"
_CHANCE = "a unit has no chance of its own: read `draw` of the table `request`"
_FILES = "a unit has no files: what it reads are columns and settings"

_CLOCKS = "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time sleep localtime gmtime ctime"
_DRAWS = "random uniform randint randrange choice choices shuffle sample getrandbits randbytes gauss"

_sealed = False


class Forbidden(RuntimeError):
    """The author's code asked for what a unit has not."""


def prepare() -> None:
    """Replaces the functions."""
    replace(time, _CLOCKS, _TIME)
    replace(os, "urandom getrandom", _CHANCE)
    # Only now, since it takes functions of the two above.
    import random

    replace(random, _DRAWS, _CHANCE)
    replace(builtins, "open input", _FILES)
    datetime.datetime = Datetime  # type: ignore[misc]


def seal() -> None:
    """From now on they refuse."""
    global _sealed
    _sealed = True


def replace(module: ModuleType, names: str, advice: str) -> None:
    """Replaces those functions that the module has."""
    for name in names.split():
        if hasattr(module, name):
            setattr(module, name, guarded(f"{module.__name__}.{name}", getattr(module, name), advice))


def guarded(name: str, real: Callable[..., Any], advice: str) -> Callable[..., Any]:
    """The function, until the component is sealed."""

    @functools.wraps(real)
    def function(*arguments: Any, **named: Any) -> Any:
        if _sealed:
            raise Forbidden(f"{name}: {advice}")
        return real(*arguments, **named)

    return function


class Datetime(datetime.datetime):
    """A date and time, without the present one."""

    now = guarded("datetime.now", datetime.datetime.now, _TIME)
    utcnow = guarded("datetime.utcnow", datetime.datetime.utcnow, _TIME)
    today = guarded("datetime.today", datetime.datetime.today, _TIME)


Datetime.__name__ = Datetime.__qualname__ = "datetime"
