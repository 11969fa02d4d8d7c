"""Amounts: whole numbers with a unit of measure.

To Python they are plain integers; the names tell the runtime and the admin what
is counted.
"""

import re
from dataclasses import dataclass
from typing import Annotated, TypeAlias

#: The greatest whole number that a column or a setting can hold.
GREATEST = (1 << 53) - 1


@dataclass(frozen=True)
class Measure:
    """A unit of measure, as the schema of the runtime names it, and how amounts may
    be written."""

    name: str
    #: Units that may stand behind a number, and what each counts.
    units: tuple[tuple[str, int], ...]
    example: str

    def parse(self, text: str) -> int:
        """The amount that is written as a text, for example `"1 GiB"`.

        Raises `ValueError` if it is no whole number of the measure.
        """
        match = re.fullmatch(r"\s*(-?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", text)
        per_unit = match and dict(self.units).get(match[2])
        if match and per_unit is not None:
            amount = float(match[1]) * per_unit
            if amount.is_integer():
                return int(amount)
        raise ValueError(f"{text!r} is no whole number of {self.name}; write for example {self.example}")


BYTES = Measure(
    "bytes",
    (
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 10**3),
        ("MB", 10**6),
        ("GB", 10**9),
        ("TB", 10**12),
    ),
    '"512 MiB"',
)
MILLICORES = Measure("millicores", (("m", 1), ("", 1000)), '"500m" or "2" (cores)')
SECONDS = Measure("seconds", (("s", 1), ("min", 60), ("h", 3_600), ("d", 86_400)), '"90 s" or "2 min"')

#: An amount of memory or storage, in bytes.
Bytes: TypeAlias = Annotated[int, BYTES]
#: An amount of CPU, in thousandths of a core.
Millicores: TypeAlias = Annotated[int, MILLICORES]
#: A length of time in seconds, or a time as seconds since 1970-01-01 UTC.
Seconds: TypeAlias = Annotated[int, SECONDS]
