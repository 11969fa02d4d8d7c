"""How fields are declared: what stands behind the `=` of a row's, a request's or a
setting's field, and what becomes of it together with the annotation."""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin

from placewright.amounts import Measure
from placewright.contract import Kind

KINDS = {int: Kind.INTEGER, float: Kind.NUMBER, bool: Kind.BOOLEAN, str: Kind.TEXT}


class DeclarationError(TypeError):
    """A unit is declared in a way that cannot be: says where, and what to write."""


class _Missing:
    def __repr__(self) -> str:
        return "(none)"


#: Stands where no default was given.
MISSING: Any = _Missing()


@dataclass(frozen=True)
class Declared:
    """What was given to `column`, `table` or `setting`."""

    how: str
    name: str | None = None
    gate: bool = False
    default: Any = MISSING
    meaning: str = ""
    measure: str | None = None
    least: Any = None
    greatest: Any = None
    pattern: str | None = None
    choices: tuple[str, ...] = ()


def column(name: str | None = None, *, gate: bool = False, meaning: str = "", default: Any = MISSING) -> Any:
    """The field is the column `name`, for example `memory.free`; without a name, that
    of the field with `_` read as `-`.

    With `gate`, for columns of `request` and `members`: where the value is absent or
    false, the unit has nothing to say and is not asked. `meaning` is a sentence for
    the admin, for rows of a setting that is a table. The only `default` is None, for
    type checkers: an optional field may then be left out where a test makes a row.
    """
    if default is not MISSING and default is not None:
        raise DeclarationError("a column has no default: annotate it with `| None`, and it is None where absent")
    return Declared("column", name=name, gate=gate, meaning=meaning, default=default)


def table(name: str | None = None, *, default: Any = MISSING) -> Any:
    """The field is a table: `Rows[R]`, or `R | None` for its first row. In a row it is
    the table of that name below the row's own."""
    return Declared("table", name=name, default=default)


def setting(
    *,
    meaning: str,
    default: Any = MISSING,
    name: str | None = None,
    least: float | str | None = None,
    greatest: float | str | None = None,
    pattern: str | None = None,
    choices: tuple[str, ...] | list[str] = (),
    measure: str | None = None,
) -> Any:
    """The field is a setting; `meaning` is a sentence for the admin.

    Without a default a setting is optional if it is annotated with `| None`, else
    required. Amounts may be written as texts, `"1 GiB"`. A `float` may have the measure
    `fraction` or `percent`, a `str` a pattern that its whole must match, or choices. A
    field of type `Rows[R]` is a setting that is a table.
    """
    return Declared(
        "setting",
        name=name,
        default=default,
        meaning=meaning,
        measure=measure,
        least=least,
        greatest=greatest,
        pattern=pattern,
        choices=tuple(choices),
    )


@dataclass(frozen=True)
class Field:
    """A field of a row, a request or of settings."""

    #: As it is written in Python.
    attribute: str
    #: The column, table or setting.
    name: str
    #: The kind of a single value; None for a table.
    kind: Kind | None
    measure: Measure | None
    #: May the value be absent, or is only the first row of a table wanted?
    optional: bool
    #: The class of a table's rows.
    rows: Any
    #: Are all rows of a table wanted?
    many: bool
    declared: Declared

    @property
    def default(self) -> Any:
        """What stands there if nothing is given; `MISSING` if there must be something."""
        if self.declared.default is not MISSING:
            return self.declared.default
        if self.many:
            return ()
        return None if self.optional else MISSING


def field_of(owner: type, attribute: str, annotation: Any, declared: Declared, row_type: type) -> Field:
    """The field that is annotated and declared so; `row_type` is the type of rows."""
    inner, optional = without_none(annotation)
    inner, measure = without_measure(inner)
    rows, many = rows_of(inner, row_type)
    kind = None if rows else KINDS.get(inner)
    if rows is None and kind is None:
        raise DeclarationError(
            f"{owner.__name__}.{attribute}: a field is int, float, bool, str, Bytes, Millicores or Seconds, "
            f"one of these with `| None`, or a table as Rows[R] or R | None; not {shown(annotation)}"
        )
    return Field(
        attribute=attribute,
        name=declared.name or attribute.replace("_", "-"),
        kind=kind,
        measure=measure,
        optional=optional,
        rows=rows,
        many=many,
        declared=declared,
    )


def without_none(annotation: Any) -> tuple[Any, bool]:
    """The type of `T | None`, and whether None was there."""
    if get_origin(annotation) in (Union, types.UnionType):
        others = [one for one in get_args(annotation) if one is not type(None)]
        if len(others) == 1 and len(get_args(annotation)) == 2:
            return others[0], True
    return annotation, False


def without_measure(annotation: Any) -> tuple[Any, Measure | None]:
    """The type of an amount, and its measure."""
    if get_origin(annotation) is Annotated:
        inner, *notes = get_args(annotation)
        return inner, next((note for note in notes if isinstance(note, Measure)), None)
    return annotation, None


def rows_of(annotation: Any, row_type: type) -> tuple[Any, bool]:
    """The class of the rows of a table, and whether all of them are wanted."""
    if isinstance(annotation, row_type):
        return annotation, False
    if get_origin(annotation) is tuple:
        match get_args(annotation):
            case (rows, end) if end is Ellipsis and isinstance(rows, row_type):
                return rows, True
    return None, False


def shown(annotation: Any) -> str:
    """An annotation as people write it."""
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)
