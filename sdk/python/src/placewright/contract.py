"""The records of the contract (`placewright:policy`), which documents them.

They have the fields of the generated bindings, which exist in components only;
`placewright.component` translates where the types differ.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias


class Kind(Enum):
    """The kind of the values of a column."""

    INTEGER = 0
    NUMBER = 1
    BOOLEAN = 2
    TEXT = 3


Value: TypeAlias = int | float | bool | str


@dataclass
class Tables:
    """The values of one call."""

    rows: list[int]
    integers: list[int] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    absent_integers: list[int] = field(default_factory=list)
    absent_numbers: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


@dataclass
class Answers:
    """What is wanted of a judge."""

    verdicts: bool
    costs: bool


@dataclass
class Judgement:
    """What a judge says of each host."""

    verdicts: bytes
    costs: list[float]
    until: list[int]


@dataclass
class ColumnRead:
    """One column that a part reads."""

    column: str
    kind: Kind
    required: bool = False
    gate: bool = False


@dataclass
class TableRead:
    """One table that a part reads."""

    table: str
    columns: list[ColumnRead]


@dataclass
class SettingColumn:
    """One column of a setting that is a table."""

    name: str
    kind: Kind
    required: bool
    meaning: str


@dataclass
class Setting:
    """One thing that an admin may set."""

    name: str
    kind: Kind
    meaning: str
    measure: str | None = None
    default: Value | None = None
    required: bool = False
    least: float | None = None
    greatest: float | None = None
    pattern: str | None = None
    choices: list[str] = field(default_factory=list)
    columns: list[SettingColumn] = field(default_factory=list)


@dataclass
class JudgePart:
    """A filter, a cost function, or both."""

    answers: Answers
    reads: list[TableRead]
    reasons: list[tuple[str, bool]]
    cost_range: tuple[float, float] | None


@dataclass
class Description:
    """What a unit is."""

    name: str
    version: str
    summary: str
    aliases: list[str]
    settings: list[Setting]
    judge: JudgePart
