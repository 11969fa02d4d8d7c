"""A function for each operation of the server. It makes a call, which a client carries out."""

# Made by clients/python/generate of the OpenAPI document; do not change it by hand.


from typing import Literal

from . import types
from ._call import Call, PageCall, StreamCall, new_key


def get_metrics() -> Call[str]:
    """All metrics, as text in the format of OpenMetrics; in the older text format of Prometheus for
    who accepts `text/plain` and not OpenMetrics. A cluster that is out of service has none of
    what its hosts have."""
    return Call('GET', ['metrics'])


def list_audit_records(*, limit: int | None = None, after: str | None = None, kind: Literal['call', 'refusal', 'event', 'server', 'log'] | None = None, by: str | None = None, action: str | None = None, cluster: str | None = None, result: Literal['done', 'refused', 'failed', 'unanswered'] | None = None, status: int | None = None, text: str | None = None, since: str | None = None, until: str | None = None) -> Call[types.AuditPage]:
    """The records of the audit log, the newest first: who changed what, from where, what came of it,
    and who was refused. A page looks at some megabytes of the log, so that with filters it may
    have fewer records than were asked for, or none, although it has a `next`. Where records were
    lost, or are not as they were written, `gaps` says so. `placewright audit verify` checks the
    files as a whole. A server whose audit log is no file of its own has nothing to read."""
    return Call('GET', ['v1', 'audit'], query={'limit': limit, 'after': after, 'kind': kind, 'by': by, 'action': action, 'cluster': cluster, 'result': result, 'status': status, 'text': text, 'since': since, 'until': until})


def create_backup() -> Call[bytes]:
    """A copy of what is stored, as it is at one moment; decisions go on meanwhile. It is a database
    that `placewright restore` puts into a folder of data. It holds clusters with their VMs,
    reservations, plans and recorded decisions, policies with their revisions, and the components
    of units; not the configuration, certificates and keys, the audit log, and the files in the
    watched folders."""
    return Call('POST', ['v1', 'backup'])


def list_clusters(*, limit: int | None = None, after: str | None = None) -> PageCall[types.ClusterPage, types.Cluster]:
    """The clusters that the token is for, by name."""
    return PageCall('GET', ['v1', 'clusters'], query={'limit': limit, 'after': after})


def create_cluster(body: types.ClusterDocument, *, policy: str | None = None, idempotency_key: str | None = None) -> Call[types.ClusterWithUnheeded]:
    """Make a cluster of a document: its name, hosts, VMs, groups and attributes."""
    return Call('POST', ['v1', 'clusters'], json=body, query={'policy': policy}, key=idempotency_key or new_key())


def delete_cluster(cluster: str) -> Call[None]:
    """Take a cluster out, with everything of it."""
    return Call('DELETE', ['v1', 'clusters', cluster])


def get_cluster(cluster: str) -> Call[types.Cluster]:
    """A cluster."""
    return Call('GET', ['v1', 'clusters', cluster])


def cancel_vms(cluster: str, body: types.VmReferences, *, idempotency_key: str | None = None) -> Call[None]:
    """Places that were reserved for VMs are given back: all of them, or nothing is changed.
    This can be repeated: for a VM whose place has ended already nothing changes. A VM that
    runs without a place reserved is a conflict."""
    return Call('POST', ['v1', 'clusters', cluster, 'cancel'], json=body, key=idempotency_key or new_key())


def ask_capacity(cluster: str, body: types.OneRequest, *, at_most: int | None = None) -> Call[types.Capacity]:
    """How many more VMs of this shape fit."""
    return Call('POST', ['v1', 'clusters', cluster, 'capacity'], json=body, query={'at-most': at_most})


def confirm_vms(cluster: str, body: types.ConfirmedVms, *, idempotency_key: str | None = None) -> Call[None]:
    """VMs run where their places were reserved: all of them, or nothing is changed. This can
    be repeated: for a VM that runs there already nothing changes. A place that has ended in
    the meantime, or is on another host than the one that is named, is a conflict."""
    return Call('POST', ['v1', 'clusters', cluster, 'confirm'], json=body, key=idempotency_key or new_key())


def list_decisions(cluster: str, *, limit: int | None = None, after: str | None = None, vm: str | None = None, host: str | None = None, placed: bool | None = None, text: str | None = None) -> PageCall[types.RecordedDecisionPage, types.RecordedDecision]:
    """The decisions that are recorded, the newest first. Where they are large, a page has fewer. So
    it
    has where few are wanted: it looks through 10,000 at most, and the next one goes on."""
    return PageCall('GET', ['v1', 'clusters', cluster, 'decisions'], query={'limit': limit, 'after': after, 'vm': vm, 'host': host, 'placed': placed, 'text': text})


def get_decision(cluster: str, number: int, *, runners_up: int | None = None) -> Call[types.RecordedDecision]:
    """A decision as it was recorded."""
    return Call('GET', ['v1', 'clusters', cluster, 'decisions', number], query={'runners-up': runners_up})


def explain_decision(cluster: str, number: int, *, policy: str | None = None) -> Call[types.Explanation]:
    """Why there, and why not elsewhere: the decision's chain is run again on the inventory
    of then, and tells of every host why it was removed or what it cost."""
    return Call('GET', ['v1', 'clusters', cluster, 'decisions', number, 'explanation'], query={'policy': policy})


def replay_decision(cluster: str, number: int) -> Call[types.ReplayedDecision]:
    """Decide again, by the units of then on the inventory of then."""
    return Call('POST', ['v1', 'clusters', cluster, 'decisions', number, 'replay'])


def ask_why_of_decision(cluster: str, number: int, *, host: str | None = None, policy: str | None = None) -> Call[types.Why]:
    """Why the VMs of a decision did not go to a host: on the inventory of then, the filter that kept
    them off and the smallest changes of the request or the host that would have let it through,
    or how much worse it was than the chosen one."""
    return Call('GET', ['v1', 'clusters', cluster, 'decisions', number, 'why'], query={'host': host, 'policy': policy})


def ask_draft(cluster: str, body: types.PolicyDocument, *, policy: str | None = None, decisions: int | None = None, examples: int | None = None, shares_of: int | None = None, in_sequence: bool | None = None, idempotency_key: str | None = None) -> Call[types.DraftReplayed]:
    """Make recorded decisions of a cluster again under a policy that is not saved: how many would
    have another outcome, which, through which entry of the policy, and how many fall on each
    host. Each decision is made again by itself, on the inventory of then, or on what those before
    it have come to (`in-sequence`). Nothing is changed."""
    return Call('POST', ['v1', 'clusters', cluster, 'draft'], json=body, query={'policy': policy, 'decisions': decisions, 'examples': examples, 'shares-of': shares_of, 'in-sequence': in_sequence}, key=idempotency_key or new_key())


def evacuate_hosts(cluster: str, body: types.Evacuation, *, dry_run: bool | None = None, idempotency_key: str | None = None) -> Call[types.Plan]:
    """Plan how hosts are emptied: none of them takes a VM, and every VM that runs there is placed
    by the policy, one on top of the other. Nothing is begun; the plan says what cannot go, and
    why. A dry run is not kept, and has no number."""
    return Call('POST', ['v1', 'clusters', cluster, 'evacuate'], json=body, query={'dry-run': dry_run}, key=idempotency_key or new_key())


def list_group_standings(cluster: str, *, limit: int | None = None, after: str | None = None, kept: bool | None = None, hard: bool | None = None, vm: str | None = None, text: str | None = None) -> PageCall[types.GroupStandingPage, types.GroupStanding]:
    """Of the groups of a cluster, by id: whether they are kept by where their VMs are, and which
    VMs break them. Of the VMs of a group the first ones are named, and all are counted."""
    return PageCall('GET', ['v1', 'clusters', cluster, 'group-standings'], query={'limit': limit, 'after': after, 'kept': kept, 'hard': hard, 'vm': vm, 'text': text})


def list_groups(cluster: str, *, limit: int | None = None, after: str | None = None, vm: str | None = None, host: str | None = None, text: str | None = None) -> PageCall[types.GroupPage, types.Group]:
    """The affinity groups of a cluster, by id."""
    return PageCall('GET', ['v1', 'clusters', cluster, 'groups'], query={'limit': limit, 'after': after, 'vm': vm, 'host': host, 'text': text})


def delete_group(cluster: str, group: str, *, if_match: str | None = None) -> Call[None]:
    """Remove an affinity group from the cluster."""
    return Call('DELETE', ['v1', 'clusters', cluster, 'groups', group], headers={'If-Match': if_match})


def get_group(cluster: str, group: str) -> Call[types.Group]:
    """An affinity group: its members and its rules."""
    return Call('GET', ['v1', 'clusters', cluster, 'groups', group])


def patch_group(cluster: str, group: str, body: types.GroupPatch, *, if_match: str | None = None) -> Call[types.Group]:
    """Change an affinity group: `add-vms`, `remove-vms`, `add-hosts` and `remove-hosts` change some
    members, `vms` and `hosts` replace all; null removes a rule or all members, everything else
    stays."""
    return Call('PATCH', ['v1', 'clusters', cluster, 'groups', group], json=body, headers={'If-Match': if_match})


def put_group(cluster: str, group: str, body: types.GroupBody, *, if_match: str | None = None, if_none_match: str | None = None) -> Call[types.Group]:
    """Add an affinity group, or replace its document."""
    return Call('PUT', ['v1', 'clusters', cluster, 'groups', group], json=body, headers={'If-Match': if_match, 'If-None-Match': if_none_match})


def delete_group_host(cluster: str, group: str, host: str, *, if_match: str | None = None) -> Call[types.Group]:
    """Take a host out of an affinity group. If it is not in it, nothing changes."""
    return Call('DELETE', ['v1', 'clusters', cluster, 'groups', group, 'hosts', host], headers={'If-Match': if_match})


def put_group_host(cluster: str, group: str, host: str, *, if_match: str | None = None) -> Call[types.Group]:
    """Add a host to an affinity group. One that is in it already stays."""
    return Call('PUT', ['v1', 'clusters', cluster, 'groups', group, 'hosts', host], headers={'If-Match': if_match})


def delete_group_vm(cluster: str, group: str, vm: str, *, if_match: str | None = None) -> Call[types.Group]:
    """Take a VM out of an affinity group. If it is not in it, nothing changes."""
    return Call('DELETE', ['v1', 'clusters', cluster, 'groups', group, 'vms', vm], headers={'If-Match': if_match})


def put_group_vm(cluster: str, group: str, vm: str, *, if_match: str | None = None) -> Call[types.Group]:
    """Add a VM to an affinity group, whether it runs or not. One that is in it already stays."""
    return Call('PUT', ['v1', 'clusters', cluster, 'groups', group, 'vms', vm], headers={'If-Match': if_match})


def get_history(cluster: str, *, since: str | None = None) -> Call[types.ClusterHistory]:
    """What happened to a cluster, as far as it is recorded: its document when a decision was made,
    and events from then on, as `placewright simulate` reads them. Of what happened between two
    decisions it is told as of the later one."""
    return Call('GET', ['v1', 'clusters', cluster, 'history'], query={'since': since})


def get_host_columns(cluster: str, *, columns: str | None = None) -> Call[types.HostColumns]:
    """Columns of all hosts, in the order of the hosts' ids: a fraction of what the rows take."""
    return Call('GET', ['v1', 'clusters', cluster, 'host-columns'], query={'columns': columns})


def ask_host_costs(cluster: str, body: types.OneRequest, *, policy: str | None = None) -> Call[types.HostCosts]:
    """What a VM would cost on every host, tier by tier, and which entry of the policy removes the
    others: under the policy of the cluster, or under another one that need not decide anywhere.
    Nothing is changed."""
    return Call('POST', ['v1', 'clusters', cluster, 'host-costs'], json=body, query={'policy': policy})


def get_host_schema(cluster: str) -> Call[types.HostSchema]:
    """The columns that hosts of a cluster may have, attributes of the cluster included: what kind of
    values they have, in what these are measured, and what they mean."""
    return Call('GET', ['v1', 'clusters', cluster, 'host-schema'])


def list_hosts(cluster: str, *, limit: int | None = None, after: str | None = None, state: Literal['up', 'maintenance', 'down', 'error'] | None = None, zone: str | None = None, group: str | None = None, text: str | None = None, sort: str | None = None, attribute: list[str] | None = None) -> PageCall[types.HostPage, types.Host]:
    """The hosts of a cluster, by id or in the order that is asked for."""
    return PageCall('GET', ['v1', 'clusters', cluster, 'hosts'], query={'limit': limit, 'after': after, 'state': state, 'zone': zone, 'group': group, 'text': text, 'sort': sort, 'attribute': attribute})


def delete_host(cluster: str, host: str, *, if_match: str | None = None) -> Call[None]:
    """Remove a host from the cluster. A host that still has VMs is a conflict."""
    return Call('DELETE', ['v1', 'clusters', cluster, 'hosts', host], headers={'If-Match': if_match})


def get_host(cluster: str, host: str) -> Call[types.Host]:
    """A host: its document, sums over its VMs, and a list of them. Its ETag changes with the
    document, not with statistics."""
    return Call('GET', ['v1', 'clusters', cluster, 'hosts', host])


def patch_host(cluster: str, host: str, body: types.HostPatch, *, if_match: str | None = None) -> Call[types.Host]:
    """Change some values of a host; null removes a value, everything else stays."""
    return Call('PATCH', ['v1', 'clusters', cluster, 'hosts', host], json=body, headers={'If-Match': if_match})


def put_host(cluster: str, host: str, body: types.HostBody, *, if_match: str | None = None, if_none_match: str | None = None) -> Call[types.Host]:
    """Add a host, or replace its document. Statistics stay. Columns that the server computes,
    `statistics` and `vms` may stand in the document as they were read: they change nothing."""
    return Call('PUT', ['v1', 'clusters', cluster, 'hosts', host], json=body, headers={'If-Match': if_match, 'If-None-Match': if_none_match})


def get_inventory(cluster: str) -> Call[types.ClusterDocument]:
    """The whole cluster as a document. Its ETag is another one after every change of the
    inventory, statistics included. Put again, the document changes nothing."""
    return Call('GET', ['v1', 'clusters', cluster, 'inventory'])


def put_inventory(cluster: str, body: types.ClusterDocument, *, vanishing_hosts: int | None = None, vanishing_vms: int | None = None, if_match: str | None = None) -> Call[types.InventoryChanged]:
    """Put a document in the place of the whole inventory. Places that decisions have
    reserved and the document does not speak of are kept, and of those that it has as they
    were, their ends and what goes with them. If-Match names the inventory that was read: it is
    only put if that has not changed since. A document that lacks many of the hosts or VMs is
    refused unless the request says how many."""
    return Call('PUT', ['v1', 'clusters', cluster, 'inventory'], json=body, query={'vanishing-hosts': vanishing_hosts, 'vanishing-vms': vanishing_vms}, headers={'If-Match': if_match})


def change_inventory(cluster: str, body: types.InventoryChanges, *, if_match: str | None = None, idempotency_key: str | None = None) -> Call[types.InventoryChanged]:
    """Carry out changes, all of them or none: hosts, VMs, tenants and groups that are new
    or different, attributes that are added, statistics, and what is gone. Of what is known
    already only what is given changes, and null takes a value away. Of a group, `add-vms`,
    `remove-vms`, `add-hosts` and `remove-hosts` change some members, `vms` and `hosts` give
    all. Statistics may say when they were `measured`. With `"missing": "ignore"`, entries
    about hosts and VMs that are not there are passed over, and the answer has a result for
    each entry. With If-Match nothing is changed unless the inventory is as it was read."""
    return Call('POST', ['v1', 'clusters', cluster, 'inventory', 'changes'], json=body, headers={'If-Match': if_match}, key=idempotency_key or new_key())


def follow_inventory(cluster: str, *, after: int | None = None, kind: list[Literal['hosts', 'vms', 'groups', 'tenants']] | None = None) -> StreamCall[types.InventoryEvent]:
    """What changes in a cluster's inventory, as it changes. Events are called `hosts`, `vms`,
    `groups` and `tenants`; each has the version that it leads to, the `items` that are new or
    different, whole, and the ids of those that are `gone`. First comes `begin` with the version
    that the stream begins after, unless `after` or a header Last-Event-ID gives it. Where that
    is not remembered, too much has changed at once, or the columns of the cluster have become
    others, `reset` comes: read the inventory anew and go on. Changes within 200 ms come
    together, and within a second where thousands follow. The stream ends with the cluster, and
    when
    the token is taken away or gets another role or other clusters. It is compressed, event by
    event, for clients that accept gzip. A host comes when something that is given or measured of
    it
    changes; what its VMs take follows from them."""
    return StreamCall('GET', ['v1', 'clusters', cluster, 'inventory', 'follow'], query={'after': after, 'kind': kind})


def migrate_vm(cluster: str, body: types.OneRequest, *, wait: float | None = None, dry_run: bool | None = None, all_or_nothing: bool | None = None, idempotency_key: str | None = None) -> Call[types.Placement]:
    """Decide where VMs that run are to be moved, other than where they are, and reserve
    their places."""
    return Call('POST', ['v1', 'clusters', cluster, 'migrate'], json=body, query={'wait': wait, 'dry-run': dry_run, 'all-or-nothing': all_or_nothing}, key=idempotency_key or new_key())


def place_vm(cluster: str, body: types.OneRequest, *, wait: float | None = None, dry_run: bool | None = None, all_or_nothing: bool | None = None, idempotency_key: str | None = None) -> Call[types.Placement]:
    """Decide where a VM, or VMs that go together, run, and reserve their places until
    "expires"; "reserve-for" in the request says for how many seconds. Without a host the
    decision says why. A VM that runs is a conflict, unless its host is down or in error or
    the request says "again": true. "force" names the host without asking any unit; it needs
    the role admin. With a header Idempotency-Key the same request gets the
    same answer again, also after a restart, for 24 hours or until there are too many of them
    (`answer-bytes`); once the places are no longer held, it says
    under "reservation" what has become of them: confirmed, expired, released, or ended if
    that is all that is known. A dry run leaves nothing behind, and is tried anew."""
    return Call('POST', ['v1', 'clusters', cluster, 'place'], json=body, query={'wait': wait, 'dry-run': dry_run, 'all-or-nothing': all_or_nothing}, key=idempotency_key or new_key())


def place_batch(cluster: str, body: types.Requests, *, all_or_nothing: bool | None = None, listed: bool | None = None, dry_run: bool | None = None, from_nothing: bool | None = None, search: int | None = None, idempotency_key: str | None = None) -> Call[types.BatchPlacement]:
    """Place many VMs, each seeing the ones before it, in the order that the policy gives. VMs
    of one request go on one host, and so do those that hard groups keep together while a host
    takes
    them all: they are placed in one decision. The VMs may belong to
    several tenants: each is placed for its own. VMs that run are a conflict, as for one VM, unless
    the plan is made from nothing.
    A plan from nothing reserves the places that the policy gives as things are, with the VMs of
    the plan where they still run; a decision of which the place is not reserved says why under
    `warnings`. With a
    header Idempotency-Key the same request gets the same answer again, as for one VM. What
    takes longer than a turn of a cluster may (`turn-time`) ends with what is decided by then,
    and the answer says so under `ended-early` and `undecided`; so does a dry run of the role
    viewer
    that has taken a second, once others wait for a turn."""
    return Call('POST', ['v1', 'clusters', cluster, 'place-batch'], json=body, query={'all-or-nothing': all_or_nothing, 'listed': listed, 'dry-run': dry_run, 'from-nothing': from_nothing, 'search': search}, key=idempotency_key or new_key())


def list_plans(cluster: str, *, limit: int | None = None, after: str | None = None) -> PageCall[types.PlanPage, types.Plan]:
    """The plans that are remembered, oldest first."""
    return PageCall('GET', ['v1', 'clusters', cluster, 'plans'], query={'limit': limit, 'after': after})


def create_plan(cluster: str, body: types.PlanRequest, *, dry_run: bool | None = None, idempotency_key: str | None = None) -> Call[types.Plan]:
    """Plan moves: first of VMs on hosts that are in maintenance, down or faulty, of VMs that break
    hard groups, and off hosts that have promised more than they may; then those that the policy's
    balance unit proposes, that its chain would make, and that lower its cost. Nothing is begun.
    A dry run is not kept, and has no number."""
    return Call('POST', ['v1', 'clusters', cluster, 'plans'], json=body, query={'dry-run': dry_run}, key=idempotency_key or new_key())


def get_plan(cluster: str, number: int) -> Call[types.Plan]:
    """A plan."""
    return Call('GET', ['v1', 'clusters', cluster, 'plans', number])


def begin_plan(cluster: str, number: int, body: types.PlanBegin | None = None, *, idempotency_key: str | None = None) -> Call[types.Plan]:
    """Begin moves of a plan: all in order, or those that are named, as many as may be under way at
    once. Each is held against the policy as things are, its place is reserved, and what the
    policy's effects have follow is written. Begin again when they are confirmed, or have the next
    ones begun then by themselves with `auto`. The answer is the plan, in which each move says how
    far it is."""
    return Call('POST', ['v1', 'clusters', cluster, 'plans', number, 'begin'], json=body, key=idempotency_key or new_key())


def cancel_plan(cluster: str, number: int, *, idempotency_key: str | None = None) -> Call[types.Plan]:
    """Give back the places of the moves that were begun and are not confirmed; no more of
    them are begun. The answer is the plan."""
    return Call('POST', ['v1', 'clusters', cluster, 'plans', number, 'cancel'], key=idempotency_key or new_key())


def get_rates(cluster: str) -> Call[types.ClusterRates]:
    """How many decisions a cluster has made in each minute of the last hour, by how they ended, but
    for
    those that were only tried. They are counted from the start of the server on."""
    return Call('GET', ['v1', 'clusters', cluster, 'rates'])


def list_reservations(cluster: str, *, limit: int | None = None, after: str | None = None) -> PageCall[types.ReservationPage, types.Reservation]:
    """The places that are reserved for VMs which do not run there yet, by VM."""
    return PageCall('GET', ['v1', 'clusters', cluster, 'reservations'], query={'limit': limit, 'after': after})


def delete_reservation(cluster: str, vm: str) -> Call[None]:
    """Give the place back that is reserved for a VM. If that has ended already, nothing
    changes; if the VM runs there, that is a conflict."""
    return Call('DELETE', ['v1', 'clusters', cluster, 'reservations', vm])


def get_reservation(cluster: str, vm: str) -> Call[types.Reservation]:
    """The place that is reserved for a VM. If there is none any more, the answer says what
    became of it."""
    return Call('GET', ['v1', 'clusters', cluster, 'reservations', vm])


def renew_reservation(cluster: str, vm: str, body: types.ReservationRenewal | None = None, *, idempotency_key: str | None = None) -> Call[types.Reservation]:
    """Keep a place reserved for longer: as long as usual from now on, or for a duration."""
    return Call('POST', ['v1', 'clusters', cluster, 'reservations', vm, 'renew'], json=body, key=idempotency_key or new_key())


def get_cluster_settings(cluster: str) -> Call[types.ClusterSettings]:
    """How a cluster is set: its policy, and what is different from it there."""
    return Call('GET', ['v1', 'clusters', cluster, 'settings'])


def patch_cluster_settings(cluster: str, body: types.SettingsPatch, *, if_match: str | None = None) -> Call[types.ClusterSettingsWithUnheeded]:
    """Change some of how a cluster is set, by a merge patch after RFC 7396: null takes away what was
    set, everything else stays. What comes of it is checked like settings that are put."""
    return Call('PATCH', ['v1', 'clusters', cluster, 'settings'], json=body, headers={'If-Match': if_match})


def put_cluster_settings(cluster: str, body: types.NewSettings, *, if_match: str | None = None) -> Call[types.ClusterSettingsWithUnheeded]:
    """Attach a policy to a cluster, with what is different there. Without overrides those
    that were set are reset."""
    return Call('PUT', ['v1', 'clusters', cluster, 'settings'], json=body, headers={'If-Match': if_match})


def get_sums(cluster: str) -> Call[types.ClusterSums]:
    """What the hosts of a cluster have together, and what of it is promised: CPU in cores, memory
    in bytes, of the hosts that are up."""
    return Call('GET', ['v1', 'clusters', cluster, 'sums'])


def list_tenants(cluster: str, *, limit: int | None = None, after: str | None = None, text: str | None = None) -> PageCall[types.TenantPage, types.Tenant]:
    """The tenants of a cluster, by id."""
    return PageCall('GET', ['v1', 'clusters', cluster, 'tenants'], query={'limit': limit, 'after': after, 'text': text})


def delete_tenant(cluster: str, tenant: str, *, if_match: str | None = None) -> Call[None]:
    """Remove a tenant from the cluster. VMs may go on naming it."""
    return Call('DELETE', ['v1', 'clusters', cluster, 'tenants', tenant], headers={'If-Match': if_match})


def get_tenant(cluster: str, tenant: str) -> Call[types.Tenant]:
    """A tenant: its document."""
    return Call('GET', ['v1', 'clusters', cluster, 'tenants', tenant])


def patch_tenant(cluster: str, tenant: str, body: types.TenantPatch, *, if_match: str | None = None) -> Call[types.Tenant]:
    """Change some values of a tenant; null removes a value, everything else stays."""
    return Call('PATCH', ['v1', 'clusters', cluster, 'tenants', tenant], json=body, headers={'If-Match': if_match})


def put_tenant(cluster: str, tenant: str, body: types.TenantBody, *, if_match: str | None = None, if_none_match: str | None = None) -> Call[types.Tenant]:
    """Add a tenant, or replace its document."""
    return Call('PUT', ['v1', 'clusters', cluster, 'tenants', tenant], json=body, headers={'If-Match': if_match, 'If-None-Match': if_none_match})


def list_unheeded_needs(cluster: str) -> Call[list[types.UnheededNeedOfCluster]]:
    """Needs of VMs that have a place in the cluster which no filter of its policy checks: what
    becomes of a request with each, which VMs have it, and which units check it."""
    return Call('GET', ['v1', 'clusters', cluster, 'unheeded'])


def list_unit_costs_of_cluster(cluster: str, *, limit: int | None = None, after: str | None = None) -> PageCall[types.UnitCostPage, types.UnitCost]:
    """What the units of a cluster's policy have cost its decisions in time and memory, by name of
    the unit. Counting begins anew whenever the policy or one of its units changes."""
    return PageCall('GET', ['v1', 'clusters', cluster, 'unit-costs'], query={'limit': limit, 'after': after})


def list_vms(cluster: str, *, limit: int | None = None, after: str | None = None, host: str | None = None, tenant: str | None = None, pending: bool | None = None, state: str | None = None, zone: str | None = None, group: str | None = None, text: str | None = None, sort: str | None = None, attribute: list[str] | None = None) -> PageCall[types.VmPage, types.Vm]:
    """The VMs of a cluster that run or have a place reserved, by id or in the order that is asked
    for."""
    return PageCall('GET', ['v1', 'clusters', cluster, 'vms'], query={'limit': limit, 'after': after, 'host': host, 'tenant': tenant, 'pending': pending, 'state': state, 'zone': zone, 'group': group, 'text': text, 'sort': sort, 'attribute': attribute})


def delete_vm(cluster: str, vm: str, *, if_match: str | None = None) -> Call[None]:
    """Remove a VM: it no longer runs, and has no place reserved."""
    return Call('DELETE', ['v1', 'clusters', cluster, 'vms', vm], headers={'If-Match': if_match})


def get_vm(cluster: str, vm: str) -> Call[types.Vm]:
    """A VM: where it runs, and where it has a place reserved. Its ETag changes with its document
    and its places, not when a reservation is renewed."""
    return Call('GET', ['v1', 'clusters', cluster, 'vms', vm])


def patch_vm(cluster: str, vm: str, body: types.VmPatch, *, if_match: str | None = None) -> Call[types.Vm]:
    """Change some values of a VM that runs or has a place reserved; null removes a value,
    everything else stays. With another `host` the VM runs there from then on, and a place that
    was reserved for it ends."""
    return Call('PATCH', ['v1', 'clusters', cluster, 'vms', vm], json=body, headers={'If-Match': if_match})


def put_vm(cluster: str, vm: str, body: types.VmBody, *, if_match: str | None = None, if_none_match: str | None = None) -> Call[types.Vm]:
    """Add a VM that runs on a host, or replace its document. A place that is reserved for it
    elsewhere stays, unless it runs on another host now."""
    return Call('PUT', ['v1', 'clusters', cluster, 'vms', vm], json=body, headers={'If-Match': if_match, 'If-None-Match': if_none_match})


def ask_what_if(cluster: str, *, without: list[str] | None = None, restart: Literal['ha', 'all'] | None = None) -> Call[types.WhatIf]:
    """What would happen if hosts failed: which of their VMs would be restarted, where these would
    go, and which would find no place. Without hosts: of each host of the cluster by itself (N+1)."""
    return Call('POST', ['v1', 'clusters', cluster, 'what-if'], query={'without': without, 'restart': restart})


def ask_why(cluster: str, body: types.OneRequest, *, host: str | None = None) -> Call[types.Why]:
    """Why a VM would not run on a host: which unit keeps it out, or how much worse it is
    than the chosen one and through which unit. Nothing is changed."""
    return Call('POST', ['v1', 'clusters', cluster, 'why'], json=body, query={'host': host})


def stream_events() -> StreamCall[types.Event]:
    """What happens, as it happens: each event with its number as id, its kind as name, and
    JSON as data. Numbers count up, also over restarts, which skip some. With a header
    Last-Event-ID it goes on after that event. Where events that were asked for are no
    longer remembered, or a listener was too slow, an event `reset` comes first: then read
    anew what you follow. A token that is for some clusters is told of those alone, and of
    units and its policies in sentences that name no others. The stream ends when the token is
    taken
    away, or gets another role or other clusters."""
    return StreamCall('GET', ['v1', 'events'])


def list_recent_events(*, limit: int | None = None, after: str | None = None, kind: str | None = None, cluster: str | None = None, by: str | None = None, text: str | None = None) -> PageCall[types.EventPage, types.Event]:
    """The events that are remembered, the newest first: some 1,000. The stream of `/v1/events` goes
    on from there, given the number of the first one."""
    return PageCall('GET', ['v1', 'events', 'recent'], query={'limit': limit, 'after': after, 'kind': kind, 'cluster': cluster, 'by': by, 'text': text})


def get_health() -> Call[types.Health]:
    """Whether the server lives."""
    return Call('GET', ['v1', 'health'])


def get_openapi() -> Call[types.OpenApiDocument]:
    """This API in OpenAPI 3.1."""
    return Call('GET', ['v1', 'openapi.json'])


def list_policies(*, limit: int | None = None, after: str | None = None) -> PageCall[types.PolicySummaryPage, types.PolicySummary]:
    """All policies, by name; of a token that is for some clusters those that decide there, that it
    made, or that come with the program."""
    return PageCall('GET', ['v1', 'policies'], query={'limit': limit, 'after': after})


def delete_policy(policy: str, *, if_match: str | None = None) -> Call[None]:
    """Take a policy out that decides nowhere."""
    return Call('DELETE', ['v1', 'policies', policy], headers={'If-Match': if_match})


def get_policy(policy: str) -> Call[types.Policy]:
    """A policy with its document."""
    return Call('GET', ['v1', 'policies', policy])


def put_policy(policy: str, body: types.PolicyDocument, *, if_match: str | None = None, if_none_match: str | None = None) -> Call[types.Policy]:
    """Make a policy, or put a new document in its place. It is checked against the units
    in force and all clusters in which it decides; they decide by it from their next
    turn on. A document that is there already, letter by letter, makes no revision."""
    return Call('PUT', ['v1', 'policies', policy], json=body, headers={'If-Match': if_match, 'If-None-Match': if_none_match})


def check_policy(policy: str, body: types.PolicyDocument, *, idempotency_key: str | None = None) -> Call[types.CheckedPolicy]:
    """Check a document as if it were put there, without changing anything."""
    return Call('POST', ['v1', 'policies', policy, 'check'], json=body, key=idempotency_key or new_key())


def clone_policy(policy: str, body: types.PolicyClone, *, idempotency_key: str | None = None) -> Call[types.Policy]:
    """Make a policy of the same document under another name."""
    return Call('POST', ['v1', 'policies', policy, 'clone'], json=body, key=idempotency_key or new_key())


def list_policy_revisions(policy: str, *, limit: int | None = None, after: str | None = None) -> PageCall[types.PolicyPage, types.Policy]:
    """The stored revisions of a policy, the newest first. Where they are large, a page has
    fewer."""
    return PageCall('GET', ['v1', 'policies', policy, 'history'], query={'limit': limit, 'after': after})


def list_quotas(*, limit: int | None = None, after: str | None = None, tenant: str | None = None, cluster: str | None = None) -> PageCall[types.QuotaPage, types.Quota]:
    """All quotas, by name; of a token that is for some clusters those of these clusters, and those
    of all clusters together."""
    return PageCall('GET', ['v1', 'quotas'], query={'limit': limit, 'after': after, 'tenant': tenant, 'cluster': cluster})


def delete_quota(quota: str, *, if_match: str | None = None) -> Call[None]:
    """Remove a quota: its tenant is limited by it no more."""
    return Call('DELETE', ['v1', 'quotas', quota], headers={'If-Match': if_match})


def get_quota(quota: str) -> Call[types.Quota]:
    """A quota, with what the tenant holds."""
    return Call('GET', ['v1', 'quotas', quota])


def patch_quota(quota: str, body: types.QuotaPatch, *, if_match: str | None = None) -> Call[types.Quota]:
    """Change some of a quota; null removes a limit, or the cluster, everything else stays."""
    return Call('PATCH', ['v1', 'quotas', quota], json=body, headers={'If-Match': if_match})


def put_quota(quota: str, body: types.QuotaDocument, *, if_match: str | None = None, if_none_match: str | None = None) -> Call[types.Quota]:
    """Make a quota, or put another one in its place. From then on nothing is placed with which the
    tenant would hold more than it allows; what is held already stays. A tenant has at most one
    quota in each cluster, and one in all clusters together."""
    return Call('PUT', ['v1', 'quotas', quota], json=body, headers={'If-Match': if_match, 'If-None-Match': if_none_match})


def get_readiness() -> Call[types.Ready]:
    """Whether the server can decide: the store is read, the units and policies that the folders
    held at its start are in force or refused, and it does not stop."""
    return Call('GET', ['v1', 'ready'])


def reload_configuration(*, idempotency_key: str | None = None) -> Call[types.Reloaded]:
    """Read tokens, certificate and trusted keys anew, as SIGHUP has it done. If anything is wrong
    with them, all stays as it was, and the answer says what is wrong."""
    return Call('POST', ['v1', 'reload'], key=idempotency_key or new_key())


def list_tokens(*, limit: int | None = None, after: str | None = None) -> PageCall[types.TokenPage, types.Token]:
    """All tokens, by name: those of the configuration, and those that were issued."""
    return PageCall('GET', ['v1', 'tokens'], query={'limit': limit, 'after': after})


def create_token(body: types.NewToken, *, idempotency_key: str | None = None) -> Call[types.IssuedToken]:
    """Issue a token. Its secret stands in this answer alone: the server stores a digest of it. The
    answer is not given again to a repeated request; one that has lost it deletes the token and
    issues another. A server without tokens in its configuration issues none, since the first one
    would shut everybody else out."""
    return Call('POST', ['v1', 'tokens'], json=body, key=idempotency_key or new_key())


def delete_token(token: str) -> Call[None]:
    """Revoke a token that was issued. It counts no more from then on: streams of events that it has
    open end, requests that wait are refused, and plans that go on in its name halt. One of the
    configuration is removed there; the last token of an admin for all clusters that does not
    expire stays."""
    return Call('DELETE', ['v1', 'tokens', token])


def get_token(token: str) -> Call[types.Token]:
    """A token."""
    return Call('GET', ['v1', 'tokens', token])


def list_unit_files(*, limit: int | None = None, after: str | None = None) -> PageCall[types.UnitFilePage, types.UnitFile]:
    """The files of the watched folder, by path: what each offers, and what is wrong with it."""
    return PageCall('GET', ['v1', 'unit-files'], query={'limit': limit, 'after': after})


def list_unit_stagings(*, limit: int | None = None, after: str | None = None) -> PageCall[types.UnitStagingPage, types.UnitStaging]:
    """The candidates that are being staged now, with the steps that were taken and the one that is
    being taken, in the order in which they began. Of one that is not in the list any more the
    history of its unit says what became of it."""
    return PageCall('GET', ['v1', 'unit-stagings'], query={'limit': limit, 'after': after})


def list_units(*, limit: int | None = None, after: str | None = None) -> PageCall[types.UnitStatusPage, types.UnitStatus]:
    """All units, by name: what is in force, and where it came from."""
    return PageCall('GET', ['v1', 'units'], query={'limit': limit, 'after': after})


def put_unit(body: bytes, *, override_policies: bool | None = None, x_unit_signature: str | None = None) -> Call[types.Staging]:
    """Hand in a unit: it is staged, each step is told, and it comes into force or is
    refused while the last good one goes on. It stands in front of a file of its name
    until that changes."""
    return Call('PUT', ['v1', 'units'], content=body, query={'override-policies': override_policies}, headers={'X-Unit-Signature': x_unit_signature})


def check_unit(body: bytes, *, x_unit_signature: str | None = None, idempotency_key: str | None = None) -> Call[types.Staging]:
    """Go through all steps but the last, and change nothing."""
    return Call('POST', ['v1', 'units', 'check'], content=body, headers={'X-Unit-Signature': x_unit_signature}, key=idempotency_key or new_key())


def replay_unit(body: bytes, *, decisions: int | None = None, examples: int | None = None, x_unit_signature: str | None = None, idempotency_key: str | None = None) -> Call[types.UnitReplayed]:
    """Make recorded decisions again with a candidate, and change nothing: what would come
    out differently, and why, cluster by cluster."""
    return Call('POST', ['v1', 'units', 'replay'], content=body, query={'decisions': decisions, 'examples': examples}, headers={'X-Unit-Signature': x_unit_signature}, key=idempotency_key or new_key())


def begin_shadow(body: bytes, *, every: int | None = None, x_unit_signature: str | None = None, idempotency_key: str | None = None) -> Call[types.Staging]:
    """Let a candidate judge what is decided in the clusters that use the unit of its name."""
    return Call('POST', ['v1', 'units', 'shadow'], content=body, query={'every': every}, headers={'X-Unit-Signature': x_unit_signature}, key=idempotency_key or new_key())


def withdraw_unit(unit: str) -> Call[None]:
    """End what was handed in or gone back to: the file, or what comes with the program, is
    in force again."""
    return Call('DELETE', ['v1', 'units', unit])


def get_unit(unit: str) -> Call[types.UnitDetails]:
    """A unit: what is in force, what it says of itself, the policies that use it, and the clusters
    in which it is not called for a while because it keeps failing (`paused`). If the last
    candidate for it was refused, `refused` says why. Of a unit that was never in force only these
    are told: its file, under `staging`, while it is being staged, and why it was refused."""
    return Call('GET', ['v1', 'units', unit])


def list_costs_of_unit(unit: str, *, limit: int | None = None, after: str | None = None) -> PageCall[types.UnitCostPage, types.UnitCost]:
    """What a unit has cost in time and memory in each cluster whose policy uses it, by name of the
    cluster. Counting begins anew whenever the policy of the cluster or one of its units changes."""
    return PageCall('GET', ['v1', 'units', unit, 'costs'], query={'limit': limit, 'after': after})


def disable_unit(unit: str, *, idempotency_key: str | None = None) -> Call[None]:
    """Have no unit of that name in force. Refused while policies use it."""
    return Call('POST', ['v1', 'units', unit, 'disable'], key=idempotency_key or new_key())


def enable_unit(unit: str, *, idempotency_key: str | None = None) -> Call[None]:
    """Have the unit of that name in force again."""
    return Call('POST', ['v1', 'units', unit, 'enable'], key=idempotency_key or new_key())


def list_unit_candidates(unit: str, *, limit: int | None = None, after: str | None = None) -> PageCall[types.UnitCandidatePage, types.UnitCandidate]:
    """What became of candidates for a unit, the newest first."""
    return PageCall('GET', ['v1', 'units', unit, 'history'], query={'limit': limit, 'after': after})


def inspect_unit(unit: str) -> Call[types.Unit]:
    """What the unit in force is: its parts, what they read, the reasons that they give, and
    its settings."""
    return Call('GET', ['v1', 'units', unit, 'inspection'])


def pin_unit(unit: str, *, idempotency_key: str | None = None) -> Call[None]:
    """Keep what is in force, whatever its file becomes."""
    return Call('POST', ['v1', 'units', unit, 'pin'], key=idempotency_key or new_key())


def roll_back_unit(unit: str, body: types.RollbackTo | None = None, *, idempotency_key: str | None = None) -> Call[types.Staging]:
    """Go back to an earlier digest: the one that was in force before, if none is named."""
    return Call('POST', ['v1', 'units', unit, 'rollback'], json=body, key=idempotency_key or new_key())


def discard_shadow(unit: str) -> Call[None]:
    """End the candidate."""
    return Call('DELETE', ['v1', 'units', unit, 'shadow'])


def get_shadow(unit: str) -> Call[types.Shadow]:
    """What the candidate has come to so far: agreement of choices and ranks, time, failures."""
    return Call('GET', ['v1', 'units', unit, 'shadow'])


def promote_shadow(unit: str, *, idempotency_key: str | None = None) -> Call[types.Staging]:
    """Stage the candidate as if it had been handed in now."""
    return Call('POST', ['v1', 'units', unit, 'shadow', 'promote'], key=idempotency_key or new_key())


def unpin_unit(unit: str, *, idempotency_key: str | None = None) -> Call[None]:
    """Take the pin off."""
    return Call('POST', ['v1', 'units', unit, 'unpin'], key=idempotency_key or new_key())
