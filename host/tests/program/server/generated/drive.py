"""Places a VM, asks why it went there, confirms it and plans, with a client that was generated.

Its arguments are where the server is and a token. Types are checked by mypy before it runs.
"""

import sys
from typing import TypeVar

from placewright_client import AuthenticatedClient
from placewright_client.api.clusters import create_cluster, get_cluster
from placewright_client.api.decisions import explain_decision, list_decisions
from placewright_client.api.inventory import get_host, list_vms, patch_host
from placewright_client.api.placing import confirm_vms, place_batch, place_vm
from placewright_client.api.plans import begin_plan, create_plan, evacuate_hosts
from placewright_client.api.questions import ask_capacity, ask_what_if, ask_why
from placewright_client.models import (
    BatchPlacement,
    Capacity,
    ClusterDocument,
    ClusterWithUnheeded,
    ConfirmedVms,
    Evacuation,
    Explanation,
    Host,
    HostDocument,
    HostPatch,
    HostState,
    Placement,
    PlacementRequest,
    Plan,
    PlanBegin,
    PlanRequest,
    RequestedVm,
    VmPage,
    VmReferenceType1,
    VmToPlace,
    WhatIf,
    WhyRemoved,
)

T = TypeVar("T")


def of(kind: type[T], answer: object) -> T:
    """The answer, which is of that kind."""
    assert isinstance(answer, kind), answer
    return answer


def main(url: str, token: str) -> None:
    client = AuthenticatedClient(base_url=url, token=token, raise_on_unexpected_status=True)
    hosts = [
        HostDocument(id=name, cpu_cores=16, memory_total="64 GiB") for name in ("h1", "h2")
    ]
    cluster = ClusterDocument(name="python", hosts=hosts)
    created = of(
        ClusterWithUnheeded,
        create_cluster.sync(client=client, body=cluster, policy="worst-fit"),
    )
    assert created.counted and created.counted.hosts == 2, created

    wanted = VmToPlace(id="web-1", cpu=2, memory="4 GiB", allowed=["h1"])
    placed = of(Placement, place_vm.sync("python", client=client, body=wanted))
    assert placed.host == "h1" and placed.reserved, placed

    explained = of(Explanation, explain_decision.sync("python", placed.number, client=client))
    assert explained.chosen == "h1", explained
    fates = {host.host: host.removed for stage in explained.stages for host in stage.hosts}
    assert "h1" in fates, fates

    confirmed = ConfirmedVms(vms=["web-1"], host="h1")
    answer = confirm_vms.sync_detailed("python", client=client, body=confirmed)
    assert answer.status_code == 204, answer

    more = PlacementRequest(vms=[RequestedVm(id="web-2", cpu=1, memory=1 << 30), RequestedVm(id="web-3")])
    batch = of(BatchPlacement, place_batch.sync("python", client=client, body=more))
    assert [decision.vms for decision in batch.decisions] == [["web-2"], ["web-3"]], batch
    named = ConfirmedVms(vms=[VmReferenceType1(id="web-2"), "web-3"])
    answer = confirm_vms.sync_detailed("python", client=client, body=named)
    assert answer.status_code == 204, answer

    huge = VmToPlace(id="huge", cpu=1, memory="1 TiB")
    why = ask_why.sync("python", client=client, body=huge, host="h2")
    assert "h2" in {removal.filter_ for removal in of(WhyRemoved, why).by} or why, why
    room = of(Capacity, ask_capacity.sync("python", client=client, body=wanted))
    assert room.fit > 0, room
    failure = of(WhatIf, ask_what_if.sync("python", client=client))
    assert len(failure.failures) == 2, failure

    host = of(Host, get_host.sync("python", "h1", client=client))
    assert host.memory_total == 64 << 30, host
    down = HostPatch(state=HostState.MAINTENANCE)
    changed = of(Host, patch_host.sync("python", "h1", client=client, body=down))
    assert changed.state == "maintenance", changed

    plan = of(Plan, create_plan.sync("python", client=client, body=PlanRequest()))
    assert plan.number == 1 and "web-1" in {move.vm for move in plan.moves}, plan
    begun = of(Plan, begin_plan.sync("python", 1, client=client, body=PlanBegin(moves=["web-1"])))
    assert begun.counted.begun == 1, begun
    emptied = of(
        Plan,
        evacuate_hosts.sync("python", client=client, body=Evacuation(hosts=["h2"], dry_run=True)),
    )
    assert not emptied.number and emptied.hosts == ["h2"], emptied

    page = of(VmPage, list_vms.sync("python", client=client, limit=2))
    assert len(page.items) == 2 and page.next_, page
    decisions = list_decisions.sync("python", client=client)
    assert decisions, decisions
    assert get_cluster.sync("python", client=client), "the cluster is there"


main(sys.argv[1], sys.argv[2])
