"""Write Placewright policy units in Python.

A unit declares what it reads as classes, and judges one host at a time::

    from placewright import Bytes, Reasons, Row, Rows, RowWise, Settings, column, setting, table

    class Vm(Row):
        "What this unit reads of the VM to be placed."
        memory: Bytes

    class Current(Row):
        "What that VM has on the host where it runs."
        memory: Bytes

    class Host(Row):
        "What it reads of a host."
        free: Bytes = column("memory.free")
        current: Rows[Current] = table(default=())

    class Limits(Settings):
        headroom: Bytes = setting(default="1 GiB", meaning="Memory kept free on every host.")

    class Reason(Reasons):
        TOO_LITTLE_MEMORY = "has too little free memory"

    class Memory(RowWise):
        def __init__(self, vm: Vm, limits: Limits) -> None:
            self.memory, self.headroom = vm.memory, limits.headroom

        def keep(self, host: Host) -> bool | Reason:
            # A VM takes what it asks for, less what it has on the host where it runs.
            takes = max(self.memory - sum(row.memory for row in host.current), 0)
            return takes == 0 or host.free >= takes + self.headroom or Reason.TOO_LITTLE_MEMORY

        def cost(self, host: Host) -> float:
            return -host.free

`RowWise` tells what may be read and answered; `placewright unit build` makes a
component of it. Tests call the same classes as plain Python, or the whole unit
through `placewright.unit.Unit`.
"""

from placewright.amounts import Bytes, Millicores, Seconds
from placewright.declaring import DeclarationError, column, setting, table
from placewright.problem import Failed, Refused
from placewright.reason import PASSING, Reasons
from placewright.request import Request
from placewright.row import Row, Rows
from placewright.row_wise import FOR_GOOD, THIS_SECOND, RowWise
from placewright.settings import Settings

__all__ = [
    "FOR_GOOD",
    "PASSING",
    "THIS_SECOND",
    "Bytes",
    "DeclarationError",
    "Failed",
    "Millicores",
    "Reasons",
    "Refused",
    "Request",
    "Row",
    "RowWise",
    "Rows",
    "Seconds",
    "Settings",
    "column",
    "setting",
    "table",
]
