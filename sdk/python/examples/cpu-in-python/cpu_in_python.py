"""CPU: the unit `plugins/reference/cpu` in Python, with the same answers.

Keeps the hosts that have a CPU for each core of the widest VM beside the CPUs that VMs
have for themselves, and that have not promised too much if there is a limit; prefers
those of which the smallest share is promised.
"""

import math
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
    """A VM of the request that runs on the host now."""

    member: int


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
    """What VMs need of a host."""

    cpu: int
    #: CPUs of their own.
    exclusive: int


def needed(vms: Rows[Vm]) -> Needed:
    """What the VMs need together."""
    return Needed(sum(vm.cpu for vm in vms), sum(vm.vcpus for vm in vms if vm.exclusive))


class Cpu(RowWise):
    """A filter and a cost function."""

    def __init__(self, vms: Rows[Vm], limits: Limits) -> None:
        self.vms = vms
        self.all = needed(vms)
        #: Cores of the widest VM that shares CPUs; 1 if none is wider.
        self.widest = max([1, *(vm.sockets * vm.cores for vm in vms if not vm.exclusive)])
        self.threads_as_cores = limits.count_threads_as_cores
        self.require_topology = limits.require_topology
        #: For hosts that have none of their own.
        self.overcommit = limits.overcommit

    def beside(self, current: Rows[Current]) -> Needed:
        """What the VMs need of a host on which some of them run already."""
        here = {row.member for row in current}
        return needed(tuple(vm for number, vm in enumerate(self.vms) if number not in here))

    def keep(self, host: Host) -> bool | Reason:
        if self.require_topology and None in (host.sockets, host.cores, host.threads):
            return Reason.UNKNOWN_TOPOLOGY
        cpus = host.threads if self.threads_as_cores else host.cores
        if cpus is None:
            cpus = host.total // 1000
        cpu, exclusive = self.beside(host.current) if host.current else self.all
        if cpus - host.exclusive - exclusive < max(self.widest, host.widest):
            return Reason.TOO_FEW_CPUS
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
        needed = self.beside(host.current) if host.current else self.all
        return (host.committed + host.pending + needed.cpu) / promisable
