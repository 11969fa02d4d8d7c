"""What a unit's class reads, found in the annotations of its methods."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints

from placewright.declaring import DeclarationError, rows_of, shown
from placewright.problem import Failed, Refused
from placewright.reads import Plan
from placewright.reason import Reasons
from placewright.request import Request
from placewright.row import Row, RowType
from placewright.row_wise import RowWise
from placewright.settings import Settings

#: Reads an argument of `__init__` from the rows of all uses, for one VM.
Argument: TypeAlias = Callable[[list[list[Any]], int], Any]

#: The methods that are asked about a host.
METHODS = ("keep", "cost", "until")


class Reading:
    """What a class reads: tables in the order request, hosts, settings.

    Raises `DeclarationError` if the class is not a unit.
    """

    def __init__(self, unit: type[RowWise]) -> None:
        self.unit = unit
        self.plan = Plan()
        #: Is an object made for each VM?
        self.per_vm = False
        #: The use of the table `members`, if so.
        self.vm_use = 0
        self.settings: type[Settings] | None = None
        self.settings_use = 0
        own = [] if unit.__init__ is object.__init__ else parameters(unit, "__init__")
        #: Reads the arguments of `__init__`.
        self.arguments = [self._argument(name, hint) for name, hint in own]
        #: The use of the table `hosts`, if there is one.
        self.hosts = self._hosts()
        if self.settings is not None:
            self.settings_use = self.plan.use(self.settings, "settings")

    def _argument(self, name: str, hint: Any) -> Argument:
        rows, many = rows_of(hint, RowType)
        if rows is not None and many:
            return all_of(self.plan.use(rows, "members"))
        if rows is not None and issubclass(rows, Settings):
            if self.settings is not None:
                raise DeclarationError(f"{self.unit.__name__}.__init__ takes settings twice")
            self.settings = rows
            # Declared last, so that the use is not known yet.
            return lambda all_rows, vm: all_rows[self.settings_use][0]
        if rows is not None and issubclass(rows, Request):
            return self._request(rows)
        if rows is not None and issubclass(rows, Row):
            return self._vm(rows)
        raise DeclarationError(
            f"{self.unit.__name__}.__init__: {name} must be annotated with a Row (one VM), Rows[...] of it "
            f"(all VMs), a Request or Settings; not {shown(hint)}"
        )

    def _vm(self, rows: type[Row]) -> Argument:
        self.per_vm = True
        self.vm_use = use = self.plan.use(rows, "members")
        return lambda all_rows, vm: all_rows[use][vm]

    def _request(self, request: type[Request]) -> Argument:
        readers: list[Argument] = []
        for field in request.fields:
            if field.rows is None:
                raise DeclarationError(f"{request.__name__}.{field.attribute} is no table: write Rows[R], R or R | None")
            if field.many:
                readers.append(all_of(self.plan.use(field.rows, field.name)))
            elif field.name == "members" and not field.optional:
                readers.append(self._vm(field.rows))
            else:
                readers.append(only_row(self.plan.use(field.rows, field.name), field.name, field.optional))
        return lambda all_rows, vm: request.make([reader(all_rows, vm) for reader in readers])

    def _hosts(self) -> int | None:
        name = self.unit.__name__
        taken = {it: [hint for _, hint in parameters(self.unit, it)] for it in METHODS if hasattr(self.unit, it)}
        if not {"keep", "cost"} & set(taken):
            raise DeclarationError(f"{name} has neither keep nor cost: it has nothing to say")
        first = next(iter(taken))
        for method, hints in taken.items():
            if len(hints) > 1 or not all(isinstance(hint, RowType) for hint in hints):
                raise DeclarationError(f"{name}.{method} takes a host, annotated with a Row, or nothing")
            if hints != taken[first]:
                raise DeclarationError(f"{name}.{first} and {name}.{method} must take the same host")
        return self.plan.use(taken[first][0], "hosts") if taken[first] else None


def all_of(use: int) -> Argument:
    """Reads all rows of a table."""
    return lambda all_rows, vm: tuple(all_rows[use])


def only_row(use: int, table: str, optional: bool) -> Argument:
    """Reads the only row of a table."""

    def read(all_rows: list[list[Any]], vm: int) -> Any:
        match all_rows[use]:
            case [row]:
                return row
            case [] if optional:
                return None
            case []:
                raise Refused(f"needs a row of `{table}`, and there is none")
            case rows:
                raise Failed(f"reads one row of `{table}`, and there are {len(rows)}")

    return read


def reasons_of(unit: type[RowWise]) -> type[Reasons]:
    """The reasons that `keep` is annotated with."""
    hint = hints_of(unit, "keep").get("return")
    options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    reasons = [it for it in options if isinstance(it, type) and issubclass(it, Reasons)]
    if len(reasons) != 1:
        raise DeclarationError(
            f"{unit.__name__}.keep must be annotated with its reasons: -> bool | Reason, where Reason is a subclass "
            "of Reasons"
        )
    return reasons[0]


def parameters(unit: type[RowWise], method: str) -> list[tuple[str, Any]]:
    """Names and annotations of what a method takes besides `self`."""
    hints = hints_of(unit, method)
    names = list(inspect.signature(getattr(unit, method)).parameters)[1:]
    for name in names:
        if name not in hints:
            raise DeclarationError(f"{unit.__name__}.{method}: {name} must be annotated with what is read")
    return [(name, hints[name]) for name in names]


def hints_of(unit: type[RowWise], method: str) -> dict[str, Any]:
    """The annotations of a method."""
    try:
        return get_type_hints(getattr(unit, method), include_extras=True)
    except NameError as error:
        raise DeclarationError(f"{unit.__name__}.{method}: {error}") from error
