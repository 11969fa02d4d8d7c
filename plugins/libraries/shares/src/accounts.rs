//! Hosts that are different ways into one account: another realm or profile of the
//! same provider. `attribute.account` names the account; a host without it is an
//! account by itself, called by the host's id.

use std::collections::BTreeMap;

use placewright_sdk::prelude::*;

/// Each account with the places of its hosts in a list, in the order in which accounts
/// first come up.
pub fn places_by_account<'a>(
    accounts: impl Iterator<Item = &'a Text>,
) -> Vec<(&'a Text, Vec<usize>)> {
    let mut numbers = BTreeMap::new();
    let mut places: Vec<(&Text, Vec<usize>)> = Vec::new();
    for (place, account) in accounts.enumerate() {
        let number = *numbers.entry(account).or_insert(places.len());
        match places.get_mut(number) {
            Some((_, of_account)) => of_account.push(place),
            None => places.push((account, vec![place])),
        }
    }
    places
}

/// What is known of instances on a host.
#[derive(Clone, Copy, Debug)]
pub struct Running {
    /// `attribute.running`: instances of the account that the inventory does not
    /// hold; each host of the account has the same number.
    pub elsewhere: Option<i64>,
    /// VMs of the inventory that run on this host.
    pub here: i64,
    /// VMs that have a place reserved on this host.
    pub pending: i64,
}

/// The instances of an account, by what is known on its hosts.
pub fn running(hosts: impl Iterator<Item = Running> + Clone) -> i64 {
    let elsewhere = hosts.clone().filter_map(|host| host.elsewhere).max();
    let inventory = hosts.map(|host| host.here.saturating_add(host.pending));
    let inventory = inventory.fold(0, i64::saturating_add);
    elsewhere.unwrap_or(0).saturating_add(inventory).max(0)
}
