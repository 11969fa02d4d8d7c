"""What a script of oVirt's official SDK does with the server: each function is a case."""

import os
import sys

import ovirtsdk4 as sdk
from ovirtsdk4 import types

URL = os.environ["URL"]
CPU = "6d636bf6-a35c-4f9d-b68d-0731f720cddc"
MEMORY = "c9ddbb34-0e1d-4061-a8d7-b0893fa80932"
OVERLOADED = "98842bc5-4094-4b83-8224-7b50f86a94c9"
EVEN_CPU = "7db4ab05-81ab-42e8-868a-aee2df483edb"
EVEN_GUESTS = "3ba8c988-f779-42c0-90ce-caa8243edee7"
VM_AFFINITY = "84e6ddee-ab0d-42dd-82f0-c297779db567"
BALANCE = "7db4ab05-81ab-42e8-868a-aee2df483ed2"
BALANCE_GUESTS = "d58c8e32-44e1-418f-9222-52cd887bf9e0"
NOTHING = "38440000-8cf0-14bd-c43e-10b96e4ef00a"


def connect(user="admin@internal", password=None):
    password = password or os.environ["PASSWORD"]
    return sdk.Connection(url=URL, username=user, password=password, insecure=True)


def unit(identity):
    return types.SchedulingPolicyUnit(id=identity)


def properties(**values):
    return [types.Property(name=name, value=value) for name, value in values.items()]


def of(policy):
    return {it.name: it.value for it in policy.properties or []}


def refused(call, code=None, kind=sdk.Error):
    try:
        call()
    except kind as error:
        assert code is None or error.code == code, (code, error.code, str(error))
        return str(error)
    raise AssertionError("it was not refused")


def signing_in(connection):
    assert connection.test(raise_exception=True)
    product = connection.system_service().get().product_info
    assert (product.version.major, product.version.minor) == (4, 5), product.version
    refused(lambda: connect(password="wrong").test(raise_exception=True), kind=sdk.AuthError)
    refused(lambda: connect(user="nobody").test(raise_exception=True), kind=sdk.AuthError)


def units(connection):
    service = connection.system_service().scheduling_policy_units_service()
    all_units = service.list()
    by_id = {it.id: it for it in all_units}
    assert len(by_id) == len(all_units)
    cpu = by_id[OVERLOADED]
    assert cpu.name == "CPUOverloaded", cpu.name
    assert cpu.type == types.PolicyUnitType.FILTER
    assert cpu.internal and cpu.enabled
    known = of(cpu)
    assert known["HighUtilization"] == "^([5-9][0-9])$", known
    assert known["CpuOverCommitDurationMinutes"] == "^([1-9][0-9]*)$", known
    assert by_id[EVEN_CPU].type == types.PolicyUnitType.WEIGHT
    assert by_id[BALANCE].type == types.PolicyUnitType.LOAD_BALANCING
    # Mandatory filters are in every policy and in no list.
    assert "12262ab6-9690-4bc3-a2b3-35573b172d54" not in by_id
    one = service.unit_service(MEMORY).get()
    assert one.name == "Memory", one.name
    refused(service.unit_service("no-such-unit").get, 404, sdk.NotFoundError)
    refused(service.unit_service(MEMORY).remove, 400)


def policies_of_the_engine(connection):
    service = connection.system_service().scheduling_policies_service()
    by_name = {it.name: it for it in service.list()}
    for name, identity in [
        ("none", "b4ed2332-a7ac-4d5f-9596-99a439cb2812"),
        ("cluster_maintenance", "7677771e-5eab-422e-83fa-dc04080d21b7"),
        ("evenly_distributed", "20d25257-b4bd-4589-92a6-c4c5c5d3fd1a"),
        ("power_saving", "5a2b0939-7d46-4b73-a469-e9c2c7fc6a53"),
        ("vm_evenly_distributed", "8d5d7bec-68de-4a67-b53e-0ac54686d579"),
    ]:
        assert by_name[name].id == identity, by_name[name].id
        assert by_name[name].locked
    assert sum(it.default_policy for it in by_name.values()) == 1
    even = by_name["evenly_distributed"]
    assert of(even)["HighUtilization"] == "80", of(even)
    assert of(even)["CpuOverCommitDurationMinutes"] == "2", of(even)
    one = service.policy_service(even.id)
    weights = {it.scheduling_policy_unit.id: it.factor for it in one.weights_service().list()}
    assert weights[EVEN_CPU] == 2 and weights[VM_AFFINITY] == 1, weights
    assert [it.id for it in one.balances_service().list()] == [BALANCE]
    none = service.policy_service(by_name["none"].id)
    assert [it.id for it in none.balances_service().list()] == [NOTHING]
    refused(lambda: one.update(types.SchedulingPolicy(description="mine")), 400)
    refused(lambda: one.filters_service().filter_service(CPU).remove(), 400)
    refused(one.remove, 400)
    refused(lambda: one.update(types.SchedulingPolicy(locked=False)), 400)
    followed = service.policy_service(even.id).get(follow="filters,weights,balances")
    assert len(followed.filters) > 10


def a_policy_from_its_making_to_its_end(connection):
    service = connection.system_service().scheduling_policies_service()
    refused(lambda: service.add(types.SchedulingPolicy(description="no name")), 400)
    made = service.add(types.SchedulingPolicy(name="my policy", description="of a script"))
    assert (made.name, made.description, made.locked) == ("my policy", "of a script", False)
    assert refused(lambda: service.add(types.SchedulingPolicy(name="my policy")), 400)
    refused(lambda: service.add(types.SchedulingPolicy(name="none")), 400)
    one = service.policy_service(made.id)
    filters, weights, balances = one.filters_service(), one.weights_service(), one.balances_service()
    assert filters.list() == [] and weights.list() == [] and balances.list() == []

    first = filters.add(types.Filter(scheduling_policy_unit=unit(CPU), position=-1))
    assert (first.id, first.position) == (CPU, -1)
    filters.add(types.Filter(scheduling_policy_unit=unit(OVERLOADED), position=1))
    filters.add(types.Filter(scheduling_policy_unit=unit(MEMORY)))
    positions = {it.id: it.position for it in filters.list()}
    assert positions == {CPU: -1, OVERLOADED: 1, MEMORY: 0}, positions
    assert filters.filter_service(MEMORY).get().position == 0
    said = refused(lambda: filters.add(types.Filter(scheduling_policy_unit=unit(CPU))), 400)
    assert "already" in said, said
    swap = "43b9e654-337f-4b0d-a896-cbb22ce5a7fc"
    said = refused(
        lambda: filters.add(types.Filter(scheduling_policy_unit=unit(swap), position=-1)), 400
    )
    assert "first" in said, said
    refused(lambda: filters.add(types.Filter(scheduling_policy_unit=unit(EVEN_CPU))), 400)
    refused(lambda: filters.add(types.Filter(scheduling_policy_unit=unit("none"))), 400)
    refused(lambda: filters.add(types.Filter(position=0)), 400)

    weights.add(types.Weight(scheduling_policy_unit=unit(EVEN_CPU), factor=2))
    weights.add(types.Weight(scheduling_policy_unit=unit(EVEN_GUESTS)))
    assert {it.id: it.factor for it in weights.list()} == {EVEN_CPU: 2, EVEN_GUESTS: 1}
    negative = types.Weight(scheduling_policy_unit=unit(VM_AFFINITY), factor=-1)
    refused(lambda: weights.add(negative), 400)
    weights.weight_service(EVEN_GUESTS).remove()
    weights.add(types.Weight(scheduling_policy_unit=unit(EVEN_GUESTS), factor=7))
    assert weights.weight_service(EVEN_GUESTS).get().factor == 7

    balances.add(types.Balance(scheduling_policy_unit=unit(BALANCE)))
    assert [it.id for it in balances.list()] == [BALANCE]
    balances.add(types.Balance(scheduling_policy_unit=unit(BALANCE_GUESTS)))
    assert [it.id for it in balances.list()] == [BALANCE_GUESTS]
    balances.add(types.Balance(scheduling_policy_unit=unit(NOTHING)))
    assert [it.id for it in balances.list()] == [NOTHING]

    wanted = {"HighUtilization": "85", "CpuOverCommitDurationMinutes": "3", "HighVmCount": "12"}
    refused(
        lambda: one.update(types.SchedulingPolicy(properties=properties(LowUtilization="10"))), 400
    )
    said = refused(
        lambda: one.update(types.SchedulingPolicy(properties=properties(HighUtilization="7"))), 400
    )
    assert "HighUtilization" in said, said
    assert of(one.get()) == {}
    changed = one.update(types.SchedulingPolicy(properties=properties(**wanted)))
    assert of(changed) == wanted, of(changed)
    assert of(one.get()) == wanted
    # A unit whose property is set stays until the property goes.
    refused(weights.weight_service(EVEN_GUESTS).remove, 400)
    renamed = one.update(types.SchedulingPolicy(name="another", description=""))
    assert (renamed.id, renamed.name, renamed.description) == (made.id, "another", ""), renamed
    assert of(renamed) == wanted
    one.update(types.SchedulingPolicy(properties=[]))
    assert of(one.get()) == {}
    weights.weight_service(EVEN_GUESTS).remove()
    # One that is not there is removed as well.
    weights.weight_service(EVEN_GUESTS).remove()
    refused(weights.weight_service(EVEN_GUESTS).get, 404, sdk.NotFoundError)
    filters.filter_service(OVERLOADED).remove()
    one.remove()
    refused(one.get, 404, sdk.NotFoundError)
    refused(one.remove, 404, sdk.NotFoundError)


def a_copy_as_clients_make_it(connection):
    service = connection.system_service().scheduling_policies_service()
    source = next(it for it in service.list() if it.name == "evenly_distributed")
    old = service.policy_service(source.id)
    copy = service.add(types.SchedulingPolicy(name="copy", description=source.description))
    new = service.policy_service(copy.id)
    for it in old.filters_service().list():
        new.filters_service().add(
            types.Filter(scheduling_policy_unit=it.scheduling_policy_unit, position=it.position)
        )
    for it in old.weights_service().list():
        new.weights_service().add(
            types.Weight(scheduling_policy_unit=it.scheduling_policy_unit, factor=it.factor)
        )
    for it in old.balances_service().list():
        new.balances_service().add(
            types.Balance(scheduling_policy_unit=it.scheduling_policy_unit)
        )
    new.update(types.SchedulingPolicy(properties=source.properties))
    made = new.get()
    assert of(made) == of(source), (of(made), of(source))
    pairs = lambda it: sorted((x.id, x.position) for x in it.filters_service().list())
    assert pairs(old) == pairs(new)
    factors = lambda it: sorted((x.id, x.factor) for x in it.weights_service().list())
    assert factors(old) == factors(new)


def a_cluster_and_its_policy(connection):
    system = connection.system_service()
    clusters = system.clusters_service()
    cluster = clusters.list(search="name=Default")[0]
    assert cluster.name == "Default"
    assert clusters.list(search='name="Default"')[0].id == cluster.id
    assert clusters.list(search="name=nothing") == []
    refused(lambda: clusters.list(search="colour=red"), 400)
    for path in [
        cluster.migration.bandwidth.assignment_method,
        cluster.fencing_policy.skip_if_sd_active,
        cluster.fencing_policy.skip_if_connectivity_broken,
        cluster.ksm,
        cluster.error_handling,
        cluster.memory_policy.over_commit.percent,
        cluster.version,
        cluster.mac_pool.id,
    ]:
        assert path is not None
    one = clusters.cluster_service(cluster.id)
    policies = {it.name: it for it in system.scheduling_policies_service().list()}
    even = policies["evenly_distributed"]
    one.update(types.Cluster(scheduling_policy=types.SchedulingPolicy(id=even.id)))
    now = one.get()
    assert now.scheduling_policy.id == even.id
    own = {it.name: it.value for it in now.custom_scheduling_policy_properties}
    assert own == of(even), own
    one.update(
        types.Cluster(custom_scheduling_policy_properties=properties(HighUtilization="70"))
    )
    own = {it.name: it.value for it in one.get().custom_scheduling_policy_properties}
    assert own["HighUtilization"] == "70" and own["CpuOverCommitDurationMinutes"] == "2", own
    # The policy itself is as it was, and its value undoes that of the cluster.
    assert of(system.scheduling_policies_service().policy_service(even.id).get()) == of(even)
    one.update(
        types.Cluster(custom_scheduling_policy_properties=properties(HighUtilization="80"))
    )
    own = {it.name: it.value for it in one.get().custom_scheduling_policy_properties}
    assert own == of(even), own
    refused(
        lambda: one.update(
            types.Cluster(custom_scheduling_policy_properties=properties(HighUtilization="1"))
        ),
        400,
    )
    refused(
        lambda: one.update(
            types.Cluster(custom_scheduling_policy_properties=properties(HighUtilisation="70"))
        ),
        400,
    )
    unknown = types.SchedulingPolicy(id="11111111-1111-1111-1111-111111111111")
    refused(lambda: one.update(types.Cluster(scheduling_policy=unknown)), 400)
    refused(lambda: one.update(types.Cluster(name="other")), 400)
    by_name = types.SchedulingPolicy(name="NONE")
    one.update(types.Cluster(scheduling_policy=by_name))
    assert one.get().scheduling_policy.id == policies["none"].id
    refused(clusters.cluster_service("nothing").get, 404, sdk.NotFoundError)


def a_policy_in_use(connection):
    system = connection.system_service()
    service = system.scheduling_policies_service()
    made = service.add(types.SchedulingPolicy(name="in use"))
    one = service.policy_service(made.id)
    one.filters_service().add(types.Filter(scheduling_policy_unit=unit(MEMORY)))
    cluster = system.clusters_service().list(search="name=Default")[0]
    of_cluster = system.clusters_service().cluster_service(cluster.id)
    of_cluster.update(types.Cluster(scheduling_policy=types.SchedulingPolicy(id=made.id)))
    said = refused(one.remove, 409)
    assert "Default" in said, said
    one.weights_service().add(types.Weight(scheduling_policy_unit=unit(EVEN_CPU), factor=3))
    of_cluster.update(types.Cluster(scheduling_policy=types.SchedulingPolicy(name="none")))
    one.remove()


def hosts_and_vms(connection):
    system = connection.system_service()
    hosts = system.hosts_service()
    found = {it.name: it for it in hosts.list()}
    assert sorted(found) == ["h1", "h2", "h3"], sorted(found)
    one = found["h1"]
    assert one.status == types.HostStatus.UP and one.memory == 64 << 30
    assert one.cpu.topology.sockets == 2 and one.cpu.topology.cores == 8
    assert one.cluster.id == system.clusters_service().list()[0].id
    assert found["h3"].status == types.HostStatus.MAINTENANCE
    assert [it.name for it in hosts.list(search="name=h* and status=up sortby name desc")] == [
        "h2",
        "h1",
    ]
    assert [it.name for it in hosts.list(search="cluster=Default  name=h1")] == ["h1"]
    assert len(hosts.list(max=2)) == 2
    refused(lambda: hosts.list(search="name"), 400)
    statistics = hosts.host_service(one.id).statistics_service().list()
    by_name = {it.name: it.values[0].datum for it in statistics}
    assert by_name["memory.total"] == 64 << 30, by_name
    vms = system.vms_service()
    web = {it.name: it for it in vms.list(search="name=web*")}
    assert sorted(web) == ["web1", "web2"], sorted(web)
    assert web["web1"].host.id == one.id
    assert web["web1"].status == types.VmStatus.UP
    refused(vms.vm_service("nothing").get, 404, sdk.NotFoundError)


def groups(connection):
    system = connection.system_service()
    cluster = system.clusters_service().list(search="name=Default")[0]
    service = system.clusters_service().cluster_service(cluster.id).affinity_groups_service()
    assert service.list() == []
    vms = {it.name: it for it in system.vms_service().list()}
    hosts = {it.name: it for it in system.hosts_service().list()}
    made = service.add(
        types.AffinityGroup(
            name="apart",
            positive=False,
            enforcing=True,
            priority=2.5,
            hosts_rule=types.AffinityRule(enabled=False),
            hosts=[types.Host(id=hosts["h1"].id)],
        )
    )
    assert (made.name, made.positive, made.enforcing) == ("apart", False, True)
    assert made.priority == 2.5 and made.vms_rule.enabled and not made.hosts_rule.enabled
    assert made.hosts_rule.positive is False and [it.id for it in made.hosts] == [hosts["h1"].id]
    refused(lambda: service.add(types.AffinityGroup(name="apart", positive=True)), 409)
    one = service.group_service(made.id)
    members = one.vms_service()
    members.add(types.Vm(id=vms["web1"].id))
    members.add(types.Vm(name="web2"))
    assert sorted(it.name for it in members.list()) == ["web1", "web2"]
    # Both run on one host.
    assert one.get().broken
    changed = one.update(
        types.AffinityGroup(vms_rule=types.AffinityRule(positive=True, enforcing=False))
    )
    assert changed.vms_rule.positive and not changed.vms_rule.enforcing and not changed.broken
    members.vm_service(vms["web2"].id).remove()
    assert [it.name for it in members.list()] == ["web1"]
    refused(members.vm_service(vms["web2"].id).remove, 404, sdk.NotFoundError)
    refused(lambda: members.add(types.Vm(name="nothing")), 404, sdk.NotFoundError)
    followed = connection.follow_link(changed.vms)
    assert [it.id for it in followed] == [vms["web1"].id]
    off = one.update(types.AffinityGroup(vms_rule=types.AffinityRule(enabled=False)))
    assert not off.vms_rule.enabled
    one.remove()
    refused(one.get, 404, sdk.NotFoundError)


def migration(connection):
    system = connection.system_service()
    vms = {it.name: it for it in system.vms_service().list()}
    hosts = system.hosts_service()
    targets = hosts.list(migration_target_of=vms["web1"].id)
    assert [it.name for it in targets] == ["h2"], [it.name for it in targets]
    refused(lambda: hosts.list(migration_target_of="nothing"), 404, sdk.NotFoundError)
    one = system.vms_service().vm_service(vms["web1"].id)
    h3 = next(it for it in hosts.list() if it.name == "h3")
    refused(lambda: one.migrate(host=types.Host(id=h3.id)), 400)
    one.migrate(host=types.Host(name="h2"))
    assert one.get().status == types.VmStatus.MIGRATING
    refused(one.migrate, 409)


def main():
    cases = [
        signing_in,
        units,
        policies_of_the_engine,
        a_policy_from_its_making_to_its_end,
        a_copy_as_clients_make_it,
        a_cluster_and_its_policy,
        a_policy_in_use,
        hosts_and_vms,
        groups,
        migration,
    ]
    failed = 0
    connection = connect()
    for case in cases:
        try:
            case(connection)
            print(f"ok {case.__name__}")
        except Exception as error:  # Told, and the others tried.
            import traceback

            traceback.print_exc()
            print(f"failed {case.__name__}: {error!r}")
            failed += 1
    connection.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
