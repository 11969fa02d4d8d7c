"""Prefers hosts of which the smallest share of the memory would be promised."""

from placewright import Bytes, Row, Rows, RowWise, Settings, column, setting


class Vm(Row):
    """What is read of each VM to be placed."""

    memory: Bytes


class Current(Row):
    """A VM to be placed that runs on the host now."""

    #: Which of the VMs.
    member: int
    memory: Bytes


class Host(Row):
    """What is read of a host: these columns and no others. `placewright columns` lists all."""

    total: Bytes = column("memory.total")
    #: Promised to the VMs that run here.
    committed: Bytes = column("memory.committed")
    #: Promised to the VMs that have a place reserved here.
    pending: Bytes = column("memory.pending")
    #: Those of the VMs that run here already. What they have is promised to them.
    current: Rows[Current]


class Limits(Settings):
    """What the admin of a cluster may set."""

    headroom: Bytes = setting(default="1 GiB", least=0, meaning="Memory that no VM gets, on every host: it counts as promised.")


class Unit(RowWise):
    cost_range = (0.0, 1.0)

    def __init__(self, vms: Rows[Vm], limits: Limits) -> None:
        """Once, before any host is looked at. `vms` are placed together on one host, usually one."""
        #: What each of them asks for.
        self.memory = [vm.memory for vm in vms]
        self.headroom = limits.headroom

    def cost(self, host: Host) -> float:
        """The share of the host's memory that would be promised, lower is better."""
        if host.total <= 0:
            return 1.0
        promised = host.committed + host.pending + self.takes(host) + self.headroom
        return min(max(promised / host.total, 0.0), 1.0)

    def takes(self, host: Host) -> int:
        """What the VMs take of a host: what each asks for, less what it has there if it runs there."""
        has = {row.member: row.memory for row in host.current}
        return sum(max(asked - has.get(vm, 0), 0) for vm, asked in enumerate(self.memory))
