//! The rows of all collections.

use super::{AtBound, Collection, Counted, Payer, Row};

/// Every collection. The test below holds it to the enumeration.
pub(super) const ALL: [Collection; 22] = [
    Collection::Inventory,
    Collection::Columns,
    Collection::Texts,
    Collection::Journal,
    Collection::Answers,
    Collection::Decisions,
    Collection::History,
    Collection::Plans,
    Collection::CoolDown,
    Collection::EndedReservations,
    Collection::Changes,
    Collection::Unstored,
    Collection::Overrides,
    Collection::Policies,
    Collection::Revisions,
    Collection::Entries,
    Collection::Repeats,
    Collection::Jobs,
    Collection::UnitEvents,
    Collection::Tokens,
    Collection::Quotas,
    Collection::Events,
];

const MIB: u64 = 1 << 20;

/// What all rows of clusters have in common that are counted in bytes and refuse nothing.
const OF_CLUSTER: Row = Row {
    word: "",
    title: "",
    payer: Payer::Cluster,
    bound: 0,
    counted: Counted::Bytes,
    option: None,
    at_bound: AtBound::OldestGoes,
    remedy: "",
    fields: &[],
    tables: &[],
};

pub(super) fn of(collection: Collection) -> Row {
    match collection {
        Collection::Inventory => Row {
            word: "inventory",
            title: "the inventory",
            bound: 256 * MIB,
            option: Some("inventory-bytes"),
            at_bound: AtBound::Refused,
            remedy: "remove hosts, VMs, groups, tenants, or attributes of them",
            fields: &[
                "Inventory.tenants",
                "Inventory.host_slots",
                "Inventory.running",
                "Inventory.pending",
                "Inventory.vacated",
                "Inventory.expiries",
                "Inventory.unmeasured",
                "TenantHoldings.by_tenant",
                "Account.in_clusters",
                "Books.accounts",
                "Groups.numbers",
                "Groups.of_vms",
                "Groups.users",
            ],
            tables: &[
                "clusters",
                "hosts",
                "vms",
                "tenants",
                "vm_groups",
                "measured",
                "counters",
            ],
            ..OF_CLUSTER
        },
        Collection::Columns => Row {
            word: "columns",
            title: "the columns of hosts",
            bound: 128 * MIB,
            option: Some("column-bytes"),
            at_bound: AtBound::Refused,
            remedy: "each attribute of hosts takes 9 bytes for each host, whether or not it has a \
                     value there: replace the inventory by one that declares fewer attributes \
                     (PUT), or remove hosts",
            fields: &[
                "Inventory.column_names",
                "Inventory.slots_not_up",
                "ChangeLog.entries",
            ],
            ..OF_CLUSTER
        },
        Collection::Texts => Row {
            word: "texts",
            title: "the texts of columns",
            bound: 4 * MIB,
            at_bound: AtBound::UnusedGoes,
            remedy: "the table of texts is rebuilt when it is larger than twice the texts in use \
                     plus this bound",
            fields: &["Texts.codes"],
            ..OF_CLUSTER
        },
        Collection::Journal => Row {
            word: "journal",
            title: "the journal",
            bound: 32 * MIB,
            remedy: "decisions before that are explained from the store",
            fields: &["Journal.undo"],
            ..OF_CLUSTER
        },
        Collection::Answers => Row {
            word: "answers",
            title: "the answers that are given again",
            payer: Payer::CallerInCluster,
            bound: 64 * MIB,
            option: Some("answer-bytes"),
            remedy: "the same request is decided again if it comes later",
            fields: &[
                "Answers.given",
                "Answers.order",
                "Answers.callers",
                "OfCaller.numbers",
            ],
            tables: &["answers"],
            ..OF_CLUSTER
        },
        Collection::Decisions => Row {
            word: "decisions",
            title: "the recorded decisions",
            bound: 16 * MIB,
            option: Some("history-bytes"),
            remedy: "a quarter of the option is for them; older ones are not recorded any more",
            fields: &["Record.list"],
            tables: &["decisions"],
            ..OF_CLUSTER
        },
        Collection::History => Row {
            word: "history",
            title: "the history",
            bound: 48 * MIB,
            option: Some("history-bytes"),
            remedy: "three quarters of the option are for it; decisions before that are recorded, \
                     and not explained",
            tables: &["history", "history_starts", "copies", "chains"],
            ..OF_CLUSTER
        },
        Collection::Plans => Row {
            word: "plans",
            title: "the plans of moves",
            bound: 32 * MIB,
            remedy: "those that are under way or go on by themselves stay, and of all at most 32; \
                     where there is no room beside those, plan fewer moves at once or cancel a plan",
            fields: &[
                "Plans.plans",
                "Plans.under_way",
                "Plans.counted",
                "Plans.bytes",
            ],
            tables: &["plans"],
            ..OF_CLUSTER
        },
        Collection::CoolDown => Row {
            word: "cool-down",
            title: "the VMs that were moved a short time ago",
            bound: 1 << 16,
            counted: Counted::Things,
            remedy: "a balance may move it again before it has cooled down",
            fields: &["CoolDown.moved", "CoolDown.order"],
            ..OF_CLUSTER
        },
        Collection::EndedReservations => Row {
            word: "ended-reservations",
            title: "the reservations that have ended",
            bound: 10_000,
            counted: Counted::Things,
            remedy: "a confirmation that comes later is refused, and does not say how the reservation ended",
            fields: &["EndedReservations.by_vm", "EndedReservations.order"],
            tables: &["ended_reservations"],
            ..OF_CLUSTER
        },
        Collection::Changes => Row {
            word: "changes",
            title: "the names of what has changed lately",
            bound: 1 << 14,
            counted: Counted::Things,
            remedy: "a client that follows from an older version reads the whole inventory",
            fields: &["Turns.last"],
            ..OF_CLUSTER
        },
        Collection::Unstored => Row {
            word: "unstored",
            title: "what the store has failed to keep",
            bound: 16 * MIB,
            remedy: "some decisions are not recorded",
            fields: &["Waiting.changes", "Waiting.ended"],
            ..OF_CLUSTER
        },
        Collection::Overrides => Row {
            word: "overrides",
            title: "the overrides",
            bound: 256,
            counted: Counted::Things,
            at_bound: AtBound::Refused,
            remedy: "write a policy of the cluster's own",
            fields: &["ClusterSettings.overrides"],
            ..OF_CLUSTER
        },
        Collection::Policies => Row {
            word: "policies",
            title: "the policies",
            payer: Payer::Owner,
            bound: 16 * MIB,
            option: Some("policy-bytes"),
            at_bound: AtBound::Refused,
            remedy: "remove policies that decide nowhere",
            fields: &["Policies.records"],
            tables: &["policies"],
            ..OF_CLUSTER
        },
        Collection::Revisions => Row {
            word: "revisions",
            title: "the earlier revisions",
            payer: Payer::Policy,
            bound: MIB,
            remedy: "they are not in memory",
            tables: &["policies"],
            ..OF_CLUSTER
        },
        Collection::Entries => Row {
            word: "entries",
            title: "the entries",
            payer: Payer::Policy,
            bound: 1000,
            counted: Counted::Things,
            at_bound: AtBound::Refused,
            remedy: "let fewer units decide",
            ..OF_CLUSTER
        },
        Collection::Repeats => Row {
            word: "repeats",
            title: "the answers of other routes that are given again",
            payer: Payer::Caller,
            bound: 64 * MIB,
            remedy: "the same request is carried out again if it comes later; these answers are \
                     in memory alone",
            fields: &["Kept.entries", "Kept.callers", "Share.order"],
            ..OF_CLUSTER
        },
        Collection::Jobs => Row {
            word: "jobs",
            title: "the jobs of oVirt's clients",
            payer: Payer::Caller,
            bound: 1000,
            counted: Counted::Things,
            remedy: "its address answers 404 then; a job has at most 50 steps",
            fields: &["Jobs.all"],
            ..OF_CLUSTER
        },
        Collection::UnitEvents => Row {
            word: "unit-events",
            title: "the history of units",
            payer: Payer::Server,
            bound: 10_000,
            counted: Counted::Things,
            remedy: "it is not in the history any more",
            tables: &["unit_events"],
            ..OF_CLUSTER
        },
        Collection::Tokens => Row {
            word: "tokens",
            title: "the issued tokens",
            payer: Payer::Server,
            bound: 1000,
            counted: Counted::Things,
            at_bound: AtBound::Refused,
            remedy: "delete tokens that nobody needs; one that has expired makes room by itself",
            fields: &["Tokens.issued"],
            ..OF_CLUSTER
        },
        Collection::Quotas => Row {
            word: "quotas",
            title: "the quotas of tenants",
            payer: Payer::Server,
            bound: 10_000,
            counted: Counted::Things,
            at_bound: AtBound::Refused,
            remedy: "remove quotas of tenants that are gone",
            fields: &["Books.quotas", "Books.of_tenants", "OfTenant.in_clusters"],
            ..OF_CLUSTER
        },
        Collection::Events => Row {
            word: "events",
            title: "the events",
            payer: Payer::LargestCluster,
            bound: 1024,
            counted: Counted::Things,
            remedy: "a client that continues from an older event gets the event `reset`",
            fields: &["Told.last", "Told.gone"],
            ..OF_CLUSTER
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_collection_has_a_row_of_its_own() {
        let words: BTreeSet<_> = ALL.iter().map(|it| it.row().word).collect();
        assert_eq!(words.len(), ALL.len());
        // The last of the enumeration has the number of all others.
        assert_eq!(Collection::Events as usize + 1, ALL.len());
        for collection in ALL {
            let row = collection.row();
            assert!(row.bound > 0 && !row.title.is_empty() && !row.remedy.is_empty());
        }
    }
}
