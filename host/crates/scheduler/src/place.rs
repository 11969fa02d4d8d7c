//! One request: decide, reserve, write what follows.

use std::sync::Arc;

use super::{
    Decision, PlaceError, SchedulerOptions, departure, draw, needs, tenant, unknown, zone,
};
use placewright_chain::{Decided, Followed, Runner};
use placewright_inventory::{Inventory, InventoryError, Terms};
use placewright_model::{Pinning, Request, Vm, Write};

/// Bring the inventory to the time of the request, check the request's members, and
/// fill in what the inventory knows of them.
pub(super) fn take_in(inventory: &mut Inventory, request: &mut Request) -> Result<(), PlaceError> {
    if request.members.is_empty() {
        return Err(PlaceError::NoMembers);
    }
    inventory.advance(request.now);
    unknown::check_named_vms(inventory, &std::mem::take(&mut request.named))?;
    for member in &mut request.members {
        inventory.take_in_member(member)?;
        let unset = request.unset.get(&member.id);
        known(inventory, member, unset.map_or(&[], Vec::as_slice));
    }
    match twice(&request.members) {
        Some(twice) => Err(PlaceError::MemberTwice(twice)),
        None => Ok(()),
    }
}

/// Decide where the VMs of a request that was taken in run and, unless it is a dry
/// run, reserve their places in the inventory and write what follows.
pub(super) fn place(
    inventory: &mut Inventory,
    runner: &mut Runner,
    options: &SchedulerOptions,
    number: u64,
    mut request: Request,
) -> Result<Decision, PlaceError> {
    options.cancel.check()?;
    tenant::agree(&mut request);
    zone::agree(&mut request)?;
    let mut members = request.members.iter();
    if let Some(member) = members.find(|member| inventory.pending(&member.id).is_some()) {
        return Err(PlaceError::Pending(member.id.clone()));
    }
    departure::confine(inventory, &mut request)?;
    let unheeded = needs::unheeded(runner.chain(), options, inventory, &request)?;
    let draw = draw(options, &request, number)?;
    let version = inventory.version();
    let refused = options.quotas.refusal(inventory, &request);
    let decided = match refused {
        None => runner.decide(inventory, &request, draw)?,
        Some(_) => Decided::default(),
    };
    let (host, shares) = told(inventory, &decided);
    let followed = match &decided.chosen {
        Some(chosen) => runner.follow(inventory, &request, draw, chosen.slot)?,
        None => Vec::new(),
    };
    let moves = departure::moves(inventory, &request, host.as_deref());
    let unchanged =
        (host.as_deref()).is_some_and(|host| stay_as_they_are(inventory, &request, host));
    let mut reserved = None;
    if let Some(host) = host.as_ref().filter(|_| !request.dry_run) {
        let terms = terms(options, &request, number);
        settle(inventory, terms, &request, host, &followed)?;
        reserved = Some(terms);
    }
    let unknown = match (&host, &refused) {
        (None, None) => unknown::names(inventory, &request),
        _ => Vec::new(),
    };
    Ok(Decision {
        number,
        request: Arc::new(request),
        inventory_version: version,
        draw,
        chain: runner.chain().clone(),
        refused,
        decided,
        host,
        reserved,
        unreserved: None,
        unchanged,
        shares,
        followed,
        moves,
        unheeded,
        unknown,
    })
}

/// Whether all VMs run on that host with what they ask for.
pub(super) fn stay_as_they_are(inventory: &Inventory, request: &Request, host: &str) -> bool {
    let slot = inventory.slot(host);
    request.members.iter().all(|member| {
        let running = inventory.running(&member.id);
        running.is_some_and(|it| slot == Some(it.slot) && !it.asks_otherwise(member))
    })
}

/// On what terms the places of a request are reserved.
fn terms(options: &SchedulerOptions, request: &Request, number: u64) -> Terms {
    let seconds = match request.reserve_for {
        Some(seconds) => Some(seconds).filter(|seconds| *seconds > 0),
        None => options.reservation,
    };
    Terms {
        expires: seconds.map(|seconds| request.now.saturating_add(seconds)),
        decision: Some(number),
    }
}

/// Shares of chance, by ids of hosts, in groups.
type Shares = Vec<Vec<(Arc<str>, f64)>>;

/// The chosen host and the shares of candidates by their ids.
pub(super) fn told(inventory: &Inventory, decided: &Decided) -> (Option<Arc<str>>, Shares) {
    let id = |slot: u32| inventory.host(slot).map(|host| host.id.clone());
    let host = decided.chosen.as_ref().and_then(|chosen| id(chosen.slot));
    let share = |(slot, share): &(u32, f64)| Some((id(*slot)?, *share));
    let groups = decided.shares.iter();
    let shares = groups.map(|group| group.iter().filter_map(share).collect());
    (host, shares.collect())
}

/// Fill in what the inventory knows of a VM that runs, or else has a place reserved: a request
/// gives of it what is to be different and, in `unset`, what it is to have no more, and everything
/// else is as it is known. A table of rows is given as a whole.
pub(super) fn known(inventory: &Inventory, member: &mut Vm, unset: &[Arc<str>]) {
    let running = inventory.running(&member.id);
    let Some(entry) = running.or_else(|| inventory.pending(&member.id)) else {
        return;
    };
    if unset.is_empty() && *entry.vm == *member {
        return;
    }
    known_as(&entry.vm, member, unset);
}

/// The same of a VM that is known to be this one.
pub(super) fn known_as(vm: &Vm, member: &mut Vm, unset: &[Arc<str>]) {
    let given = std::mem::replace(member, vm.clone());
    for name in unset {
        member.facts.unset(name);
        member.facts.set_rows(name.clone(), Vec::new());
        let pinning = &mut member.pinning;
        match &**name {
            "pinned" => pinning.pinned.clear(),
            "preferred" => pinning.preferred.clear(),
            "location" => pinning.location.clear(),
            _ => {}
        }
    }
    for (column, value) in given.facts.values() {
        member.facts.set(column.clone(), value.clone());
    }
    for (table, rows) in given.facts.tables() {
        member.facts.set_rows(table.clone(), rows.to_vec());
    }
    let Pinning {
        pinned,
        preferred,
        location,
    } = given.pinning;
    let pinning = &mut member.pinning;
    replace(&mut pinning.pinned, pinned);
    replace(&mut pinning.preferred, preferred);
    replace(&mut pinning.location, location);
}

/// Let a list be another one, if any is given.
fn replace<T>(known: &mut Vec<T>, given: Vec<T>) {
    if !given.is_empty() {
        *known = given;
    }
}

/// The request's own draw, or one that follows from the decision's number.
pub(super) fn draw(
    options: &SchedulerOptions,
    request: &Request,
    number: u64,
) -> Result<f64, PlaceError> {
    match request.draw {
        Some(draw) if (0.0..1.0).contains(&draw) => Ok(draw),
        Some(draw) => Err(PlaceError::BadDraw(draw)),
        None => Ok(draw::derive(options.seed, number)),
    }
}

/// Reserve the members' places and write what follows: all of it or nothing.
pub(super) fn settle(
    inventory: &mut Inventory,
    terms: Terms,
    request: &Request,
    host: &str,
    followed: &[Followed],
) -> Result<(), PlaceError> {
    let writes: Vec<Write> = followed
        .iter()
        .flat_map(|followed| followed.writes.iter().cloned())
        .collect();
    inventory.all_or_nothing(|inventory| {
        reserve(inventory, terms, request, host)?;
        let written = inventory.apply(&writes);
        written.map_err(|error| PlaceError::Effects {
            entry: at_fault(inventory, followed),
            error,
        })
    })
}

/// The entry whose writes are refused, taken alone; the last one if it is only all
/// together that are. What is written to find out is to be taken back.
fn at_fault(inventory: &mut Inventory, followed: &[Followed]) -> Arc<str> {
    let mut entries = followed.iter();
    let refused = entries.find(|followed| inventory.apply(&followed.writes).is_err());
    let entry = refused.or(followed.last()).map(|it| it.entry.clone());
    entry.unwrap_or_else(|| "effects".into())
}

fn reserve(
    inventory: &mut Inventory,
    terms: Terms,
    request: &Request,
    host: &str,
) -> Result<(), InventoryError> {
    for member in &request.members {
        let slot = inventory.slot(host);
        let running = inventory.running(&member.id);
        // The facts of members were checked when the request was taken in.
        match running.filter(|entry| slot == Some(entry.slot)) {
            None => inventory.reserve_checked(Arc::new(member.clone()), host, terms)?,
            Some(entry) if entry.asks_otherwise(member) => {
                inventory.reserve_in_place(Arc::new(member.clone()), terms)?;
            }
            // What follows says anew what it takes there.
            Some(_) => inventory.release_reserved(&member.id),
        }
    }
    Ok(())
}

/// The id of a member that is named twice.
fn twice(members: &[Vm]) -> Option<Arc<str>> {
    if members.len() < 2 {
        return None;
    }
    let mut ids: Vec<&Arc<str>> = members.iter().map(|member| &member.id).collect();
    ids.sort_unstable();
    ids.windows(2)
        .find(|pair| pair[0] == pair[1])
        .map(|pair| pair[0].clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_model::schema::Schema;
    use placewright_model::{Effect, Entity, Facts, Host, Moment, RowChange};

    #[test]
    fn places_of_many_vms_are_given_back_if_what_follows_is_refused() {
        let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
        inventory.add_host(Host::new("h")).unwrap();
        let before = inventory.version();
        // More than an inventory remembers of its past.
        let members = (0..70_000).map(|number| Vm::new(format!("v{number:06}")));
        let request = Request {
            members: members.collect(),
            ..Request::default()
        };
        let terms = Terms {
            expires: None,
            decision: None,
        };
        let follows = |host: &str| Followed {
            entry: host.into(),
            writes: vec![Write {
                moment: Moment::Decided,
                effect: Effect::Row {
                    entity: Entity::Host(host.into()),
                    table: "networks".into(),
                    change: RowChange::Append(Facts::new().with("name", "n")),
                },
            }],
        };
        let followed = [follows("h"), follows("nope")];
        let settled = settle(&mut inventory, terms, &request, "h", &followed);
        let Err(PlaceError::Effects { entry, .. }) = settled else {
            panic!("{settled:?}");
        };
        assert_eq!(&*entry, "nope");
        assert_eq!(
            (inventory.pending_count(), inventory.version()),
            (0, before)
        );
        let host = inventory.host(0).unwrap();
        assert_eq!((host.vms.len(), host.facts.rows("networks").len()), (0, 0));
    }
}
