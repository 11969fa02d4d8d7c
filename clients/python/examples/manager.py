"""A VM manager in small: it places VMs, starts them, tells how hosts fare, and restarts what a failed host ran."""

import sys

from placewright_client import Client, calls, types

CLUSTER = "lab"


class Hypervisors:
    """Stands for what really starts VMs and measures hosts."""

    def start(self, vm: str, host: str) -> None:
        print(f"{vm} is started on {host}")

    def measure(self, host: str) -> types.HostMeasurements:
        return {"id": host, "cpu.usage": 0.25, "memory.free": "40 GiB"}


def start(client: Client, hypervisors: Hypervisors, placed: types.Placement) -> bool:
    """Start VMs where they were placed, and tell that they run; False if there is no host for them."""
    host, vms = placed["host"], placed["vms"]
    if host is None:
        reasons = [f"{it['hosts']} hosts: {it['reason']}" for it in placed["removed"]]
        print(f"{', '.join(vms)}: no host ({'; '.join(reasons)})")
        return False
    try:
        for vm in vms:
            hypervisors.start(vm, host)
    except OSError:
        # The place is free again at once, and not only when its time is up.
        client.call(calls.cancel_vms(CLUSTER, {"vms": list(vms)}))
        raise
    client.call(calls.confirm_vms(CLUSTER, {"vms": list(vms), "host": host}))
    return True


def report(client: Client, hypervisors: Hypervisors) -> None:
    """Tell what is measured of the hosts that are up."""
    hosts = client.items(calls.list_hosts(CLUSTER, state="up"))
    measured = [hypervisors.measure(host["id"]) for host in hosts]
    client.call(calls.change_inventory(CLUSTER, {"statistics": measured}))


def restart(client: Client, hypervisors: Hypervisors, host: str) -> None:
    """A host has failed: its VMs are placed as a batch, since the order matters, and started elsewhere."""
    client.call(calls.patch_host(CLUSTER, host, {"state": "down"}))
    lost = [vm for vm in client.items(calls.list_vms(CLUSTER, host=host)) if vm.get("state") != "stopped"]
    if moving := [vm for vm in lost if "reserved" in vm]:
        client.call(calls.cancel_vms(CLUSTER, {"vms": [vm["id"] for vm in moving]}))
    if lost:
        batch = client.call(calls.place_batch(CLUSTER, {"vms": [{"id": vm["id"]} for vm in lost]}))
        for placed in batch["decisions"]:
            start(client, hypervisors, placed)
        for failed in batch.get("failed", []):
            print(f"{', '.join(failed['vms'])}: {failed['because']}")


def main(server: str, token: str) -> None:
    """Run a small fleet for a while."""
    hypervisors = Hypervisors()
    with Client(server, token) as client:
        hosts: list[types.HostDocument] = [
            {"id": f"h{number}", "cpu.cores": 16, "memory.total": "64 GiB"} for number in (1, 2, 3)
        ]
        client.call(calls.create_cluster({"name": CLUSTER, "hosts": hosts}, policy="general"))
        for number in range(6):
            vm: types.VmToPlace = {"id": f"web-{number}", "cpu": 4, "memory": "8 GiB"}
            start(client, hypervisors, client.call(calls.place_vm(CLUSTER, vm)))
        report(client, hypervisors)
        client.call(calls.delete_vm(CLUSTER, "web-5"))
        restart(client, hypervisors, "h1")
        huge: types.VmToPlace = {"id": "huge", "cpu": 64, "memory": "8 GiB"}
        start(client, hypervisors, client.call(calls.place_vm(CLUSTER, huge)))


if __name__ == "__main__":
    main(*sys.argv[1:3])
