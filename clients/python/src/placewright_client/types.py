"""What the server takes and answers. Keys that need not be there are `NotRequired`."""

# Made by clients/python/generate of the OpenAPI document; do not change it by hand.

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

# A column of an attribute that is a table
AttributeColumn = TypedDict(
    'AttributeColumn',
    {
        # Kind of its values
        'kind': 'AttributeKind',
        # Unit of measure of its values
        'measure': 'NotRequired[AttributeMeasure]',
    },
)

# What an attribute is
AttributeDefinition = TypedDict(
    'AttributeDefinition',
    {
        # Kind of its values
        'kind': 'NotRequired[AttributeKind]',
        # One sentence
        'meaning': 'NotRequired[str]',
        # Unit of measure of its values
        'measure': 'NotRequired[AttributeMeasure]',
        # Of VMs: whether a request with a value of it is refused where no filter of the policy reads it
        'need': 'NotRequired[bool]',
        # For an attribute that is a table: its columns, by name
        'table': 'NotRequired[dict[str, AttributeKind | AttributeColumn]]',
    },
)

# Columns and tables that a deployment adds
AttributeDefinitions = TypedDict(
    'AttributeDefinitions',
    {
        # Attributes of clusters, by name
        'clusters': 'NotRequired[dict[str, AttributeKind | AttributeDefinition]]',
        # Attributes of hosts, by name
        'hosts': 'NotRequired[dict[str, AttributeKind | AttributeDefinition]]',
        # Attributes of tenants, by name
        'tenants': 'NotRequired[dict[str, AttributeKind | AttributeDefinition]]',
        # Attributes of VMs, by name
        'vms': 'NotRequired[dict[str, AttributeKind | AttributeDefinition]]',
    },
)

# Of which kind the values of an attribute are
AttributeKind: TypeAlias = "Literal['integer', 'number', 'boolean', 'text']"

# The unit of measure of the values of an attribute
AttributeMeasure: TypeAlias = "Literal['bytes', 'cores', 'seconds', 'time', 'fraction', 'percent']"

# A place in the log where records are not as they should be.
AuditGap = TypedDict(
    'AuditGap',
    {
        # When that record was written, in RFC 3339.
        'at': 'NotRequired[str]',
        # Number of the record after that place; not there where the log ends with it.
        'before': 'NotRequired[int]',
        # Why they are not there.
        'kind': 'AuditGapKind',
        # A sentence for people.
        'message': 'str',
        # How many there would be, if that is known.
        'records': 'NotRequired[int]',
    },
)

# Why records are not there.
AuditGapKind: TypeAlias = "Literal['lost', 'missing', 'unreadable', 'removed']"

# What a record is of.
AuditKind: TypeAlias = "Literal['call', 'refusal', 'event', 'server', 'log']"

# How a change came in.
AuditOrigin: TypeAlias = "Literal['api', 'folder', 'signal', 'periodic', 'server']"

# A page of the log.
AuditPage = TypedDict(
    'AuditPage',
    {
        # Where records are missing among those that were looked at, whether or not they were
        # wanted; the newest first.
        'gaps': 'list[AuditGap]',
        # The records that were wanted, the newest first. A page may have fewer than were asked
        # for, and none, although there are more: it ends where enough of the log was looked at.
        'items': 'list[AuditRecord]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
        # How many records were looked at.
        'searched': 'int',
        # When the oldest of them was written, in RFC 3339.
        'searched-to': 'NotRequired[str]',
    },
)

# A record of the audit log; what does not apply is not there.
AuditRecord = TypedDict(
    'AuditRecord',
    {
        # What is there since.
        'after': 'NotRequired[str]',
        # When it happened, in RFC 3339 and UTC, with microseconds.
        'at': 'str',
        # What was there before: a revision, a digest, or what differs of a row, as JSON.
        'before': 'NotRequired[str]',
        # The name of the token; `anonymous` where there are none.
        'by': 'NotRequired[str]',
        # Name of the cluster.
        'cluster': 'NotRequired[str]',
        # The code of the problem, if the answer was one.
        'code': 'NotRequired[str]',
        # Number of the decision.
        'decision': 'NotRequired[int]',
        # Number of the event.
        'event': 'NotRequired[int]',
        # What the request says of where it was forwarded from: a claim of whoever sent it.
        'forwarded-for': 'NotRequired[str]',
        # The hash of the record, 64 hexadecimal digits: `placewright audit verify --contains` looks
        # for it.
        'hash': 'str',
        # Id of the host that the path names, or that was chosen.
        'host': 'NotRequired[str]',
        # What kind of record it is.
        'kind': 'AuditKind',
        # How many calls that changed nothing have no records of their own; this one tells of them.
        'left-out': 'NotRequired[int]',
        # How many records were lost before this one, since the queue was full.
        'lost': 'NotRequired[int]',
        # A sentence for people.
        'message': 'NotRequired[str]',
        # Method of the call.
        'method': 'NotRequired[str]',
        # By which way it came.
        'origin': 'AuditOrigin',
        # Path and query, cut where they are long.
        'path': 'NotRequired[str]',
        # The other end of the connection: an address and a port.
        'peer': 'NotRequired[str]',
        # Number of the plan of moves.
        'plan': 'NotRequired[int]',
        # Name of the policy.
        'policy': 'NotRequired[str]',
        # Whether the answer was that of an earlier request with the same key; not there: it was not.
        'repeated': 'NotRequired[bool]',
        # The id of the request, as the log of the server has it.
        'request': 'NotRequired[str]',
        # What came of a call; not there for what is none.
        'result': 'NotRequired[AuditResult]',
        # The pattern of the path, as `/v1/clusters/{cluster}/place`.
        'route': 'NotRequired[str]',
        # Counts up by one from record to record, over files and restarts.
        'sequence': 'int',
        # Status of the answer.
        'status': 'NotRequired[int]',
        # Name of the unit.
        'unit': 'NotRequired[str]',
        # Id of the VM that the path names.
        'vm': 'NotRequired[str]',
        # The VMs of the body: the first of them, and how many more.
        'vms': 'NotRequired[str]',
        # What happened, in one word; not there for calls, which have a route.
        'what': 'NotRequired[str]',
    },
)

# What came of a call.
AuditResult: TypeAlias = "Literal['done', 'refused', 'failed', 'unanswered']"

# Restarts that the server plans and begins by itself, of VMs whose hosts are down or in
# error.
AutomaticRestart = TypedDict(
    'AutomaticRestart',
    {
        # How many restarts may be under way at once; 8 if not given.
        'max-in-flight': 'NotRequired[int]',
        # Seconds for which a host must have been down or in error without a break before its VMs
        # are restarted; 60 if not given.
        'settle': 'NotRequired[int]',
        # Which VMs are restarted; all if not given.
        'vms': 'NotRequired[Restart]',
    },
)

# Restarts that the server plans and begins by itself, of VMs whose hosts are down or in
# error.
AutomaticRestartDocument = TypedDict(
    'AutomaticRestartDocument',
    {
        # How many restarts may be under way at once; 8 if not given.
        'max-in-flight': 'NotRequired[int]',
        # Seconds for which a host must have been down or in error without a break before its VMs
        # are restarted; 60 if not given. A text such as "2 min" is taken, too.
        'settle': 'NotRequired[int | str]',
        # Which VMs are restarted; all if not given.
        'vms': 'NotRequired[Restart]',
    },
)

# A unit that was never in force.
AwaitedUnit = TypedDict(
    'AwaitedUnit',
    {
        # The name.
        'name': 'str',
        # The last candidate for it, if that was refused.
        'refused': 'NotRequired[UnitCandidate]',
        # Its file, while that is being staged; not told to tokens that are for some clusters.
        'staging': 'NotRequired[str]',
    },
)

# What came of a batch.
BatchPlacement = TypedDict(
    'BatchPlacement',
    {
        # The decisions, in the order in which they were made.
        'decisions': 'list[Placement]',
        # Why the batch ended early, or its search did: the time that a turn of a cluster may
        # take was up.
        'ended-early': 'NotRequired[str]',
        # VMs for which there is no decision, and why.
        'failed': 'NotRequired[list[FailedVms]]',
        # Whether the places are reserved, all that were found. Otherwise each decision says
        # whether its own is.
        'reserved': 'bool',
        # VMs on which nothing was decided because the batch ended early: place them with
        # another one.
        'undecided': 'NotRequired[list[str]]',
        # VMs to which the policy's order gives no turn.
        'without-turn': 'NotRequired[list[str]]',
    },
)

# How many more fit.
Capacity = TypedDict(
    'Capacity',
    {
        # Whether the search ended at its bound: then more may fit.
        'bounded': 'bool',
        # How many hosts the next one would be refused by; 0 if a quota does.
        'considered': 'int',
        # How many times the request finds a host.
        'fit': 'int',
        # How many go where; hosts that take none are left out. By id of the host.
        'hosts': 'list[HostCapacity]',
        # If a quota does not allow the next one: which, what is held with those that fit, and what
        # limits it. No host is looked for then.
        'refused-by-quota': 'NotRequired[QuotaRefusal]',
        # What stops the next one, in policy order; empty if the bound or a quota does.
        'stopped-by': 'list[RemovedHosts]',
        # The VMs of the request, of which copies are placed.
        'vms': 'list[str]',
        # What the next one names and no host of the cluster has, a sentence each.
        'warnings': 'NotRequired[list[str]]',
    },
)

# Why a VM is moved.
Cause: TypeAlias = "Literal['evacuation', 'host-state', 'hard-group', 'over-committed', 'balance']"

# How far something is to be changed.
ChangeLimit: TypeAlias = "Literal['at-most', 'at-least', 'exactly']"

# A weighted cost that has changed; none where the entry was not asked.
ChangedCost = TypedDict(
    'ChangedCost',
    {
        # After the change.
        'after': 'float | None',
        # Before the change.
        'before': 'float | None',
        # The policy's entry.
        'entry': 'str',
    },
)

# A decision that comes out differently.
ChangedDecision = TypedDict(
    'ChangedDecision',
    {
        # The host that would be, if there is one.
        'after': 'str | None',
        # The host that was chosen, if there was one.
        'before': 'str | None',
        # Its number.
        'decision': 'int',
        # Why there is no decision.
        'failure': 'NotRequired[str]',
        # What becomes of these two hosts, before and after.
        'hosts': 'list[ChangedHost]',
        # The VMs that were to be placed.
        'vms': 'list[str]',
    },
)

# What becomes of a host before and after.
ChangedHost = TypedDict(
    'ChangedHost',
    {
        # After the change.
        'after': 'HostFate',
        # Before the change.
        'before': 'HostFate',
        # Entries of the policy whose weighted costs there are others than before.
        'costs': 'NotRequired[list[ChangedCost]]',
        # Its id.
        'host': 'str',
    },
)

# What a change is made of.
ChangedThing: TypeAlias = "Literal['request', 'vm', 'host', 'group', 'quota']"

# A document that can be put there.
CheckedPolicy = TypedDict(
    'CheckedPolicy',
    {
        # Always true.
        'valid': 'bool',
        # What is allowed and seldom meant, a sentence each.
        'warnings': 'list[str]',
    },
)

# A cluster.
Cluster = TypedDict(
    'Cluster',
    {
        # Why nothing is decided: the policy cannot run, or the cluster is out of service.
        'broken': 'NotRequired[str]',
        # How many of each there are. Left out of a cluster that is out of service.
        'counted': 'NotRequired[Counted]',
        # Its name.
        'name': 'str',
        # Units that keep failing and are not called for a while.
        'paused': 'NotRequired[list[PausedUnit]]',
        # Revision of the policy that decides. Left out of a cluster that is out of service.
        'policy-revision': 'NotRequired[int]',
        # Units that answered differently though nothing had changed: their answers are not kept.
        'quarantined': 'NotRequired[list[str]]',
        # Left out of a cluster that is out of service.
        'settings': 'NotRequired[ClusterSettings]',
        # Requests that wait for their turn.
        'waiting': 'int',
        # Of a document that was just sent: what is allowed and surely a mistake.
        'warnings': 'NotRequired[list[str]]',
    },
)

# A cluster of hosts, with the VMs on them
ClusterDocument = TypedDict(
    'ClusterDocument',
    {
        # Columns and tables that this deployment adds
        'attributes': 'NotRequired[AttributeDefinitions]',
        # The affinity groups of VMs and hosts
        'groups': 'NotRequired[list[GroupDocument]]',
        # The hosts
        'hosts': 'NotRequired[list[HostDocument]]',
        # Name of the cluster, unique on the server
        'name': 'str',
        # The logical networks of the cluster
        'networks': 'NotRequired[list[ClusterNetwork]]',
        # The time that the document speaks of
        'now': 'NotRequired[int | str]',
        # What is left to chance is derived from this; 0 if not given
        'seed': 'NotRequired[int]',
        # The tenants that own VMs
        'tenants': 'NotRequired[list[TenantDocument]]',
        # The VMs that run or have a place reserved; they may also stand inside their hosts
        'vms': 'NotRequired[list[PlacedVmDocument]]',
    },
)

# What happened to a cluster.
ClusterHistory = TypedDict(
    'ClusterHistory',
    {
        # What happened from then on, in order of time.
        'events': 'list[HistoryEvent]',
        # The number of the first decision that is told.
        'first-decision': 'int',
        # When the first one was made: the time of the start.
        'from': 'str',
        # The number of the last one.
        'last-decision': 'int',
        # What is not told, and why: a sentence each.
        'notes': 'list[str]',
        'start': 'ClusterDocument',
        # When the last event happened.
        'to': 'str',
    },
)

# One of: the logical networks of the cluster
ClusterNetwork = TypedDict(
    'ClusterNetwork',
    {
        # Whether consoles are reached over it
        'display': 'NotRequired[bool]',
        # Name of the network
        'name': 'str',
        # Whether every host must have it
        'required': 'NotRequired[bool]',
    },
)

# A page of a list.
ClusterPage = TypedDict(
    'ClusterPage',
    {
        # The entries, in order.
        'items': 'list[Cluster]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# Decisions of a cluster, minute by minute, but for those that were only tried. They are counted
# from the start of the server on.
ClusterRates = TypedDict(
    'ClusterRates',
    {
        # The last 60 minutes, the oldest first; the last one is under way.
        'minutes': 'list[MinuteOfDecisions]',
    },
)

# What an admin has set for a cluster.
ClusterSettings = TypedDict(
    'ClusterSettings',
    {
        # Whether plans of moves are made from time to time, and how often.
        'balance': 'NotRequired[PeriodicBalance]',
        # What is different from the policy in this cluster, by the entries' names.
        'overrides': 'NotRequired[dict[str, Override]]',
        # Name of the policy that decides.
        'policy': 'str',
        # Whether and how the server restarts VMs of hosts that are down or in error by itself;
        # none: it does not.
        'restart': 'NotRequired[AutomaticRestart]',
        # Counts up with every change of these settings.
        'revision': 'int',
        # What is left to chance is derived from this.
        'seed': 'NotRequired[int]',
        # Seconds after which what was measured of hosts counts as absent; none: it never
        # does.
        'statistics-max-age': 'NotRequired[int]',
        # Seconds after which what has come to run on a host counts as measured, though no later
        # measurement has come; none: only a measurement ends that.
        'unmeasured-max-age': 'NotRequired[int | None]',
    },
)

# An answer, and which needs of VMs go unheeded in the cluster that it is about.
ClusterSettingsWithUnheeded = TypedDict(
    'ClusterSettingsWithUnheeded',
    {
        # Whether plans of moves are made from time to time, and how often.
        'balance': 'NotRequired[PeriodicBalance]',
        # What is different from the policy in this cluster, by the entries' names.
        'overrides': 'NotRequired[dict[str, Override]]',
        # Name of the policy that decides.
        'policy': 'str',
        # Whether and how the server restarts VMs of hosts that are down or in error by itself;
        # none: it does not.
        'restart': 'NotRequired[AutomaticRestart]',
        # Counts up with every change of these settings.
        'revision': 'int',
        # What is left to chance is derived from this.
        'seed': 'NotRequired[int]',
        # Seconds after which what was measured of hosts counts as absent; none: it never
        # does.
        'statistics-max-age': 'NotRequired[int]',
        # Needs of VMs that have a place which no filter of the policy checks.
        'unheeded': 'NotRequired[list[UnheededNeedOfCluster]]',
        # Seconds after which what has come to run on a host counts as measured, though no later
        # measurement has come; none: only a measurement ends that.
        'unmeasured-max-age': 'NotRequired[int | None]',
    },
)

# What a cluster has, and what of it is promised.
ClusterSums = TypedDict(
    'ClusterSums',
    {
        # CPU of the hosts that are up, in cores.
        'cpu': 'MeasureSums',
        # GPUs of the hosts that are up.
        'gpus': 'MeasureSums',
        # How many hosts are in each state.
        'hosts': 'dict[str, int]',
        # Memory of the hosts that are up, in bytes.
        'memory': 'MeasureSums',
        # When the next reservation ends, in seconds since 1970-01-01 UTC.
        'next-expiry': 'NotRequired[int | None]',
        # The same time.
        'next-expiry-time': 'NotRequired[str | None]',
        # VMs that have a place reserved.
        'pending': 'int',
        # VMs that run.
        'vms': 'int',
        # VMs that run on hosts that are not up.
        'vms-not-up': 'int',
    },
)

# An answer, and which needs of VMs go unheeded in the cluster that it is about.
ClusterWithUnheeded = TypedDict(
    'ClusterWithUnheeded',
    {
        # Why nothing is decided: the policy cannot run, or the cluster is out of service.
        'broken': 'NotRequired[str]',
        # How many of each there are. Left out of a cluster that is out of service.
        'counted': 'NotRequired[Counted]',
        # Its name.
        'name': 'str',
        # Units that keep failing and are not called for a while.
        'paused': 'NotRequired[list[PausedUnit]]',
        # Revision of the policy that decides. Left out of a cluster that is out of service.
        'policy-revision': 'NotRequired[int]',
        # Units that answered differently though nothing had changed: their answers are not kept.
        'quarantined': 'NotRequired[list[str]]',
        # Left out of a cluster that is out of service.
        'settings': 'NotRequired[ClusterSettings]',
        # Needs of VMs that have a place which no filter of the policy checks.
        'unheeded': 'NotRequired[list[UnheededNeedOfCluster]]',
        # Requests that wait for their turn.
        'waiting': 'int',
        # Of a document that was just sent: what is allowed and surely a mistake.
        'warnings': 'NotRequired[list[str]]',
    },
)

# A WebAssembly component
Component: TypeAlias = 'str'

# VMs that run.
ConfirmedVms = TypedDict(
    'ConfirmedVms',
    {
        # The host on which they run. If their places are on another one, that is a conflict.
        'host': 'NotRequired[str | None]',
        # Their ids, or tables with them.
        'vms': 'list[VmReference]',
    },
)

# What one cost entry says of a host and of the chosen one.
CostDifference = TypedDict(
    'CostDifference',
    {
        # By how much its weighted cost is greater; 0 if both are infinite.
        'by': 'float | None',
        # The policy's entry.
        'name': 'str',
        # What the unit said of the host; null = infinite.
        'raw': 'float | None',
        # What it said of the chosen one.
        'raw-chosen': 'float | None',
        # The same on the scale of the entry.
        'scaled': 'float | None',
        # That of the chosen one.
        'scaled-chosen': 'float | None',
        # The tier of the entry.
        'tier': 'int',
        # Scaled, times the factor.
        'weighted': 'float | None',
        # That of the chosen one.
        'weighted-chosen': 'float | None',
    },
)

# What a policy says of one host.
CostedHost = TypedDict(
    'CostedHost',
    {
        # The sums of its weighted costs, tier by tier; null = infinite. Empty if it is not left to the
        # last stage, or the policy has no costs there.
        'costs': 'list[float | None]',
        # The policy's entry that removes it.
        'filter': 'NotRequired[str]',
        # Its id.
        'host': 'str',
        # If it is not left: why. Completes "host ...".
        'reason': 'NotRequired[str | None]',
    },
)

# How many of each there are.
Counted = TypedDict(
    'Counted',
    {
        # Groups of VMs.
        'groups': 'int',
        # Hosts, whatever their state.
        'hosts': 'int',
        # VMs that have a place reserved.
        'pending': 'int',
        # Counts up with every change of the inventory.
        'version': 'int',
        # VMs that run.
        'vms': 'int',
    },
)

# A copy of what a server has stored, a database of SQLite
Database: TypeAlias = 'str'

# A unit of the chain.
DecidingUnit = TypedDict(
    'DecidingUnit',
    {
        # SHA-256 of the component.
        'digest': 'str',
        # Its name.
        'name': 'str',
        # Its version.
        'version': 'str',
    },
)

# A decision as programs read it.
Decision = TypedDict(
    'Decision',
    {
        # How many hosts units were asked about.
        'considered': 'int',
        # The sums of its weighted costs, tier by tier; null = infinite.
        'costs': 'list[float | None]',
        # The number, 0 or more and less than 1, that decided what was left to chance.
        'draw': 'float',
        # If they are: the second after which they are free again unless they are confirmed;
        # null: they stay reserved.
        'expires': 'NotRequired[int | None]',
        # The same time; null: they stay reserved.
        'expires-time': 'NotRequired[str | None]',
        # Why there, and why not elsewhere.
        'explanation': 'NotRequired[Explanation]',
        # Id of the chosen host; null if there is none for them.
        'host': 'str | None',
        # The version of the inventory that it was made on.
        'inventory-version': 'int',
        # Entries of the policy that were left out, because their units failed.
        'left-out': 'list[LeftOutEntry]',
        # The VMs that run elsewhere: where, and whether they run while they are moved.
        'moves': 'NotRequired[list[MovedVm]]',
        # Counts up from 1 in each cluster.
        'number': 'int',
        # If a quota does not allow what is asked for: which, and what is held. No host was looked
        # for then.
        'refused-by-quota': 'NotRequired[QuotaRefusal]',
        # How many hosts each reason removed, in policy order.
        'removed': 'list[RemovedHosts]',
        # Whether the places are reserved: not after a dry run, nor where all or nothing was
        # asked for and some VM finds no host, nor where all VMs run on that host already and stay
        # as they are.
        'reserved': 'bool',
        # Groups of candidates, best first, each candidate with its share of chance.
        'shares': 'NotRequired[list[list[Share]]]',
        # How many hosts had the same costs as the chosen one, it included; 0 if there is none.
        'tied': 'int',
        # Needs that no filter of the policy checks, where the policy warns of them.
        'unheeded': 'NotRequired[list[UnheededNeed]]',
        # Ids of the VMs.
        'vms': 'list[str]',
        # What of the request is allowed and surely a mistake; of one that finds no host also
        # what it names and no host of the cluster has; of one in a plan from nothing also why its
        # place is not reserved.
        'warnings': 'NotRequired[list[str]]',
    },
)

# A decision that came out differently.
DifferingDecision = TypedDict(
    'DifferingDecision',
    {
        # The host that would have been, if there is one.
        'after': 'str | None',
        # The host that was chosen, if there was one.
        'before': 'str | None',
        # The cluster that it is of.
        'cluster': 'str',
        # Number of the decision.
        'decision': 'int',
    },
)

# A decision that would have another outcome.
DraftChange = TypedDict(
    'DraftChange',
    {
        # The host that would be chosen; absent: none.
        'after': 'NotRequired[str | None]',
        # The host that was chosen; absent: none.
        'before': 'NotRequired[str | None]',
        # Its number.
        'decision': 'int',
        # Why there would be no decision.
        'failure': 'NotRequired[str | None]',
        # What tips it, for the first of them.
        'tipped': 'NotRequired[None | Tipped]',
        # The VMs that were to be placed.
        'vms': 'list[str]',
    },
)

# What would have become of recorded decisions under a draft of a policy: each by itself on
# the inventory of then, or one after the other.
DraftReplayed = TypedDict(
    'DraftReplayed',
    {
        # The decisions that would have another outcome, the newest first.
        'changed': 'list[DraftChange]',
        # How many of them would have another outcome.
        'differing': 'int',
        # How many of these would find no decision, as a unit gives no answer.
        'failing': 'int',
        # By hosts that get a VM either way, how many decisions chose it and would choose it: those
        # first where these differ most.
        'hosts': 'list[HostCount]',
        # Whether each decision was made on what those before it have come to; else each was made by
        # itself, and loads that would have shifted meanwhile do not count.
        'in-sequence': 'bool',
        # How many there were to make again; more than `tried` where there was no time for all.
        'of': 'int',
        # How many would find none under the draft.
        'rejected-after': 'int',
        # How many requests found no host.
        'rejected-before': 'int',
        # The shares of chance of the decision that was asked about, if selections decide there.
        'shares': 'NotRequired[None | DraftShares]',
        # How many decisions were made again.
        'tried': 'int',
        # What is allowed in the draft and seldom meant, a sentence each.
        'warnings': 'NotRequired[list[str]]',
    },
)

# Shares of chance of one decision. Each list has groups of candidates, the best first.
DraftShares = TypedDict(
    'DraftShares',
    {
        # Under the draft.
        'after': 'list[list[Share]]',
        # As it was made.
        'before': 'list[list[Share]]',
        # The number of the decision.
        'decision': 'int',
    },
)

Entity: TypeAlias = 'Host | Vm | Group | Tenant'

# What one entry of the policy says of a host.
EntryCost = TypedDict(
    'EntryCost',
    {
        # The policy's entry.
        'name': 'str',
        # What the unit said; null = infinite.
        'raw': 'float | None',
        # The cost on the scale of the entry; null = infinite.
        'scaled': 'float | None',
        # Scaled, times the factor; null = infinite.
        'weighted': 'float | None',
    },
)

# What an entry of a document of changes is about.
EntryKind: TypeAlias = "Literal['tenant', 'host', 'statistics', 'vm', 'group', 'gone-vm', 'gone-group', 'gone-host', 'gone-tenant']"

# What became of an entry.
EntryOutcome: TypeAlias = "Literal['applied', 'missing', 'outdated']"

# What became of one entry of a document of changes.
EntryResult = TypedDict(
    'EntryResult',
    {
        # Id of what it is about.
        'id': 'str',
        # Of which kind it is.
        'kind': 'EntryKind',
        # What became of it.
        'result': 'EntryOutcome',
    },
)

# Hosts that are to be emptied.
Evacuation = TypedDict(
    'Evacuation',
    {
        # Make the plan, and do not keep it.
        'dry-run': 'NotRequired[bool]',
        # Their ids.
        'hosts': 'list[str]',
        # How many moves may be under way at once; 8 if not given.
        'max-in-flight': 'NotRequired[int | None]',
    },
)

# Something that happened.
Event = TypedDict(
    'Event',
    {
        # When, in seconds since 1970-01-01 UTC; `time` is the same.
        'at': 'int',
        # Who did it: the name of a token, `anonymous` where there are none, `periodic` for what
        # is done from time to time, `restart` for restarts that the server begins by itself.
        'by': 'NotRequired[str]',
        # The cluster that it is about.
        'cluster': 'NotRequired[str]',
        # The decision that it follows from.
        'decision': 'NotRequired[int]',
        # The host that it is about.
        'host': 'NotRequired[str]',
        # What happened; the kind says which of the keys below an event may have.
        'kind': 'EventKind',
        # A sentence for people of at most 4 KiB.
        'message': 'str',
        # Counts up, also over restarts, which skip some numbers.
        'number': 'int',
        # The plan of moves that it is about.
        'plan': 'NotRequired[int]',
        # The policy that it is about.
        'policy': 'NotRequired[str]',
        # When it happened.
        'time': 'str',
        # The unit that it is about.
        'unit': 'NotRequired[str]',
        # The VM that it is about.
        'vm': 'NotRequired[str]',
    },
)

# What happened.
#
# - `reset`: Events were missed that are no longer stored: read again what you follow.
# - `cluster-created`: A cluster was created. It may have `cluster`, `by`.
# - `cluster-removed`: A cluster was removed. It may have `cluster`, `by`.
# - `policy-attached`: A cluster has another policy, or other settings of its policy. It may have
# `cluster`, `policy`, `by`.
# - `policy-changed`: A policy has a new revision. It may have `policy`, `by`.
# - `policy-lost-filters`: The new revision of a policy lacks a filter that the last one had. It
# may have `policy`, `by`.
# - `policy-removed`: A policy was removed. It may have `policy`, `by`.
# - `policy-refused`: The file of a policy was refused. It may have `policy`, `by`.
# - `policy-kept-although-deleted`: The file of a policy is gone; clusters that use the policy
# keep it. It may have `policy`, `by`.
# - `cluster-without-policy`: Nothing is decided in a cluster: no policy can run there. It may
# have `cluster`.
# - `cluster-stopped`: A cluster is stopped: its rows in the store cannot be read. It may have
# `cluster`.
# - `cluster-restarted`: A cluster that a fault of the program had ended runs again, as it was
# stored. It may have `cluster`.
# - `vm-placed`: A place is reserved for a VM until it is confirmed. It may have `cluster`, `vm`,
# `host`, `decision`, `by`.
# - `vm-confirmed`: A VM runs where its place was reserved. It may have `cluster`, `vm`, `host`,
# `by`.
# - `vm-moved`: A VM runs on another host than before. It may have `cluster`, `vm`, `host`, `by`.
# - `vm-resized`: A VM runs on its host with other amounts or values than before. It may have
# `cluster`, `vm`, `host`, `by`.
# - `vm-cancelled`: The place that was reserved for a VM was given back. It may have `cluster`,
# `vm`, `host`, `by`.
# - `reservation-expired`: The place that was reserved for a VM was not confirmed in time. It may
# have `cluster`, `vm`, `host`, `decision`, `by`.
# - `reservation-lost`: The place that was reserved for a VM ended: its host is down or faulty.
# It may have `cluster`, `vm`, `host`, `decision`, `by`.
# - `inventory-changed`: Hosts, VMs, groups or tenants were changed. It may have `cluster`, `by`.
# - `host-state-changed`: The state of a host has changed. It may have `cluster`, `host`, `by`.
# - `plan-made`: A plan of moves was made; nothing is begun. It may have `cluster`, `plan`,
# `policy`, `by`.
# - `plan-begun`: Moves of a plan were begun: their places are reserved. It may have `cluster`,
# `plan`, `policy`, `by`.
# - `plan-ended`: A plan that continues by itself has no moves left. It may have `cluster`,
# `plan`, `policy`, `by`.
# - `plan-halted`: A plan does not continue by itself any more: who had it do so may not operate
# there now. It may have `cluster`, `plan`, `policy`, `by`.
# - `plan-cancelled`: A plan was cancelled: places of moves that were not confirmed are free
# again. It may have `cluster`, `plan`, `policy`, `by`.
# - `restart-begun`: The server has begun to restart VMs of hosts that are down or in error: the
# moves of its plan that are begun are to be carried out. It may have `cluster`, `plan`,
# `policy`, `by`.
# - `restart-failed`: VMs of hosts that are down or in error cannot be restarted by the server.
# It may have `cluster`, `plan`, `policy`, `by`.
# - `balance-failed`: A periodic plan could not be made. It may have `cluster`, `policy`, `by`.
# - `unit-seen`: A file of a unit was found. It may have `by`.
# - `unit-refused`: A candidate for a unit was refused; the version in force stays. It may have
# `unit`, `by`.
# - `file-waits`: A file that was refused is tried again later. It may have `by`.
# - `unit-in-force`: A unit is in force. It may have `unit`, `by`.
# - `unit-held`: A unit passed all checks but is not in force. It may have `unit`, `by`.
# - `unit-kept-although-deleted`: The file of a unit is gone; policies that use the unit keep it.
# It may have `unit`, `by`.
# - `unit-removed`: A unit is no longer in force. It may have `unit`, `by`.
# - `unit-distrusted`: A unit is no longer trusted, and no longer in force. It may have `unit`,
# `by`.
# - `unit-rolled-back`: A unit was rolled back to an earlier digest. It may have `unit`, `by`.
# - `unit-returned`: A unit kept failing; the version before it is in force again. It may have
# `cluster`, `unit`, `by`.
# - `unit-not-returned`: A unit keeps failing, and there is no earlier version to return to. It
# may have `cluster`, `unit`, `by`.
# - `unit-takes-name`: A unit replaces one of the same name that comes with the program, in all
# policies. It may have `unit`, `by`.
# - `unit-disabled`: Units of this name are disabled. It may have `unit`, `by`.
# - `unit-enabled`: Units of this name are enabled again. It may have `unit`, `by`.
# - `unit-pinned`: A unit is pinned: it stays whatever its file becomes. It may have `unit`,
# `by`.
# - `unit-unpinned`: A unit is no longer pinned: it follows its file again. It may have `unit`,
# `by`.
# - `unit-paused`: A unit keeps failing and is paused. It may have `cluster`, `unit`.
# - `unit-tried-again`: A paused unit is tried again. It may have `cluster`, `unit`.
# - `unit-recovered`: A paused unit works again. It may have `cluster`, `unit`.
# - `unit-quarantined`: A unit answers differently although nothing has changed: its answers are
# no longer cached. It may have `cluster`, `unit`.
# - `shadow-began`: A candidate runs as the shadow of a unit. It may have `unit`, `by`.
# - `shadow-discarded`: A shadow was discarded. It may have `unit`, `by`.
# - `shadow-promoted`: A shadow came into force. It may have `unit`, `by`.
# - `folder-trouble`: A watched folder, or a file in it, cannot be read. It may have `by`.
# - `library-not-kept`: The list of units in force cannot be stored for the next start. It may
# have `by`.
# - `noted`: A client had something noted that it did or saw. It may have `cluster`, `vm`,
# `host`, `by`.
# - `noted-warning`: A client had a warning noted. It may have `cluster`, `vm`, `host`, `by`.
# - `quota-changed`: A quota of a tenant is new, or has another revision. It may have `cluster`,
# `by`.
# - `quota-removed`: A quota of a tenant was removed. It may have `cluster`, `by`.
EventKind: TypeAlias = "Literal['reset', 'cluster-created', 'cluster-removed', 'policy-attached', 'policy-changed', 'policy-lost-filters', 'policy-removed', 'policy-refused', 'policy-kept-although-deleted', 'cluster-without-policy', 'cluster-stopped', 'cluster-restarted', 'vm-placed', 'vm-confirmed', 'vm-moved', 'vm-resized', 'vm-cancelled', 'reservation-expired', 'reservation-lost', 'inventory-changed', 'host-state-changed', 'plan-made', 'plan-begun', 'plan-ended', 'plan-halted', 'plan-cancelled', 'restart-begun', 'restart-failed', 'balance-failed', 'unit-seen', 'unit-refused', 'file-waits', 'unit-in-force', 'unit-held', 'unit-kept-although-deleted', 'unit-removed', 'unit-distrusted', 'unit-rolled-back', 'unit-returned', 'unit-not-returned', 'unit-takes-name', 'unit-disabled', 'unit-enabled', 'unit-pinned', 'unit-unpinned', 'unit-paused', 'unit-tried-again', 'unit-recovered', 'unit-quarantined', 'shadow-began', 'shadow-discarded', 'shadow-promoted', 'folder-trouble', 'library-not-kept', 'noted', 'noted-warning', 'quota-changed', 'quota-removed']"

# A page of a list.
EventPage = TypedDict(
    'EventPage',
    {
        # The entries, in order.
        'items': 'list[Event]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# A value that a unit worked out.
ExplainedFact = TypedDict(
    'ExplainedFact',
    {
        # The name of a table, and the id or number of a row of it
        'about': 'NotRequired[list[str]]',
        # The policy's entry.
        'entry': 'str',
        # What it is, in the words of the unit's documentation.
        'name': 'str',
        # Name of the unit.
        'unit': 'str',
        # A value of a column
        'value': 'float | bool | str',
    },
)

# What became of one host.
ExplainedHost = TypedDict(
    'ExplainedHost',
    {
        # Its costs, in policy order; none if a filter removed it.
        'costs': 'NotRequired[list[EntryCost]]',
        # Id of the host.
        'host': 'str',
        # Left to the end of the stage, and not among those that go on to the next.
        'passed-over': 'NotRequired[bool]',
        # Who removed it; none if it was left to the end of the stage.
        'removed': 'NotRequired[Removal]',
        # The sums of its weighted costs, tier by tier; null = infinite.
        'sums': 'NotRequired[list[float | None]]',
    },
)

# One stage, host by host in the order of their ids.
ExplainedStage = TypedDict(
    'ExplainedStage',
    {
        # What its units work out for people.
        'facts': 'NotRequired[list[ExplainedFact]]',
        # What became of each host, in the order of their ids.
        'hosts': 'list[ExplainedHost]',
        # Its name.
        'name': 'str',
        # What its selections made of the candidates, one after the other.
        'selections': 'NotRequired[list[Selection]]',
        # The tiers that occur, by number.
        'tiers': 'list[int]',
    },
)

# Who was removed by whom and why, what the others cost, and who was chosen.
Explanation = TypedDict(
    'Explanation',
    {
        # Id of the chosen host; none if every host was removed, or none was looked for.
        'chosen': 'str | None',
        # Name of the cluster.
        'cluster': 'str',
        # The number that decided what was left to chance.
        'draw': 'float',
        # The version of the inventory that the decision was made on.
        'inventory-version': 'int',
        # Entries that were left out of the decision, or tell no facts, because their
        # units failed; with the fault.
        'left-out': 'list[LeftOutEntry]',
        # Hosts that no unit was asked about, by id.
        'not-considered': 'NotRequired[list[NotConsidered]]',
        # Name of the policy that decided.
        'policy': 'str',
        # If no host was looked for: why, as a sentence. What is told of hosts then is what would
        # have become of them.
        'refused': 'NotRequired[str]',
        # Its stages, in policy order.
        'stages': 'list[ExplainedStage]',
        # How many hosts had the same costs as the chosen one, it included.
        'tied': 'int',
        # The units of the chain.
        'units': 'list[DecidingUnit]',
    },
)

# A decision in which a unit failed.
FailedDecision = TypedDict(
    'FailedDecision',
    {
        # How the unit failed, and where.
        'because': 'str',
        # The cluster that it is of.
        'cluster': 'str',
        # Number of the decision.
        'decision': 'int',
        # Ids of the VMs that were placed.
        'vms': 'list[str]',
    },
)

# VMs for which there is no decision.
FailedVms = TypedDict(
    'FailedVms',
    {
        # Why there is no decision.
        'because': 'str',
        # Ids of the VMs.
        'vms': 'list[str]',
    },
)

# Ids of what is there no more
GoneEntities = TypedDict(
    'GoneEntities',
    {
        # Ids of groups
        'groups': 'NotRequired[list[str]]',
        # Ids of hosts, which have no VMs any more
        'hosts': 'NotRequired[list[str]]',
        # Ids of tenants
        'tenants': 'NotRequired[list[str]]',
        # Ids of VMs
        'vms': 'NotRequired[list[str]]',
    },
)

# An affinity group
Group = TypedDict(
    'Group',
    {
        # What it is for
        'description': 'NotRequired[str]',
        # Whether the rule for VMs must be kept; false if not given
        'hard': 'NotRequired[bool]',
        # Whether the rule for hosts must be kept; false if not given
        'host-hard': 'NotRequired[bool]',
        # What it wants of its VMs and hosts: VMs on these hosts, or not on them
        'host-rule': 'NotRequired[GroupRule]',
        # Ids of its hosts
        'hosts': 'NotRequired[list[str]]',
        # Ids of other groups whose own hosts are in this one, too; one that is not there has none
        'hosts-of': 'NotRequired[list[str]]',
        # Id of the group, unique in the cluster
        'id': 'str',
        # What people call it; its id if not given
        'name': 'NotRequired[str]',
        # The greater, the more it counts where not all groups can be had; 1 if not given
        'priority': 'NotRequired[float]',
        # What it wants of its VMs: together on one host, or no two on one host
        'rule': 'NotRequired[GroupRule]',
        # Ids of its VMs, running or not
        'vms': 'NotRequired[list[str]]',
        # Ids of other groups whose own VMs are in this one, too; one that is not there has none
        'vms-of': 'NotRequired[list[str]]',
        # What is allowed in what was sent and surely a mistake, a sentence each
        'warnings': 'NotRequired[list[str]]',
    },
)

# An affinity group
GroupBody = TypedDict(
    'GroupBody',
    {
        # What it is for
        'description': 'NotRequired[str | None]',
        # Whether the rule for VMs must be kept; false if not given
        'hard': 'NotRequired[bool | None]',
        # Whether the rule for hosts must be kept; false if not given
        'host-hard': 'NotRequired[bool | None]',
        # What it wants of its VMs and hosts: VMs on these hosts, or not on them
        'host-rule': 'NotRequired[GroupRule | None]',
        # Ids of its hosts
        'hosts': 'NotRequired[list[str] | None]',
        # Ids of other groups whose own hosts are in this one, too; one that is not there has none
        'hosts-of': 'NotRequired[list[str] | None]',
        # Its id: that of the path, which may be left out here ({group})
        'id': 'NotRequired[str]',
        # What people call it; its id if not given
        'name': 'NotRequired[str | None]',
        # The greater, the more it counts where not all groups can be had; 1 if not given
        'priority': 'NotRequired[float | None]',
        # What it wants of its VMs: together on one host, or no two on one host
        'rule': 'NotRequired[GroupRule | None]',
        # Ids of its VMs, running or not
        'vms': 'NotRequired[list[str] | None]',
        # Ids of other groups whose own VMs are in this one, too; one that is not there has none
        'vms-of': 'NotRequired[list[str] | None]',
    },
)

# VMs that break a rule of a group together.
GroupBreak = TypedDict(
    'GroupBreak',
    {
        # Whether the rule must be kept.
        'hard': 'bool',
        # The hosts where they are; of more than a hundred, the first ones.
        'hosts': 'list[str]',
        # Their ids; of more than a hundred, the first ones.
        'vms': 'list[str]',
        # A sentence for people.
        'why': 'str',
    },
)

# What is different of an affinity group, or a new one
GroupChange = TypedDict(
    'GroupChange',
    {
        # Ids of hosts that come into it
        'add-hosts': 'NotRequired[list[str] | None]',
        # Ids of VMs that come into it
        'add-vms': 'NotRequired[list[str] | None]',
        # What it is for; null: nothing is said
        'description': 'NotRequired[str | None]',
        # Whether the rule for VMs must be kept
        'hard': 'NotRequired[bool | None]',
        # Whether the rule for hosts must be kept
        'host-hard': 'NotRequired[bool | None]',
        # What it wants of its VMs and hosts: VMs on these hosts, or not on them; null: nothing
        'host-rule': 'NotRequired[GroupRule | None]',
        # Ids of all its hosts; null: it has none
        'hosts': 'NotRequired[list[str] | None]',
        # Ids of all other groups whose own hosts are in this one, too; null: of none
        'hosts-of': 'NotRequired[list[str] | None]',
        # Id of the group, unique in the cluster
        'id': 'str',
        # What people call it; null: its id
        'name': 'NotRequired[str | None]',
        # The greater, the more it counts where not all groups can be had; null: 1
        'priority': 'NotRequired[float | None]',
        # Ids of hosts that it has no more
        'remove-hosts': 'NotRequired[list[str] | None]',
        # Ids of VMs that it has no more
        'remove-vms': 'NotRequired[list[str] | None]',
        # What it wants of its VMs: together on one host, or no two on one host; null: nothing
        'rule': 'NotRequired[GroupRule | None]',
        # Ids of all its VMs, running or not; null: it has none
        'vms': 'NotRequired[list[str] | None]',
        # Ids of all other groups whose own VMs are in this one, too; null: of none
        'vms-of': 'NotRequired[list[str] | None]',
    },
)

# An affinity group
GroupDocument = TypedDict(
    'GroupDocument',
    {
        # What it is for
        'description': 'NotRequired[str]',
        # Whether the rule for VMs must be kept; false if not given
        'hard': 'NotRequired[bool]',
        # Whether the rule for hosts must be kept; false if not given
        'host-hard': 'NotRequired[bool]',
        # What it wants of its VMs and hosts: VMs on these hosts, or not on them
        'host-rule': 'NotRequired[GroupRule]',
        # Ids of its hosts
        'hosts': 'NotRequired[list[str]]',
        # Ids of other groups whose own hosts are in this one, too; one that is not there has none
        'hosts-of': 'NotRequired[list[str]]',
        # Id of the group, unique in the cluster
        'id': 'str',
        # What people call it; its id if not given
        'name': 'NotRequired[str]',
        # The greater, the more it counts where not all groups can be had; 1 if not given
        'priority': 'NotRequired[float]',
        # What it wants of its VMs: together on one host, or no two on one host
        'rule': 'NotRequired[GroupRule]',
        # Ids of its VMs, running or not
        'vms': 'NotRequired[list[str]]',
        # Ids of other groups whose own VMs are in this one, too; one that is not there has none
        'vms-of': 'NotRequired[list[str]]',
    },
)

# A page of a list.
GroupPage = TypedDict(
    'GroupPage',
    {
        # The entries, in order.
        'items': 'list[Group]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# What is different of an affinity group, or a new one
GroupPatch = TypedDict(
    'GroupPatch',
    {
        # Ids of hosts that come into it
        'add-hosts': 'NotRequired[list[str] | None]',
        # Ids of VMs that come into it
        'add-vms': 'NotRequired[list[str] | None]',
        # What it is for; null: nothing is said
        'description': 'NotRequired[str | None]',
        # Whether the rule for VMs must be kept
        'hard': 'NotRequired[bool | None]',
        # Whether the rule for hosts must be kept
        'host-hard': 'NotRequired[bool | None]',
        # What it wants of its VMs and hosts: VMs on these hosts, or not on them; null: nothing
        'host-rule': 'NotRequired[GroupRule | None]',
        # Ids of all its hosts; null: it has none
        'hosts': 'NotRequired[list[str] | None]',
        # Ids of all other groups whose own hosts are in this one, too; null: of none
        'hosts-of': 'NotRequired[list[str] | None]',
        # Id of the group, unique in the cluster
        'id': 'NotRequired[str]',
        # What people call it; null: its id
        'name': 'NotRequired[str | None]',
        # The greater, the more it counts where not all groups can be had; null: 1
        'priority': 'NotRequired[float | None]',
        # Ids of hosts that it has no more
        'remove-hosts': 'NotRequired[list[str] | None]',
        # Ids of VMs that it has no more
        'remove-vms': 'NotRequired[list[str] | None]',
        # What it wants of its VMs: together on one host, or no two on one host; null: nothing
        'rule': 'NotRequired[GroupRule | None]',
        # Ids of all its VMs, running or not; null: it has none
        'vms': 'NotRequired[list[str] | None]',
        # Ids of all other groups whose own VMs are in this one, too; null: of none
        'vms-of': 'NotRequired[list[str] | None]',
    },
)

# Where a VM of a group is.
GroupPlace = TypedDict(
    'GroupPlace',
    {
        # Id of the host.
        'host': 'str',
        # Id of the VM.
        'vm': 'str',
    },
)

# Whether VMs are wanted together (positive) or apart (negative)
GroupRule: TypeAlias = "Literal['positive', 'negative']"

# Whether a group is kept.
GroupStanding = TypedDict(
    'GroupStanding',
    {
        # How many hosts or sets of VMs break it: of more than eight, `broken-by` has the first ones.
        'breaks': 'int',
        # Why it is not kept, a sentence for each host that is concerned.
        'broken-by': 'NotRequired[list[GroupBreak]]',
        # Whether a rule of it must be kept.
        'hard': 'bool',
        # What it wants of its VMs and its hosts: `on-hosts` or `off-hosts`; absent: nothing.
        'hosts-wanted': 'NotRequired[str | None]',
        # Its id.
        'id': 'str',
        # Whether every rule of it is kept by where its VMs are.
        'kept': 'bool',
        # How many VMs are in it, with a place or not.
        'members': 'int',
        # What it is called, if it has a name.
        'name': 'NotRequired[str | None]',
        # How many of its VMs have a place, running or reserved.
        'placed': 'int',
        # Where the first eight of those are, by id. `vms?group=` lists all of them.
        'places': 'list[GroupPlace]',
        # What it wants of its VMs: `together` or `apart`; absent: nothing.
        'vms-wanted': 'NotRequired[str | None]',
    },
)

# A page of a list.
GroupStandingPage = TypedDict(
    'GroupStandingPage',
    {
        # The entries, in order.
        'items': 'list[GroupStanding]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# The server lives.
Health = TypedDict(
    'Health',
    {
        # Always "ok".
        'status': 'str',
        # Version of the program.
        'version': 'str',
    },
)

# Something that happened: its time, and one of the others.
HistoryEvent = TypedDict(
    'HistoryEvent',
    {
        # Ids of VMs whose reserved places were given back, or ended by themselves.
        'cancel': 'NotRequired[list[str]]',
        'changes': 'NotRequired[InventoryChanges]',
        # Ids of VMs that run where their places were reserved.
        'confirm': 'NotRequired[list[str]]',
        # Ids of VMs that were there no more.
        'remove': 'NotRequired[list[str]]',
        'reserve': 'NotRequired[PlacementRequest]',
        # When it happened.
        'time': 'str',
    },
)

# What somebody holds, as programs read it.
Holding = TypedDict(
    'Holding',
    {
        # Promised CPU in cores.
        'cpu': 'float',
        # GPUs; a share of one counts as its part.
        'gpus': 'float',
        # Promised memory in bytes.
        'memory': 'int',
        # How many VMs.
        'vms': 'int',
    },
)

# A host, with what its VMs add up to
Host = TypedDict(
    'Host',
    {
        # Network address
        'address': 'NotRequired[str]',
        # Amounts with names of the operator's choice
        'amounts': 'NotRequired[list[HostAmount]]',
        # VMs that the batch at hand has placed here so far
        'batch.placed': 'NotRequired[int]',
        # What running here costs, an entry for each instance of a deployment
        'costs': 'NotRequired[list[HostCost]]',
        # CPU flags
        'cpu-flags': 'NotRequired[list[HostCpuFlag]]',
        # CPU promised to the VMs that run here; in cores
        'cpu.committed': 'NotRequired[float]',
        # CPU cores of all sockets
        'cpu.cores': 'NotRequired[int]',
        # CPUs that VMs here, pending ones included, have for themselves
        'cpu.exclusive': 'NotRequired[int]',
        # How much of its CPU may be promised, 1 = all of it once; if not given, as the policy says, or
        # 1; a fraction, 1 is all of it
        'cpu.overcommit': 'NotRequired[float]',
        # CPU promised to the VMs that have a place reserved here; in cores
        'cpu.pending': 'NotRequired[float]',
        # CPU sockets
        'cpu.sockets': 'NotRequired[int]',
        # CPU threads of all cores
        'cpu.threads': 'NotRequired[int]',
        # CPU that it has; that of its cores if not given; in cores
        'cpu.total': 'NotRequired[float]',
        # Measured share of its CPU in use; a fraction, 1 is all of it
        'cpu.usage': 'NotRequired[float]',
        # CPU threads, one by one
        'cpus': 'NotRequired[list[HostCpu]]',
        # When it was added; in seconds since 1970-01-01 UTC
        'created': 'NotRequired[int]',
        # The same time
        'created-time': 'NotRequired[str]',
        # Devices that can be given to a VM
        'devices': 'NotRequired[list[HostDevice]]',
        # Launches that failed here
        'failures': 'NotRequired[list[HostFailure]]',
        # Model of its GPUs, which are all alike
        'gpu.model': 'NotRequired[str]',
        # GPUs, of which VMs take whole ones or thousandths
        'gpus': 'NotRequired[list[HostGpu]]',
        # Hooks that are installed
        'hooks': 'NotRequired[list[HostHook]]',
        # Huge pages
        'huge-pages': 'NotRequired[list[HostHugePage]]',
        # Id of the host, unique in the cluster
        'id': 'str',
        # Placement keys of the host
        'keys': 'NotRequired[list[HostKey]]',
        # Storage domains of which the host can take leases
        'leases': 'NotRequired[list[HostLease]]',
        # Its place in the order in which hosts were added, from 0
        'listed': 'NotRequired[int]',
        # Load of VMs without exclusive CPUs that ran on another host before: pending VMs, and VMs that
        # run here and are not yet measured in cpu.usage; in cores
        'load.pending': 'NotRequired[float]',
        # Machine types that the host can emulate
        'machine-types': 'NotRequired[list[HostMachineType]]',
        # Memory promised to the VMs that run here; in bytes
        'memory.committed': 'NotRequired[int]',
        # Measured free memory; in bytes
        'memory.free': 'NotRequired[int]',
        # How much of its memory may be promised, 1 = all of it once; 1 if not given; a fraction, 1 is
        # all of it
        'memory.overcommit': 'NotRequired[float]',
        # Memory promised to the VMs that have a place reserved here; in bytes
        'memory.pending': 'NotRequired[int]',
        # Memory that the host keeps for itself; 0 if not given; in bytes
        'memory.reserved': 'NotRequired[int]',
        # Physical memory; 0 if not given; in bytes
        'memory.total': 'NotRequired[int]',
        # Memory outside huge pages of VMs that run here and are not yet measured in memory.free, which
        # is already less by it; in bytes
        'memory.unmeasured': 'NotRequired[int]',
        # Name of the host
        'name': 'NotRequired[str]',
        # Networks that the host is connected to
        'networks': 'NotRequired[list[HostNetwork]]',
        # NUMA nodes
        'numa-nodes': 'NotRequired[list[HostNumaNode]]',
        # Whether a policy has brought it into its state
        'power.by-policy': 'NotRequired[bool]',
        # Whether it must not be switched off
        'power.keep-on': 'NotRequired[bool]',
        # Whether it can be switched on and off from outside
        'power.managed': 'NotRequired[bool]',
        # up (takes VMs; if not given), maintenance, down or error
        'state': 'NotRequired[HostState]',
        # When its statistics were measured, by the column or table
        'statistics': 'NotRequired[dict[str, Measured]]',
        # What an outside monitor says of it: ok, or what is wrong
        'status.external': 'NotRequired[str]',
        # Free swap space; in bytes
        'swap.free': 'NotRequired[int]',
        # Swap space; in bytes
        'swap.total': 'NotRequired[int]',
        # Tags of the host
        'tags': 'NotRequired[list[HostTag]]',
        # Reported usage of resources, where the host is a pod of many
        'usage': 'NotRequired[list[HostUsage]]',
        # vCPUs of the VMs that run here without exclusive CPUs
        'vcpus': 'NotRequired[int]',
        # vCPUs of the VMs that have a place reserved here without exclusive CPUs
        'vcpus.pending': 'NotRequired[int]',
        # vCPUs of VMs without exclusive CPUs and without a measured load: pending VMs, and VMs that run
        # here and are not yet measured in cpu.usage
        'vcpus.unmeasured': 'NotRequired[int]',
        # Compatibility versions that the host supports
        'versions': 'NotRequired[list[HostVersion]]',
        # The VMs that run here or have a place reserved here
        'vms': 'list[VmOfHost]',
        # VMs that run here
        'vms.count': 'NotRequired[int]',
        # Highly available VMs here, pending ones included
        'vms.ha': 'NotRequired[int]',
        # VMs here that are on the move, to or from this host
        'vms.migrating': 'NotRequired[int]',
        # VMs that have a place reserved here
        'vms.pending': 'NotRequired[int]',
        # VMs that run here and of which memory.free shows nothing yet
        'vms.unmeasured': 'NotRequired[int]',
        # Cores of the largest VM here (running or pending, without exclusive CPUs); 0 if there is none
        'vms.widest': 'NotRequired[int]',
        # What is allowed in what was sent and surely a mistake, a sentence each
        'warnings': 'NotRequired[list[str]]',
        # Availability zone
        'zone': 'NotRequired[str]',
    },
)

# One of: amounts with names of the operator's choice
HostAmount = TypedDict(
    'HostAmount',
    {
        # Name of the amount
        'name': 'str',
        # Needed by the VMs that have a place reserved here
        'pending': 'NotRequired[int]',
        # How much of it the host has
        'total': 'int',
        # Needed by the VMs that run here
        'used': 'NotRequired[int]',
    },
)

# A host
HostBody = TypedDict(
    'HostBody',
    {
        # Network address
        'address': 'NotRequired[str | None]',
        # Amounts with names of the operator's choice
        'amounts': 'NotRequired[list[HostAmount] | None]',
        # What running here costs, an entry for each instance of a deployment
        'costs': 'NotRequired[list[HostCost] | None]',
        # CPU flags
        'cpu-flags': 'NotRequired[list[HostCpuFlag] | None]',
        # CPU promised to the VMs that run here; in cores, or a text such as "1.5 cores" or "1500m"
        'cpu.committed': 'NotRequired[float | str | None]',
        # CPU cores of all sockets
        'cpu.cores': 'NotRequired[int | None]',
        # CPUs that VMs here, pending ones included, have for themselves
        'cpu.exclusive': 'NotRequired[int | None]',
        # How much of its CPU may be promised, 1 = all of it once; if not given, as the policy says, or
        # 1; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.overcommit': 'NotRequired[float | str | None]',
        # CPU promised to the VMs that have a place reserved here; in cores, or a text such as "1.5
        # cores" or "1500m"
        'cpu.pending': 'NotRequired[float | str | None]',
        # CPU sockets
        'cpu.sockets': 'NotRequired[int | None]',
        # CPU threads of all cores
        'cpu.threads': 'NotRequired[int | None]',
        # CPU that it has; that of its cores if not given; in cores, or a text such as "1.5 cores" or
        # "1500m"
        'cpu.total': 'NotRequired[float | str | None]',
        # Measured share of its CPU in use; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.usage': 'NotRequired[float | str | None]',
        # CPU threads, one by one
        'cpus': 'NotRequired[list[HostCpu] | None]',
        # When it was added; in seconds since 1970-01-01 UTC, or a text such as "2026-11-20T12:00:00Z"
        'created': 'NotRequired[int | str | None]',
        # The same time, as servers show it beside; where both are given, they must be the same
        'created-time': 'NotRequired[str | None]',
        # Devices that can be given to a VM
        'devices': 'NotRequired[list[HostDevice] | None]',
        # Launches that failed here
        'failures': 'NotRequired[list[HostFailureDocument] | None]',
        # Model of its GPUs, which are all alike
        'gpu.model': 'NotRequired[str | None]',
        # GPUs, of which VMs take whole ones or thousandths
        'gpus': 'NotRequired[list[HostGpu] | None]',
        # Hooks that are installed
        'hooks': 'NotRequired[list[HostHook] | None]',
        # Huge pages
        'huge-pages': 'NotRequired[list[HostHugePageDocument] | None]',
        # Its id: that of the path, which may be left out here ({host})
        'id': 'NotRequired[str]',
        # Placement keys of the host
        'keys': 'NotRequired[list[HostKey] | None]',
        # Storage domains of which the host can take leases
        'leases': 'NotRequired[list[HostLease] | None]',
        # Load of VMs without exclusive CPUs that ran on another host before: pending VMs, and VMs that
        # run here and are not yet measured in cpu.usage; in cores, or a text such as "1.5 cores" or
        # "1500m"
        'load.pending': 'NotRequired[float | str | None]',
        # Machine types that the host can emulate
        'machine-types': 'NotRequired[list[HostMachineType] | None]',
        # Memory promised to the VMs that run here; in bytes, or a text such as "8 GiB"
        'memory.committed': 'NotRequired[int | str | None]',
        # Measured free memory; in bytes, or a text such as "8 GiB"
        'memory.free': 'NotRequired[int | str | None]',
        # How much of its memory may be promised, 1 = all of it once; 1 if not given; a fraction, 1 is
        # all of it, or a text such as 0.8 or "80 %"
        'memory.overcommit': 'NotRequired[float | str | None]',
        # Memory promised to the VMs that have a place reserved here; in bytes, or a text such as "8 GiB"
        'memory.pending': 'NotRequired[int | str | None]',
        # Memory that the host keeps for itself; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory.reserved': 'NotRequired[int | str | None]',
        # Physical memory; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory.total': 'NotRequired[int | str | None]',
        # Memory outside huge pages of VMs that run here and are not yet measured in memory.free, which
        # is already less by it; in bytes, or a text such as "8 GiB"
        'memory.unmeasured': 'NotRequired[int | str | None]',
        # Name of the host
        'name': 'NotRequired[str | None]',
        # Networks that the host is connected to
        'networks': 'NotRequired[list[HostNetwork] | None]',
        # NUMA nodes
        'numa-nodes': 'NotRequired[list[HostNumaNodeDocument] | None]',
        # Whether a policy has brought it into its state
        'power.by-policy': 'NotRequired[bool | None]',
        # Whether it must not be switched off
        'power.keep-on': 'NotRequired[bool | None]',
        # Whether it can be switched on and off from outside
        'power.managed': 'NotRequired[bool | None]',
        # up (takes VMs; if not given), maintenance, down or error
        'state': 'NotRequired[HostState | None]',
        # What an outside monitor says of it: ok, or what is wrong
        'status.external': 'NotRequired[str | None]',
        # Free swap space; in bytes, or a text such as "8 GiB"
        'swap.free': 'NotRequired[int | str | None]',
        # Swap space; in bytes, or a text such as "8 GiB"
        'swap.total': 'NotRequired[int | str | None]',
        # Tags of the host
        'tags': 'NotRequired[list[HostTag] | None]',
        # Reported usage of resources, where the host is a pod of many
        'usage': 'NotRequired[list[HostUsage] | None]',
        # vCPUs of the VMs that run here without exclusive CPUs
        'vcpus': 'NotRequired[int | None]',
        # vCPUs of the VMs that have a place reserved here without exclusive CPUs
        'vcpus.pending': 'NotRequired[int | None]',
        # vCPUs of VMs without exclusive CPUs and without a measured load: pending VMs, and VMs that run
        # here and are not yet measured in cpu.usage
        'vcpus.unmeasured': 'NotRequired[int | None]',
        # Compatibility versions that the host supports
        'versions': 'NotRequired[list[HostVersion] | None]',
        # The VMs on the host
        'vms': 'NotRequired[list[VmDocument] | None]',
        # VMs that run here
        'vms.count': 'NotRequired[int | None]',
        # Highly available VMs here, pending ones included
        'vms.ha': 'NotRequired[int | None]',
        # VMs here that are on the move, to or from this host
        'vms.migrating': 'NotRequired[int | None]',
        # VMs that have a place reserved here
        'vms.pending': 'NotRequired[int | None]',
        # VMs that run here and of which memory.free shows nothing yet
        'vms.unmeasured': 'NotRequired[int | None]',
        # Availability zone
        'zone': 'NotRequired[str | None]',
    },
)

# How many of the copies go to a host.
HostCapacity = TypedDict(
    'HostCapacity',
    {
        # How many more VMs of the shape it takes.
        'fit': 'int',
        # Id of the host.
        'host': 'str',
    },
)

# What is different of a host, or a new one; null takes a value away
HostChange = TypedDict(
    'HostChange',
    {
        # Network address
        'address': 'NotRequired[str | None]',
        # Amounts with names of the operator's choice
        'amounts': 'NotRequired[list[HostAmount] | None]',
        # What running here costs, an entry for each instance of a deployment
        'costs': 'NotRequired[list[HostCost] | None]',
        # CPU flags
        'cpu-flags': 'NotRequired[list[HostCpuFlag] | None]',
        # CPU promised to the VMs that run here; in cores, or a text such as "1.5 cores" or "1500m"
        'cpu.committed': 'NotRequired[float | str | None]',
        # CPU cores of all sockets
        'cpu.cores': 'NotRequired[int | None]',
        # CPUs that VMs here, pending ones included, have for themselves
        'cpu.exclusive': 'NotRequired[int | None]',
        # How much of its CPU may be promised, 1 = all of it once; if not given, as the policy says, or
        # 1; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.overcommit': 'NotRequired[float | str | None]',
        # CPU promised to the VMs that have a place reserved here; in cores, or a text such as "1.5
        # cores" or "1500m"
        'cpu.pending': 'NotRequired[float | str | None]',
        # CPU sockets
        'cpu.sockets': 'NotRequired[int | None]',
        # CPU threads of all cores
        'cpu.threads': 'NotRequired[int | None]',
        # CPU that it has; that of its cores if not given; in cores, or a text such as "1.5 cores" or
        # "1500m"
        'cpu.total': 'NotRequired[float | str | None]',
        # Measured share of its CPU in use; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.usage': 'NotRequired[float | str | None]',
        # CPU threads, one by one
        'cpus': 'NotRequired[list[HostCpu] | None]',
        # When it was added; in seconds since 1970-01-01 UTC, or a text such as "2026-11-20T12:00:00Z"
        'created': 'NotRequired[int | str | None]',
        # The same time, as servers show it beside; where both are given, they must be the same
        'created-time': 'NotRequired[str | None]',
        # Devices that can be given to a VM
        'devices': 'NotRequired[list[HostDevice] | None]',
        # Launches that failed here
        'failures': 'NotRequired[list[HostFailureDocument] | None]',
        # Model of its GPUs, which are all alike
        'gpu.model': 'NotRequired[str | None]',
        # GPUs, of which VMs take whole ones or thousandths
        'gpus': 'NotRequired[list[HostGpu] | None]',
        # Hooks that are installed
        'hooks': 'NotRequired[list[HostHook] | None]',
        # Huge pages
        'huge-pages': 'NotRequired[list[HostHugePageDocument] | None]',
        # Id of the host, unique in the cluster
        'id': 'str',
        # Placement keys of the host
        'keys': 'NotRequired[list[HostKey] | None]',
        # Storage domains of which the host can take leases
        'leases': 'NotRequired[list[HostLease] | None]',
        # Load of VMs without exclusive CPUs that ran on another host before: pending VMs, and VMs that
        # run here and are not yet measured in cpu.usage; in cores, or a text such as "1.5 cores" or
        # "1500m"
        'load.pending': 'NotRequired[float | str | None]',
        # Machine types that the host can emulate
        'machine-types': 'NotRequired[list[HostMachineType] | None]',
        # Memory promised to the VMs that run here; in bytes, or a text such as "8 GiB"
        'memory.committed': 'NotRequired[int | str | None]',
        # Measured free memory; in bytes, or a text such as "8 GiB"
        'memory.free': 'NotRequired[int | str | None]',
        # How much of its memory may be promised, 1 = all of it once; 1 if not given; a fraction, 1 is
        # all of it, or a text such as 0.8 or "80 %"
        'memory.overcommit': 'NotRequired[float | str | None]',
        # Memory promised to the VMs that have a place reserved here; in bytes, or a text such as "8 GiB"
        'memory.pending': 'NotRequired[int | str | None]',
        # Memory that the host keeps for itself; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory.reserved': 'NotRequired[int | str | None]',
        # Physical memory; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory.total': 'NotRequired[int | str | None]',
        # Memory outside huge pages of VMs that run here and are not yet measured in memory.free, which
        # is already less by it; in bytes, or a text such as "8 GiB"
        'memory.unmeasured': 'NotRequired[int | str | None]',
        # Name of the host
        'name': 'NotRequired[str | None]',
        # Networks that the host is connected to
        'networks': 'NotRequired[list[HostNetwork] | None]',
        # NUMA nodes
        'numa-nodes': 'NotRequired[list[HostNumaNodeDocument] | None]',
        # Whether a policy has brought it into its state
        'power.by-policy': 'NotRequired[bool | None]',
        # Whether it must not be switched off
        'power.keep-on': 'NotRequired[bool | None]',
        # Whether it can be switched on and off from outside
        'power.managed': 'NotRequired[bool | None]',
        # up (takes VMs; if not given), maintenance, down or error
        'state': 'NotRequired[HostState | None]',
        # What an outside monitor says of it: ok, or what is wrong
        'status.external': 'NotRequired[str | None]',
        # Free swap space; in bytes, or a text such as "8 GiB"
        'swap.free': 'NotRequired[int | str | None]',
        # Swap space; in bytes, or a text such as "8 GiB"
        'swap.total': 'NotRequired[int | str | None]',
        # Tags of the host
        'tags': 'NotRequired[list[HostTag] | None]',
        # Reported usage of resources, where the host is a pod of many
        'usage': 'NotRequired[list[HostUsage] | None]',
        # vCPUs of the VMs that run here without exclusive CPUs
        'vcpus': 'NotRequired[int | None]',
        # vCPUs of the VMs that have a place reserved here without exclusive CPUs
        'vcpus.pending': 'NotRequired[int | None]',
        # vCPUs of VMs without exclusive CPUs and without a measured load: pending VMs, and VMs that run
        # here and are not yet measured in cpu.usage
        'vcpus.unmeasured': 'NotRequired[int | None]',
        # Compatibility versions that the host supports
        'versions': 'NotRequired[list[HostVersion] | None]',
        # VMs that run here
        'vms.count': 'NotRequired[int | None]',
        # Highly available VMs here, pending ones included
        'vms.ha': 'NotRequired[int | None]',
        # VMs here that are on the move, to or from this host
        'vms.migrating': 'NotRequired[int | None]',
        # VMs that have a place reserved here
        'vms.pending': 'NotRequired[int | None]',
        # VMs that run here and of which memory.free shows nothing yet
        'vms.unmeasured': 'NotRequired[int | None]',
        # Availability zone
        'zone': 'NotRequired[str | None]',
    },
)

# A column of hosts.
HostColumn = TypedDict(
    'HostColumn',
    {
        # Of its values: integer, number, boolean or text.
        'kind': 'str',
        # What it means, in a sentence.
        'meaning': 'str',
        # In what its values are measured: bytes, millicores, seconds, time, fraction or percent. An
        # answer has amounts of CPU in cores.
        'measure': 'NotRequired[str | None]',
        # Its name: `cpu.total`, `attribute.rack`.
        'name': 'str',
    },
)

# Columns of hosts.
HostColumns = TypedDict(
    'HostColumns',
    {
        # By the names of the columns their values, of one host after the other in the order of
        # their ids; null where a host has none.
        'columns': 'dict[str, list[Any]]',
        # How much of the CPU of hosts without `cpu.overcommit` may be promised, 1 = all of it once: the
        # least that a filter of the policy in force has as its setting `overcommit`. Absent where none
        # has one; 1 is counted then.
        'cpu-overcommit': 'NotRequired[float | None]',
        # How often the rows of the inventory have changed.
        'revision': 'int',
    },
)

# One of: what running here costs, an entry for each instance of a deployment
HostCost = TypedDict(
    'HostCost',
    {
        # Millionths of the currency per hour; absent if unknown
        'amount': 'NotRequired[int]',
    },
)

# What a policy says of every host for one request.
HostCosts = TypedDict(
    'HostCosts',
    {
        # Id of the host that is chosen; none if every host is removed.
        'chosen': 'str | None',
        # Every host of the cluster, in the order of their ids.
        'hosts': 'list[CostedHost]',
        # Name of the policy.
        'policy': 'str',
        # The tiers of the costs, by number.
        'tiers': 'list[int]',
    },
)

# How many decisions fall on a host.
HostCount = TypedDict(
    'HostCount',
    {
        # Under the draft.
        'after': 'int',
        # As they were made.
        'before': 'int',
        # Id of the host.
        'host': 'str',
    },
)

# One of: CPU threads, one by one
HostCpu = TypedDict(
    'HostCpu',
    {
        # Number of its core in the socket
        'core': 'NotRequired[int]',
        # Number of the thread
        'cpu': 'int',
        # Whether a VM has it for itself
        'exclusive': 'NotRequired[bool]',
        # Number of its NUMA node
        'numa': 'NotRequired[int]',
        # Whether it is online
        'online': 'NotRequired[bool]',
        # Number of its socket
        'socket': 'NotRequired[int]',
    },
)

# One of: CPU flags
HostCpuFlag = TypedDict(
    'HostCpuFlag',
    {
        # The flag
        'flag': 'str',
    },
)

# One of: devices that can be given to a VM
HostDevice = TypedDict(
    'HostDevice',
    {
        # Whether no VM has it
        'free': 'NotRequired[bool]',
        # Kind of the device
        'kind': 'NotRequired[str]',
        # Name of the device
        'name': 'str',
    },
)

# A host
HostDocument = TypedDict(
    'HostDocument',
    {
        # Network address
        'address': 'NotRequired[str]',
        # Amounts with names of the operator's choice
        'amounts': 'NotRequired[list[HostAmount]]',
        # What running here costs, an entry for each instance of a deployment
        'costs': 'NotRequired[list[HostCost]]',
        # CPU flags
        'cpu-flags': 'NotRequired[list[HostCpuFlag]]',
        # CPU promised to the VMs that run here; in cores, or a text such as "1.5 cores" or "1500m"
        'cpu.committed': 'NotRequired[float | str]',
        # CPU cores of all sockets
        'cpu.cores': 'NotRequired[int]',
        # CPUs that VMs here, pending ones included, have for themselves
        'cpu.exclusive': 'NotRequired[int]',
        # How much of its CPU may be promised, 1 = all of it once; if not given, as the policy says, or
        # 1; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.overcommit': 'NotRequired[float | str]',
        # CPU promised to the VMs that have a place reserved here; in cores, or a text such as "1.5
        # cores" or "1500m"
        'cpu.pending': 'NotRequired[float | str]',
        # CPU sockets
        'cpu.sockets': 'NotRequired[int]',
        # CPU threads of all cores
        'cpu.threads': 'NotRequired[int]',
        # CPU that it has; that of its cores if not given; in cores, or a text such as "1.5 cores" or
        # "1500m"
        'cpu.total': 'NotRequired[float | str]',
        # Measured share of its CPU in use; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.usage': 'NotRequired[float | str]',
        # CPU threads, one by one
        'cpus': 'NotRequired[list[HostCpu]]',
        # When it was added; in seconds since 1970-01-01 UTC, or a text such as "2026-11-20T12:00:00Z"
        'created': 'NotRequired[int | str]',
        # The same time, as servers show it beside; where both are given, they must be the same
        'created-time': 'NotRequired[str]',
        # Devices that can be given to a VM
        'devices': 'NotRequired[list[HostDevice]]',
        # Launches that failed here
        'failures': 'NotRequired[list[HostFailureDocument]]',
        # Model of its GPUs, which are all alike
        'gpu.model': 'NotRequired[str]',
        # GPUs, of which VMs take whole ones or thousandths
        'gpus': 'NotRequired[list[HostGpu]]',
        # Hooks that are installed
        'hooks': 'NotRequired[list[HostHook]]',
        # Huge pages
        'huge-pages': 'NotRequired[list[HostHugePageDocument]]',
        # Id of the host, unique in the cluster
        'id': 'str',
        # Placement keys of the host
        'keys': 'NotRequired[list[HostKey]]',
        # Storage domains of which the host can take leases
        'leases': 'NotRequired[list[HostLease]]',
        # Load of VMs without exclusive CPUs that ran on another host before: pending VMs, and VMs that
        # run here and are not yet measured in cpu.usage; in cores, or a text such as "1.5 cores" or
        # "1500m"
        'load.pending': 'NotRequired[float | str]',
        # Machine types that the host can emulate
        'machine-types': 'NotRequired[list[HostMachineType]]',
        # Memory promised to the VMs that run here; in bytes, or a text such as "8 GiB"
        'memory.committed': 'NotRequired[int | str]',
        # Measured free memory; in bytes, or a text such as "8 GiB"
        'memory.free': 'NotRequired[int | str]',
        # How much of its memory may be promised, 1 = all of it once; 1 if not given; a fraction, 1 is
        # all of it, or a text such as 0.8 or "80 %"
        'memory.overcommit': 'NotRequired[float | str]',
        # Memory promised to the VMs that have a place reserved here; in bytes, or a text such as "8 GiB"
        'memory.pending': 'NotRequired[int | str]',
        # Memory that the host keeps for itself; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory.reserved': 'NotRequired[int | str]',
        # Physical memory; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory.total': 'NotRequired[int | str]',
        # Memory outside huge pages of VMs that run here and are not yet measured in memory.free, which
        # is already less by it; in bytes, or a text such as "8 GiB"
        'memory.unmeasured': 'NotRequired[int | str]',
        # Name of the host
        'name': 'NotRequired[str]',
        # Networks that the host is connected to
        'networks': 'NotRequired[list[HostNetwork]]',
        # NUMA nodes
        'numa-nodes': 'NotRequired[list[HostNumaNodeDocument]]',
        # Whether a policy has brought it into its state
        'power.by-policy': 'NotRequired[bool]',
        # Whether it must not be switched off
        'power.keep-on': 'NotRequired[bool]',
        # Whether it can be switched on and off from outside
        'power.managed': 'NotRequired[bool]',
        # up (takes VMs; if not given), maintenance, down or error
        'state': 'NotRequired[HostState]',
        # What an outside monitor says of it: ok, or what is wrong
        'status.external': 'NotRequired[str]',
        # Free swap space; in bytes, or a text such as "8 GiB"
        'swap.free': 'NotRequired[int | str]',
        # Swap space; in bytes, or a text such as "8 GiB"
        'swap.total': 'NotRequired[int | str]',
        # Tags of the host
        'tags': 'NotRequired[list[HostTag]]',
        # Reported usage of resources, where the host is a pod of many
        'usage': 'NotRequired[list[HostUsage]]',
        # vCPUs of the VMs that run here without exclusive CPUs
        'vcpus': 'NotRequired[int]',
        # vCPUs of the VMs that have a place reserved here without exclusive CPUs
        'vcpus.pending': 'NotRequired[int]',
        # vCPUs of VMs without exclusive CPUs and without a measured load: pending VMs, and VMs that run
        # here and are not yet measured in cpu.usage
        'vcpus.unmeasured': 'NotRequired[int]',
        # Compatibility versions that the host supports
        'versions': 'NotRequired[list[HostVersion]]',
        # The VMs on the host
        'vms': 'NotRequired[list[VmDocument]]',
        # VMs that run here
        'vms.count': 'NotRequired[int]',
        # Highly available VMs here, pending ones included
        'vms.ha': 'NotRequired[int]',
        # VMs here that are on the move, to or from this host
        'vms.migrating': 'NotRequired[int]',
        # VMs that have a place reserved here
        'vms.pending': 'NotRequired[int]',
        # VMs that run here and of which memory.free shows nothing yet
        'vms.unmeasured': 'NotRequired[int]',
        # Availability zone
        'zone': 'NotRequired[str]',
    },
)

# One of: launches that failed here
HostFailure = TypedDict(
    'HostFailure',
    {
        # What failed
        'kind': 'NotRequired[str]',
        # When; in seconds since 1970-01-01 UTC
        'time': 'int',
        # The same time
        'time-time': 'str',
    },
)

# One of: launches that failed here
HostFailureDocument = TypedDict(
    'HostFailureDocument',
    {
        # What failed
        'kind': 'NotRequired[str]',
        # When; in seconds since 1970-01-01 UTC, or a text such as "2026-11-20T12:00:00Z"
        'time': 'int | str',
        # The same time, as servers show it beside; where both are given, they must be the same
        'time-time': 'NotRequired[str]',
    },
)

# What becomes of a host.
HostFate: TypeAlias = 'HostFateNotAsked | HostFateRemoved | HostFateLeft'

# It is left to the end of that stage, with these sums of weighted costs, tier by
# tier; null = infinite.
HostFateLeft = TypedDict(
    'HostFateLeft',
    {
        # Always left
        'fate': "Literal['left']",
        # It does not go on to the next stage.
        'passed-over': 'bool',
        # Name of the stage.
        'stage': 'str',
        # The sums of its weighted costs, tier by tier; null = infinite.
        'sums': 'list[float | None]',
    },
)

# No unit is asked about it.
HostFateNotAsked = TypedDict(
    'HostFateNotAsked',
    {
        # Always not-asked
        'fate': "Literal['not-asked']",
        # Completes "host ...".
        'reason': 'str',
    },
)

# An entry of the policy removes it.
HostFateRemoved = TypedDict(
    'HostFateRemoved',
    {
        # Always removed
        'fate': "Literal['removed']",
        # The policy's entry.
        'filter': 'str',
        # Completes "host ...".
        'reason': 'str',
    },
)

# One of: GPUs, of which VMs take whole ones or thousandths
HostGpu = TypedDict(
    'HostGpu',
    {
        # Number of the GPU
        'index': 'int',
        # Thousandths of it that the VMs take that run here or have a place reserved here
        'taken': 'NotRequired[int]',
    },
)

# One of: hooks that are installed
HostHook = TypedDict(
    'HostHook',
    {
        # Name of the hook
        'name': 'str',
    },
)

# One of: huge pages
HostHugePage = TypedDict(
    'HostHugePage',
    {
        # Free pages
        'free': 'int',
        # Pages needed by the VMs that have a place reserved here
        'pending': 'NotRequired[int]',
        # Size of a page; in bytes
        'size': 'int',
    },
)

# One of: huge pages
HostHugePageDocument = TypedDict(
    'HostHugePageDocument',
    {
        # Free pages
        'free': 'int',
        # Pages needed by the VMs that have a place reserved here
        'pending': 'NotRequired[int]',
        # Size of a page; in bytes, or a text such as "8 GiB"
        'size': 'int | str',
    },
)

# One of: placement keys of the host
HostKey = TypedDict(
    'HostKey',
    {
        # Name of the key
        'name': 'str',
        # Whether VMs that run here keep it
        'sticky': 'NotRequired[bool]',
        # Value
        'value': 'float',
        # Weight
        'weight': 'NotRequired[float]',
    },
)

# One of: storage domains of which the host can take leases
HostLease = TypedDict(
    'HostLease',
    {
        # Whether the host has joined it
        'acquired': 'bool',
        # Id of the storage domain
        'domain': 'str',
    },
)

# One of: machine types that the host can emulate
HostMachineType = TypedDict(
    'HostMachineType',
    {
        # Name of the machine type
        'name': 'str',
    },
)

# What was measured of a host; null takes a value away
HostMeasurements = TypedDict(
    'HostMeasurements',
    {
        # Network address
        'address': 'NotRequired[str | None]',
        # Amounts with names of the operator's choice
        'amounts': 'NotRequired[list[HostAmount] | None]',
        # What running here costs, an entry for each instance of a deployment
        'costs': 'NotRequired[list[HostCost] | None]',
        # CPU flags
        'cpu-flags': 'NotRequired[list[HostCpuFlag] | None]',
        # CPU promised to the VMs that run here; in cores, or a text such as "1.5 cores" or "1500m"
        'cpu.committed': 'NotRequired[float | str | None]',
        # CPU cores of all sockets
        'cpu.cores': 'NotRequired[int | None]',
        # CPUs that VMs here, pending ones included, have for themselves
        'cpu.exclusive': 'NotRequired[int | None]',
        # How much of its CPU may be promised, 1 = all of it once; if not given, as the policy says, or
        # 1; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.overcommit': 'NotRequired[float | str | None]',
        # CPU promised to the VMs that have a place reserved here; in cores, or a text such as "1.5
        # cores" or "1500m"
        'cpu.pending': 'NotRequired[float | str | None]',
        # CPU sockets
        'cpu.sockets': 'NotRequired[int | None]',
        # CPU threads of all cores
        'cpu.threads': 'NotRequired[int | None]',
        # CPU that it has; that of its cores if not given; in cores, or a text such as "1.5 cores" or
        # "1500m"
        'cpu.total': 'NotRequired[float | str | None]',
        # Measured share of its CPU in use; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.usage': 'NotRequired[float | str | None]',
        # CPU threads, one by one
        'cpus': 'NotRequired[list[HostCpu] | None]',
        # When it was added; in seconds since 1970-01-01 UTC, or a text such as "2026-11-20T12:00:00Z"
        'created': 'NotRequired[int | str | None]',
        # The same time, as servers show it beside; where both are given, they must be the same
        'created-time': 'NotRequired[str | None]',
        # Devices that can be given to a VM
        'devices': 'NotRequired[list[HostDevice] | None]',
        # Launches that failed here
        'failures': 'NotRequired[list[HostFailureDocument] | None]',
        # Model of its GPUs, which are all alike
        'gpu.model': 'NotRequired[str | None]',
        # GPUs, of which VMs take whole ones or thousandths
        'gpus': 'NotRequired[list[HostGpu] | None]',
        # Hooks that are installed
        'hooks': 'NotRequired[list[HostHook] | None]',
        # Huge pages
        'huge-pages': 'NotRequired[list[HostHugePageDocument] | None]',
        # Id of the host
        'id': 'str',
        # Placement keys of the host
        'keys': 'NotRequired[list[HostKey] | None]',
        # Storage domains of which the host can take leases
        'leases': 'NotRequired[list[HostLease] | None]',
        # Load of VMs without exclusive CPUs that ran on another host before: pending VMs, and VMs that
        # run here and are not yet measured in cpu.usage; in cores, or a text such as "1.5 cores" or
        # "1500m"
        'load.pending': 'NotRequired[float | str | None]',
        # Machine types that the host can emulate
        'machine-types': 'NotRequired[list[HostMachineType] | None]',
        # When it was measured; when it is received if not given
        'measured': 'NotRequired[int | str | None]',
        # Memory promised to the VMs that run here; in bytes, or a text such as "8 GiB"
        'memory.committed': 'NotRequired[int | str | None]',
        # Measured free memory; in bytes, or a text such as "8 GiB"
        'memory.free': 'NotRequired[int | str | None]',
        # How much of its memory may be promised, 1 = all of it once; 1 if not given; a fraction, 1 is
        # all of it, or a text such as 0.8 or "80 %"
        'memory.overcommit': 'NotRequired[float | str | None]',
        # Memory promised to the VMs that have a place reserved here; in bytes, or a text such as "8 GiB"
        'memory.pending': 'NotRequired[int | str | None]',
        # Memory that the host keeps for itself; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory.reserved': 'NotRequired[int | str | None]',
        # Physical memory; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory.total': 'NotRequired[int | str | None]',
        # Memory outside huge pages of VMs that run here and are not yet measured in memory.free, which
        # is already less by it; in bytes, or a text such as "8 GiB"
        'memory.unmeasured': 'NotRequired[int | str | None]',
        # Name of the host
        'name': 'NotRequired[str | None]',
        # Networks that the host is connected to
        'networks': 'NotRequired[list[HostNetwork] | None]',
        # NUMA nodes
        'numa-nodes': 'NotRequired[list[HostNumaNodeDocument] | None]',
        # Whether a policy has brought it into its state
        'power.by-policy': 'NotRequired[bool | None]',
        # Whether it must not be switched off
        'power.keep-on': 'NotRequired[bool | None]',
        # Whether it can be switched on and off from outside
        'power.managed': 'NotRequired[bool | None]',
        # up (takes VMs; if not given), maintenance, down or error
        'state': 'NotRequired[HostState | None]',
        # What an outside monitor says of it: ok, or what is wrong
        'status.external': 'NotRequired[str | None]',
        # Free swap space; in bytes, or a text such as "8 GiB"
        'swap.free': 'NotRequired[int | str | None]',
        # Swap space; in bytes, or a text such as "8 GiB"
        'swap.total': 'NotRequired[int | str | None]',
        # Tags of the host
        'tags': 'NotRequired[list[HostTag] | None]',
        # Reported usage of resources, where the host is a pod of many
        'usage': 'NotRequired[list[HostUsage] | None]',
        # vCPUs of the VMs that run here without exclusive CPUs
        'vcpus': 'NotRequired[int | None]',
        # vCPUs of the VMs that have a place reserved here without exclusive CPUs
        'vcpus.pending': 'NotRequired[int | None]',
        # vCPUs of VMs without exclusive CPUs and without a measured load: pending VMs, and VMs that run
        # here and are not yet measured in cpu.usage
        'vcpus.unmeasured': 'NotRequired[int | None]',
        # Compatibility versions that the host supports
        'versions': 'NotRequired[list[HostVersion] | None]',
        # VMs that run here
        'vms.count': 'NotRequired[int | None]',
        # Highly available VMs here, pending ones included
        'vms.ha': 'NotRequired[int | None]',
        # VMs here that are on the move, to or from this host
        'vms.migrating': 'NotRequired[int | None]',
        # VMs that have a place reserved here
        'vms.pending': 'NotRequired[int | None]',
        # VMs that run here and of which memory.free shows nothing yet
        'vms.unmeasured': 'NotRequired[int | None]',
        # Availability zone
        'zone': 'NotRequired[str | None]',
    },
)

# One of: networks that the host is connected to
HostNetwork = TypedDict(
    'HostNetwork',
    {
        # Boot protocol for IPv4, absent if none
        'ipv4': "NotRequired[Literal['static', 'dhcp'] | str]",
        # Boot protocol for IPv6, absent if none
        'ipv6': "NotRequired[Literal['static', 'dhcp', 'autoconf', 'poly-dhcp-autoconf'] | str]",
        # Name of the network
        'name': 'str',
    },
)

# One of: NUMA nodes
HostNumaNode = TypedDict(
    'HostNumaNode',
    {
        # The same for the VMs that have a place reserved here
        'cpus.pending': 'NotRequired[int]',
        # CPUs of the node that VMs which run here have for themselves: those that they are pinned to, or
        # else those of virtual nodes pinned to it
        'cpus.promised': 'NotRequired[int]',
        # Virtual nodes pinned to the node whose VMs share CPUs, of VMs that run here and of those that
        # have a place reserved here: while there are any, one CPU of the node must be left to be shared
        'cpus.sharers': 'NotRequired[int]',
        # Number of the node
        'index': 'int',
        # Measured free memory of the node; in bytes
        'memory.free': 'NotRequired[int]',
        # The same for the VMs that have a place reserved here; in bytes
        'memory.pending': 'NotRequired[int]',
        # Memory of the node promised to virtual nodes, pinned to it, of the VMs that run here; in bytes
        'memory.promised': 'NotRequired[int]',
        # Memory of the node; in bytes
        'memory.total': 'int',
    },
)

# One of: NUMA nodes
HostNumaNodeDocument = TypedDict(
    'HostNumaNodeDocument',
    {
        # The same for the VMs that have a place reserved here
        'cpus.pending': 'NotRequired[int]',
        # CPUs of the node that VMs which run here have for themselves: those that they are pinned to, or
        # else those of virtual nodes pinned to it
        'cpus.promised': 'NotRequired[int]',
        # Virtual nodes pinned to the node whose VMs share CPUs, of VMs that run here and of those that
        # have a place reserved here: while there are any, one CPU of the node must be left to be shared
        'cpus.sharers': 'NotRequired[int]',
        # Number of the node
        'index': 'int',
        # Measured free memory of the node; in bytes, or a text such as "8 GiB"
        'memory.free': 'NotRequired[int | str]',
        # The same for the VMs that have a place reserved here; in bytes, or a text such as "8 GiB"
        'memory.pending': 'NotRequired[int | str]',
        # Memory of the node promised to virtual nodes, pinned to it, of the VMs that run here; in bytes,
        # or a text such as "8 GiB"
        'memory.promised': 'NotRequired[int | str]',
        # Memory of the node; in bytes, or a text such as "8 GiB"
        'memory.total': 'int | str',
    },
)

# A page of a list.
HostPage = TypedDict(
    'HostPage',
    {
        # The entries, in order.
        'items': 'list[Host]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# What is different of a host, or a new one; null takes a value away
HostPatch = TypedDict(
    'HostPatch',
    {
        # Network address
        'address': 'NotRequired[str | None]',
        # Amounts with names of the operator's choice
        'amounts': 'NotRequired[list[HostAmount] | None]',
        # What running here costs, an entry for each instance of a deployment
        'costs': 'NotRequired[list[HostCost] | None]',
        # CPU flags
        'cpu-flags': 'NotRequired[list[HostCpuFlag] | None]',
        # CPU promised to the VMs that run here; in cores, or a text such as "1.5 cores" or "1500m"
        'cpu.committed': 'NotRequired[float | str | None]',
        # CPU cores of all sockets
        'cpu.cores': 'NotRequired[int | None]',
        # CPUs that VMs here, pending ones included, have for themselves
        'cpu.exclusive': 'NotRequired[int | None]',
        # How much of its CPU may be promised, 1 = all of it once; if not given, as the policy says, or
        # 1; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.overcommit': 'NotRequired[float | str | None]',
        # CPU promised to the VMs that have a place reserved here; in cores, or a text such as "1.5
        # cores" or "1500m"
        'cpu.pending': 'NotRequired[float | str | None]',
        # CPU sockets
        'cpu.sockets': 'NotRequired[int | None]',
        # CPU threads of all cores
        'cpu.threads': 'NotRequired[int | None]',
        # CPU that it has; that of its cores if not given; in cores, or a text such as "1.5 cores" or
        # "1500m"
        'cpu.total': 'NotRequired[float | str | None]',
        # Measured share of its CPU in use; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.usage': 'NotRequired[float | str | None]',
        # CPU threads, one by one
        'cpus': 'NotRequired[list[HostCpu] | None]',
        # When it was added; in seconds since 1970-01-01 UTC, or a text such as "2026-11-20T12:00:00Z"
        'created': 'NotRequired[int | str | None]',
        # The same time, as servers show it beside; where both are given, they must be the same
        'created-time': 'NotRequired[str | None]',
        # Devices that can be given to a VM
        'devices': 'NotRequired[list[HostDevice] | None]',
        # Launches that failed here
        'failures': 'NotRequired[list[HostFailureDocument] | None]',
        # Model of its GPUs, which are all alike
        'gpu.model': 'NotRequired[str | None]',
        # GPUs, of which VMs take whole ones or thousandths
        'gpus': 'NotRequired[list[HostGpu] | None]',
        # Hooks that are installed
        'hooks': 'NotRequired[list[HostHook] | None]',
        # Huge pages
        'huge-pages': 'NotRequired[list[HostHugePageDocument] | None]',
        # Id of the host, unique in the cluster
        'id': 'NotRequired[str]',
        # Placement keys of the host
        'keys': 'NotRequired[list[HostKey] | None]',
        # Storage domains of which the host can take leases
        'leases': 'NotRequired[list[HostLease] | None]',
        # Load of VMs without exclusive CPUs that ran on another host before: pending VMs, and VMs that
        # run here and are not yet measured in cpu.usage; in cores, or a text such as "1.5 cores" or
        # "1500m"
        'load.pending': 'NotRequired[float | str | None]',
        # Machine types that the host can emulate
        'machine-types': 'NotRequired[list[HostMachineType] | None]',
        # Memory promised to the VMs that run here; in bytes, or a text such as "8 GiB"
        'memory.committed': 'NotRequired[int | str | None]',
        # Measured free memory; in bytes, or a text such as "8 GiB"
        'memory.free': 'NotRequired[int | str | None]',
        # How much of its memory may be promised, 1 = all of it once; 1 if not given; a fraction, 1 is
        # all of it, or a text such as 0.8 or "80 %"
        'memory.overcommit': 'NotRequired[float | str | None]',
        # Memory promised to the VMs that have a place reserved here; in bytes, or a text such as "8 GiB"
        'memory.pending': 'NotRequired[int | str | None]',
        # Memory that the host keeps for itself; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory.reserved': 'NotRequired[int | str | None]',
        # Physical memory; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory.total': 'NotRequired[int | str | None]',
        # Memory outside huge pages of VMs that run here and are not yet measured in memory.free, which
        # is already less by it; in bytes, or a text such as "8 GiB"
        'memory.unmeasured': 'NotRequired[int | str | None]',
        # Name of the host
        'name': 'NotRequired[str | None]',
        # Networks that the host is connected to
        'networks': 'NotRequired[list[HostNetwork] | None]',
        # NUMA nodes
        'numa-nodes': 'NotRequired[list[HostNumaNodeDocument] | None]',
        # Whether a policy has brought it into its state
        'power.by-policy': 'NotRequired[bool | None]',
        # Whether it must not be switched off
        'power.keep-on': 'NotRequired[bool | None]',
        # Whether it can be switched on and off from outside
        'power.managed': 'NotRequired[bool | None]',
        # up (takes VMs; if not given), maintenance, down or error
        'state': 'NotRequired[HostState | None]',
        # What an outside monitor says of it: ok, or what is wrong
        'status.external': 'NotRequired[str | None]',
        # Free swap space; in bytes, or a text such as "8 GiB"
        'swap.free': 'NotRequired[int | str | None]',
        # Swap space; in bytes, or a text such as "8 GiB"
        'swap.total': 'NotRequired[int | str | None]',
        # Tags of the host
        'tags': 'NotRequired[list[HostTag] | None]',
        # Reported usage of resources, where the host is a pod of many
        'usage': 'NotRequired[list[HostUsage] | None]',
        # vCPUs of the VMs that run here without exclusive CPUs
        'vcpus': 'NotRequired[int | None]',
        # vCPUs of the VMs that have a place reserved here without exclusive CPUs
        'vcpus.pending': 'NotRequired[int | None]',
        # vCPUs of VMs without exclusive CPUs and without a measured load: pending VMs, and VMs that run
        # here and are not yet measured in cpu.usage
        'vcpus.unmeasured': 'NotRequired[int | None]',
        # Compatibility versions that the host supports
        'versions': 'NotRequired[list[HostVersion] | None]',
        # VMs that run here
        'vms.count': 'NotRequired[int | None]',
        # Highly available VMs here, pending ones included
        'vms.ha': 'NotRequired[int | None]',
        # VMs here that are on the move, to or from this host
        'vms.migrating': 'NotRequired[int | None]',
        # VMs that have a place reserved here
        'vms.pending': 'NotRequired[int | None]',
        # VMs that run here and of which memory.free shows nothing yet
        'vms.unmeasured': 'NotRequired[int | None]',
        # Availability zone
        'zone': 'NotRequired[str | None]',
    },
)

# The columns that hosts of a cluster may have.
HostSchema = TypedDict(
    'HostSchema',
    {
        # The built-in ones, then the attributes that are defined in the cluster.
        'columns': 'list[HostColumn]',
    },
)

# up (takes VMs; if not given), maintenance, down or error
HostState: TypeAlias = "Literal['up', 'maintenance', 'down', 'error']"

# One of: tags of the host
HostTag = TypedDict(
    'HostTag',
    {
        # Key
        'key': 'str',
        # Value
        'value': 'str',
    },
)

# One of: reported usage of resources, where the host is a pod of many
HostUsage = TypedDict(
    'HostUsage',
    {
        # Name of the resource
        'name': 'str',
        # How much there is
        'total': 'int',
        # How much is used
        'used': 'int',
    },
)

# One of: compatibility versions that the host supports
HostVersion = TypedDict(
    'HostVersion',
    {
        # The version
        'version': 'str',
    },
)

# What became of a document of changes.
InventoryChanged = TypedDict(
    'InventoryChanged',
    {
        # Groups of VMs.
        'groups': 'int',
        # Hosts, whatever their state.
        'hosts': 'int',
        # VMs that have a place reserved.
        'pending': 'int',
        # What became of each entry, where `missing` is `ignore`.
        'results': 'NotRequired[list[EntryResult]]',
        # Counts up with every change of the inventory.
        'version': 'int',
        # VMs that run.
        'vms': 'int',
        # What is allowed and surely a mistake, a sentence each.
        'warnings': 'NotRequired[list[str]]',
    },
)

# Changes of a cluster, of which all are carried out or none
InventoryChanges = TypedDict(
    'InventoryChanges',
    {
        # Columns and tables that are added
        'attributes': 'NotRequired[AttributeDefinitions]',
        # What is there no more
        'gone': 'NotRequired[GoneEntities]',
        # Affinity groups that are new or different
        'groups': 'NotRequired[list[GroupChange]]',
        # Hosts that are new or different
        'hosts': 'NotRequired[list[HostChange]]',
        # What becomes of entries about things that are not there: the change is refused, or they are
        # skipped and listed; refuse if not given
        'missing': "NotRequired[Literal['refuse', 'ignore']]",
        # What was measured of hosts
        'statistics': 'NotRequired[list[HostMeasurements]]',
        # Tenants that are new or different
        'tenants': 'NotRequired[list[TenantChange]]',
        # VMs that are new or different
        'vms': 'NotRequired[list[VmChange]]',
    },
)

# What is sent of an inventory that is followed.
InventoryEvent = TypedDict(
    'InventoryEvent',
    {
        # The ids of those that are not there any more.
        'gone': 'NotRequired[list[str]]',
        # Those that are new or different, each as its own route shows it: hosts, VMs, groups or
        # tenants, as the name of the event says.
        'items': 'NotRequired[list[Entity]]',
        # The version of the inventory that is reached when all events with it have been read.
        'version': 'int',
    },
)

# A token that was issued just now.
IssuedToken = TypedDict(
    'IssuedToken',
    {
        # Its secret, shown this once: it is sent as `Authorization: Bearer SECRET`.
        'secret': 'str',
        # The token.
        'token': 'Token',
    },
)

# A unit that is or was in force under its name.
KnownUnit = TypedDict(
    'KnownUnit',
    {
        # Whether it was disabled.
        'disabled': 'bool',
        # Whether a unit of this name comes with the program.
        'embedded': 'bool',
        # The digest in force, unless it is disabled.
        'in-force': 'str | None',
        # Whether its file is gone and policies use it.
        'kept-although-deleted': 'bool',
        # What it can be in a policy: `filter`, `cost function`, `selection`, `placement effects`,
        # `balance`, `order`.
        'kinds': 'list[str]',
        # The name.
        'name': 'str',
        # A unit of this name that was let in and is not trusted any more: it is not in force,
        # and would be if it were trusted.
        'not-trusted': 'NotRequired[NotTrustedUnit]',
        # The clusters in which it is not called for a while because it keeps failing.
        'paused': 'list[PausedUnitOfCluster]',
        # Whether it stays whatever its file becomes.
        'pinned': 'bool',
        # Names of the policies that use it.
        'policies': 'list[str]',
        # The last candidate for it, if that was refused.
        'refused': 'NotRequired[UnitCandidate]',
        # Where it came from.
        'source': 'None | UnitSource',
        # A file that is being staged, or waits for it, and by its name will be this unit.
        'staging': 'NotRequired[str]',
        # What it is for, in a sentence, as it says.
        'summary': 'str | None',
        # The version of the unit, as it says.
        'version': 'str | None',
    },
)

# An entry of the policy that was left out, because its unit failed.
LeftOutEntry = TypedDict(
    'LeftOutEntry',
    {
        # The policy's entry.
        'entry': 'str',
        # How its unit failed.
        'fault': 'str',
    },
)

# A score that a VM has for a host
LocationScore = TypedDict(
    'LocationScore',
    {
        # Id of the host
        'host': 'str',
        # The score; ±1000000 stand for infinity
        'score': 'int',
    },
)

# An amount of which hosts have so much, and have promised so much.
MeasureSums = TypedDict(
    'MeasureSums',
    {
        # What is promised to VMs that run.
        'committed': 'float',
        # What may be promised of them: the total times the overcommit of the hosts, or that of the
        # policy,
        # without what hosts reserve for themselves.
        'promisable': 'float',
        # What is promised to VMs that have a place reserved.
        'reserved': 'float',
        # What the hosts have.
        'total': 'float',
        # What was measured to be in use, of hosts for which it was measured.
        'used': 'NotRequired[float | None]',
    },
)

# When something was measured of a host
Measured = TypedDict(
    'Measured',
    {
        # When, in seconds since 1970-01-01 UTC
        'measured': 'int',
        # The same time
        'measured-time': 'str',
        # Whether it is too old to be used
        'outdated': 'bool',
    },
)

# How many decisions a cluster made in a minute, by how they ended.
MinuteOfDecisions = TypedDict(
    'MinuteOfDecisions',
    {
        # Requests on which nothing was decided, as a unit failed or the time was up.
        'failed': 'int',
        # Decisions that found a host.
        'placed': 'int',
        # Decisions that found none.
        'rejected': 'int',
        # When it began.
        'time': 'str',
    },
)

# How many moves are in each state.
MoveCounts = TypedDict(
    'MoveCounts',
    {
        # Under way: a place is reserved.
        'begun': 'int',
        # Given up by whoever manages the VMs.
        'cancelled': 'int',
        # Done: the VM runs on its new host.
        'confirmed': 'int',
        # Begun, and not confirmed in time.
        'expired': 'int',
        # Not begun yet.
        'planned': 'int',
        # No moves any more: the cluster has changed.
        'stale': 'int',
    },
)

# A move of a plan: by its step, or by its VM, the first move of it that is not confirmed
MoveReference: TypeAlias = 'int | str | dict[str, Any]'

# How far a move is.
MoveState: TypeAlias = "Literal['planned', 'begun', 'confirmed', 'expired', 'cancelled', 'stale']"

# A VM that leaves the host where it runs.
MovedVm = TypedDict(
    'MovedVm',
    {
        # Id of the host where it runs.
        'from': 'str',
        # Whether it runs while it is moved (a live migration); false: it is stopped or paused, or
        # is started on its new host, as its host is down or faulty.
        'live': 'bool',
        # Id of the VM.
        'vm': 'str',
    },
)

# The host that came nearest to taking VMs: no other one went further through the policy's
# filters.
Nearest = TypedDict(
    'Nearest',
    {
        # The policy's entry that removed it.
        'filter': 'str',
        # Id of the host.
        'host': 'str',
        # What it lacks: completes "host ...".
        'reason': 'str',
    },
)

# A change that is needed.
NeededChange = TypedDict(
    'NeededChange',
    {
        # The value that lets the host through, as a document may have it; none if it is to have
        # none. One step less of the change does not.
        'after': 'str | None',
        # The value of now, as a document may have it; none if it has none, or is a table.
        'before': 'str | None',
        # How far it is to be changed.
        'bound': 'ChangeLimit',
        # The column or table that is changed, as documents call it; `host` if the VM is to run
        # elsewhere; of a quota `limits.cpu`, `limits.memory`, `limits.gpus` or `limits.vms`.
        'column': 'str',
        # Id of the VM, host or group, or name of the quota; none for the request as a whole.
        'id': 'NotRequired[str]',
        # What is changed.
        'of': 'ChangedThing',
        # The change as a sentence, to be completed by a full stop.
        'sentence': 'str',
    },
)

# New settings of a cluster.
NewSettings = TypedDict(
    'NewSettings',
    {
        # Whether plans of moves are made from time to time; left out, none are.
        'balance': 'NotRequired[None | PeriodicBalanceDocument]',
        # What is different from the policy in this cluster, by the entries' names, of 256 at most;
        # left out, nothing is.
        'overrides': 'NotRequired[dict[str, Override]]',
        # Name of the policy that decides.
        'policy': 'str',
        # Whether and how the server restarts VMs of hosts that are down or in error by itself;
        # left out, it does not.
        'restart': 'NotRequired[None | AutomaticRestartDocument]',
        # The revision, as it was read: it changes nothing, `If-Match` says which one is changed.
        'revision': 'NotRequired[int]',
        # The seed, as it was read: it changes nothing.
        'seed': 'NotRequired[int]',
        # Seconds after which what was measured of hosts counts as absent; left out, it never
        # does. A text such as "10 min" is taken, too.
        'statistics-max-age': 'NotRequired[int | str | None]',
        # What goes unheeded, as it was read: it changes nothing.
        'unheeded': 'NotRequired[list[UnheededNeedOfCluster]]',
        # Seconds after which what has come to run on a host counts as measured, though no later
        # measurement has come; left out, only a measurement ends that. A text such as "10 min" is taken,
        # too.
        'unmeasured-max-age': 'NotRequired[int | str | None]',
    },
)

# A token that is to be issued.
NewToken = TypedDict(
    'NewToken',
    {
        # The clusters that it is for, which may come later; all if not given.
        'clusters': 'NotRequired[list[str] | None]',
        # When it expires, as `2030-03-17T17:46:40Z`, in whatever zone, or in seconds since 1970-01-01
        # UTC; never if not given. A token that expires issues none that expire later.
        'expires': 'NotRequired[str | int | None]',
        # Names its owner in logs and events: 1 to 64 letters, digits, "-", "_" and ".". Only a
        # token that has expired may have had it.
        'name': 'str',
        # What its owner may do; no more than whoever issues it.
        'role': 'Role',
    },
)

# A host that no unit was asked about.
NotConsidered = TypedDict(
    'NotConsidered',
    {
        # Id of the host.
        'host': 'str',
        # Completes "host ...".
        'reason': 'str',
    },
)

# A unit that was let in and is not trusted any more.
NotTrustedUnit = TypedDict(
    'NotTrustedUnit',
    {
        # Its digest.
        'digest': 'str',
        # Why it is not trusted.
        'why': 'str',
    },
)

OneRequest: TypeAlias = 'VmToPlace | PlacementRequest'

# This document, in OpenAPI 3.1
OpenApiDocument: TypeAlias = 'dict[str, Any]'

# What is different from the policy for the entries of one name.
Override = TypedDict(
    'Override',
    {
        # Whether its unit is asked.
        'enabled': 'NotRequired[bool | None]',
        # The factor of the cost of that name.
        'factor': 'NotRequired[float | None]',
        'settings': 'NotRequired[Settings]',
    },
)

# What is to be different of what is set for the entries; null: nothing is set
OverrideChange: TypeAlias = 'OverridePatch | None'

# What is to be different of what a cluster sets for the entries of one name.
OverridePatch = TypedDict(
    'OverridePatch',
    {
        # Whether its unit is asked; null: as the policy says.
        'enabled': 'NotRequired[bool | None]',
        # The factor of the cost of that name; null: as the policy says.
        'factor': 'NotRequired[float | None]',
        # Settings of its unit: those that are not named stay, null takes one away, or all
        'settings': 'NotRequired[dict[str, SettingValue | None] | None]',
    },
)

# A part of a unit that keeps failing and is not called for a while.
PausedUnit = TypedDict(
    'PausedUnit',
    {
        # How it failed last.
        'because': 'str',
        # How often it failed in a row.
        'failures': 'int',
        # The part that fails.
        'part': 'str',
        # Whether the policy's entries that ask it are skipped meanwhile; else nothing is decided.
        'skipped': 'bool',
        # Name of the unit.
        'unit': 'str',
        # When it is called again, in seconds since 1970-01-01 UTC.
        'until': 'int',
        # The same time.
        'until-time': 'str',
    },
)

# A unit that is not called for a while in a cluster.
PausedUnitOfCluster = TypedDict(
    'PausedUnitOfCluster',
    {
        # How it failed last.
        'because': 'str',
        # Name of the cluster.
        'cluster': 'str',
        # How often it failed in a row.
        'failures': 'int',
        # The part that fails.
        'part': 'str',
        # Whether the policy's entries that ask it are skipped meanwhile; else nothing is decided.
        'skipped': 'bool',
        # Name of the unit.
        'unit': 'str',
        # When it is called again, in seconds since 1970-01-01 UTC.
        'until': 'int',
        # The same time.
        'until-time': 'str',
    },
)

# Plans of moves that are made from time to time, to be looked at, begun or cancelled.
PeriodicBalance = TypedDict(
    'PeriodicBalance',
    {
        # Seconds from one plan to the next.
        'every': 'int',
    },
)

# Plans of moves that are made from time to time, to be looked at, begun or cancelled.
PeriodicBalanceDocument = TypedDict(
    'PeriodicBalanceDocument',
    {
        # Seconds from one plan to the next. A text such as "10 min" is taken, too.
        'every': 'int | str',
    },
)

# A VM that has a place, beside all hosts
PlacedVmDocument = TypedDict(
    'PlacedVmDocument',
    {
        # What it needs of amounts with names of the operator's choice
        'amounts': 'NotRequired[list[VmAmount]]',
        # Cores per virtual socket; if not given, as many as its CPU needs
        'cores': 'NotRequired[int]',
        # CPU that it was promised; a core per vCPU if not given; in cores, or a text such as "1.5 cores"
        # or "1500m"
        'cpu': 'NotRequired[float | str]',
        # CPU flags that it needs
        'cpu-flags': 'NotRequired[list[VmCpuFlag]]',
        # Measured share of its vCPUs in use; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.usage': 'NotRequired[float | str]',
        # Devices of a host that it needs
        'devices': 'NotRequired[list[VmDevice]]',
        # Whether it has exclusive physical CPUs; so also where its pinning is dedicated or isolate-
        # threads
        'exclusive': 'NotRequired[bool]',
        # Placement keys that were fixed when it was placed, for as long as it stays on the host
        'fixed-keys': 'NotRequired[list[VmFixedKey]]',
        # Models of GPU that it accepts; any if there is no row
        'gpu-models': 'NotRequired[list[VmGpuModel]]',
        # How many GPUs it needs; 1 if not given where gpu.share or gpu-models is
        'gpu.count': 'NotRequired[int]',
        # Thousandths that it needs of each of its GPUs; all of it if not given
        'gpu.share': 'NotRequired[int]',
        # GPUs of the host that it was given when it was placed, for as long as it stays there
        'gpus': 'NotRequired[list[VmGpu]]',
        # Whether it is restarted elsewhere if its host fails
        'ha': 'NotRequired[bool]',
        # Id of the host that it runs on, unless it stands inside the host
        'host': 'str',
        # Huge pages that it needs
        'huge-pages': 'NotRequired[list[VmHugePageDocument]]',
        # Id of the VM, unique in the cluster
        'id': 'str',
        # I/O threads
        'io-threads': 'NotRequired[int]',
        # Placement keys that concern it
        'keys': 'NotRequired[list[VmKey]]',
        # Scores that it has for hosts; several for one host all count
        'location': 'NotRequired[list[LocationScore]]',
        # Emulated machine type
        'machine': 'NotRequired[str]',
        # Memory that it was promised; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory': 'NotRequired[int | str]',
        # Measured share of its memory in use; a fraction, 1 is all of it, or a text such as 0.8 or "80
        # %"
        'memory.usage': 'NotRequired[float | str]',
        # Memory for video; in bytes, or a text such as "8 GiB"
        'memory.video': 'NotRequired[int | str]',
        # Whether it may be moved while it runs; true if not given
        'migratable': 'NotRequired[bool]',
        # Name of the VM
        'name': 'NotRequired[str]',
        # Its network interfaces
        'nics': 'NotRequired[list[VmNic]]',
        # Its virtual NUMA nodes
        'numa-nodes': 'NotRequired[list[VmNumaNodeDocument]]',
        # Whether its place is reserved and it does not run there yet
        'pending': 'NotRequired[bool]',
        # Ids of the hosts that it is pinned to
        'pinned': 'NotRequired[list[str]]',
        # How its vCPUs are pinned; absent if they are not
        'pinning': "NotRequired[Literal['manual', 'dedicated', 'isolate-threads', 'resize-and-pin'] | str]",
        # Its vCPUs that are pinned
        'pins': 'NotRequired[list[VmPin]]',
        # Ids of the hosts that it prefers
        'preferred': 'NotRequired[list[str]]',
        # The greater, the sooner it is served; 0 if not given
        'priority': 'NotRequired[int]',
        # Virtual CPU sockets; 1 if not given
        'sockets': 'NotRequired[int]',
        # Extra specifications that it asks for
        'specs': 'NotRequired[list[VmSpec]]',
        # What it does: up if it runs and nothing is given
        'state': "NotRequired[Literal['up', 'down', 'stopped', 'off', 'paused', 'suspended', 'migrating', 'powering-up', 'powering-down', 'reboot-in-progress', 'saving-state', 'restoring-state', 'wait-for-launch', 'image-locked', 'image-illegal', 'not-responding', 'unassigned', 'unknown'] | str]",
        # How strongly it wants to stay where it runs
        'stickiness': 'NotRequired[int]',
        # Id of the tenant that owns it
        'tenant': 'NotRequired[str]',
        # Threads per virtual core; 1 if not given
        'threads': 'NotRequired[int]',
        # What it is optimised for: desktop, server or high-performance
        'type': "NotRequired[Literal['desktop', 'server', 'high-performance'] | str]",
        # Availability zone that it belongs to: the one that the request asked for which placed it
        'zone': 'NotRequired[str]',
    },
)

# A decision. If the same request came before with the same Idempotency-Key, the decision of
# then.
Placement = TypedDict(
    'Placement',
    {
        # How many hosts units were asked about.
        'considered': 'int',
        # The sums of its weighted costs, tier by tier; null = infinite.
        'costs': 'list[float | None]',
        # The number, 0 or more and less than 1, that decided what was left to chance.
        'draw': 'float',
        # If they are: the second after which they are free again unless they are confirmed;
        # null: they stay reserved.
        'expires': 'NotRequired[int | None]',
        # The same time; null: they stay reserved.
        'expires-time': 'NotRequired[str | None]',
        # Why there, and why not elsewhere.
        'explanation': 'NotRequired[Explanation]',
        # Id of the chosen host; null if there is none for them.
        'host': 'str | None',
        # The version of the inventory that it was made on.
        'inventory-version': 'int',
        # Entries of the policy that were left out, because their units failed.
        'left-out': 'list[LeftOutEntry]',
        # The VMs that run elsewhere: where, and whether they run while they are moved.
        'moves': 'NotRequired[list[MovedVm]]',
        # Counts up from 1 in each cluster.
        'number': 'int',
        # If a quota does not allow what is asked for: which, and what is held. No host was looked
        # for then.
        'refused-by-quota': 'NotRequired[QuotaRefusal]',
        # How many hosts each reason removed, in policy order.
        'removed': 'list[RemovedHosts]',
        # Of a decision that is answered again, and of which the places are no longer held: what
        # has become of them.
        'reservation': 'NotRequired[ReservationStanding]',
        # Whether the places are reserved: not after a dry run, nor where all or nothing was
        # asked for and some VM finds no host, nor where all VMs run on that host already and stay
        # as they are.
        'reserved': 'bool',
        # Groups of candidates, best first, each candidate with its share of chance.
        'shares': 'NotRequired[list[list[Share]]]',
        # How many hosts had the same costs as the chosen one, it included; 0 if there is none.
        'tied': 'int',
        # Needs that no filter of the policy checks, where the policy warns of them.
        'unheeded': 'NotRequired[list[UnheededNeed]]',
        # Ids of the VMs.
        'vms': 'list[str]',
        # What of the request is allowed and surely a mistake; of one that finds no host also
        # what it names and no host of the cluster has; of one in a plan from nothing also why its
        # place is not reserved.
        'warnings': 'NotRequired[list[str]]',
    },
)

# VMs to be placed: together on one host, or each where it suits
PlacementRequest = TypedDict(
    'PlacementRequest',
    {
        # Place VMs again that already run on a host that is up; values that are not given are unchanged,
        # and null or an empty list takes one away
        'again': 'NotRequired[bool]',
        # Of a batch: reserve nothing unless every VM finds a host; the VMs of one request go together
        # anyway
        'all-or-nothing': 'NotRequired[bool]',
        # If not empty, only these hosts are considered
        'allowed': 'NotRequired[list[str]]',
        # The number, 0 or more and less than 1, that decides what is left to chance
        'draw': 'NotRequired[float]',
        # Decide, but change nothing
        'dry-run': 'NotRequired[bool]',
        # These hosts are not considered
        'excluded': 'NotRequired[list[str]]',
        # An admin's choice: this host, without asking any unit; of a server it needs the role admin
        'force': 'NotRequired[str]',
        # How many instances the tenant's deployment has
        'instances': 'NotRequired[int]',
        # What is asked for: place, migrate, or the operator's own word
        'kind': 'NotRequired[str]',
        # When the decision is made
        'now': 'NotRequired[int | str]',
        # Of the hosts that all filters left, only these are kept, if there is any
        'preferred-hosts': 'NotRequired[list[str]]',
        # Seconds for which the places are reserved, of a server from 1 to its option longest-
        # reservation, which is 24 h if not set; not given: as long as its option reservation says. 0,
        # until they are confirmed or released, is refused unless one of both options is 0
        'reserve-for': 'NotRequired[int | str]',
        # Id of the tenant that asks
        'tenant': 'NotRequired[str]',
        # True: the VMs go on one host; false, if not given: each goes where it suits
        'together': 'NotRequired[bool]',
        # The VMs; of those that the cluster knows their ids are enough, and a text alone is the id of
        # one of them
        'vms': 'list[RequestedVm | str]',
        # Availability zone that is asked for
        'zone': 'NotRequired[str]',
    },
)

# A plan, and how far it is.
Plan = TypedDict(
    'Plan',
    {
        # Whether the next moves are begun as one is confirmed.
        'auto': 'bool',
        # Who made it: the name of a token, `anonymous` where there are none, `periodic`, or
        # `restart` for the server where it restarts VMs by itself.
        'by': 'NotRequired[str]',
        # Whether it was cancelled: nothing more of it is begun.
        'cancelled': 'bool',
        # When it was last found to hold still, in seconds since 1970-01-01 UTC.
        'checked': 'int',
        # The same time.
        'checked-time': 'str',
        # How many of its moves are in each state.
        'counted': 'MoveCounts',
        # Whether the plan ends because it may hold no more moves: there may be more.
        'cut-short': 'bool',
        # The hosts that are to be emptied.
        'hosts': 'NotRequired[list[str]]',
        # The version of the inventory that it was made on.
        'inventory-version': 'int',
        # How many of its moves may be under way at once; absent: any number.
        'max-in-flight': 'NotRequired[int]',
        # One move after the other.
        'moves': 'list[PlanMove]',
        # Host states and findings that are proposed: they are left to an operator.
        'notes': 'list[PlanNote]',
        # Seconds since 1970-01-01 UTC at which it was made.
        'now': 'int',
        # The same time.
        'now-time': 'str',
        # Counts up from 1 in each cluster; absent if the plan is not kept.
        'number': 'NotRequired[int]',
        # What it was made for: `balance` or `evacuation`.
        'origin': 'str',
        # Of a plan without moves: why there are none, sentence by sentence.
        'reasons': 'NotRequired[list[str]]',
        # What else the balance unit proposed, and why it is not done.
        'refused': 'list[RefusedMove]',
        # Of hosts that are to be emptied: places that are reserved on them, or elsewhere for VMs
        # that run on them.
        'reserved': 'list[StandingReservation]',
        # VMs that should leave their hosts and cannot, and why.
        'stuck': 'list[StuckVm]',
    },
)

# Which moves are begun.
PlanBegin = TypedDict(
    'PlanBegin',
    {
        # Whether the plan goes on by itself: as one of these moves is confirmed, the next ones are
        # begun in the same way. False ends that; if not given, it stays as it is. A move whose
        # reservation ends unconfirmed holds up no others, and is begun again after the next one
        # that ends.
        'auto': 'NotRequired[bool | None]',
        # How many moves of the plan may be under way at once, in place of what the plan says.
        'max-in-flight': 'NotRequired[int | None]',
        # Only these: numbers of steps, counted from 1, or ids of VMs. What a hard group keeps
        # together with one of them is begun with it.
        'moves': 'NotRequired[list[MoveReference] | None]',
        # Seconds for which the places of these moves are reserved, at most the server's option
        # longest-reservation, which is 24 h if not set; as long as its option reservation says if
        # not given. A text such as "10 min" is taken, too.
        'reserve-for': 'NotRequired[int | str | None]',
    },
)

# A move of a plan, and how far it is.
PlanMove = TypedDict(
    'PlanMove',
    {
        # Who had it begun last: the name of a token or person, or `restart` for what the server
        # restarts by itself; absent: nobody has.
        'begun-by': 'NotRequired[str]',
        # Why it is moved, for programs.
        'cause': 'Cause',
        # Rows of tables that are changed with the move.
        'changes': 'NotRequired[list[RowChange]]',
        # When it was last checked, to be begun, that its cause still holds and that the policy
        # would still put the VM there, in seconds since 1970-01-01 UTC; absent: it was not
        # checked since the plan was made.
        'checked': 'NotRequired[int]',
        # The same time; absent: it was not checked since the plan was made.
        'checked-time': 'NotRequired[str]',
        # What it costs where it runs after the step, tier by tier; null is infinite.
        'cost-after': 'list[float | None]',
        # What the VM costs where it runs before the step, tier by tier; null is infinite. Absent
        # if it must leave its host whatever it costs there.
        'cost-before': 'NotRequired[list[float | None]]',
        # When the place that is reserved ends if nobody confirms it, in seconds since 1970-01-01
        # UTC.
        'expires': 'NotRequired[int]',
        # The same time.
        'expires-time': 'NotRequired[str]',
        # Where it runs before the step.
        'from': 'str',
        # Id of the group of which it breaks the hard rule, if that is the cause.
        'group': 'NotRequired[str]',
        # Whether it runs while it is moved (a live migration); false: it is stopped or paused, or
        # is started on its new host, as its host is down or faulty.
        'live': 'bool',
        # Why it is moved.
        'reason': 'str',
        # Since when it is in this state, in seconds since 1970-01-01 UTC; absent: since the plan
        # was made.
        'since': 'NotRequired[int]',
        # The same time; absent: since the plan was made.
        'since-time': 'NotRequired[str]',
        # How far it is.
        'state': 'MoveState',
        # Its place in the plan, counted from 1.
        'step': 'int',
        # Where it runs after the step: the same host, if only its facts change.
        'to': 'str',
        # VMs that a hard group keeps together with it: all of them are begun at once.
        'together': 'NotRequired[list[str]]',
        # Id of the VM.
        'vm': 'str',
        # Why it is in this state, or is not begun yet.
        'why': 'NotRequired[str]',
    },
)

# What a balance unit proposes, in order of preference.
PlanNote: TypeAlias = 'PlanNoteMove | PlanNoteHostState | PlanNoteFinding'

# Something that an operator should know.
PlanNoteFinding = TypedDict(
    'PlanNoteFinding',
    {
        # What it is about: tables, each with the id or number of a row of it
        'about': 'list[list[str]]',
        # Always finding
        'kind': "Literal['finding']",
        # Why, as the unit says it.
        'reason': 'str',
    },
)

# Bring a host into another state.
PlanNoteHostState = TypedDict(
    'PlanNoteHostState',
    {
        # Id of the host.
        'host': 'str',
        # Always host-state
        'kind': "Literal['host-state']",
        # Why, as the unit says it.
        'reason': 'str',
        # The state that the host is to have, as in documents.
        'state': 'str',
    },
)

# Move a VM, or change with it what only a move changes.
PlanNoteMove = TypedDict(
    'PlanNoteMove',
    {
        # Hosts of which the chain's choice must be one; empty = any will do.
        'accept': 'list[str]',
        # Hosts that the chain may choose from; empty = any.
        'among': 'list[str]',
        # Id of the host that the VM runs on.
        'from': 'str',
        # Always move
        'kind': "Literal['move']",
        # Why, as the unit says it.
        'reason': 'str',
        # Id of the VM.
        'vm': 'str',
    },
)

# A page of a list.
PlanPage = TypedDict(
    'PlanPage',
    {
        # The entries, in order.
        'items': 'list[Plan]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# How a plan is made. What is left out is as usual.
PlanRequest = TypedDict(
    'PlanRequest',
    {
        # Seconds for which a VM stays where it was moved to. A text such as "1 h" is taken, too.
        'cool-down': 'NotRequired[int | str | None]',
        # Make the plan, and do not keep it. False if not given.
        'dry-run': 'NotRequired[bool | None]',
        # A move is made only if it lowers the policy's cost by more than this.
        'margin': 'NotRequired[float | None]',
        # How many moves may be under way at once; 8 if not given.
        'max-in-flight': 'NotRequired[int | None]',
        # The most moves.
        'moves': 'NotRequired[int | None]',
        # Whether what is wrong with the cluster is put right first: VMs on hosts that are not up,
        # hard groups that are broken, hosts that have promised more than they may. True if not
        # given.
        'repairs': 'NotRequired[bool | None]',
    },
)

# A policy as it is kept: its document, not yet checked against a cluster.
Policy = TypedDict(
    'Policy',
    {
        # When it was changed last, in seconds since 1970-01-01 UTC.
        'at': 'int',
        # Who changed it last.
        'by': 'str',
        # What it is attached by.
        'name': 'str',
        # Where it came from.
        'origin': 'PolicyOrigin',
        # Who made it. While it decides nowhere, others change it only if they may write policies
        # for all clusters.
        'owner': 'str',
        # Counts up with every change; 0 for one that comes with the program.
        'revision': 'int',
        # The document, TOML or JSON.
        'text': 'str',
        # The same time.
        'time': 'str',
    },
)

# Which name the copy gets.
PolicyClone = TypedDict(
    'PolicyClone',
    {
        # Name of the new policy.
        'name': 'str',
    },
)

# Which units place the VMs of a cluster with Placewright, and with which settings
PolicyDocument = TypedDict(
    'PolicyDocument',
    {
        # The unit that proposes moves while the cluster runs
        'balance': 'NotRequired[dict[str, Any]]',
        # The costs of a policy of one stage
        'costs': 'NotRequired[list[dict[str, Any]]]',
        # What it is for
        'description': 'NotRequired[str]',
        # Units that say what follows from a placement, in order
        'effects': 'NotRequired[list[dict[str, Any]]]',
        # The filters of a policy of one stage
        'filters': 'NotRequired[list[dict[str, Any]]]',
        # Whether a host whose costs add up to infinity is taken if there is no other: last-resort, or
        # no-place, for units by which such a host cannot take the VM; last-resort if not given
        'infinite-costs': "NotRequired[Literal['last-resort', 'no-place']]",
        # Name of the policy; that of the file if not given
        'name': 'NotRequired[str]',
        # The unit that puts the requests of a batch in order; by priority, current score and size if not
        # given
        'order': 'NotRequired[dict[str, Any]]',
        # Whether a batch may be searched for a plan that leaves out less than first-come order does;
        # allowed if not given
        'search': "NotRequired[Literal['allowed', 'forbidden']]",
        # The selections of a policy of one stage
        'selections': 'NotRequired[list[dict[str, Any]]]',
        # Settings for every unit of the policy that has a setting of that name; those of an entry win
        'settings': 'NotRequired[Settings]',
        # Rounds of filters, costs and selections, in order
        'stages': 'NotRequired[list[dict[str, Any]]]',
        # How ties between hosts of equal cost are broken, rule by rule; fewest-vms, then id if not given
        'tie-rule': "NotRequired[list[Literal['fewest-vms', 'listed', 'id', 'draw']]]",
        # What becomes of a request with a need that no filter of the policy checks; refuse if not given
        'unheeded': "NotRequired[Literal['refuse', 'warn', 'ignore']]",
        # The same for single needs by their names: zone = "ignore"
        'unheeded-needs': 'NotRequired[dict[str, str]]',
        # Conditions of which units can read since when they hold
        'watches': 'NotRequired[list[dict[str, Any]]]',
    },
)

# Where a policy comes from.
PolicyOrigin: TypeAlias = "Literal['program', 'api'] | dict[str, Any]"

# A page of a list.
PolicyPage = TypedDict(
    'PolicyPage',
    {
        # The entries, in order.
        'items': 'list[Policy]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# A policy in a list.
PolicySummary = TypedDict(
    'PolicySummary',
    {
        # The clusters in which it decides, of those that the token is for.
        'clusters': 'list[str]',
        # What it is attached by.
        'name': 'str',
        # Where it came from.
        'origin': 'PolicyOrigin',
        # Counts up with every change; 0 for one that comes with the program.
        'revision': 'int',
    },
)

# A page of a list.
PolicySummaryPage = TypedDict(
    'PolicySummaryPage',
    {
        # The entries, in order.
        'items': 'list[PolicySummary]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# Problem details after RFC 9457.
Problem = TypedDict(
    'Problem',
    {
        # The last part of `type`, for programs.
        'code': 'str',
        # What was wrong with this request, and what to do about it.
        'detail': 'str',
        # Everything that is wrong with a document, or with the values of a request.
        'errors': 'NotRequired[list[ProblemError]]',
        # Names this request, as in the server's log and the header X-Request-Id; a URN.
        'instance': 'NotRequired[str]',
        # The status of the answer.
        'status': 'int',
        # The kind of problem in a few words.
        'title': 'str',
        # Names the kind of problem; a URN.
        'type': 'str',
    },
)

# One thing that is wrong with what was sent.
ProblemError = TypedDict(
    'ProblemError',
    {
        # What is wrong, and what to do about it.
        'message': 'str',
        # Where it stands.
        'place': 'ProblemPlace',
        # The name that was probably meant.
        'suggestion': 'str | None',
    },
)

# A place in what was sent.
ProblemPlace = TypedDict(
    'ProblemPlace',
    {
        # Character in the line, from 1.
        'column': 'NotRequired[int]',
        # "body", the name of a document, "query" or "path".
        'file': 'str',
        # Line, from 1.
        'line': 'NotRequired[int]',
        # The way to the value: `members[0].cpu`.
        'path': 'NotRequired[str]',
    },
)

# How much a tenant may hold, and how much it holds.
Quota = TypedDict(
    'Quota',
    {
        # When the quota was changed last.
        'at': 'str',
        # Who changed it last.
        'by': 'str',
        # The cluster in which it is limited; not there: in all together.
        'cluster': 'NotRequired[str]',
        # What it may hold there at most.
        'limits': 'QuotaLimits',
        # What it is called.
        'name': 'str',
        # Counts up with every change of the quota; its ETag.
        'revision': 'int',
        # The tenant, as VMs name it.
        'tenant': 'str',
        # What it holds there now: what its VMs that run have, and what is reserved for others and
        # for growth. It may be more than the limits, which hold for what is asked for.
        'used': 'Holding',
    },
)

# How much a tenant may hold.
QuotaDocument = TypedDict(
    'QuotaDocument',
    {
        # When the quota was changed last, as it was read: it changes nothing.
        'at': 'NotRequired[str]',
        # Who changed it last, as it was read: it changes nothing.
        'by': 'NotRequired[str]',
        # The cluster in which it is limited; in all together if not given.
        'cluster': 'NotRequired[str | None]',
        # What it may hold there at most: one limit or more.
        'limits': 'QuotaLimitsDocument',
        # What it is called; as in the path, if it is given.
        'name': 'NotRequired[str]',
        # The revision, as it was read: it changes nothing, `If-Match` says which one is changed.
        'revision': 'NotRequired[int]',
        # The tenant, as VMs name it.
        'tenant': 'str',
        # What the tenant holds, as it was read: it changes nothing.
        'used': 'NotRequired[Holding]',
    },
)

# What a tenant may hold at most; what is not given is not limited.
QuotaLimits = TypedDict(
    'QuotaLimits',
    {
        # Promised CPU in cores, in thousandths at the finest.
        'cpu': 'NotRequired[float]',
        # GPUs, in thousandths at the finest; a share of one counts as its part.
        'gpus': 'NotRequired[float]',
        # Promised memory in bytes.
        'memory': 'NotRequired[int]',
        # VMs.
        'vms': 'NotRequired[int]',
    },
)

# What a tenant may hold at most; what is not given is not limited.
QuotaLimitsDocument = TypedDict(
    'QuotaLimitsDocument',
    {
        # Promised CPU in cores, in thousandths at the finest. A text such as "1500m" is taken, too.
        'cpu': 'NotRequired[float | str]',
        # GPUs, in thousandths at the finest; a share of one counts as its part.
        'gpus': 'NotRequired[float]',
        # Promised memory in bytes. A text such as "256 GiB" is taken, too.
        'memory': 'NotRequired[int | str]',
        # VMs.
        'vms': 'NotRequired[int]',
    },
)

# What is to be different of the limits of a quota.
QuotaLimitsPatch = TypedDict(
    'QuotaLimitsPatch',
    {
        # Promised CPU in cores; null: it is not limited. A text such as "1500m" is taken, too.
        'cpu': 'NotRequired[float | str | None]',
        # GPUs; null: they are not limited.
        'gpus': 'NotRequired[float | None]',
        # Promised memory in bytes; null: it is not limited. A text such as "256 GiB" is taken, too.
        'memory': 'NotRequired[int | str | None]',
        # VMs; null: they are not limited.
        'vms': 'NotRequired[int | None]',
    },
)

# A page of a list.
QuotaPage = TypedDict(
    'QuotaPage',
    {
        # The entries, in order.
        'items': 'list[Quota]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# What is to be different of a quota.
QuotaPatch = TypedDict(
    'QuotaPatch',
    {
        # Another cluster; null: all together.
        'cluster': 'NotRequired[str | None]',
        # Other limits; those that are not named stay.
        'limits': 'NotRequired[QuotaLimitsPatch]',
        # Another tenant.
        'tenant': 'NotRequired[str]',
    },
)

# A quota does not allow what is asked for: no host was looked for.
QuotaRefusal = TypedDict(
    'QuotaRefusal',
    {
        # What it would hold besides.
        'asked': 'Holding',
        # The same as a sentence.
        'because': 'str',
        # The cluster in which it limits the tenant; not there: in all together.
        'cluster': 'NotRequired[str]',
        # Of which resources there would be too much.
        'exceeded': 'list[QuotaResource]',
        # What it may hold.
        'limits': 'QuotaLimits',
        # Name of the quota.
        'quota': 'str',
        # The tenant.
        'tenant': 'str',
        # What the tenant held there then.
        'used': 'Holding',
    },
)

# Something that a quota limits.
QuotaResource: TypeAlias = "Literal['cpu', 'memory', 'gpus', 'vms']"

# The server can decide.
Ready = TypedDict(
    'Ready',
    {
        # How many clusters stand still, or have a policy that cannot run; the others decide.
        'broken-clusters': 'NotRequired[int]',
        # Always true.
        'ready': 'bool',
    },
)

# A decision as it was recorded.
RecordedDecision = TypedDict(
    'RecordedDecision',
    {
        # When it was made, in seconds since 1970-01-01 UTC.
        'at': 'int',
        # Who asked for it: the name of a token, or `anonymous` where there are none.
        'by': 'NotRequired[str]',
        # What was decided.
        'decision': 'Decision',
        # Counts up from 1 in each cluster.
        'number': 'int',
        # What was asked for, with what was known of the VMs: a document that asks for the same.
        'request': 'PlacementRequest',
        # The hosts that would have been chosen next, best first, if they were asked for.
        'runners-up': 'NotRequired[list[RunnerUp]]',
        # The same time.
        'time': 'str',
    },
)

# A page of a list.
RecordedDecisionPage = TypedDict(
    'RecordedDecisionPage',
    {
        # The entries, in order.
        'items': 'list[RecordedDecision]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# A proposal that is not followed.
RefusedMove = TypedDict(
    'RefusedMove',
    {
        # How many steps of the plan come before.
        'after': 'int',
        # Why it is not moved.
        'because': 'str',
        # Where it runs.
        'from': 'str',
        # Id of the VM.
        'vm': 'str',
    },
)

# What is in force now of the configuration that was read.
Reloaded = TypedDict(
    'Reloaded',
    {
        # Whether the certificate and its key were read anew; false: requests do not come by TLS.
        'certificate': 'bool',
        # Options that are otherwise than when the server was started, by name: they count after
        # a restart.
        'needs-restart': 'list[str]',
        # How many digests of units are revoked from now on.
        'revoked': 'int',
        # How many tokens of the configuration are known from now on.
        'tokens': 'int',
        # How many keys are trusted from now on.
        'trusted-keys': 'int',
    },
)

# Why a host was removed.
Removal = TypedDict(
    'Removal',
    {
        # The policy's entry.
        'filter': 'str',
        # Waiting for pending placements may help.
        'passing': 'bool',
        # Completes "host ...".
        'reason': 'str',
        # Name of the unit.
        'unit': 'str',
        # What the unit saw of the VMs and of this host, and its settings in force (table
        # `settings`).
        'values': 'list[SeenValue]',
    },
)

# How many hosts are out for one reason.
RemovedHosts = TypedDict(
    'RemovedHosts',
    {
        # The policy's entry that removed them; `state` of hosts that are not up, `request` of
        # those that the request excludes.
        'filter': 'str',
        # How many.
        'hosts': 'int',
        # Of hosts that are not up, and so were not considered: the ids of the first ones.
        'names': 'NotRequired[list[str]]',
        # Waiting for pending placements may help.
        'passing': 'bool',
        # Completes "host ...".
        'reason': 'str',
    },
)

# Whether a decision comes out the same again.
ReplayedDecision = TypedDict(
    'ReplayedDecision',
    {
        # Whether the same host and costs came out, for the same reasons.
        'same': 'bool',
    },
)

# What became of decisions that were made again.
ReplayedDecisions = TypedDict(
    'ReplayedDecisions',
    {
        # Those of them that come out differently.
        'differing': 'int',
        # Some that come out differently.
        'examples': 'list[ChangedDecision]',
        # Those of these in which there is no decision, because a unit gives no answer.
        'failing': 'int',
        # How many were made again.
        'tried': 'int',
    },
)

# Several requests, in order
RequestList = TypedDict(
    'RequestList',
    {
        # The requests, in order
        'requests': 'list[WholeRequest]',
    },
)

# A VM of a request; of one that the cluster knows the id is enough
RequestedVm = TypedDict(
    'RequestedVm',
    {
        # What it needs of amounts with names of the operator's choice
        'amounts': 'NotRequired[list[VmAmount] | None]',
        # Cores per virtual socket; if not given, as many as its CPU needs
        'cores': 'NotRequired[int | None]',
        # CPU that it was promised; a core per vCPU if not given; in cores, or a text such as "1.5 cores"
        # or "1500m"
        'cpu': 'NotRequired[float | str | None]',
        # CPU flags that it needs
        'cpu-flags': 'NotRequired[list[VmCpuFlag] | None]',
        # Measured share of its vCPUs in use; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.usage': 'NotRequired[float | str | None]',
        # Devices of a host that it needs
        'devices': 'NotRequired[list[VmDevice] | None]',
        # Whether it has exclusive physical CPUs; so also where its pinning is dedicated or isolate-
        # threads
        'exclusive': 'NotRequired[bool | None]',
        # Models of GPU that it accepts; any if there is no row
        'gpu-models': 'NotRequired[list[VmGpuModel] | None]',
        # How many GPUs it needs; 1 if not given where gpu.share or gpu-models is
        'gpu.count': 'NotRequired[int | None]',
        # Thousandths that it needs of each of its GPUs; all of it if not given
        'gpu.share': 'NotRequired[int | None]',
        # Whether it is restarted elsewhere if its host fails
        'ha': 'NotRequired[bool | None]',
        # Huge pages that it needs
        'huge-pages': 'NotRequired[list[VmHugePageDocument] | None]',
        # Id of the VM, unique in the cluster
        'id': 'str',
        # I/O threads
        'io-threads': 'NotRequired[int | None]',
        # Placement keys that concern it
        'keys': 'NotRequired[list[VmKey] | None]',
        # Scores that it has for hosts; several for one host all count
        'location': 'NotRequired[list[LocationScore] | None]',
        # Emulated machine type
        'machine': 'NotRequired[str | None]',
        # Memory that it was promised; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory': 'NotRequired[int | str | None]',
        # Measured share of its memory in use; a fraction, 1 is all of it, or a text such as 0.8 or "80
        # %"
        'memory.usage': 'NotRequired[float | str | None]',
        # Memory for video; in bytes, or a text such as "8 GiB"
        'memory.video': 'NotRequired[int | str | None]',
        # Whether it may be moved while it runs; true if not given
        'migratable': 'NotRequired[bool | None]',
        # Name of the VM
        'name': 'NotRequired[str | None]',
        # Its network interfaces
        'nics': 'NotRequired[list[VmNic] | None]',
        # Its virtual NUMA nodes
        'numa-nodes': 'NotRequired[list[VmNumaNodeDocument] | None]',
        # Ids of the hosts that it is pinned to
        'pinned': 'NotRequired[list[str] | None]',
        # How its vCPUs are pinned; absent if they are not
        'pinning': "NotRequired[Literal['manual', 'dedicated', 'isolate-threads', 'resize-and-pin'] | str | None]",
        # Its vCPUs that are pinned
        'pins': 'NotRequired[list[VmPin] | None]',
        # Ids of the hosts that it prefers
        'preferred': 'NotRequired[list[str] | None]',
        # The greater, the sooner it is served; 0 if not given
        'priority': 'NotRequired[int | None]',
        # Virtual CPU sockets; 1 if not given
        'sockets': 'NotRequired[int | None]',
        # Extra specifications that it asks for
        'specs': 'NotRequired[list[VmSpec] | None]',
        # What it does: up if it runs and nothing is given
        'state': "NotRequired[Literal['up', 'down', 'stopped', 'off', 'paused', 'suspended', 'migrating', 'powering-up', 'powering-down', 'reboot-in-progress', 'saving-state', 'restoring-state', 'wait-for-launch', 'image-locked', 'image-illegal', 'not-responding', 'unassigned', 'unknown'] | str | None]",
        # How strongly it wants to stay where it runs
        'stickiness': 'NotRequired[int | None]',
        # Id of the tenant that owns it
        'tenant': 'NotRequired[str | None]',
        # Threads per virtual core; 1 if not given
        'threads': 'NotRequired[int | None]',
        # What it is optimised for: desktop, server or high-performance
        'type': "NotRequired[Literal['desktop', 'server', 'high-performance'] | str | None]",
        # Availability zone that it belongs to: the one that the request asked for which placed it
        'zone': 'NotRequired[str | None]',
    },
)

Requests: TypeAlias = 'PlacementRequest | RequestList'

# A place that is reserved for a VM which does not run there yet.
Reservation = TypedDict(
    'Reservation',
    {
        # Number of the decision that made it; null: no decision did.
        'decision': 'int | None',
        # The second after which it ends unless the VM is confirmed; null: it does not end by
        # itself.
        'expires': 'int | None',
        # The same time; null: it does not end by itself.
        'expires-time': 'str | None',
        # Id of the host where the VM runs until it has moved, or on which it is to run on.
        'from': 'NotRequired[str]',
        # Id of the host on which the place is.
        'host': 'str',
        # Why the place is reserved.
        'kind': 'ReservationKind',
        # If it has another host: whether it runs while it is moved (a live migration); false: it is
        # stopped or paused, or is started on its new host, as the old one is down or faulty.
        'live': 'NotRequired[bool]',
        # When it was made, in seconds since 1970-01-01 UTC.
        'since': 'int | None',
        # The same time.
        'since-time': 'str | None',
        # Id of the VM.
        'vm': 'str',
    },
)

# Why a place is reserved.
ReservationKind: TypeAlias = "Literal['place', 'migrate', 'resize']"

# A page of a list.
ReservationPage = TypedDict(
    'ReservationPage',
    {
        # The entries, in order.
        'items': 'list[Reservation]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# For how long a reservation is renewed. What is left out is as usual.
ReservationRenewal = TypedDict(
    'ReservationRenewal',
    {
        # Seconds from now on, from 1 to the server's option longest-reservation, which is 24 h if
        # not set. 0, until it is confirmed or released, is refused unless that option or the
        # option reservation is 0. A text such as "10 min" is taken, too.
        'reserve-for': 'NotRequired[int | str | None]',
    },
)

# What has become of the places that a decision reserved; of several VMs, the last that
# is true of one of them.
ReservationStanding: TypeAlias = "Literal['confirmed', 'held', 'ended', 'released', 'expired']"

# A place that is reserved for a VM
ReservedPlace = TypedDict(
    'ReservedPlace',
    {
        # What a VM that runs is to have otherwise once this is confirmed: columns and tables as they are
        # to be; null: none. Absent if nothing changes but the host
        'changes': 'NotRequired[dict[str, Any]]',
        # The second after which the place is free again, counted from 1970-01-01 UTC; null: it stays
        # reserved
        'expires': 'int | None',
        # The same time
        'expires-time': 'str | None',
        # Id of the host
        'host': 'str',
    },
)

# Which VMs are restarted elsewhere when their host fails.
Restart: TypeAlias = "Literal['ha', 'all']"

# What is to be different of restarts that the server begins by itself.
RestartPatch = TypedDict(
    'RestartPatch',
    {
        # How many restarts may be under way at once; null: 8.
        'max-in-flight': 'NotRequired[int | None]',
        # Seconds for which a host must have been down or in error without a break before its VMs
        # are restarted; null: 60. A text such as "2 min" is taken, too.
        'settle': 'NotRequired[int | str | None]',
        # Which VMs are restarted; null: all.
        'vms': 'NotRequired[None | Restart]',
    },
)

# A VM whose host failed.
RestartedVm = TypedDict(
    'RestartedVm',
    {
        # How many hosts were asked about; 0 where it has a place on another host already.
        'considered': 'int',
        # The host that failed.
        'from': 'str',
        # Where it goes; none if it finds no host.
        'host': 'str | None',
        # The greater, the sooner it was placed anew.
        'priority': 'int',
        # Why there is no decision on it, if there is none.
        'refused': 'NotRequired[str]',
        # What removed them, in policy order; told of VMs that find no host.
        'stopped-by': 'NotRequired[list[RemovedHosts]]',
        # Id of the VM.
        'vm': 'str',
    },
)

# What a token may do. Each role may do what the ones before it may.
Role: TypeAlias = "Literal['viewer', 'operator', 'policy-author', 'admin']"

# To which bytes a unit goes back.
RollbackTo = TypedDict(
    'RollbackTo',
    {
        # The digest, 64 hexadecimal digits or the first 8 of them or more: one that was in force
        # before. If not given, the last one that was.
        'digest': 'NotRequired[str | None]',
    },
)

# A change of a row that goes with a move.
RowChange = TypedDict(
    'RowChange',
    {
        # Values, by column; null takes one away
        'append': 'NotRequired[dict[str, float | bool | str | None]]',
        # Number of the row that is removed, from 0.
        'remove': 'NotRequired[int]',
        # Number of the row in which something changes, from 0.
        'row': 'NotRequired[int]',
        # Values, by column; null takes one away
        'set': 'NotRequired[dict[str, float | bool | str | None]]',
        # Name of the table.
        'table': 'str',
    },
)

# A host that came after the chosen one.
RunnerUp = TypedDict(
    'RunnerUp',
    {
        # The sums of its weighted costs, tier by tier; null = infinite.
        'costs': 'list[float | None]',
        # Its id.
        'host': 'str',
    },
)

# A value that a unit saw.
SeenValue = TypedDict(
    'SeenValue',
    {
        # Name of the column.
        'column': 'str',
        # Name of the table.
        'table': 'str',
        # As a person would write it; of several rows, one after the other.
        'value': 'str',
    },
)

# The candidates after one selection.
Selection = TypedDict(
    'Selection',
    {
        # Best group first.
        'groups': 'list[list[Share]]',
        # The policy's entry.
        'name': 'str',
        # Name of the unit.
        'unit': 'str',
    },
)

# A value of a setting: a number, a truth value, a text such as "8 GiB", or the rows of a table
SettingValue: TypeAlias = 'float | bool | str | list[dict[str, float | bool | str | None]]'

# Settings of a unit, by name; placewright unit inspect says which it has
Settings: TypeAlias = 'dict[str, SettingValue]'

# What is to be different of the settings of a cluster; null takes away what was set.
SettingsPatch = TypedDict(
    'SettingsPatch',
    {
        # Whether plans of moves are made from time to time; null: none are.
        'balance': 'NotRequired[None | PeriodicBalanceDocument]',
        # What is different from the policy in this cluster, by the entries' names: those that are
        # not named stay, null takes one away, or all.
        'overrides': 'NotRequired[dict[str, OverrideChange] | None]',
        # Name of the policy that decides from now on.
        'policy': 'NotRequired[str]',
        # Whether and how the server restarts VMs of hosts that are down or in error by itself;
        # null: it does not.
        'restart': 'NotRequired[None | RestartPatch]',
        # The revision, as it was read: it changes nothing, `If-Match` says which one is changed.
        'revision': 'NotRequired[int]',
        # The seed, as it was read: it changes nothing.
        'seed': 'NotRequired[int]',
        # Seconds after which what was measured of hosts counts as absent; null: it never does. A text
        # such as "10 min" is taken, too.
        'statistics-max-age': 'NotRequired[int | str | None]',
        # What goes unheeded, as it was read: it changes nothing.
        'unheeded': 'NotRequired[list[UnheededNeedOfCluster]]',
        # Seconds after which what has come to run on a host counts as measured, though no later
        # measurement has come; null: only a measurement ends that. A text such as "10 min" is taken,
        # too.
        'unmeasured-max-age': 'NotRequired[int | str | None]',
    },
)

# How a candidate has judged what was decided.
Shadow = TypedDict(
    'Shadow',
    {
        # By the names of the clusters that use the unit.
        'clusters': 'dict[str, ShadowReport]',
        # Digest of the candidate.
        'digest': 'str',
        # Name of the unit.
        'unit': 'str',
    },
)

# A decision in which the candidate would have chosen another host.
ShadowDisagreement = TypedDict(
    'ShadowDisagreement',
    {
        # Id of the host that the candidate would have chosen; none if there was none.
        'candidate': 'str | None',
        # Its number.
        'decision': 'int',
        # Id of the host that was chosen; none if there was none.
        'live': 'str | None',
    },
)

# How a candidate has judged what was decided in a cluster.
ShadowReport = TypedDict(
    'ShadowReport',
    {
        # Those in which it would have chosen the same host, or none as well.
        'agreeing': 'int',
        # Milliseconds that its chain has taken in all, every host asked about.
        'candidate-ms': 'float',
        # Decisions that it has judged.
        'decisions': 'int',
        # Some decisions in which they do not agree.
        'examples': 'list[ShadowDisagreement]',
        # The last failure, in a sentence.
        'failure': 'NotRequired[str]',
        # Those in which it gave no answer.
        'failures': 'int',
        # Milliseconds that the chain in force has taken for the same decisions, with what
        # it keeps of earlier ones.
        'live-ms': 'float',
        # Of the hosts that were chosen, how many others it holds for better: the mean.
        'rank-mean': 'float',
        # And the most.
        'rank-worst': 'int',
        # Those in which the chosen host is none of those that it leaves.
        'removed': 'int',
    },
)

# A candidate and its share of chance in its group.
Share = TypedDict(
    'Share',
    {
        # Id of the host.
        'host': 'str',
        # Its share of chance in its group, a fraction 0..1.
        'share': 'float',
    },
)

# What was done with one candidate.
Staging = TypedDict(
    'Staging',
    {
        # The digest of its bytes.
        'digest': 'str',
        # The name that it gives itself, once it could be asked.
        'name': 'str | None',
        # What became of it.
        'outcome': 'StagingOutcome',
        # What recorded decisions would have been.
        'replay': 'NotRequired[TrialReport]',
        # Where it came from.
        'source': 'UnitSource',
        # The steps that were taken, in order.
        'steps': 'list[StagingStepReport]',
        # Its version, as it says.
        'version': 'str | None',
    },
)

# What became of a candidate.
StagingOutcome: TypeAlias = 'StagingOutcomeInForce | StagingOutcomeRemoved | StagingOutcomeUnchanged | StagingOutcomeHeld | StagingOutcomeRefused'

# There is nothing wrong with it, and it is not in force.
StagingOutcomeHeld = TypedDict(
    'StagingOutcomeHeld',
    {
        # Always held
        'result': "Literal['held']",
        # Why not.
        'why': 'str',
    },
)

# It is in force.
StagingOutcomeInForce = TypedDict(
    'StagingOutcomeInForce',
    {
        # The number of the first generation with it.
        'generation': 'int',
        # What was in force under its name before.
        'replaced': 'str | None',
        # Always in-force
        'result': "Literal['in-force']",
    },
)

# It is refused, and what was in force is in force.
StagingOutcomeRefused = TypedDict(
    'StagingOutcomeRefused',
    {
        # Always refused
        'result': "Literal['refused']",
        # The step that failed.
        'step': 'StagingStep',
        # What is wrong.
        'why': 'str',
    },
)

# Nothing of its name is in force any more.
StagingOutcomeRemoved = TypedDict(
    'StagingOutcomeRemoved',
    {
        # The number of the first generation without it.
        'generation': 'int',
        # Always removed
        'result': "Literal['removed']",
    },
)

# It was in force already.
StagingOutcomeUnchanged = TypedDict(
    'StagingOutcomeUnchanged',
    {
        # Always unchanged
        'result': "Literal['unchanged']",
    },
)

# A step on the way into force, in their order.
StagingStep: TypeAlias = "Literal['signature', 'contract', 'compile', 'describe', 'probes', 'policies', 'trial', 'in-force']"

# A step that was taken.
StagingStepReport: TypeAlias = 'StagingStepReportPassed | StagingStepReportSkipped | StagingStepReportFailed'

# The candidate is refused for it.
StagingStepReportFailed = TypedDict(
    'StagingStepReportFailed',
    {
        # Always failed
        'result': "Literal['failed']",
        # Which.
        'step': 'StagingStep',
        # How long it took, in microseconds.
        'took-us': 'int',
        # What is wrong.
        'why': 'str',
    },
)

# It went well.
StagingStepReportPassed = TypedDict(
    'StagingStepReportPassed',
    {
        # What is worth knowing of it.
        'note': 'NotRequired[str]',
        # Always passed
        'result': "Literal['passed']",
        # Which.
        'step': 'StagingStep',
        # How long it took, in microseconds.
        'took-us': 'int',
    },
)

# It did not have to be taken.
StagingStepReportSkipped = TypedDict(
    'StagingStepReportSkipped',
    {
        # Always skipped
        'result': "Literal['skipped']",
        # Which.
        'step': 'StagingStep',
        # How long it took, in microseconds.
        'took-us': 'int',
        # Why not.
        'why': 'str',
    },
)

# A place that is reserved on a host that is to be emptied, or elsewhere for a VM that runs
# on it.
StandingReservation = TypedDict(
    'StandingReservation',
    {
        # Seconds since 1970-01-01 UTC after which it ends if nobody confirms it.
        'expires': 'NotRequired[int]',
        # The same time.
        'expires-time': 'NotRequired[str]',
        # Where it runs, if it runs.
        'from': 'NotRequired[str]',
        # Where its place is reserved.
        'host': 'str',
        # Id of the VM.
        'vm': 'str',
    },
)

# A VM that should leave its host and cannot.
StuckVm = TypedDict(
    'StuckVm',
    {
        # Why it should leave, for programs.
        'cause': 'Cause',
        # Where it runs.
        'from': 'str',
        # The host that came nearest to taking it, and what that host lacks.
        'nearest': 'NotRequired[Nearest]',
        # Why it should leave.
        'reason': 'str',
        # Where the policy's filters are why: how many hosts each reason removed, in policy order.
        'removed': 'NotRequired[list[RemovedHosts]]',
        # Id of the VM.
        'vm': 'str',
        # Why it cannot.
        'why': 'str',
    },
)

# What follows if some hosts fail.
SurvivedFailure = TypedDict(
    'SurvivedFailure',
    {
        # The hosts that fail.
        'hosts': 'list[str]',
        # The VMs that ran there or had a place reserved and are not restarted, by id.
        'not-restarted': 'list[str]',
        # Which VMs are restarted.
        'restart': 'Restart',
        # Whether every VM that is restarted finds another host.
        'survived': 'bool',
        # The VMs that ran there or had a place reserved and are restarted: first those that have a
        # place on another host, by id, then the others in the order in which they are placed anew.
        'vms': 'list[RestartedVm]',
    },
)

# A tenant
Tenant = TypedDict(
    'Tenant',
    {
        # Hosts that the tenant is or was bound to, in the order in which it was
        'bindings': 'NotRequired[list[TenantBinding]]',
        # Id of the tenant
        'id': 'str',
        # What is allowed in what was sent and surely a mistake, a sentence each
        'warnings': 'NotRequired[list[str]]',
    },
)

# One of: hosts that the tenant is or was bound to, in the order in which it was
TenantBinding = TypedDict(
    'TenantBinding',
    {
        # When it ended; absent while it holds; in seconds since 1970-01-01 UTC
        'end': 'NotRequired[int]',
        # The same time
        'end-time': 'NotRequired[str]',
        # Id of the host, which may be gone by now
        'host': 'str',
        # When it began; in seconds since 1970-01-01 UTC
        'start': 'int',
        # The same time
        'start-time': 'str',
        # Tag at the time
        'tag': 'NotRequired[str]',
        # Availability zone at the time
        'zone': 'NotRequired[str]',
    },
)

# One of: hosts that the tenant is or was bound to, in the order in which it was
TenantBindingDocument = TypedDict(
    'TenantBindingDocument',
    {
        # When it ended; absent while it holds; in seconds since 1970-01-01 UTC, or a text such as
        # "2026-11-20T12:00:00Z"
        'end': 'NotRequired[int | str]',
        # The same time, as servers show it beside; where both are given, they must be the same
        'end-time': 'NotRequired[str]',
        # Id of the host, which may be gone by now
        'host': 'str',
        # When it began; in seconds since 1970-01-01 UTC, or a text such as "2026-11-20T12:00:00Z"
        'start': 'int | str',
        # The same time, as servers show it beside; where both are given, they must be the same
        'start-time': 'NotRequired[str]',
        # Tag at the time
        'tag': 'NotRequired[str]',
        # Availability zone at the time
        'zone': 'NotRequired[str]',
    },
)

# A tenant
TenantBody = TypedDict(
    'TenantBody',
    {
        # Hosts that the tenant is or was bound to, in the order in which it was
        'bindings': 'NotRequired[list[TenantBindingDocument] | None]',
        # Its id: that of the path, which may be left out here ({tenant})
        'id': 'NotRequired[str]',
    },
)

# What is different of a tenant, or a new one; null takes a value away
TenantChange = TypedDict(
    'TenantChange',
    {
        # Hosts that the tenant is or was bound to, in the order in which it was
        'bindings': 'NotRequired[list[TenantBindingDocument] | None]',
        # Id of the tenant
        'id': 'str',
    },
)

# A tenant
TenantDocument = TypedDict(
    'TenantDocument',
    {
        # Hosts that the tenant is or was bound to, in the order in which it was
        'bindings': 'NotRequired[list[TenantBindingDocument]]',
        # Id of the tenant
        'id': 'str',
    },
)

# A page of a list.
TenantPage = TypedDict(
    'TenantPage',
    {
        # The entries, in order.
        'items': 'list[Tenant]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# What is different of a tenant, or a new one; null takes a value away
TenantPatch = TypedDict(
    'TenantPatch',
    {
        # Hosts that the tenant is or was bound to, in the order in which it was
        'bindings': 'NotRequired[list[TenantBindingDocument] | None]',
        # Id of the tenant
        'id': 'NotRequired[str]',
    },
)

# What tips a decision.
Tipped = TypedDict(
    'Tipped',
    {
        # By how much the other host is cheaper under the draft; absent: it is not a question of
        # costs.
        'by': 'NotRequired[float | None]',
        # The policy's entry whose answer changes most in favour of the other host.
        'entry': 'str',
        # Why the host of before is removed, or that of after was: completes "host ...".
        'reason': 'NotRequired[str | None]',
    },
)

# A token without its secret, which the server does not know.
Token = TypedDict(
    'Token',
    {
        # When it was issued, in seconds since 1970-01-01 UTC; not there: it is of the
        # configuration.
        'at': 'NotRequired[int]',
        # The name of the token of whoever issued it; not there: it is of the configuration.
        'by': 'NotRequired[str]',
        # The clusters that it is for; not there: all.
        'clusters': 'NotRequired[list[str]]',
        # Whether it has expired, so that it counts no more.
        'expired': 'bool',
        # When it expires, in seconds since 1970-01-01 UTC; not there: never.
        'expires': 'NotRequired[int]',
        # The same time; not there: never.
        'expires-time': 'NotRequired[str]',
        # Names its owner in logs and events.
        'name': 'str',
        # Where it comes from.
        'origin': 'TokenOrigin',
        # What its owner may do.
        'role': 'Role',
        # The same time; not there: it is of the configuration.
        'time': 'NotRequired[str]',
    },
)

# Where a token comes from.
TokenOrigin: TypeAlias = "Literal['configuration', 'api']"

# A page of a list.
TokenPage = TypedDict(
    'TokenPage',
    {
        # The entries, in order.
        'items': 'list[Token]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# How recorded decisions would have come out.
TrialReport = TypedDict(
    'TrialReport',
    {
        # Those of them that came out differently; those that failed are not counted.
        'differing': 'int',
        # Some of them.
        'examples': 'list[DifferingDecision]',
        # Those of them in which a unit that is new failed, where the one in force answered.
        'failing': 'NotRequired[int]',
        # Some of these.
        'failures': 'NotRequired[list[FailedDecision]]',
        # The newest recorded ones, of which these were chosen evenly as the time allowed.
        'recorded': 'NotRequired[int]',
        # Decisions that were made again.
        'tried': 'int',
        # Clusters of which no decision was made again, such as those that were busy, and why.
        'untried': 'NotRequired[dict[str, str]]',
    },
)

# A need of a request that no filter of the policy checks.
UnheededNeed = TypedDict(
    'UnheededNeed',
    {
        # What it is, after "needs".
        'meaning': 'str',
        # Name of the need.
        'need': 'str',
        # Name of the policy that does not check it.
        'policy': 'str',
        # Names of the units at hand that check it.
        'units': 'list[str]',
        # The first VM of the request that has it.
        'vm': 'str',
    },
)

# A need of VMs of a cluster that no filter of the policy checks.
UnheededNeedOfCluster = TypedDict(
    'UnheededNeedOfCluster',
    {
        # How many VMs that have a place have the need.
        'count': 'int',
        # What it is, after "needs".
        'meaning': 'str',
        # Name of the need.
        'need': 'str',
        # What becomes of a request with it
        'unheeded': "Literal['refuse', 'warn', 'ignore']",
        # Names of the units at hand that check it.
        'units': 'list[str]',
        # The first of these VMs, by id.
        'vms': 'list[str]',
    },
)

# What a unit is and does. What is shown as read is all that it is ever shown.
Unit = TypedDict(
    'Unit',
    {
        # Other names that policies may call it by.
        'aliases': 'list[str]',
        # SHA-256 of its component, in hexadecimal.
        'digest': 'str',
        # The interfaces that it imports.
        'imports': 'list[str]',
        # Its name.
        'name': 'str',
        # The parts that it exports.
        'parts': 'list[UnitPart]',
        # The settings that it takes.
        'settings': 'list[UnitSetting]',
        # Bytes of its component.
        'size': 'int',
        # What it is for, in a sentence.
        'summary': 'str',
        # Its version.
        'version': 'str',
    },
)

# A candidate for a unit, and what became of it.
UnitCandidate = TypedDict(
    'UnitCandidate',
    {
        # When, in seconds since 1970-01-01 UTC.
        'at': 'int',
        # SHA-256 of its bytes, in hexadecimal.
        'digest': 'str',
        # The name that it gives itself, if it came so far.
        'name': 'str | None',
        # What became of it.
        'outcome': 'StagingOutcome',
        # What recorded decisions would have been, if it was tried on any; not told to tokens that
        # are for some clusters.
        'replay': 'NotRequired[TrialReport]',
        # Where it came from.
        'source': 'UnitSource',
        # The same time.
        'time': 'str',
        # Its version, as it says.
        'version': 'str | None',
    },
)

# A page of a list.
UnitCandidatePage = TypedDict(
    'UnitCandidatePage',
    {
        # The entries, in order.
        'items': 'list[UnitCandidate]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# A column that a part reads.
UnitColumn = TypedDict(
    'UnitColumn',
    {
        # Name of the column.
        'column': 'str',
        # Whether the part is asked only where it is true.
        'gate': 'bool',
        # Of its values: integer, number, boolean or text.
        'kind': 'str',
        # Whether the part is never shown a row without it.
        'required': 'bool',
    },
)

# What a unit has cost the decisions of a cluster since the cluster's policy or one of its units
# changed last, or since the server began.
UnitCost = TypedDict(
    'UnitCost',
    {
        # How often it was called.
        'calls': 'int',
        # Name of the cluster.
        'cluster': 'str',
        # The wall time in microseconds that all units of a decision may take together.
        'limit-us': 'float',
        # The longest call in microseconds.
        'longest-us': 'float',
        # The time in microseconds within which half of its calls ended. Like the other quantiles
        # it is too great by an eighth at most.
        'median-us': 'float',
        # The most linear memory in bytes that an instance of it had after a call.
        'memory': 'int',
        # The linear memory in bytes that an instance may have.
        'memory-limit': 'int',
        # The time in microseconds within which 95 of 100 calls ended.
        'p95-us': 'float',
        # The time in microseconds within which 99 of 100 calls ended.
        'p99-us': 'float',
        # Hosts that it was asked about, counted in every call.
        'rows': 'int',
        # Hosts that it would have been asked about besides, had its answers not been cached.
        'rows-reused': 'int',
        # Time of all calls in seconds, making their tables and reading their answers included.
        'seconds': 'float',
        # The part of the time of all units of the cluster that it took, from 0 to 1.
        'share': 'float',
        # Name of the unit.
        'unit': 'str',
    },
)

# A page of a list.
UnitCostPage = TypedDict(
    'UnitCostPage',
    {
        # The entries, in order.
        'items': 'list[UnitCost]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# A unit.
UnitDetails: TypeAlias = 'KnownUnit | AwaitedUnit'

# A file of the watched folder.
UnitFile = TypedDict(
    'UnitFile',
    {
        # The digest of what it holds now, if it can be read.
        'holds': 'str | None',
        # The name of the last sound unit in it.
        'name': 'str | None',
        # The digest of that.
        'offers': 'str | None',
        # Where it is.
        'path': 'str',
        # What is wrong with that.
        'trouble': 'str | None',
    },
)

# A page of a list.
UnitFilePage = TypedDict(
    'UnitFilePage',
    {
        # The entries, in order.
        'items': 'list[UnitFile]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# A part of a unit.
UnitPart = TypedDict(
    'UnitPart',
    {
        # What a judge answers: `filter`, `cost function`.
        'answers': 'NotRequired[list[str]]',
        # The least and the greatest cost, if they are fixed.
        'cost-range': 'NotRequired[list[float]]',
        # What a judge's answers depend on: `row-wise` or `whole-table`.
        'evaluation': 'NotRequired[str]',
        # Which part.
        'part': 'str',
        # The columns that it reads.
        'reads': 'list[UnitTable]',
        # In the order of their numbers, from 1.
        'reasons': 'list[UnitReason]',
    },
)

# A reason that a part gives.
UnitReason = TypedDict(
    'UnitReason',
    {
        # Whether waiting for pending placements may help.
        'passing': 'bool',
        # Completes "host ...".
        'text': 'str',
    },
)

# What would change with a candidate.
UnitReplayed = TypedDict(
    'UnitReplayed',
    {
        # What would become of recorded decisions, by the names of the clusters that use the
        # unit; none if it was not let in as far as it alone is concerned.
        'clusters': 'dict[str, ReplayedDecisions]',
        # What was found out about it, step by step.
        'staging': 'Staging',
    },
)

# A setting of a unit.
UnitSetting = TypedDict(
    'UnitSetting',
    {
        # If there are any, the only texts.
        'choices': 'list[str]',
        # Of a setting that is a table: its columns.
        'columns': 'list[str]',
        # Its value where a policy gives none.
        'default': 'str | None',
        # The greatest value that is taken; none: any.
        'greatest': 'float | None',
        # Of its value: integer, number, boolean or text.
        'kind': 'str',
        # The least value that is taken; none: any.
        'least': 'float | None',
        # What it means.
        'meaning': 'str',
        # In what it is measured.
        'measure': 'str | None',
        # Its name.
        'name': 'str',
        # What a text must match.
        'pattern': 'str | None',
        # Whether a policy must say it.
        'required': 'bool',
        # Of a setting that is a table: what each of its columns takes, in the same order.
        'table': 'NotRequired[list[UnitSettingColumn]]',
    },
)

# A column of a setting that is a table.
UnitSettingColumn = TypedDict(
    'UnitSettingColumn',
    {
        # Name of the column.
        'column': 'str',
        # Of its values: integer, number, boolean or text.
        'kind': 'str',
        # What it means.
        'meaning': 'str',
        # Whether every row must have it.
        'required': 'bool',
    },
)

# Where a candidate came from.
UnitSource: TypeAlias = 'UnitSourceFile | UnitSourceUpload | UnitSourceKept | UnitSourceRollback | UnitSourcePin | UnitSourceEmbedded'

# It comes with the program.
UnitSourceEmbedded = TypedDict(
    'UnitSourceEmbedded',
    {
        # Always embedded
        'kind': "Literal['embedded']",
    },
)

# A file of the watched folder.
UnitSourceFile = TypedDict(
    'UnitSourceFile',
    {
        # Always file
        'kind': "Literal['file']",
        # Where it is; not told to tokens that are for some clusters.
        'path': 'NotRequired[str]',
    },
)

# It was in force before, and is read from the stored versions: its file is gone, or what
# was in its place is not trusted any more.
UnitSourceKept = TypedDict(
    'UnitSourceKept',
    {
        # Always kept
        'kind': "Literal['kept']",
    },
)

# It was in force when it was pinned; its file has another unit now, or is gone.
UnitSourcePin = TypedDict(
    'UnitSourcePin',
    {
        # Always pin
        'kind': "Literal['pin']",
    },
)

# Somebody went back to it.
UnitSourceRollback = TypedDict(
    'UnitSourceRollback',
    {
        # Always rollback
        'kind': "Literal['rollback']",
    },
)

# Someone handed it in.
UnitSourceUpload = TypedDict(
    'UnitSourceUpload',
    {
        # Who; not told to others whose tokens are for some clusters.
        'by': 'NotRequired[str]',
        # Always upload
        'kind': "Literal['upload']",
    },
)

# A candidate that is being staged.
UnitStaging = TypedDict(
    'UnitStaging',
    {
        # The digest of its bytes.
        'digest': 'str',
        # The name that it gives itself, once it could be asked.
        'name': 'str | None',
        # How many candidates had been staged before it since the server began.
        'number': 'int',
        # Where it came from.
        'source': 'UnitSource',
        # The step that is being taken; null between two of them.
        'step': 'None | StagingStep',
        # The steps that were taken, in order.
        'steps': 'list[StagingStepReport]',
        # When the first step began.
        'time': 'str',
        # How long it has taken so far, in microseconds.
        'took-us': 'int',
        # Its version, as it says.
        'version': 'str | None',
    },
)

# A page of a list.
UnitStagingPage = TypedDict(
    'UnitStagingPage',
    {
        # The entries, in order.
        'items': 'list[UnitStaging]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# A name under which there is a unit.
UnitStatus = TypedDict(
    'UnitStatus',
    {
        # Whether it was disabled.
        'disabled': 'bool',
        # Whether a unit of this name comes with the program.
        'embedded': 'bool',
        # The digest in force, unless it is disabled.
        'in-force': 'str | None',
        # Whether its file is gone and policies use it.
        'kept-although-deleted': 'bool',
        # What it can be in a policy: `filter`, `cost function`, `selection`, `placement effects`,
        # `balance`, `order`.
        'kinds': 'list[str]',
        # The name.
        'name': 'str',
        # A unit of this name that was let in and is not trusted any more: it is not in force,
        # and would be if it were trusted.
        'not-trusted': 'NotRequired[NotTrustedUnit]',
        # Whether it stays whatever its file becomes.
        'pinned': 'bool',
        # Where it came from.
        'source': 'None | UnitSource',
        # A file that is being staged, or waits for it, and by its name will be this unit.
        'staging': 'NotRequired[str]',
        # What it is for, in a sentence, as it says.
        'summary': 'str | None',
        # The version of the unit, as it says.
        'version': 'str | None',
    },
)

# A page of a list.
UnitStatusPage = TypedDict(
    'UnitStatusPage',
    {
        # The entries, in order.
        'items': 'list[UnitStatus]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# A table that a part reads.
UnitTable = TypedDict(
    'UnitTable',
    {
        # If empty, it reads how many rows there are.
        'columns': 'list[UnitColumn]',
        # Name of the table.
        'table': 'str',
    },
)

# A VM that runs or has a place reserved
Vm = TypedDict(
    'Vm',
    {
        # What it needs of amounts with names of the operator's choice
        'amounts': 'NotRequired[list[VmAmount]]',
        # Cores per virtual socket; if not given, as many as its CPU needs
        'cores': 'NotRequired[int]',
        # CPU that it was promised; a core per vCPU if not given; in cores
        'cpu': 'NotRequired[float]',
        # CPU flags that it needs
        'cpu-flags': 'NotRequired[list[VmCpuFlag]]',
        # Measured share of its vCPUs in use; a fraction, 1 is all of it
        'cpu.usage': 'NotRequired[float]',
        # Devices of a host that it needs
        'devices': 'NotRequired[list[VmDevice]]',
        # Whether it has exclusive physical CPUs; so also where its pinning is dedicated or isolate-
        # threads
        'exclusive': 'NotRequired[bool]',
        # Placement keys that were fixed when it was placed, for as long as it stays on the host
        'fixed-keys': 'NotRequired[list[VmFixedKey]]',
        # Models of GPU that it accepts; any if there is no row
        'gpu-models': 'NotRequired[list[VmGpuModel]]',
        # How many GPUs it needs; 1 if not given where gpu.share or gpu-models is
        'gpu.count': 'NotRequired[int]',
        # Thousandths that it needs of each of its GPUs; all of it if not given
        'gpu.share': 'NotRequired[int]',
        # GPUs of the host that it was given when it was placed, for as long as it stays there
        'gpus': 'NotRequired[list[VmGpu]]',
        # Whether it is restarted elsewhere if its host fails
        'ha': 'NotRequired[bool]',
        # Id of the host where it runs; absent if it does not run yet
        'host': 'NotRequired[str]',
        # Huge pages that it needs
        'huge-pages': 'NotRequired[list[VmHugePage]]',
        # Id of the VM, unique in the cluster
        'id': 'str',
        # I/O threads
        'io-threads': 'NotRequired[int]',
        # Placement keys that concern it
        'keys': 'NotRequired[list[VmKey]]',
        # Scores that it has for hosts; several for one host all count
        'location': 'NotRequired[list[LocationScore]]',
        # Emulated machine type
        'machine': 'NotRequired[str]',
        # Memory that it was promised; 0 if not given; in bytes
        'memory': 'NotRequired[int]',
        # Measured share of its memory in use; a fraction, 1 is all of it
        'memory.usage': 'NotRequired[float]',
        # Memory for video; in bytes
        'memory.video': 'NotRequired[int]',
        # Whether it may be moved while it runs; true if not given
        'migratable': 'NotRequired[bool]',
        # Name of the VM
        'name': 'NotRequired[str]',
        # Its network interfaces
        'nics': 'NotRequired[list[VmNic]]',
        # Its virtual NUMA nodes
        'numa-nodes': 'NotRequired[list[VmNumaNode]]',
        # Whether its place is reserved and it does not run here yet
        'pending': 'NotRequired[bool]',
        # Ids of the hosts that it is pinned to
        'pinned': 'NotRequired[list[str]]',
        # How its vCPUs are pinned; absent if they are not
        'pinning': "NotRequired[Literal['manual', 'dedicated', 'isolate-threads', 'resize-and-pin'] | str]",
        # Its vCPUs that are pinned
        'pins': 'NotRequired[list[VmPin]]',
        # Ids of the hosts that it prefers
        'preferred': 'NotRequired[list[str]]',
        # The greater, the sooner it is served; 0 if not given
        'priority': 'NotRequired[int]',
        # The place that is reserved for it, if one is
        'reserved': 'NotRequired[ReservedPlace]',
        # Virtual CPU sockets; 1 if not given
        'sockets': 'NotRequired[int]',
        # Extra specifications that it asks for
        'specs': 'NotRequired[list[VmSpec]]',
        # What it does: up if it runs and nothing is given
        'state': "NotRequired[Literal['up', 'down', 'stopped', 'off', 'paused', 'suspended', 'migrating', 'powering-up', 'powering-down', 'reboot-in-progress', 'saving-state', 'restoring-state', 'wait-for-launch', 'image-locked', 'image-illegal', 'not-responding', 'unassigned', 'unknown'] | str]",
        # How strongly it wants to stay where it runs
        'stickiness': 'NotRequired[int]',
        # Id of the tenant that owns it
        'tenant': 'NotRequired[str]',
        # Threads per virtual core; 1 if not given
        'threads': 'NotRequired[int]',
        # What it is optimised for: desktop, server or high-performance
        'type': "NotRequired[Literal['desktop', 'server', 'high-performance'] | str]",
        # sockets x cores x threads
        'vcpus': 'NotRequired[int]',
        # What is allowed in what was sent and surely a mistake, a sentence each
        'warnings': 'NotRequired[list[str]]',
        # Availability zone that it belongs to: the one that the request asked for which placed it
        'zone': 'NotRequired[str]',
    },
)

# One of: what it needs of amounts with names of the operator's choice
VmAmount = TypedDict(
    'VmAmount',
    {
        # Name of the amount
        'name': 'str',
        # How much of it
        'need': 'int',
    },
)

# A VM that has a place
VmBody = TypedDict(
    'VmBody',
    {
        # What it needs of amounts with names of the operator's choice
        'amounts': 'NotRequired[list[VmAmount] | None]',
        # Cores per virtual socket; if not given, as many as its CPU needs
        'cores': 'NotRequired[int | None]',
        # CPU that it was promised; a core per vCPU if not given; in cores, or a text such as "1.5 cores"
        # or "1500m"
        'cpu': 'NotRequired[float | str | None]',
        # CPU flags that it needs
        'cpu-flags': 'NotRequired[list[VmCpuFlag] | None]',
        # Measured share of its vCPUs in use; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.usage': 'NotRequired[float | str | None]',
        # Devices of a host that it needs
        'devices': 'NotRequired[list[VmDevice] | None]',
        # Whether it has exclusive physical CPUs; so also where its pinning is dedicated or isolate-
        # threads
        'exclusive': 'NotRequired[bool | None]',
        # Placement keys that were fixed when it was placed, for as long as it stays on the host
        'fixed-keys': 'NotRequired[list[VmFixedKey] | None]',
        # Models of GPU that it accepts; any if there is no row
        'gpu-models': 'NotRequired[list[VmGpuModel] | None]',
        # How many GPUs it needs; 1 if not given where gpu.share or gpu-models is
        'gpu.count': 'NotRequired[int | None]',
        # Thousandths that it needs of each of its GPUs; all of it if not given
        'gpu.share': 'NotRequired[int | None]',
        # GPUs of the host that it was given when it was placed, for as long as it stays there
        'gpus': 'NotRequired[list[VmGpu] | None]',
        # Whether it is restarted elsewhere if its host fails
        'ha': 'NotRequired[bool | None]',
        # Id of the host that it runs on, unless it stands inside the host
        'host': 'NotRequired[str | None]',
        # Huge pages that it needs
        'huge-pages': 'NotRequired[list[VmHugePageDocument] | None]',
        # Its id: that of the path, which may be left out here ({vm})
        'id': 'NotRequired[str]',
        # I/O threads
        'io-threads': 'NotRequired[int | None]',
        # Placement keys that concern it
        'keys': 'NotRequired[list[VmKey] | None]',
        # Scores that it has for hosts; several for one host all count
        'location': 'NotRequired[list[LocationScore] | None]',
        # Emulated machine type
        'machine': 'NotRequired[str | None]',
        # Memory that it was promised; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory': 'NotRequired[int | str | None]',
        # Measured share of its memory in use; a fraction, 1 is all of it, or a text such as 0.8 or "80
        # %"
        'memory.usage': 'NotRequired[float | str | None]',
        # Memory for video; in bytes, or a text such as "8 GiB"
        'memory.video': 'NotRequired[int | str | None]',
        # Whether it may be moved while it runs; true if not given
        'migratable': 'NotRequired[bool | None]',
        # Name of the VM
        'name': 'NotRequired[str | None]',
        # Its network interfaces
        'nics': 'NotRequired[list[VmNic] | None]',
        # Its virtual NUMA nodes
        'numa-nodes': 'NotRequired[list[VmNumaNodeDocument] | None]',
        # Whether its place is reserved and it does not run there yet
        'pending': 'NotRequired[bool | None]',
        # Ids of the hosts that it is pinned to
        'pinned': 'NotRequired[list[str] | None]',
        # How its vCPUs are pinned; absent if they are not
        'pinning': "NotRequired[Literal['manual', 'dedicated', 'isolate-threads', 'resize-and-pin'] | str | None]",
        # Its vCPUs that are pinned
        'pins': 'NotRequired[list[VmPin] | None]',
        # Ids of the hosts that it prefers
        'preferred': 'NotRequired[list[str] | None]',
        # The greater, the sooner it is served; 0 if not given
        'priority': 'NotRequired[int | None]',
        # Virtual CPU sockets; 1 if not given
        'sockets': 'NotRequired[int | None]',
        # Extra specifications that it asks for
        'specs': 'NotRequired[list[VmSpec] | None]',
        # What it does: up if it runs and nothing is given
        'state': "NotRequired[Literal['up', 'down', 'stopped', 'off', 'paused', 'suspended', 'migrating', 'powering-up', 'powering-down', 'reboot-in-progress', 'saving-state', 'restoring-state', 'wait-for-launch', 'image-locked', 'image-illegal', 'not-responding', 'unassigned', 'unknown'] | str | None]",
        # How strongly it wants to stay where it runs
        'stickiness': 'NotRequired[int | None]',
        # Id of the tenant that owns it
        'tenant': 'NotRequired[str | None]',
        # Threads per virtual core; 1 if not given
        'threads': 'NotRequired[int | None]',
        # What it is optimised for: desktop, server or high-performance
        'type': "NotRequired[Literal['desktop', 'server', 'high-performance'] | str | None]",
        # Availability zone that it belongs to: the one that the request asked for which placed it
        'zone': 'NotRequired[str | None]',
    },
)

# What is different of a VM, or a new one; null takes a value away
VmChange = TypedDict(
    'VmChange',
    {
        # What it needs of amounts with names of the operator's choice
        'amounts': 'NotRequired[list[VmAmount] | None]',
        # Cores per virtual socket; if not given, as many as its CPU needs
        'cores': 'NotRequired[int | None]',
        # CPU that it was promised; a core per vCPU if not given; in cores, or a text such as "1.5 cores"
        # or "1500m"
        'cpu': 'NotRequired[float | str | None]',
        # CPU flags that it needs
        'cpu-flags': 'NotRequired[list[VmCpuFlag] | None]',
        # Measured share of its vCPUs in use; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.usage': 'NotRequired[float | str | None]',
        # Devices of a host that it needs
        'devices': 'NotRequired[list[VmDevice] | None]',
        # Whether it has exclusive physical CPUs; so also where its pinning is dedicated or isolate-
        # threads
        'exclusive': 'NotRequired[bool | None]',
        # Placement keys that were fixed when it was placed, for as long as it stays on the host
        'fixed-keys': 'NotRequired[list[VmFixedKey] | None]',
        # Models of GPU that it accepts; any if there is no row
        'gpu-models': 'NotRequired[list[VmGpuModel] | None]',
        # How many GPUs it needs; 1 if not given where gpu.share or gpu-models is
        'gpu.count': 'NotRequired[int | None]',
        # Thousandths that it needs of each of its GPUs; all of it if not given
        'gpu.share': 'NotRequired[int | None]',
        # GPUs of the host that it was given when it was placed, for as long as it stays there
        'gpus': 'NotRequired[list[VmGpu] | None]',
        # Whether it is restarted elsewhere if its host fails
        'ha': 'NotRequired[bool | None]',
        # Id of the host that it runs on
        'host': 'NotRequired[str | None]',
        # Huge pages that it needs
        'huge-pages': 'NotRequired[list[VmHugePageDocument] | None]',
        # Id of the VM, unique in the cluster
        'id': 'str',
        # I/O threads
        'io-threads': 'NotRequired[int | None]',
        # Placement keys that concern it
        'keys': 'NotRequired[list[VmKey] | None]',
        # Scores that it has for hosts; several for one host all count
        'location': 'NotRequired[list[LocationScore] | None]',
        # Emulated machine type
        'machine': 'NotRequired[str | None]',
        # Memory that it was promised; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory': 'NotRequired[int | str | None]',
        # Measured share of its memory in use; a fraction, 1 is all of it, or a text such as 0.8 or "80
        # %"
        'memory.usage': 'NotRequired[float | str | None]',
        # Memory for video; in bytes, or a text such as "8 GiB"
        'memory.video': 'NotRequired[int | str | None]',
        # Whether it may be moved while it runs; true if not given
        'migratable': 'NotRequired[bool | None]',
        # Name of the VM
        'name': 'NotRequired[str | None]',
        # Its network interfaces
        'nics': 'NotRequired[list[VmNic] | None]',
        # Its virtual NUMA nodes
        'numa-nodes': 'NotRequired[list[VmNumaNodeDocument] | None]',
        # Ids of the hosts that it is pinned to
        'pinned': 'NotRequired[list[str] | None]',
        # How its vCPUs are pinned; absent if they are not
        'pinning': "NotRequired[Literal['manual', 'dedicated', 'isolate-threads', 'resize-and-pin'] | str | None]",
        # Its vCPUs that are pinned
        'pins': 'NotRequired[list[VmPin] | None]',
        # Ids of the hosts that it prefers
        'preferred': 'NotRequired[list[str] | None]',
        # The greater, the sooner it is served; 0 if not given
        'priority': 'NotRequired[int | None]',
        # Virtual CPU sockets; 1 if not given
        'sockets': 'NotRequired[int | None]',
        # Extra specifications that it asks for
        'specs': 'NotRequired[list[VmSpec] | None]',
        # What it does: up if it runs and nothing is given
        'state': "NotRequired[Literal['up', 'down', 'stopped', 'off', 'paused', 'suspended', 'migrating', 'powering-up', 'powering-down', 'reboot-in-progress', 'saving-state', 'restoring-state', 'wait-for-launch', 'image-locked', 'image-illegal', 'not-responding', 'unassigned', 'unknown'] | str | None]",
        # How strongly it wants to stay where it runs
        'stickiness': 'NotRequired[int | None]',
        # Id of the tenant that owns it
        'tenant': 'NotRequired[str | None]',
        # Threads per virtual core; 1 if not given
        'threads': 'NotRequired[int | None]',
        # What it is optimised for: desktop, server or high-performance
        'type': "NotRequired[Literal['desktop', 'server', 'high-performance'] | str | None]",
        # Availability zone that it belongs to: the one that the request asked for which placed it
        'zone': 'NotRequired[str | None]',
    },
)

# One of: CPU flags that it needs
VmCpuFlag = TypedDict(
    'VmCpuFlag',
    {
        # The flag
        'flag': 'str',
    },
)

# One of: devices of a host that it needs
VmDevice = TypedDict(
    'VmDevice',
    {
        # Kind of the device
        'kind': 'NotRequired[str]',
        # Name of the device
        'name': 'str',
    },
)

# A VM that has a place
VmDocument = TypedDict(
    'VmDocument',
    {
        # What it needs of amounts with names of the operator's choice
        'amounts': 'NotRequired[list[VmAmount]]',
        # Cores per virtual socket; if not given, as many as its CPU needs
        'cores': 'NotRequired[int]',
        # CPU that it was promised; a core per vCPU if not given; in cores, or a text such as "1.5 cores"
        # or "1500m"
        'cpu': 'NotRequired[float | str]',
        # CPU flags that it needs
        'cpu-flags': 'NotRequired[list[VmCpuFlag]]',
        # Measured share of its vCPUs in use; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.usage': 'NotRequired[float | str]',
        # Devices of a host that it needs
        'devices': 'NotRequired[list[VmDevice]]',
        # Whether it has exclusive physical CPUs; so also where its pinning is dedicated or isolate-
        # threads
        'exclusive': 'NotRequired[bool]',
        # Placement keys that were fixed when it was placed, for as long as it stays on the host
        'fixed-keys': 'NotRequired[list[VmFixedKey]]',
        # Models of GPU that it accepts; any if there is no row
        'gpu-models': 'NotRequired[list[VmGpuModel]]',
        # How many GPUs it needs; 1 if not given where gpu.share or gpu-models is
        'gpu.count': 'NotRequired[int]',
        # Thousandths that it needs of each of its GPUs; all of it if not given
        'gpu.share': 'NotRequired[int]',
        # GPUs of the host that it was given when it was placed, for as long as it stays there
        'gpus': 'NotRequired[list[VmGpu]]',
        # Whether it is restarted elsewhere if its host fails
        'ha': 'NotRequired[bool]',
        # Id of the host that it runs on, unless it stands inside the host
        'host': 'NotRequired[str]',
        # Huge pages that it needs
        'huge-pages': 'NotRequired[list[VmHugePageDocument]]',
        # Id of the VM, unique in the cluster
        'id': 'str',
        # I/O threads
        'io-threads': 'NotRequired[int]',
        # Placement keys that concern it
        'keys': 'NotRequired[list[VmKey]]',
        # Scores that it has for hosts; several for one host all count
        'location': 'NotRequired[list[LocationScore]]',
        # Emulated machine type
        'machine': 'NotRequired[str]',
        # Memory that it was promised; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory': 'NotRequired[int | str]',
        # Measured share of its memory in use; a fraction, 1 is all of it, or a text such as 0.8 or "80
        # %"
        'memory.usage': 'NotRequired[float | str]',
        # Memory for video; in bytes, or a text such as "8 GiB"
        'memory.video': 'NotRequired[int | str]',
        # Whether it may be moved while it runs; true if not given
        'migratable': 'NotRequired[bool]',
        # Name of the VM
        'name': 'NotRequired[str]',
        # Its network interfaces
        'nics': 'NotRequired[list[VmNic]]',
        # Its virtual NUMA nodes
        'numa-nodes': 'NotRequired[list[VmNumaNodeDocument]]',
        # Whether its place is reserved and it does not run there yet
        'pending': 'NotRequired[bool]',
        # Ids of the hosts that it is pinned to
        'pinned': 'NotRequired[list[str]]',
        # How its vCPUs are pinned; absent if they are not
        'pinning': "NotRequired[Literal['manual', 'dedicated', 'isolate-threads', 'resize-and-pin'] | str]",
        # Its vCPUs that are pinned
        'pins': 'NotRequired[list[VmPin]]',
        # Ids of the hosts that it prefers
        'preferred': 'NotRequired[list[str]]',
        # The greater, the sooner it is served; 0 if not given
        'priority': 'NotRequired[int]',
        # Virtual CPU sockets; 1 if not given
        'sockets': 'NotRequired[int]',
        # Extra specifications that it asks for
        'specs': 'NotRequired[list[VmSpec]]',
        # What it does: up if it runs and nothing is given
        'state': "NotRequired[Literal['up', 'down', 'stopped', 'off', 'paused', 'suspended', 'migrating', 'powering-up', 'powering-down', 'reboot-in-progress', 'saving-state', 'restoring-state', 'wait-for-launch', 'image-locked', 'image-illegal', 'not-responding', 'unassigned', 'unknown'] | str]",
        # How strongly it wants to stay where it runs
        'stickiness': 'NotRequired[int]',
        # Id of the tenant that owns it
        'tenant': 'NotRequired[str]',
        # Threads per virtual core; 1 if not given
        'threads': 'NotRequired[int]',
        # What it is optimised for: desktop, server or high-performance
        'type': "NotRequired[Literal['desktop', 'server', 'high-performance'] | str]",
        # Availability zone that it belongs to: the one that the request asked for which placed it
        'zone': 'NotRequired[str]',
    },
)

# One of: placement keys that were fixed when it was placed, for as long as it stays on the host
VmFixedKey = TypedDict(
    'VmFixedKey',
    {
        # Name of the key
        'name': 'str',
        # Value
        'value': 'float',
    },
)

# One of: GPUs of the host that it was given when it was placed, for as long as it stays there
VmGpu = TypedDict(
    'VmGpu',
    {
        # Number of the GPU
        'index': 'int',
        # Thousandths of it that it takes
        'share': 'int',
    },
)

# One of: models of GPU that it accepts; any if there is no row
VmGpuModel = TypedDict(
    'VmGpuModel',
    {
        # Name of the model
        'model': 'str',
    },
)

# One of: huge pages that it needs
VmHugePage = TypedDict(
    'VmHugePage',
    {
        # How many
        'count': 'int',
        # Size of a page; in bytes
        'size': 'int',
    },
)

# One of: huge pages that it needs
VmHugePageDocument = TypedDict(
    'VmHugePageDocument',
    {
        # How many
        'count': 'int',
        # Size of a page; in bytes, or a text such as "8 GiB"
        'size': 'int | str',
    },
)

# One of: placement keys that concern it
VmKey = TypedDict(
    'VmKey',
    {
        # Who set it
        'class': 'NotRequired[str]',
        # Which resource of that level, from 0
        'index': 'NotRequired[int]',
        # Level of the resource that carries the key
        'level': 'NotRequired[int]',
        # Name of the key
        'name': 'str',
        # Value, a text
        'value': 'str',
        # Weight
        'weight': 'NotRequired[float]',
    },
)

# One of: its network interfaces
VmNic = TypedDict(
    'VmNic',
    {
        # Whether the network is an outside provider's
        'external': 'NotRequired[bool]',
        # Name of the network; absent if it has none
        'network': 'NotRequired[str]',
        # Whether it passes through to a physical function
        'passthrough': 'NotRequired[bool]',
        # Whether it is plugged in
        'plugged': 'NotRequired[bool]',
    },
)

# One of: its virtual NUMA nodes
VmNumaNode = TypedDict(
    'VmNumaNode',
    {
        # The host's NUMA nodes that the virtual node is pinned to
        'host-nodes': 'NotRequired[list[VmNumaNodeHostNode]]',
        # Number of the node
        'index': 'int',
        # Memory of the node; in bytes
        'memory': 'int',
        # How its memory is bound to the host's nodes; strict if not given
        'mode': "NotRequired[Literal['strict', 'interleave', 'preferred'] | str]",
    },
)

# One of: its virtual NUMA nodes
VmNumaNodeDocument = TypedDict(
    'VmNumaNodeDocument',
    {
        # The host's NUMA nodes that the virtual node is pinned to
        'host-nodes': 'NotRequired[list[VmNumaNodeHostNode]]',
        # Number of the node
        'index': 'int',
        # Memory of the node; in bytes, or a text such as "8 GiB"
        'memory': 'int | str',
        # How its memory is bound to the host's nodes; strict if not given
        'mode': "NotRequired[Literal['strict', 'interleave', 'preferred'] | str]",
    },
)

# One of: the host's NUMA nodes that the virtual node is pinned to
VmNumaNodeHostNode = TypedDict(
    'VmNumaNodeHostNode',
    {
        # Number of the host's node
        'index': 'int',
    },
)

# A VM that runs on a host or has a place reserved there
VmOfHost = TypedDict(
    'VmOfHost',
    {
        # Id of the VM
        'id': 'str',
        # Whether its place is reserved and it does not run there yet
        'pending': 'bool',
    },
)

# A page of a list.
VmPage = TypedDict(
    'VmPage',
    {
        # The entries, in order.
        'items': 'list[Vm]',
        # Where the next page begins: give it as `after`. Not there on the last page.
        'next': 'NotRequired[str]',
    },
)

# What is different of a VM, or a new one; null takes a value away
VmPatch = TypedDict(
    'VmPatch',
    {
        # What it needs of amounts with names of the operator's choice
        'amounts': 'NotRequired[list[VmAmount] | None]',
        # Cores per virtual socket; if not given, as many as its CPU needs
        'cores': 'NotRequired[int | None]',
        # CPU that it was promised; a core per vCPU if not given; in cores, or a text such as "1.5 cores"
        # or "1500m"
        'cpu': 'NotRequired[float | str | None]',
        # CPU flags that it needs
        'cpu-flags': 'NotRequired[list[VmCpuFlag] | None]',
        # Measured share of its vCPUs in use; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.usage': 'NotRequired[float | str | None]',
        # Devices of a host that it needs
        'devices': 'NotRequired[list[VmDevice] | None]',
        # Whether it has exclusive physical CPUs; so also where its pinning is dedicated or isolate-
        # threads
        'exclusive': 'NotRequired[bool | None]',
        # Placement keys that were fixed when it was placed, for as long as it stays on the host
        'fixed-keys': 'NotRequired[list[VmFixedKey] | None]',
        # Models of GPU that it accepts; any if there is no row
        'gpu-models': 'NotRequired[list[VmGpuModel] | None]',
        # How many GPUs it needs; 1 if not given where gpu.share or gpu-models is
        'gpu.count': 'NotRequired[int | None]',
        # Thousandths that it needs of each of its GPUs; all of it if not given
        'gpu.share': 'NotRequired[int | None]',
        # GPUs of the host that it was given when it was placed, for as long as it stays there
        'gpus': 'NotRequired[list[VmGpu] | None]',
        # Whether it is restarted elsewhere if its host fails
        'ha': 'NotRequired[bool | None]',
        # Id of the host that it runs on
        'host': 'NotRequired[str | None]',
        # Huge pages that it needs
        'huge-pages': 'NotRequired[list[VmHugePageDocument] | None]',
        # Id of the VM, unique in the cluster
        'id': 'NotRequired[str]',
        # I/O threads
        'io-threads': 'NotRequired[int | None]',
        # Placement keys that concern it
        'keys': 'NotRequired[list[VmKey] | None]',
        # Scores that it has for hosts; several for one host all count
        'location': 'NotRequired[list[LocationScore] | None]',
        # Emulated machine type
        'machine': 'NotRequired[str | None]',
        # Memory that it was promised; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory': 'NotRequired[int | str | None]',
        # Measured share of its memory in use; a fraction, 1 is all of it, or a text such as 0.8 or "80
        # %"
        'memory.usage': 'NotRequired[float | str | None]',
        # Memory for video; in bytes, or a text such as "8 GiB"
        'memory.video': 'NotRequired[int | str | None]',
        # Whether it may be moved while it runs; true if not given
        'migratable': 'NotRequired[bool | None]',
        # Name of the VM
        'name': 'NotRequired[str | None]',
        # Its network interfaces
        'nics': 'NotRequired[list[VmNic] | None]',
        # Its virtual NUMA nodes
        'numa-nodes': 'NotRequired[list[VmNumaNodeDocument] | None]',
        # Ids of the hosts that it is pinned to
        'pinned': 'NotRequired[list[str] | None]',
        # How its vCPUs are pinned; absent if they are not
        'pinning': "NotRequired[Literal['manual', 'dedicated', 'isolate-threads', 'resize-and-pin'] | str | None]",
        # Its vCPUs that are pinned
        'pins': 'NotRequired[list[VmPin] | None]',
        # Ids of the hosts that it prefers
        'preferred': 'NotRequired[list[str] | None]',
        # The greater, the sooner it is served; 0 if not given
        'priority': 'NotRequired[int | None]',
        # Virtual CPU sockets; 1 if not given
        'sockets': 'NotRequired[int | None]',
        # Extra specifications that it asks for
        'specs': 'NotRequired[list[VmSpec] | None]',
        # What it does: up if it runs and nothing is given
        'state': "NotRequired[Literal['up', 'down', 'stopped', 'off', 'paused', 'suspended', 'migrating', 'powering-up', 'powering-down', 'reboot-in-progress', 'saving-state', 'restoring-state', 'wait-for-launch', 'image-locked', 'image-illegal', 'not-responding', 'unassigned', 'unknown'] | str | None]",
        # How strongly it wants to stay where it runs
        'stickiness': 'NotRequired[int | None]',
        # Id of the tenant that owns it
        'tenant': 'NotRequired[str | None]',
        # Threads per virtual core; 1 if not given
        'threads': 'NotRequired[int | None]',
        # What it is optimised for: desktop, server or high-performance
        'type': "NotRequired[Literal['desktop', 'server', 'high-performance'] | str | None]",
        # Availability zone that it belongs to: the one that the request asked for which placed it
        'zone': 'NotRequired[str | None]',
    },
)

# One of: its vCPUs that are pinned
VmPin = TypedDict(
    'VmPin',
    {
        # Number of the host's CPU
        'cpu': 'int',
        # Number of the vCPU
        'vcpu': 'int',
    },
)

# A VM, by its id: as a text, or as a table with it
VmReference: TypeAlias = 'str | dict[str, Any]'

# VMs, by id.
VmReferences = TypedDict(
    'VmReferences',
    {
        # Their ids, or tables with them.
        'vms': 'list[VmReference]',
    },
)

# One of: extra specifications that it asks for
VmSpec = TypedDict(
    'VmSpec',
    {
        # Key
        'key': 'str',
        # Value
        'value': 'str',
    },
)

# A VM to be placed by itself: a request for one VM
VmToPlace = TypedDict(
    'VmToPlace',
    {
        # Place VMs again that already run on a host that is up; values that are not given are unchanged,
        # and null or an empty list takes one away
        'again': 'NotRequired[bool | None]',
        # Of a batch: reserve nothing unless every VM finds a host; the VMs of one request go together
        # anyway
        'all-or-nothing': 'NotRequired[bool | None]',
        # If not empty, only these hosts are considered
        'allowed': 'NotRequired[list[str] | None]',
        # What it needs of amounts with names of the operator's choice
        'amounts': 'NotRequired[list[VmAmount] | None]',
        # Cores per virtual socket; if not given, as many as its CPU needs
        'cores': 'NotRequired[int | None]',
        # CPU that it was promised; a core per vCPU if not given; in cores, or a text such as "1.5 cores"
        # or "1500m"
        'cpu': 'NotRequired[float | str | None]',
        # CPU flags that it needs
        'cpu-flags': 'NotRequired[list[VmCpuFlag] | None]',
        # Measured share of its vCPUs in use; a fraction, 1 is all of it, or a text such as 0.8 or "80 %"
        'cpu.usage': 'NotRequired[float | str | None]',
        # Devices of a host that it needs
        'devices': 'NotRequired[list[VmDevice] | None]',
        # The number, 0 or more and less than 1, that decides what is left to chance
        'draw': 'NotRequired[float | None]',
        # Decide, but change nothing
        'dry-run': 'NotRequired[bool | None]',
        # These hosts are not considered
        'excluded': 'NotRequired[list[str] | None]',
        # Whether it has exclusive physical CPUs; so also where its pinning is dedicated or isolate-
        # threads
        'exclusive': 'NotRequired[bool | None]',
        # An admin's choice: this host, without asking any unit; of a server it needs the role admin
        'force': 'NotRequired[str | None]',
        # Models of GPU that it accepts; any if there is no row
        'gpu-models': 'NotRequired[list[VmGpuModel] | None]',
        # How many GPUs it needs; 1 if not given where gpu.share or gpu-models is
        'gpu.count': 'NotRequired[int | None]',
        # Thousandths that it needs of each of its GPUs; all of it if not given
        'gpu.share': 'NotRequired[int | None]',
        # Whether it is restarted elsewhere if its host fails
        'ha': 'NotRequired[bool | None]',
        # Huge pages that it needs
        'huge-pages': 'NotRequired[list[VmHugePageDocument] | None]',
        # Id of the VM, unique in the cluster
        'id': 'str',
        # How many instances the tenant's deployment has
        'instances': 'NotRequired[int | None]',
        # I/O threads
        'io-threads': 'NotRequired[int | None]',
        # Placement keys that concern it
        'keys': 'NotRequired[list[VmKey] | None]',
        # What is asked for: place, migrate, or the operator's own word
        'kind': 'NotRequired[str | None]',
        # Scores that it has for hosts; several for one host all count
        'location': 'NotRequired[list[LocationScore] | None]',
        # Emulated machine type
        'machine': 'NotRequired[str | None]',
        # Memory that it was promised; 0 if not given; in bytes, or a text such as "8 GiB"
        'memory': 'NotRequired[int | str | None]',
        # Measured share of its memory in use; a fraction, 1 is all of it, or a text such as 0.8 or "80
        # %"
        'memory.usage': 'NotRequired[float | str | None]',
        # Memory for video; in bytes, or a text such as "8 GiB"
        'memory.video': 'NotRequired[int | str | None]',
        # Whether it may be moved while it runs; true if not given
        'migratable': 'NotRequired[bool | None]',
        # Name of the VM
        'name': 'NotRequired[str | None]',
        # Its network interfaces
        'nics': 'NotRequired[list[VmNic] | None]',
        # When the decision is made
        'now': 'NotRequired[int | str | None]',
        # Its virtual NUMA nodes
        'numa-nodes': 'NotRequired[list[VmNumaNodeDocument] | None]',
        # Ids of the hosts that it is pinned to
        'pinned': 'NotRequired[list[str] | None]',
        # How its vCPUs are pinned; absent if they are not
        'pinning': "NotRequired[Literal['manual', 'dedicated', 'isolate-threads', 'resize-and-pin'] | str | None]",
        # Its vCPUs that are pinned
        'pins': 'NotRequired[list[VmPin] | None]',
        # Ids of the hosts that it prefers
        'preferred': 'NotRequired[list[str] | None]',
        # Of the hosts that all filters left, only these are kept, if there is any
        'preferred-hosts': 'NotRequired[list[str] | None]',
        # The greater, the sooner it is served; 0 if not given
        'priority': 'NotRequired[int | None]',
        # Seconds for which the places are reserved, of a server from 1 to its option longest-
        # reservation, which is 24 h if not set; not given: as long as its option reservation says. 0,
        # until they are confirmed or released, is refused unless one of both options is 0
        'reserve-for': 'NotRequired[int | str | None]',
        # Virtual CPU sockets; 1 if not given
        'sockets': 'NotRequired[int | None]',
        # Extra specifications that it asks for
        'specs': 'NotRequired[list[VmSpec] | None]',
        # What it does: up if it runs and nothing is given
        'state': "NotRequired[Literal['up', 'down', 'stopped', 'off', 'paused', 'suspended', 'migrating', 'powering-up', 'powering-down', 'reboot-in-progress', 'saving-state', 'restoring-state', 'wait-for-launch', 'image-locked', 'image-illegal', 'not-responding', 'unassigned', 'unknown'] | str | None]",
        # How strongly it wants to stay where it runs
        'stickiness': 'NotRequired[int | None]',
        # Id of the tenant that asks
        'tenant': 'NotRequired[str | None]',
        # Threads per virtual core; 1 if not given
        'threads': 'NotRequired[int | None]',
        # What it is optimised for: desktop, server or high-performance
        'type': "NotRequired[Literal['desktop', 'server', 'high-performance'] | str | None]",
        # Availability zone that is asked for
        'zone': 'NotRequired[str | None]',
    },
)

# A way to let a host through that filters remove: one change, or two together.
WayIn = TypedDict(
    'WayIn',
    {
        # What is to be changed: all of it.
        'changes': 'list[NeededChange]',
        # Whether the host would then be chosen, too, and not another one.
        'chosen': 'bool',
        # The changes as a sentence, to be completed by a full stop.
        'sentence': 'str',
    },
)

# What follows if hosts fail.
WhatIf = TypedDict(
    'WhatIf',
    {
        # One for the hosts that fail together, or one for each host of the cluster.
        'failures': 'list[SurvivedFailure]',
        # Whether each of the failures is survived.
        'survived': 'bool',
    },
)

# A request of a batch, of which the VMs go on one host. All requests of a batch have the same
# values, but for `vms`, `again` and the tenant; none has `allowed`, `excluded`, `preferred-
# hosts` or `force`. `dry-run` and `all-or-nothing` of one hold for all
WholeRequest = TypedDict(
    'WholeRequest',
    {
        # Place VMs again that already run on a host that is up; values that are not given are unchanged,
        # and null or an empty list takes one away
        'again': 'NotRequired[bool | None]',
        # Of a batch: reserve nothing unless every VM finds a host; the VMs of one request go together
        # anyway
        'all-or-nothing': 'NotRequired[bool | None]',
        # If not empty, only these hosts are considered
        'allowed': 'NotRequired[list[str] | None]',
        # The number, 0 or more and less than 1, that decides what is left to chance
        'draw': 'NotRequired[float | None]',
        # Decide, but change nothing
        'dry-run': 'NotRequired[bool | None]',
        # These hosts are not considered
        'excluded': 'NotRequired[list[str] | None]',
        # An admin's choice: this host, without asking any unit; of a server it needs the role admin
        'force': 'NotRequired[str | None]',
        # How many instances the tenant's deployment has
        'instances': 'NotRequired[int | None]',
        # What is asked for: place, migrate, or the operator's own word
        'kind': 'NotRequired[str | None]',
        # When the decision is made
        'now': 'NotRequired[int | str | None]',
        # Of the hosts that all filters left, only these are kept, if there is any
        'preferred-hosts': 'NotRequired[list[str] | None]',
        # Seconds for which the places are reserved, of a server from 1 to its option longest-
        # reservation, which is 24 h if not set; not given: as long as its option reservation says. 0,
        # until they are confirmed or released, is refused unless one of both options is 0
        'reserve-for': 'NotRequired[int | str | None]',
        # Id of the tenant that asks
        'tenant': 'NotRequired[str | None]',
        # The VMs; of those that the cluster knows their ids are enough, and a text alone is the id of
        # one of them
        'vms': 'list[RequestedVm | str]',
        # Availability zone that is asked for
        'zone': 'NotRequired[str | None]',
    },
)

# What a policy says of one host for one request.
Why: TypeAlias = 'WhyChosen | WhyNotAsked | WhyRemoved | WhyCostlier | WhyTied | WhyRefusedByQuota | WhyNotPreferred | WhyNotDrawn'

# It is the one.
WhyChosen = TypedDict(
    'WhyChosen',
    {
        # The host that is chosen; none if every host is removed, or a quota refuses the VMs.
        'chosen': 'str | None',
        # What the units that keep the VMs off work out about it.
        'facts': 'NotRequired[list[ExplainedFact]]',
        # Id of the host.
        'host': 'str',
        # The quotas that do not allow what is asked for, whatever becomes of the host: which, what
        # is held and what it limits. Of a recorded decision, the first of them. `standing` says how
        # it is with the host itself.
        'refused-by-quotas': 'NotRequired[list[QuotaRefusal]]',
        # Always chosen
        'standing': "Literal['chosen']",
        # How many hosts have the same costs, this one included.
        'tied': 'int',
        # The VMs of the request.
        'vms': 'list[str]',
        # If filters keep the VMs off it: the smallest changes that let it through, each found by
        # asking the filters again. One change, or two together where one is not enough; those
        # first that change least of the request. None if no two changes do. Where quotas refuse
        # the VMs, each way begins with the limits that are to be raised.
        'ways': 'NotRequired[list[WayIn]]',
    },
)

# Another host is cheaper.
WhyCostlier = TypedDict(
    'WhyCostlier',
    {
        # By how much its sum in that tier is greater; null = infinite.
        'by': 'float | None',
        # The host that is chosen; none if every host is removed, or a quota refuses the VMs.
        'chosen': 'str | None',
        # Entry by entry, what makes the difference, in policy order.
        'differences': 'list[CostDifference]',
        # What the units that keep the VMs off work out about it.
        'facts': 'NotRequired[list[ExplainedFact]]',
        # Id of the host.
        'host': 'str',
        # The quotas that do not allow what is asked for, whatever becomes of the host: which, what
        # is held and what it limits. Of a recorded decision, the first of them. `standing` says how
        # it is with the host itself.
        'refused-by-quotas': 'NotRequired[list[QuotaRefusal]]',
        # The stage in which they differ.
        'stage': 'str',
        # Always costlier
        'standing': "Literal['costlier']",
        # The entry that adds most to it.
        'through': 'str | None',
        # The first tier in which they differ.
        'tier': 'int',
        # The VMs of the request.
        'vms': 'list[str]',
        # If filters keep the VMs off it: the smallest changes that let it through, each found by
        # asking the filters again. One change, or two together where one is not enough; those
        # first that change least of the request. None if no two changes do. Where quotas refuse
        # the VMs, each way begins with the limits that are to be raised.
        'ways': 'NotRequired[list[WayIn]]',
    },
)

# No unit was asked about it.
WhyNotAsked = TypedDict(
    'WhyNotAsked',
    {
        # The host that is chosen; none if every host is removed, or a quota refuses the VMs.
        'chosen': 'str | None',
        # What the units that keep the VMs off work out about it.
        'facts': 'NotRequired[list[ExplainedFact]]',
        # Id of the host.
        'host': 'str',
        # Completes "host ...".
        'reason': 'str',
        # The quotas that do not allow what is asked for, whatever becomes of the host: which, what
        # is held and what it limits. Of a recorded decision, the first of them. `standing` says how
        # it is with the host itself.
        'refused-by-quotas': 'NotRequired[list[QuotaRefusal]]',
        # Always not-asked
        'standing': "Literal['not-asked']",
        # The VMs of the request.
        'vms': 'list[str]',
        # If filters keep the VMs off it: the smallest changes that let it through, each found by
        # asking the filters again. One change, or two together where one is not enough; those
        # first that change least of the request. None if no two changes do. Where quotas refuse
        # the VMs, each way begins with the limits that are to be raised.
        'ways': 'NotRequired[list[WayIn]]',
    },
)

# Where it is left to chance: another host was drawn.
WhyNotDrawn = TypedDict(
    'WhyNotDrawn',
    {
        # The host that is chosen; none if every host is removed, or a quota refuses the VMs.
        'chosen': 'str | None',
        # The group that was drawn from; none if no candidate had a chance.
        'drawn-from': 'int | None',
        # What the units that keep the VMs off work out about it.
        'facts': 'NotRequired[list[ExplainedFact]]',
        # The group of candidates that it is in, the best being 1.
        'group': 'int',
        # Id of the host.
        'host': 'str',
        # The quotas that do not allow what is asked for, whatever becomes of the host: which, what
        # is held and what it limits. Of a recorded decision, the first of them. `standing` says how
        # it is with the host itself.
        'refused-by-quotas': 'NotRequired[list[QuotaRefusal]]',
        # Its share of chance there.
        'share': 'float',
        # Always not-drawn
        'standing': "Literal['not-drawn']",
        # The VMs of the request.
        'vms': 'list[str]',
        # If filters keep the VMs off it: the smallest changes that let it through, each found by
        # asking the filters again. One change, or two together where one is not enough; those
        # first that change least of the request. None if no two changes do. Where quotas refuse
        # the VMs, each way begins with the limits that are to be raised.
        'ways': 'NotRequired[list[WayIn]]',
    },
)

# The request prefers hosts that were left, and this is none of them.
WhyNotPreferred = TypedDict(
    'WhyNotPreferred',
    {
        # The host that is chosen; none if every host is removed, or a quota refuses the VMs.
        'chosen': 'str | None',
        # What the units that keep the VMs off work out about it.
        'facts': 'NotRequired[list[ExplainedFact]]',
        # Id of the host.
        'host': 'str',
        # The quotas that do not allow what is asked for, whatever becomes of the host: which, what
        # is held and what it limits. Of a recorded decision, the first of them. `standing` says how
        # it is with the host itself.
        'refused-by-quotas': 'NotRequired[list[QuotaRefusal]]',
        # Always not-preferred
        'standing': "Literal['not-preferred']",
        # The VMs of the request.
        'vms': 'list[str]',
        # If filters keep the VMs off it: the smallest changes that let it through, each found by
        # asking the filters again. One change, or two together where one is not enough; those
        # first that change least of the request. None if no two changes do. Where quotas refuse
        # the VMs, each way begins with the limits that are to be raised.
        'ways': 'NotRequired[list[WayIn]]',
    },
)

# A quota does not allow what is asked for, so that no host was looked for; this one would
# have been left.
WhyRefusedByQuota = TypedDict(
    'WhyRefusedByQuota',
    {
        # Which quota, what it allows and what is held: a sentence.
        'because': 'str',
        # The host that is chosen; none if every host is removed, or a quota refuses the VMs.
        'chosen': 'str | None',
        # What the units that keep the VMs off work out about it.
        'facts': 'NotRequired[list[ExplainedFact]]',
        # Id of the host.
        'host': 'str',
        # The quotas that do not allow what is asked for, whatever becomes of the host: which, what
        # is held and what it limits. Of a recorded decision, the first of them. `standing` says how
        # it is with the host itself.
        'refused-by-quotas': 'NotRequired[list[QuotaRefusal]]',
        # Always refused-by-quota
        'standing': "Literal['refused-by-quota']",
        # The VMs of the request.
        'vms': 'list[str]',
        # If filters keep the VMs off it: the smallest changes that let it through, each found by
        # asking the filters again. One change, or two together where one is not enough; those
        # first that change least of the request. None if no two changes do. Where quotas refuse
        # the VMs, each way begins with the limits that are to be raised.
        'ways': 'NotRequired[list[WayIn]]',
    },
)

# Entries of the policy remove it: the first one does, each further one would if
# those before it did not.
WhyRemoved = TypedDict(
    'WhyRemoved',
    {
        # The entries, with their reasons.
        'by': 'list[Removal]',
        # The host that is chosen; none if every host is removed, or a quota refuses the VMs.
        'chosen': 'str | None',
        # What the units that keep the VMs off work out about it.
        'facts': 'NotRequired[list[ExplainedFact]]',
        # Id of the host.
        'host': 'str',
        # The quotas that do not allow what is asked for, whatever becomes of the host: which, what
        # is held and what it limits. Of a recorded decision, the first of them. `standing` says how
        # it is with the host itself.
        'refused-by-quotas': 'NotRequired[list[QuotaRefusal]]',
        # Always removed
        'standing': "Literal['removed']",
        # The VMs of the request.
        'vms': 'list[str]',
        # If filters keep the VMs off it: the smallest changes that let it through, each found by
        # asking the filters again. One change, or two together where one is not enough; those
        # first that change least of the request. None if no two changes do. Where quotas refuse
        # the VMs, each way begins with the limits that are to be raised.
        'ways': 'NotRequired[list[WayIn]]',
    },
)

# It has the same costs as the chosen host, and this rule told them apart.
WhyTied = TypedDict(
    'WhyTied',
    {
        # The host that is chosen; none if every host is removed, or a quota refuses the VMs.
        'chosen': 'str | None',
        # What the units that keep the VMs off work out about it.
        'facts': 'NotRequired[list[ExplainedFact]]',
        # Id of the host.
        'host': 'str',
        # The quotas that do not allow what is asked for, whatever becomes of the host: which, what
        # is held and what it limits. Of a recorded decision, the first of them. `standing` says how
        # it is with the host itself.
        'refused-by-quotas': 'NotRequired[list[QuotaRefusal]]',
        # The rule, as a policy writes it.
        'rule': 'list[str]',
        # Always tied
        'standing': "Literal['tied']",
        # The VMs of the request.
        'vms': 'list[str]',
        # If filters keep the VMs off it: the smallest changes that let it through, each found by
        # asking the filters again. One change, or two together where one is not enough; those
        # first that change least of the request. None if no two changes do. Where quotas refuse
        # the VMs, each way begins with the limits that are to be raised.
        'ways': 'NotRequired[list[WayIn]]',
    },
)
