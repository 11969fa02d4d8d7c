"""What an admin may set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from placewright.amounts import GREATEST
from placewright.contract import Kind, Setting, SettingColumn
from placewright.declaring import MISSING, DeclarationError, Field
from placewright.row import Row, RowType


class SettingsType(RowType):
    """The type of classes of settings: amounts that are written as texts are read when
    the class is made."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls.fields = tuple(checked(cls, field) for field in cls.fields)


class Settings(Row, metaclass=SettingsType):
    """The settings of a unit: each field is one::

        class Limits(Settings):
            headroom: Bytes = setting(default="1 GiB", least=0, meaning="Memory kept free on every host.")
            tag: str | None = setting(meaning="Only VMs with this tag; all, if not set.")

    `Limits()` are the settings of an admin who sets nothing. A class that defines
    `check` refuses settings that do not go together.
    """

    def check(self) -> None:
        """Accept the settings, or raise `Refused` with a sentence for the admin."""


def described(settings: type[Settings]) -> list[Setting]:
    """The settings as they are described to the runtime."""
    return [describe(field) for field in settings.fields]


def describe(field: Field) -> Setting:
    """One setting as it is described to the runtime."""
    declared = field.declared
    if field.rows is not None:
        columns = [
            SettingColumn(of.name, of.kind or Kind.TEXT, not of.optional, of.declared.meaning)
            for of in field.rows.fields
        ]
        return Setting(field.name, Kind.TEXT, declared.meaning, columns=columns)
    given = None if declared.default is MISSING else declared.default
    return Setting(
        field.name,
        field.kind or Kind.TEXT,
        declared.meaning,
        measure=field.measure.name if field.measure else declared.measure,
        default=given,
        required=not field.optional and given is None,
        least=None if declared.least is None else float(declared.least),
        greatest=None if declared.greatest is None else float(declared.greatest),
        pattern=declared.pattern,
        choices=list(declared.choices),
    )


def checked(owner: type, field: Field) -> Field:
    """The field with its amounts as numbers.

    What the runtime checks as well (bounds, patterns, choices) is left to it.
    """
    declared = field.declared
    if declared.how != "setting":
        raise DeclarationError(f"{owner.__name__}.{field.attribute} needs a meaning: = setting(meaning=\"...\")")
    if field.optional and declared.default is not MISSING:
        raise DeclarationError(
            f"{owner.__name__}.{field.attribute}: with a default a setting is never absent: drop `| None`"
        )
    changed = {name: read(owner, field, getattr(declared, name)) for name in ("default", "least", "greatest")}
    return replace(field, declared=replace(declared, **changed))


#: Types in Python of the values of each kind.
TYPES: dict[Kind, type] = {Kind.INTEGER: int, Kind.NUMBER: float, Kind.BOOLEAN: bool, Kind.TEXT: str}


def read(owner: type, field: Field, value: Any) -> Any:
    """A default or a bound in the type of the setting."""
    if value is MISSING or value is None:
        return value
    if field.kind is None:
        raise DeclarationError(f"{owner.__name__}.{field.attribute}: a setting that is a table has no default or bounds")
    if isinstance(value, str) and field.measure is not None:
        try:
            value = field.measure.parse(value)
        except ValueError as error:
            raise DeclarationError(f"{owner.__name__}.{field.attribute}: {error}") from None
    if type(value) is int and field.kind is Kind.NUMBER:
        value = float(value)
    wanted = TYPES[field.kind]
    if type(value) is not wanted:
        raise DeclarationError(f"{owner.__name__}.{field.attribute}: {value!r} is no {wanted.__name__}")
    if isinstance(value, int) and abs(value) > GREATEST:
        raise DeclarationError(f"{owner.__name__}.{field.attribute}: whole numbers lie below 2^53, and {value} does not")
    return value
