"""CPU: the unit `plugins/reference/cpu` in Python, with the same answers.

Keeps the hosts that have a CPU for each core of the widest VM beside the CPUs that VMs
have for themselves, and that have not promised too much if there is a limit; prefers
those of which the smallest share is promised.
"""

import math
from functools import reduce
from typing import NamedTuple

from placewright import PASSING, Millicores, Reasons, Row, Rows, RowWise, Settings, column, setting, table


class Vm(Row):
    """What is read of each VM to be placed."""

    sockets: int
    cores: int
    vcpus: int
    exclusive: bool
    cpu: Millicores


class Current(Row):
    """A VM of the request that runs on the host now, and what it holds there."""

    member: int
    sockets: int
    cores: int
    vcpus: int
    exclusive: bool
    cpu: Millicores
    others_widest: int = column("others.widest")


class Host(Row):
    """What is read of a host."""

    sockets: int | None = column("cpu.sockets", default=None)
    cores: int | None = column("cpu.cores", default=None)
    threads: int | None = column("cpu.threads", default=None)
    total: Millicores = column("cpu.total")
    overcommit: float | None = column("cpu.overcommit", default=None)
    committed: Millicores = column("cpu.committed")
    pending: Millicores = column("cpu.pending")
    exclusive: int = column("cpu.exclusive")
    widest: int = column("vms.widest")
    current: Rows[Current] = table("current", default=())


class Limits(Settings):
    """What an admin may set."""

    count_threads_as_cores: bool = setting(
        default=False, meaning="Whether each thread of a host counts as a CPU, rather than each core."
    )
    require_topology: bool = setting(
        default=False,
        meaning="Whether hosts are left out whose sockets, cores or threads are not known; else such a host has a CPU "
        "for each whole core of its CPU total.",
    )
    overcommit: float | None = setting(
        least=0.0,
        measure="fraction",
        meaning="How much of a host's CPU may be promised, 1 = all of it once, where the host does not say so itself "
        "(cpu.overcommit); any amount, if neither does.",
    )


class Reason(Reasons):
    """Why a host is removed."""

    UNKNOWN_TOPOLOGY = "has no known CPU topology"
    TOO_FEW_CPUS = "has too few CPUs"
    TOO_LITTLE_TO_PROMISE = "has too little CPU left to promise"
    TOO_LITTLE_WHILE_PENDING = "has too little CPU left to promise while places on it are reserved", PASSING


class Needed(NamedTuple):
    """What VMs take of a host."""

    cpu: int = 0
    #: CPUs of their own.
    exclusive: int = 0
    #: Cores of the widest VM that shares CPUs.
    widest: int = 0

    def plus(self, other: "Needed") -> "Needed":
        """Both together."""
        return Needed(self.cpu + other.cpu, self.exclusive + other.exclusive, max(self.widest, other.widest))

    def less(self, held: "Needed") -> "Needed":
        """What is asked for beyond what is held: a VM that is no wider than it is has its CPUs, and CPUs of its own
        that it gives back are shared from then on."""
        return Needed(
            max(self.cpu - held.cpu, 0),
            self.exclusive - held.exclusive,
            self.widest if self.widest > held.widest else 0,
        )


def needed(vm: Vm | Current) -> Needed:
    """What a VM needs."""
    if vm.exclusive:
        return Needed(vm.cpu, exclusive=vm.vcpus)
    return Needed(vm.cpu, widest=vm.sockets * vm.cores)


class Cpu(RowWise):
    """A filter and a cost function."""

    def __init__(self, vms: Rows[Vm], limits: Limits) -> None:
        self.each = [needed(vm) for vm in vms]
        self.all = reduce(Needed.plus, self.each, Needed())
        #: Whether all of them are to have CPUs of their own.
        self.all_exclusive = all(vm.exclusive for vm in vms)
        self.threads_as_cores = limits.count_threads_as_cores
        self.require_topology = limits.require_topology
        #: For hosts that have none of their own.
        self.overcommit = limits.overcommit

    def taken(self, current: Rows[Current]) -> Needed:
        """What the VMs take of a host: what they ask for, less what they hold there."""
        takes = list(self.each)
        for row in current:
            takes[row.member] = takes[row.member].less(needed(row))
        return reduce(Needed.plus, takes, Needed())

    def widest(self, host: Host) -> int:
        """Cores of the widest VM that shares CPUs on a host, once the VMs have what they ask for."""
        if host.current and self.all_exclusive:
            return min(row.others_widest for row in host.current)
        return host.widest

    def keep(self, host: Host) -> bool | Reason:
        if self.require_topology and None in (host.sockets, host.cores, host.threads):
            return Reason.UNKNOWN_TOPOLOGY
        cpus = host.threads if self.threads_as_cores else host.cores
        if cpus is None:
            cpus = host.total // 1000
        cpu, exclusive, widest = self.taken(host.current) if host.current else self.all
        takes_cpus = exclusive > 0 or widest > 0
        # One CPU stays shared even if no VM shares it yet.
        if takes_cpus and cpus - host.exclusive - exclusive < max(widest, self.widest(host), 1):
            return Reason.TOO_FEW_CPUS
        if cpu == 0:
            return True
        overcommit = self.overcommit if host.overcommit is None else host.overcommit
        if overcommit is None:
            return True
        limit = int(host.total * overcommit)
        promised = host.committed + cpu
        return (promised <= limit or Reason.TOO_LITTLE_TO_PROMISE) and (
            promised + host.pending <= limit or Reason.TOO_LITTLE_WHILE_PENDING
        )

    def cost(self, host: Host) -> float:
        """The share of the CPU that the host may promise which is promised when the VMs are placed."""
        promisable = host.total if host.overcommit is None else host.total * host.overcommit
        if promisable <= 0:
            return math.inf
        needed = self.taken(host.current) if host.current else self.all
        return (host.committed + host.pending + needed.cpu) / promisable
