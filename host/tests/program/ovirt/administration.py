"""What an admin of oVirt does in the course of a year, with oVirt's official SDK: each function
is a check, and they follow one another."""

import sys

import ovirtsdk4 as sdk
from ovirtsdk4 import types

from sdk import (
    BALANCE,
    CPU,
    EVEN_CPU,
    EVEN_GUESTS,
    MEMORY,
    OVERLOADED,
    URL,
    connect,
    of,
    properties,
    refused,
    unit,
)

CHECKS = []
UNKNOWN = "11111111-1111-1111-1111-111111111111"


def check(function):
    CHECKS.append(function)
    return function


class Site:
    """The services that the checks use."""

    def __init__(self, connection):
        self.connection = connection
        self.system = connection.system_service()
        self.policies = self.system.scheduling_policies_service()
        self.units = self.system.scheduling_policy_units_service()
        self.clusters = self.system.clusters_service()
        self.hosts = self.system.hosts_service()
        self.vms = self.system.vms_service()
        self.labels = self.system.affinity_labels_service()
        self.jobs = self.system.jobs_service()
        self.events = self.system.events_service()

    def policy(self, name):
        found = [it for it in self.policies.list() if it.name == name]
        assert len(found) == 1, (name, len(found))
        return self.policies.policy_service(found[0].id)

    def cluster(self):
        found = self.clusters.list(search='name="Default"')
        return self.clusters.cluster_service(found[0].id)

    def groups(self):
        return self.cluster().affinity_groups_service()

    def group(self, name):
        found = [it for it in self.groups().list() if it.name == name]
        return self.groups().group_service(found[0].id)

    def host(self, name):
        return self.hosts.list(search=f'name="{name}"')[0]

    def vm(self, name):
        return self.vms.list(search=f'name="{name}"')[0]

    def label(self, name):
        found = [it for it in self.labels.list() if it.name == name]
        return self.labels.label_service(found[0].id)


# Signing in and out.


@check
def the_version_is_one_that_clients_support(site):
    product = site.system.get().product_info
    assert product.version.major == 4 and product.version.minor >= 4
    assert product.instance_id and product.name


@check
def wrong_passwords_are_refused_as_such(site):
    refused(lambda: connect(password="wrong").test(raise_exception=True), kind=sdk.AuthError)


@check
def a_token_ends_with_the_sign_out(site):
    other = connect()
    token = other.authenticate()
    with_token = sdk.Connection(url=URL, token=token, insecure=True)
    assert with_token.test(raise_exception=True)
    other.close()
    refused(
        lambda: with_token.system_service().clusters_service().list(), kind=sdk.AuthError
    )
    with_token.close(logout=False)


@check
def one_sign_out_leaves_others_signed_in(site):
    one, other = connect(), connect()
    assert one.authenticate() != other.authenticate()
    one.close()
    assert other.test(raise_exception=True)
    other.close()


# Policies.


@check
def units_have_types_and_expressions(site):
    kinds = {it.type for it in site.units.list()}
    assert {
        types.PolicyUnitType.FILTER,
        types.PolicyUnitType.WEIGHT,
        types.PolicyUnitType.LOAD_BALANCING,
    } <= kinds, kinds
    selectors = {it.name for it in site.units.list() if it.type is None}
    assert selectors == {"BasicWeighting", "RankSelector"}, selectors
    balance = site.units.unit_service(BALANCE).get()
    assert set(of(balance)) >= {"HighUtilization", "CpuOverCommitDurationMinutes"}, of(balance)


@check
def a_policy_is_made(site):
    made = site.policies.add(types.SchedulingPolicy(name="year", description="of the year"))
    assert made.id and not made.locked and not made.default_policy


@check
def its_name_is_taken_from_then_on(site):
    refused(lambda: site.policies.add(types.SchedulingPolicy(name="year")), 400)


@check
def a_policy_needs_a_name(site):
    said = refused(lambda: site.policies.add(types.SchedulingPolicy()), 400)
    assert "name" in said, said


@check
def filters_have_positions(site):
    filters = site.policy("year").filters_service()
    filters.add(types.Filter(scheduling_policy_unit=unit(CPU), position=-1))
    filters.add(types.Filter(scheduling_policy_unit=unit(MEMORY), position=0))
    filters.add(types.Filter(scheduling_policy_unit=unit(OVERLOADED), position=1))
    assert {it.id: it.position for it in filters.list()} == {CPU: -1, MEMORY: 0, OVERLOADED: 1}


@check
def only_one_filter_is_first(site):
    filters = site.policy("year").filters_service()
    swap = unit("43b9e654-337f-4b0d-a896-cbb22ce5a7fc")
    refused(lambda: filters.add(types.Filter(scheduling_policy_unit=swap, position=-1)), 400)
    filters.filter_service(CPU).remove()
    added = filters.add(types.Filter(scheduling_policy_unit=swap, position=-1))
    assert added.position == -1
    filters.filter_service(swap.id).remove()
    filters.add(types.Filter(scheduling_policy_unit=unit(CPU), position=-1))


@check
def weights_have_factors(site):
    weights = site.policy("year").weights_service()
    weights.add(types.Weight(scheduling_policy_unit=unit(EVEN_CPU), factor=3))
    weights.add(types.Weight(scheduling_policy_unit=unit(EVEN_GUESTS)))
    assert {it.id: it.factor for it in weights.list()} == {EVEN_CPU: 3, EVEN_GUESTS: 1}
    refused(
        lambda: weights.add(types.Weight(scheduling_policy_unit=unit(CPU), factor=1)), 400
    )


@check
def a_policy_has_one_balance(site):
    balances = site.policy("year").balances_service()
    balances.add(types.Balance(scheduling_policy_unit=unit(BALANCE)))
    assert [it.id for it in balances.list()] == [BALANCE]
    assert balances.balance_service(BALANCE).get().id == BALANCE


@check
def properties_match_their_expressions(site):
    one = site.policy("year")
    one.update(types.SchedulingPolicy(properties=properties(HighUtilization="75")))
    assert of(one.get()) == {"HighUtilization": "75"}
    for name, value in [
        ("HighUtilization", "100"),
        ("HighUtilization", "seventy"),
        ("CpuOverCommitDurationMinutes", "0"),
        ("NoSuchProperty", "1"),
        ("LowUtilization", "10"),
    ]:
        wanted = types.SchedulingPolicy(properties=properties(**{name: value}))
        refused(lambda wanted=wanted: one.update(wanted), 400)
    assert of(one.get()) == {"HighUtilization": "75"}


@check
def everything_of_a_policy_is_followed(site):
    shown = site.policy("year").get(follow="filters,weights,balances")
    assert len(shown.filters) == 3 and len(shown.weight) == 2 and len(shown.balances) == 1
    listed = site.policies.list(follow="filters", max=3)
    assert len(listed) == 3


@check
def a_policy_is_renamed(site):
    one = site.policy("year")
    one.update(types.SchedulingPolicy(name="the year", description="other"))
    assert site.policy("the year").get().description == "other"
    one.update(types.SchedulingPolicy(name="year"))
    assert of(one.get()) == {"HighUtilization": "75"}


@check
def policies_of_the_engine_are_locked(site):
    for name in ["none", "power_saving", "cluster_maintenance"]:
        one = site.policy(name)
        assert one.get().locked
        refused(lambda one=one: one.update(types.SchedulingPolicy(name="mine")), 400)
        refused(one.remove, 400)
        refused(lambda one=one: one.filters_service().filter_service(CPU).remove(), 400)


@check
def unknown_ids_are_not_found(site):
    for service in [
        site.policies.policy_service(UNKNOWN),
        site.units.unit_service(UNKNOWN),
        site.clusters.cluster_service(UNKNOWN),
        site.hosts.host_service(UNKNOWN),
        site.vms.vm_service(UNKNOWN),
        site.labels.label_service(UNKNOWN),
        site.jobs.job_service(UNKNOWN),
        site.groups().group_service(UNKNOWN),
    ]:
        refused(service.get, 404, sdk.NotFoundError)


# Clusters.


@check
def a_cluster_gets_the_policy(site):
    policy = site.policy("year").get()
    cluster = site.cluster()
    cluster.update(types.Cluster(scheduling_policy=types.SchedulingPolicy(id=policy.id)))
    now = cluster.get()
    assert now.scheduling_policy.id == policy.id
    assert of_cluster(now)["HighUtilization"] == "75"


def of_cluster(cluster):
    return {it.name: it.value for it in cluster.custom_scheduling_policy_properties}


@check
def a_cluster_sets_a_property_otherwise(site):
    cluster = site.cluster()
    wanted = properties(HighUtilization="65")
    cluster.update(types.Cluster(custom_scheduling_policy_properties=wanted))
    assert of_cluster(cluster.get())["HighUtilization"] == "65"
    assert of(site.policy("year").get())["HighUtilization"] == "75"


@check
def a_change_of_the_policy_reaches_the_cluster(site):
    cluster = site.cluster()
    one = site.policy("year")
    wanted = properties(HighUtilization="75", CpuOverCommitDurationMinutes="4")
    one.update(types.SchedulingPolicy(properties=wanted))
    now = of_cluster(cluster.get())
    assert now == {"HighUtilization": "65", "CpuOverCommitDurationMinutes": "4"}, now


@check
def the_policy_links_its_clusters_and_stays_while_they_use_it(site):
    said = refused(site.policy("year").remove, 409)
    assert "Default" in said, said


@check
def what_is_no_scheduling_cannot_be_changed(site):
    cluster = site.cluster()
    refused(lambda: cluster.update(types.Cluster(name="other")), 400)
    refused(lambda: cluster.update(types.Cluster(ballooning_enabled=True)), 400)
    unknown = types.SchedulingPolicy(id=UNKNOWN)
    refused(lambda: cluster.update(types.Cluster(scheduling_policy=unknown)), 400)


@check
def clusters_are_searched(site):
    assert len(site.clusters.list(search="name=Def*")) == 1
    assert site.clusters.list(search="name=other or name=another") == []
    refused(lambda: site.clusters.list(search="colour=red"), 400)


@check
def an_upgrade_says_how_far_it_is(site):
    cluster = site.cluster()
    start = types.ClusterUpgradeAction.START
    cluster.upgrade(upgrade_action=start)
    assert cluster.get().upgrade_in_progress
    refused(lambda: cluster.upgrade(upgrade_action=start), 409)
    cluster.upgrade(
        upgrade_action=types.ClusterUpgradeAction.UPDATE_PROGRESS, upgrade_percent_complete=40
    )
    assert cluster.get().upgrade_percent_complete == 40
    cluster.upgrade(upgrade_action=types.ClusterUpgradeAction.FINISH)
    assert not cluster.get().upgrade_in_progress


# Hosts and VMs.


@check
def hosts_say_what_they_are(site):
    host = site.host("h1")
    assert host.status == types.HostStatus.UP and host.memory == 64 << 30
    assert host.numa_supported and host.cpu.topology.threads == 2
    assert host.max_scheduling_memory < host.memory


@check
def hosts_have_interfaces_and_nodes(site):
    service = site.hosts.host_service(site.host("h1").id)
    nics = service.nics_service().list()
    assert [it.name for it in nics] == ["lan"]
    assert service.nics_service().nic_service(nics[0].id).get().name == "lan"
    nodes = service.numa_nodes_service().list()
    assert [(it.index, it.memory) for it in nodes] == [(0, 32768), (1, 32768)]
    assert [it.name for it in service.tags_service().list()] == ["rack=h1"]


@check
def statistics_are_followed(site):
    host = site.hosts.list(search="name=h1", follow="statistics,nics")[0]
    by_name = {it.name: it.values[0].datum for it in host.statistics}
    assert by_name["memory.free"] == 60 << 30, by_name
    assert [it.name for it in host.nics] == ["lan"]
    one = site.hosts.host_service(host.id).statistics_service()
    first = one.list()[0]
    assert one.statistic_service(first.id).get().name == first.name


@check
def links_are_followed(site):
    host = site.host("h1")
    assert site.connection.follow_link(host.cluster).name == "Default"
    assert len(site.connection.follow_link(host.nics)) == 1
    vm = site.vm("web1")
    assert site.connection.follow_link(vm.host).name == "h1"
    assert site.connection.follow_link(site.connection.follow_link(vm.cluster).scheduling_policy)


@check
def vms_have_what_clients_read(site):
    vm = site.vm("web1")
    service = site.vms.vm_service(vm.id)
    nics = service.nics_service().list()
    assert [(it.name, it.plugged) for it in nics] == [("nic1", True), ("nic2", False)]
    assert service.numa_nodes_service().list() == []
    assert service.disk_attachments_service().list() == []
    assert service.tags_service().list() == []
    names = {it.name for it in service.statistics_service().list()}
    assert {"memory.installed", "cpu.current.total", "migration.progress"} <= names, names


@check
def vms_are_searched_as_scripts_do(site):
    names = lambda search: sorted(it.name for it in site.vms.list(search=search))
    assert names("cluster=Default and host=h1 and status=up") == ["web1", "web2"]
    assert names("name=web1 or name=db") == ["db", "web1"]
    assert names("host=h1 sortby name desc page 1") == ["web1", "web2"]
    assert names("page 2") == []
    assert len(site.vms.list(max=1)) == 1
    refused(lambda: site.vms.list(search="disks=3"), 400)


# Labels.


@check
def a_label_is_made(site):
    made = site.labels.add(types.AffinityLabel(name="licensed"))
    assert made.id and made.name == "licensed" and not made.has_implicit_affinity_group
    assert site.connection.follow_link(made.vms) == []
    assert site.connection.follow_link(made.hosts) == []
    refused(lambda: site.labels.add(types.AffinityLabel(name="licensed")), 409)
    refused(lambda: site.labels.add(types.AffinityLabel()), 400)


@check
def a_label_has_hosts_and_vms(site):
    label = site.label("licensed")
    label.hosts_service().add(types.Host(id=site.host("h2").id))
    label.vms_service().add(types.Vm(id=site.vm("web1").id))
    label.vms_service().add(types.Vm(id=site.vm("web2").id))
    assert [it.name for it in label.hosts_service().list()] == ["h2"]
    assert sorted(it.name for it in label.vms_service().list()) == ["web1", "web2"]
    one = label.vms_service().vm_service(site.vm("web1").id).get()
    assert one.id == site.vm("web1").id
    refused(lambda: label.hosts_service().add(types.Host(id=UNKNOWN)), 404, sdk.NotFoundError)


@check
def labels_are_assigned_from_the_other_side(site):
    service = site.vms.vm_service(site.vm("db").id).affinity_labels_service()
    assert service.list() == []
    service.add(types.AffinityLabel(id=site.label("licensed").get().id))
    assert [it.name for it in service.list()] == ["licensed"]
    service.label_service(site.label("licensed").get().id).remove()
    assert service.list() == []
    of_host = site.hosts.host_service(site.host("h2").id).affinity_labels_service()
    assert [it.name for it in of_host.list()] == ["licensed"]
    followed = site.labels.list(follow="hosts,vms")[0]
    assert len(followed.hosts) == 1 and len(followed.vms) == 2


@check
def groups_take_labels_in(site):
    label = site.label("licensed").get()
    made = site.groups().add(
        types.AffinityGroup(
            name="licence",
            description="where the licence is",
            vms_rule=types.AffinityRule(enabled=False),
            hosts_rule=types.AffinityRule(enabled=True, positive=True, enforcing=True),
            vm_labels=[types.AffinityLabel(id=label.id)],
            host_labels=[types.AffinityLabel(id=label.id)],
            priority=3.5,
        )
    )
    assert made.description == "where the licence is" and made.priority == 3.5
    assert [it.id for it in made.vm_labels] == [label.id]
    assert [it.id for it in made.host_labels] == [label.id]
    assert made.vms == [] and made.hosts == []
    # The VMs of the label run on h1, and the label's host is h2.
    assert made.broken
    targets = site.hosts.list(migration_target_of=site.vm("web1").id)
    assert [it.name for it in targets] == ["h2"], [it.name for it in targets]


@check
def labels_of_a_group_come_and_go(site):
    group = site.group("licence")
    label = site.label("licensed").get()
    group.host_labels_service().label_service(label.id).remove()
    assert group.host_labels_service().list() == []
    assert group.get().host_labels == []
    group.host_labels_service().add(types.AffinityLabel(id=label.id))
    assert [it.name for it in group.host_labels_service().list()] == ["licensed"]
    assert [it.name for it in group.vm_labels_service().list()] == ["licensed"]


@check
def a_label_that_is_used_may_go(site):
    site.label("licensed").remove()
    assert site.labels.list() == []
    now = site.group("licence").get()
    assert now.vm_labels == [] and now.host_labels == [] and not now.broken
    site.group("licence").remove()


@check
def a_label_is_renamed(site):
    made = site.labels.add(types.AffinityLabel(name="old"))
    one = site.labels.label_service(made.id)
    one.update(types.AffinityLabel(name="new"))
    assert one.get().name == "new" and [it.name for it in site.labels.list()] == ["new"]
    one.remove()
    refused(one.get, 404, sdk.NotFoundError)


# Groups.


@check
def a_group_keeps_vms_apart(site):
    made = site.groups().add(
        types.AffinityGroup(
            name="apart",
            vms_rule=types.AffinityRule(enabled=True, positive=False, enforcing=True),
        )
    )
    group = site.groups().group_service(made.id)
    for name in ["web1", "web2"]:
        group.vms_service().add(types.Vm(id=site.vm(name).id))
    assert group.get().broken and group.get().positive is False
    refused(lambda: site.groups().add(types.AffinityGroup(name="apart", positive=True)), 409)


@check
def a_group_is_renamed_and_described(site):
    group = site.group("apart")
    before = group.get()
    group.update(types.AffinityGroup(name="web apart", description="one each"))
    now = site.group("web apart").get()
    assert (now.id, now.description) == (before.id, "one each")
    assert len(now.vms) == 2 and now.vms_rule.enforcing and not now.vms_rule.positive
    refused(lambda: group.update(types.AffinityGroup(priority=1.0, name="")), 400)


@check
def priorities_are_decimal(site):
    group = site.group("web apart")
    group.update(types.AffinityGroup(priority=0.25))
    assert group.get().priority == 0.25
    group.update(types.AffinityGroup(description="still"))
    assert group.get().priority == 0.25


@check
def a_soft_rule_is_made_of_a_hard_one(site):
    group = site.group("web apart")
    group.update(types.AffinityGroup(enforcing=False))
    now = group.get()
    assert not now.enforcing and not now.vms_rule.enforcing and now.vms_rule.enabled
    group.update(types.AffinityGroup(vms_rule=types.AffinityRule(enabled=False)))
    assert not group.get().vms_rule.enabled and not group.get().broken


@check
def a_group_loses_its_members_and_ends(site):
    group = site.group("web apart")
    group.vms_service().vm_service(site.vm("web1").id).remove()
    assert [it.id for it in group.vms_service().list()] == [site.vm("web2").id]
    group.remove()
    assert site.groups().list() == []


# Events and jobs.


@check
def events_are_noted_and_followed(site):
    last = max([it.index for it in site.events.list()], default=0)
    site.events.add(
        types.Event(
            description="the year begins",
            severity=types.LogSeverity.WARNING,
            origin="administration",
            custom_id=1,
            cluster=types.Cluster(id=site.cluster().get().id),
        )
    )
    new = site.events.list(from_=last)
    assert [it.severity for it in new] == [types.LogSeverity.WARNING]
    assert "the year begins" in new[0].description and new[0].index > last
    assert site.events.event_service(new[0].id).get().time
    assert site.events.list(from_=new[0].index) == []
    assert len(site.events.list(search="severity=warning", max=1)) == 1
    refused(lambda: site.events.add(types.Event(description="no origin")), 400)


@check
def jobs_have_steps_and_end(site):
    job = site.jobs.add(
        types.Job(
            description="the work",
            status=types.JobStatus.STARTED,
            external=True,
            auto_cleared=True,
        )
    )
    one = site.jobs.job_service(job.id)
    step = one.steps_service().add(
        types.Step(
            description="first",
            type=types.StepEnum.EXECUTING,
            status=types.StepStatus.STARTED,
            external=True,
            job=types.Job(id=job.id),
        )
    )
    one.steps_service().step_service(step.id).end(succeeded=True)
    assert one.steps_service().list()[0].status == types.StepStatus.FINISHED
    one.end(succeeded=False)
    assert one.get().status == types.JobStatus.FAILED
    one.clear()
    refused(one.get, 404, sdk.NotFoundError)


@check
def a_migration_is_refused_where_it_cannot_go(site):
    one = site.vms.vm_service(site.vm("db").id)
    refused(lambda: one.migrate(host=types.Host(name="h3")), 400)
    refused(lambda: one.migrate(host=types.Host(name="nothing")), 400)
    assert one.get().status == types.VmStatus.UP


@check
def a_migration_is_followed_by_its_job(site):
    one = site.vms.vm_service(site.vm("db").id)
    one.migrate(host=types.Host(name="h1"), query={"correlation_id": "move-db"})
    jobs = site.jobs.list(search="correlation_id=move-db")
    assert [it.status for it in jobs] == [types.JobStatus.STARTED], jobs
    assert one.get().status == types.VmStatus.MIGRATING


# The end of the year.


@check
def unknown_parameters_and_paths_are_faults(site):
    refused(lambda: site.policies.list(query={"colour": "red"}), 400)
    refused(lambda: site.system.disks_service().list(), 404, sdk.NotFoundError)


@check
def the_policy_is_taken_apart_and_ends(site):
    none = site.policy("none").get()
    site.cluster().update(types.Cluster(scheduling_policy=types.SchedulingPolicy(name="none")))
    assert site.cluster().get().scheduling_policy.id == none.id
    one = site.policy("year")
    one.update(types.SchedulingPolicy(properties=[]))
    one.balances_service().balance_service(BALANCE).remove()
    for filter_ in one.filters_service().list():
        one.filters_service().filter_service(filter_.id).remove()
    for weight in one.weights_service().list():
        one.weights_service().weight_service(weight.id).remove()
    assert one.filters_service().list() == [] and one.weights_service().list() == []
    one.remove()
    refused(one.get, 404, sdk.NotFoundError)


def main():
    failed = 0
    connection = connect()
    site = Site(connection)
    for function in CHECKS:
        try:
            function(site)
            print(f"ok {function.__name__}")
        except Exception as error:  # Told, and the others tried.
            import traceback

            traceback.print_exc()
            print(f"failed {function.__name__}: {error!r}")
            failed += 1
    connection.close()
    sys.exit(1 if failed else 0)


main()
