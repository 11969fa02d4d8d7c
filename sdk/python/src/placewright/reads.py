"""What a part reads: the declaration that the runtime gets, and the plan by which
values are found again in a call.

Classes declare tables and columns in the order of their fields. A table that several
of them read is declared once, with the columns of all; each use of a class remembers
which of the columns are its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from placewright.contract import ColumnRead, Kind, TableRead
from placewright.declaring import Field
from placewright.row import RowType


@dataclass
class Use:
    """One use of a class of rows on a table."""

    table: int
    make: Callable[[Any], Any]
    #: Of each field, a column of all that are declared, or a nested use.
    sources: list[Column | Nested] = field(default_factory=list)


@dataclass(frozen=True)
class Column:
    """A field that is a column: its number among those of its table."""

    number: int


@dataclass(frozen=True)
class Nested:
    """A field that is a table below: its use, and whether only its first row is wanted."""

    use: int
    first: bool


@dataclass
class Plan:
    """All that is worked out once about a part: what it reads and where it lies."""

    tables: list[TableRead] = field(default_factory=list)
    #: Of each table, the number of the table that it stands below.
    parents: list[int | None] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)

    def use(self, rows: RowType, name: str) -> int:
        """Declares that rows of this class are read from the table, its parents
        included; returns the number of the use."""
        table = self.table(name)
        number = len(self.uses)
        use = Use(table, rows.make)
        self.uses.append(use)
        for of in rows.fields:
            if of.rows is None:
                use.sources.append(Column(self.column(table, of)))
            else:
                use.sources.append(Nested(self.use(of.rows, f"{name}/{of.name}"), not of.many))
        return number

    def table(self, name: str) -> int:
        """The number of a table, which is declared if it is not yet."""
        for number, table in enumerate(self.tables):
            if table.table == name:
                return number
        above, _, _ = name.rpartition("/")
        parent = self.table(above) if above else None
        self.tables.append(TableRead(name, []))
        self.parents.append(parent)
        return len(self.tables) - 1

    def column(self, table: int, of: Field) -> int:
        """The number of a column in its table. One that is declared already is shared;
        it is required or a gate if any declaration says so. (Where the kinds differ,
        both stay, and the runtime refuses the one that is not in its schema.)"""
        columns = self.tables[table].columns
        for number, read in enumerate(columns):
            if read.column == of.name and read.kind is of.kind:
                break
        else:
            number = len(columns)
            columns.append(ColumnRead(of.name, of.kind or Kind.TEXT))
        columns[number].required |= not of.optional
        columns[number].gate |= of.declared.gate
        return number

    def now(self) -> tuple[int, int] | None:
        """Table and column of `request.now`."""
        for number, table in enumerate(self.tables):
            for column, read in enumerate(table.columns):
                if (table.table, read.column, read.kind) == ("request", "now", Kind.INTEGER):
                    return number, column
        return None
