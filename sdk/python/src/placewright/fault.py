"""Exceptions of the author's code as sentences.

A component has no files, so that Python's own `traceback` would fail there: lines of
source are remembered while it is built.
"""

from __future__ import annotations

import sys
from types import TracebackType

#: Frames that are told, innermost first.
FRAMES = 4

#: The lines of files whose code is the author's.
_sources: dict[str, list[str]] = {}


def remember_sources() -> None:
    """Reads the files of all modules that are loaded by now, except Python's own and
    the SDK's."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        package = (getattr(module, "__name__", "") or "").partition(".")[0]
        if not file or package in sys.stdlib_module_names or package == "placewright":
            continue
        try:
            with open(file, encoding="utf-8") as source:
                _sources[file] = source.read().splitlines()
        except (OSError, ValueError):
            # Compiled, or in an archive: told without its lines.
            continue


def sentence(error: BaseException) -> str:
    """What happened and where, in the author's code first of all."""
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    where = [told(*frame) for frame in frames(error.__traceback__)]
    return what + "".join(f"; {'called from ' if number else 'at '}{it}" for number, it in enumerate(where))


def frames(traceback: TracebackType | None) -> list[tuple[str, int, str]]:
    """File, line and function of the last frames, innermost first."""
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found.append((code.co_filename, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    own = [frame for frame in found if not is_sdk(frame[0])]
    return list(reversed(own or found))[:FRAMES]


def is_sdk(file: str) -> bool:
    """Is the file one of this package?"""
    return file.replace("\\", "/").rpartition("/")[0].endswith("/placewright")


def told(file: str, line: int, function: str) -> str:
    """One frame: `unit.py line 12 in cost: return 1 / host.free`."""
    lines = _sources.get(file, [])
    code = f": {lines[line - 1].strip()}" if 0 < line <= len(lines) else ""
    return f"{file.replace(chr(92), '/').rpartition('/')[2]} line {line} in {function}{code}"
