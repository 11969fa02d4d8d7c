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
from placewright.reads import Column, Plan


class Sent(Protocol):
    """The record `tables` of the contract: the bindings' class or our own."""

    rows: list[int]
    integers: list[int]
    numbers: list[float]
    absent_integers: list[int]
    absent_numbers: list[int]
    texts: list[str]


#: What is made of the rows of the request and the settings, by use.
Made: TypeAlias = list[Any]
Maker: TypeAlias = Callable[[list[Any]], Made]

#: What was made of them, the rows of `hosts`, and the time if `request.now` is read and
#: known, else 0.
Reader: TypeAlias = Callable[[Sent], tuple[Made, list[Any], int]]

#: Requests of which what was made is remembered: those of a cluster are of some hundred
#: kinds.
REMEMBERED = 256


def reader(plan: Plan, hosts: int | None, make: Maker) -> Reader:
    """A function that reads the calls of a plan, in which the use `hosts` is that of the
    table `hosts`.

    What `make` makes of the request and the settings is remembered, since calls with the
    same ones follow each other with different hosts; so it must not be changed later.
    The function raises `Failed` for a call that does not hold the tables of the plan.
    """
    names: dict[str, Any] = {f"make{number}": use.make for number, use in enumerate(plan.uses)}
    names |= {"misfit": misfit, "blank": blank, "nested": nested, "first_nested": first_nested, "coded": coded}
    names |= {"make": make, "around": around, "known": {}, "REMEMBERED": REMEMBERED}
    exec(compile(_Source(plan, hosts).text(), "<placewright: reader of a call>", "exec"), names)
    made: Reader = names["read"]
    return made


class _Source:
    """The source of a reader. The values of table `t` begin at `i<t>` of the integers and
    at `n<t>` of the numbers; `rows<t>` counts its rows, and `use<u>` are those of use `u`."""

    def __init__(self, plan: Plan, hosts: int | None) -> None:
        self.plan = plan
        self.hosts = hosts
        #: The expression that reads each column of each table.
        self.columns: list[list[str]] = []
        #: The expression that reads the offsets of each table.
        self.offsets: list[str] = []
        #: Where the values of the next table begin, as expressions.
        self.integers, self.numbers = "0", "0"

    def text(self) -> str:
        """The whole function."""
        tables = range(len(self.plan.tables))
        uses = range(len(self.plan.uses))
        lines = [
            "rows, integers, numbers = sent.rows, sent.integers, sent.numbers",
            "no_integers, no_numbers, texts = sent.absent_integers, sent.absent_numbers, sent.texts",
            f"if len(rows) != {len(tables)}: raise misfit('tables', len(rows), {len(tables)})",
            f"[{', '.join(f'rows{number}' for number in tables)}] = rows",
        ]
        for number in tables:
            lines += self.table(number)
        end = len(tables)
        lines += [
            f"i{end}, n{end} = {self.integers}, {self.numbers}",
            f"if len(integers) != i{end}: raise misfit('integers', len(integers), i{end})",
            f"if len(numbers) != n{end}: raise misfit('numbers', len(numbers), n{end})",
            *self.key(),
            "made = known.get(key)",
            "if made is None:",
        ]
        # Uses of nested tables come after the use that has them, and are read before.
        others = [number for number in reversed(uses) if not self.is_hosts(self.plan.uses[number].table)]
        of_hosts = [number for number in reversed(uses) if number not in others]
        lines += [f"    use{number} = {self.use(number)}" for number in others]
        given = ", ".join(f"use{number}" if number in others else "None" for number in uses)
        lines += [
            f"    made = make([{given}])",
            "    if len(known) >= REMEMBERED: known.clear()",
            "    known[key] = made",
        ]
        lines += [f"use{number} = {self.use(number)}" for number in of_hosts]
        lines.append(f"return made, {'[]' if self.hosts is None else f'use{self.hosts}'}, {self.now()}")
        return "def read(sent):\n" + "".join(f"    {line}\n" for line in lines)

    def is_hosts(self, table: int) -> bool:
        """Is it the table `hosts`, or one below it?"""
        return self.plan.tables[table].table.split("/")[0] == "hosts"

    def key(self) -> list[str]:
        """All that the request and the settings are made of: what stands around the
        tables of hosts, which stand together."""
        tables = range(len(self.plan.tables))
        others = [number for number in tables if not self.is_hosts(number)]
        first = next((number for number in tables if self.is_hosts(number)), len(tables))
        last = first + len(tables) - len(others)
        parts = [f"rows{number}" for number in others]
        parts += [f"tuple({values[1]}[:{values[0]}{first}])" for values in (("i", "integers"), ("n", "numbers"))]
        parts += [f"tuple({values[1]}[{values[0]}{last}:])" for values in (("i", "integers"), ("n", "numbers"))]
        if any(read.kind is Kind.TEXT for number in others for read in self.plan.tables[number].columns):
            parts.append("tuple(texts)")
        return [
            f"key = ({', '.join(parts)})",
            f"if no_integers: key += around(no_integers, i{first}, i{last})",
            f"if no_numbers: key += ('numbers', *around(no_numbers, n{first}, n{last}))",
        ]

    def table(self, number: int) -> list[str]:
        """Where the table begins; remembers what reads its columns, and what follows."""
        lines = [f"i{number}, n{number} = {self.integers}, {self.numbers}"]
        parent = self.plan.parents[number]
        integers, numbers = f"i{number}", f"n{number}"
        if parent is None:
            self.offsets.append("[]")
        else:
            integers = f"o{number}"
            lines.append(f"{integers} = i{number} + rows{parent} + 1")
            self.offsets.append(f"integers[i{number}:{integers}]")
        own: list[str] = []
        self.columns.append(own)
        counts = {"integers": 0, "numbers": 0}
        for read in self.plan.tables[number].columns:
            values, base = ("numbers", numbers) if read.kind is Kind.NUMBER else ("integers", integers)
            start = after(base, counts[values], number)
            counts[values] += 1
            own.append(column(values, start, after(base, counts[values], number), read.kind, read.required))
        self.integers = after(integers, counts["integers"], number)
        self.numbers = after(numbers, counts["numbers"], number)
        return lines

    def use(self, number: int) -> str:
        """What makes the rows of a use."""
        use = self.plan.uses[number]
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


def around(absent: list[int], first: int, last: int) -> tuple[int, ...]:
    """The positions before the first and from the last, counted from there."""
    before = absent[: bisect_left(absent, first)]
    return (*before, -1, *(position - last for position in absent[bisect_left(absent, last) :]))


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
