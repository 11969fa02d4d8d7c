"""What a unit reads besides the hosts and its settings, if that is several tables."""

from placewright.row import Row


class Request(Row):
    """Several tables, one for each field, of the request, its tenant, the cluster...::

        class Asked(Request):
            vms: Rows[Vm] = table("members")       # all at once; `vm: Vm` = asked once for each
            request: Now                           # the only row
            tenant: Tenant | None                  # the only row, if there is one

    Without `table(...)` a field is the table of its name. A unit that reads the VM
    alone needs none of this: it takes a row, or `Rows[Vm]` for all VMs of the request.
    """
