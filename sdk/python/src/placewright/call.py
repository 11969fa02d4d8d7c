"""One call: the values that the runtime sent, as rows of the author's classes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

from placewright.contract import Kind
from placewright.problem import Failed
from placewright.reads import Nested, Plan


#: The values of each column of each table.
Columns: TypeAlias = list[list[Sequence[Any]]]


class Sent(Protocol):
    """The record `tables` of the contract: the bindings' class or our own."""

    rows: list[int]
    integers: list[int]
    numbers: list[float]
    absent_integers: list[int]
    absent_numbers: list[int]
    texts: list[str]


class Layout:
    """A plan, made ready to be applied call after call."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        #: Of each table: its parent, and kind and presence of each column.
        self.tables = [
            (parent, [(read.kind, read.required) for read in table.columns])
            for parent, table in zip(plan.parents, plan.tables, strict=True)
        ]
        # Uses of nested tables come after the use that has them, and are read before.
        self.uses = list(reversed(list(enumerate(plan.uses))))

    def read(self, sent: Sent) -> tuple[list[list[Any]], Columns]:
        """The rows of each use, and the columns that they were made of.

        Raises `Failed` if the call does not hold the tables of the plan.
        """
        columns, offsets = self.columns(sent)
        rows: list[list[Any]] = [[]] * len(self.uses)
        for number, use in self.uses:
            own, count = columns[use.table], sent.rows[use.table]
            values = [
                nested(rows[source.use], offsets[self.plan.uses[source.use].table], source.first)
                if type(source) is Nested
                else own[source.number]
                for source in use.sources
            ]
            rows[number] = list(map(use.make, zip(*values))) if values else [use.make(())] * count
        return rows, columns

    def columns(self, sent: Sent) -> tuple[Columns, list[list[int]]]:
        """The values of each column of each table, None where there is none; and the
        offsets of each table, empty where it has no parent."""
        counts, integers, numbers, texts = sent.rows, sent.integers, sent.numbers, sent.texts
        no_integers, no_numbers = sent.absent_integers, sent.absent_numbers
        if len(counts) != len(self.tables):
            raise misfit("tables", len(counts), len(self.tables))
        integer = number = 0
        columns: Columns = []
        offsets: list[list[int]] = []
        for count, (parent, kinds) in zip(counts, self.tables):
            start = integer
            if parent is not None:
                integer += counts[parent] + 1
            offsets.append(integers[start:integer])
            own: list[Sequence[Any]] = []
            columns.append(own)
            for kind, required in kinds:
                if kind is Kind.NUMBER:
                    start, number = number, number + count
                    values: list[Any] = numbers[start:number]
                    if not required and no_numbers:
                        blank(values, no_numbers, start)
                    own.append(values)
                    continue
                start, integer = integer, integer + count
                values = integers[start:integer]
                if not required and no_integers:
                    blank(values, no_integers, start)
                if kind is Kind.INTEGER:
                    own.append(values)
                elif kind is Kind.BOOLEAN:
                    own.append([None if value is None else value != 0 for value in values])
                else:
                    own.append([None if value is None else texts[value] for value in values])
        if integer != len(integers):
            raise misfit("integers", len(integers), integer)
        if number != len(numbers):
            raise misfit("numbers", len(numbers), number)
        return columns, offsets


def blank(values: list[Any], absent: list[int], start: int) -> None:
    """Puts None where a column that begins at `start` of its list holds no value."""
    first = bisect_left(absent, start)
    for position in absent[first : bisect_left(absent, start + len(values), first)]:
        values[position - start] = None


def nested(rows: list[Any], offsets: list[int], first: bool) -> Sequence[Any]:
    """Of each row of a parent, its rows of the table below, or only the first."""
    if first:
        return [rows[start] if start < end else None for start, end in pairwise(offsets)]
    if not rows:
        # Most hosts have none of a relation.
        return [()] * (len(offsets) - 1)
    return [tuple(rows[start:end]) if start < end else () for start, end in pairwise(offsets)]


def misfit(what: str, sent: int, declared: int) -> Failed:
    """The call is not one for this part."""
    return Failed(f"the call holds {sent} {what} where the part declared {declared}")
