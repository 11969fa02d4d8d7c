"""One call: the values that the runtime sent, as rows of the author's classes.

A plan becomes a Python function, written out as `dataclasses` writes methods: calls are
many and have few rows, so that looping over a description of the columns would cost more
than reading them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

from placewright.contract import Kind
from placewright.problem import Failed
from placewright.reads import Column, Plan, Use


class Sent(Protocol):
    """The record `tables` of the contract: the bindings' class or our own."""

    rows: list[int]
    integers: list[int]
    numbers: list[float]
    absent_integers: list[int]
    absent_numbers: list[int]
    texts: list[str]


#: The rows of each use, and the time if `request.now` is read and known, else 0.
Reader: TypeAlias = Callable[[Sent], tuple[list[list[Any]], int]]


def reader(plan: Plan) -> Reader:
    """A function that reads the calls of a plan.

    It raises `Failed` for a call that does not hold the tables of the plan.
    """
    source = _Source(plan)
    names: dict[str, Any] = {f"make{number}": use.make for number, use in enumerate(plan.uses)}
    names |= {"misfit": misfit, "blank": blank, "nested": nested, "first_nested": first_nested, "coded": coded}
    exec(compile(source.text(), "<placewright: reader of a call>", "exec"), names)
    made: Reader = names["read"]
    return made


class _Source:
    """The source of a reader. The values of table `t` begin at `i<t>` of the integers and
    at `n<t>` of the numbers; `rows<t>` counts its rows."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        #: The expression that reads each column of each table.
        self.columns: list[list[str]] = []
        #: The expression that reads the offsets of each table.
        self.offsets: list[str] = []
        #: How many values stand before the next table, as expressions.
        self.integers, self.numbers = "0", "0"

    def text(self) -> str:
        """The whole function."""
        tables = range(len(self.plan.tables))
        # As in a call without tables, of which there is nothing to unpack.
        unpacked = "".join(f"rows{number}, " for number in tables)
        lines = [
            "rows, integers, numbers = sent.rows, sent.integers, sent.numbers",
            "no_integers, no_numbers, texts = sent.absent_integers, sent.absent_numbers, sent.texts",
            f"if len(rows) != {len(tables)}: raise misfit('tables', len(rows), {len(tables)})",
            f"{unpacked or '()'} = rows",
        ]
        for number in tables:
            lines += self.table(number)
        lines += [
            f"if len(integers) != {self.integers}: raise misfit('integers', len(integers), {self.integers})",
            f"if len(numbers) != {self.numbers}: raise misfit('numbers', len(numbers), {self.numbers})",
        ]
        # Uses of nested tables come after the use that has them, and are read before.
        for number in reversed(range(len(self.plan.uses))):
            lines.append(f"use{number} = {self.use(number, self.plan.uses[number])}")
        uses = ", ".join(f"use{number}" for number in range(len(self.plan.uses)))
        lines.append(f"return [{uses}], {self.now()}")
        return "def read(sent):\n" + "".join(f"    {line}\n" for line in lines)

    def table(self, number: int) -> list[str]:
        """Where the table begins; then what reads its columns, and what follows."""
        lines = [f"i{number} = {self.integers}", f"n{number} = {self.numbers}"]
        parent = self.plan.parents[number]
        integers, numbers = f"i{number}", f"n{number}"
        if parent is not None:
            lines.append(f"o{number} = i{number} + rows{parent} + 1")
            self.offsets.append(f"integers[i{number}:o{number}]")
            integers = f"o{number}"
        else:
            self.offsets.append("[]")
        own: list[str] = []
        self.columns.append(own)
        counts = {"integers": 0, "numbers": 0}
        for read in self.plan.tables[number].columns:
            values, base = ("numbers", numbers) if read.kind is Kind.NUMBER else ("integers", integers)
            start = after(base, counts[values], number)
            counts[values] += 1
            end = after(base, counts[values], number)
            own.append(column(values, start, end, read.kind, read.required))
        self.integers = after(integers, counts["integers"], number)
        self.numbers = after(numbers, counts["numbers"], number)
        return lines

    def use(self, number: int, use: Use) -> str:
        """What makes the rows of a use."""
        if not use.sources:
            return f"[make{number}(())] * rows{use.table}"
        values = []
        for source in use.sources:
            if isinstance(source, Column):
                values.append(self.columns[use.table][source.number])
            else:
                way = "first_nested" if source.first else "nested"
                offsets = self.offsets[self.plan.uses[source.use].table]
                values.append(f"{way}(use{source.use}, {offsets})")
        return f"[*map(make{number}, zip({', '.join(values)}))]"

    def now(self) -> str:
        """What reads the time."""
        place = self.plan.now()
        if place is None:
            return "0"
        table, number = place
        return f"next(iter({self.columns[table][number]}), 0) or 0"


def after(base: str, columns: int, table: int) -> str:
    """The position after so many columns of a table."""
    return base if columns == 0 else f"{base} + {columns} * rows{table}"


def column(values: str, start: str, end: str, kind: Kind, required: bool) -> str:
    """What reads a column."""
    text = f"{values}[{start}:{end}]"
    if not required:
        text = f"({text} if not no_{values} else blank({text}, no_{values}, {start}))"
    if kind in (Kind.BOOLEAN, Kind.TEXT):
        code = {Kind.BOOLEAN: "bool", Kind.TEXT: "texts.__getitem__"}[kind]
        return f"map({code}, {text})" if required else f"coded({code}, {text})"
    return text


def coded(code: Callable[[Any], Any], values: list[Any]) -> list[Any]:
    """The values that stand for these codes, of which some may be absent."""
    return [None if value is None else code(value) for value in values]


def blank(values: list[Any], absent: list[int], start: int) -> list[Any]:
    """The values of a column that begins at `start` of its list, with None where it holds
    no value."""
    first = bisect_left(absent, start)
    for position in absent[first : bisect_left(absent, start + len(values), first)]:
        values[position - start] = None
    return values


def nested(rows: list[Any], offsets: list[int]) -> Sequence[Any]:
    """Of each row of a parent, its rows of the table below."""
    if not rows:
        # Most hosts have none of a relation.
        return [()] * (len(offsets) - 1)
    return [tuple(rows[start:end]) if start < end else () for start, end in pairwise(offsets)]


def first_nested(rows: list[Any], offsets: list[int]) -> Sequence[Any]:
    """Of each row of a parent, the first of its rows of the table below, or None."""
    return [rows[start] if start < end else None for start, end in pairwise(offsets)]


def misfit(what: str, sent: int, declared: int) -> Failed:
    """The call is not one for this part."""
    return Failed(f"the call holds {sent} {what} where the part declared {declared}")
