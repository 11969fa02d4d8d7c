"""Rows: classes whose fields are columns and nested tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any, ClassVar, TypeAlias, TypeVar, dataclass_transform, get_type_hints

from placewright.declaring import MISSING, Declared, DeclarationError, Field, column, field_of, setting, table

try:
    # As `namedtuple` does: quicker than a property.
    from collections import _tuplegetter as getter  # type: ignore[attr-defined]
except ImportError:

    def getter(index: int, doc: str) -> property:
        return property(itemgetter(index), doc=doc)


R = TypeVar("R")

#: All rows of a table, or those that belong to one row of its parent: a tuple.
Rows: TypeAlias = tuple[R, ...]


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(column, setting, table))
class RowType(type):
    """The type of classes with fields. Their objects are tuples: cheap to make by the
    thousand, and not to be changed."""

    fields: tuple[Field, ...]
    #: Makes a row of its values, in the order of the fields.
    make: Callable[[Any], Any]

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> RowType:
        namespace.setdefault("__slots__", ())
        return super().__new__(mcs, name, bases, namespace)

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        declared = {of.attribute: of.declared for base in bases for of in getattr(base, "fields", ())}
        fields = [field_of(cls, *each, RowType) for each in annotated(cls, namespace, declared)]
        for index, field in enumerate(fields):
            setattr(cls, field.attribute, getter(index, field.name))
        cls.fields = tuple(fields)
        cls.make = partial(tuple.__new__, cls)  # type: ignore[arg-type]


def annotated(cls: type, namespace: dict[str, Any], known: dict[str, Declared]) -> list[tuple[str, Any, Declared]]:
    """Name, annotation and declaration of each field of a class, inherited ones first."""
    try:
        hints = get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise DeclarationError(
            f"{cls.__name__}: {error}; the rows of a table are declared before the row that has it"
        ) from error
    fields = []
    for attribute, annotation in hints.items():
        if attribute.startswith("_") or str(annotation).startswith("typing.ClassVar"):
            continue
        declared = namespace.get(attribute, known.get(attribute, Declared("column")))
        if declared is None:
            declared = Declared("column", default=None)
        if not isinstance(declared, Declared):
            raise DeclarationError(
                f"{cls.__name__}.{attribute}: expected column(...), table(...) or setting(...), not {declared!r}"
            )
        fields.append((attribute, annotation, declared))
    return fields


class Row(tuple[Any, ...], metaclass=RowType):
    """What a unit reads of one row of a table.

    A field is the column of its name, `_` read as `-`, or the one given by
    `column("memory.free")`. With `| None` the value may be absent, and is None then;
    without, it is required: a host that lacks it is not shown to the unit.
    `vms: Rows[Vm] = table("vms")` is the table of that name below this one, and
    `Vm | None` its first row.

    Tests make rows by name: `Host(free=5)`; what may be absent may be left out.
    """

    fields: ClassVar[tuple[Field, ...]]
    make: ClassVar[Callable[[Any], Any]]

    def __new__(cls, **values: Any) -> Any:
        given = []
        for field in cls.fields:
            value = values.pop(field.attribute, field.default)
            if value is MISSING:
                raise TypeError(f"{cls.__name__} needs a value for {field.attribute}")
            given.append(tuple(value) if field.many else value)
        if values:
            raise TypeError(f"{cls.__name__} has no field {', '.join(values)}")
        return cls.make(given)

    def __repr__(self) -> str:
        values = (f"{field.attribute}={value!r}" for field, value in zip(self.fields, self))
        return f"{type(self).__name__}({', '.join(values)})"
