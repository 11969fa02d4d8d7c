"""Units that look at one host at a time."""

from __future__ import annotations

from typing import Any, ClassVar

#: The `until` of an answer that time does not change: 2^53 - 1 seconds.
FOR_GOOD = (1 << 53) - 1

#: The `until` of an answer that holds for the second of the call only.
THIS_SECOND = -(1 << 63)


class RowWise:
    """A filter, a cost function, or both, that look at one host at a time.

    A subclass says by annotations what it reads::

        class Memory(RowWise):
            "Keeps hosts with enough free memory."          # one sentence for the admin

            def __init__(self, vm: Vm, limits: Limits) -> None:
                self.need = vm.memory + limits.headroom     # once per request

            def keep(self, host: Host) -> bool | Reason:    # a filter
                return host.free >= self.need or Reason.TOO_LITTLE_MEMORY

            def cost(self, host: Host) -> float:            # a cost function
                return -host.free

    `__init__` may take, in any order, what is read of the request and the settings:

    - a `Row`: one VM to be placed. If several are placed together, an object is made
      for each; a host is kept if it is kept for all, and costs are added.
    - `Rows[...]` of a row: all VMs that are to be placed together.
    - a `Request`: several tables.
    - `Settings`.

    It may raise `Refused` if the request or a setting is at fault. What it made is asked
    about hosts in as many calls as there are for the same request, so that `keep` and
    `cost` must leave it as it is.

    `keep` returns True, or the reason why the host is removed. `cost` returns what it
    would cost to run the request there, lower is better; infinity is worst, and it must
    be total: it may be asked about hosts that a filter removes. Both may do without
    `host`: one answer then holds for all hosts.

    A unit that reads `request.now` has `until(self, host: Host) -> int`: the last second
    at which the answer still holds if nothing but the time changes, or `FOR_GOOD`.
    Without it an answer holds for `THIS_SECOND`: always right, and never worth keeping.

    The answer for a host depends on that host's row, the request and the settings, and on
    nothing else: not on other hosts, not on earlier calls, not on a clock, on chance or on
    the order of a set. In return it is asked only about hosts that have changed.
    """

    #: The least and the greatest cost that is ever returned, if they are fixed.
    cost_range: ClassVar[tuple[float, float] | None] = None

    # Methods that a subclass may have; not defined here, since their absence says that
    # the unit does not answer that.
    keep: ClassVar[Any]
    cost: ClassVar[Any]
    until: ClassVar[Any]
