//! How much each account is to take beside the others.

use std::collections::BTreeMap;

use placewright_sdk::prelude::*;

use crate::accounts::places_by_account;
use crate::candidates::Candidates;

/// A row of the setting `weights`.
#[derive(Row)]
pub struct Weight {
    /// Name of the account: the host's attribute account, or else its id.
    pub account: Text,
    /// How much it takes beside others, whose weight is 1 if not given; 0 for none.
    pub weight: f64,
}

/// The weights of accounts, 1 where none is given.
#[derive(Debug)]
pub struct Weights(BTreeMap<Text, f64>);

impl Weights {
    /// The weights of a setting.
    ///
    /// # Errors
    ///
    /// A sentence for the admin, if a weight is negative or no finite number, or an
    /// account has two.
    pub fn of(rows: &Rows<Weight>) -> Result<Self, String> {
        let mut weights = BTreeMap::new();
        for Weight { account, weight } in rows {
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(format!(
                    "the weight of an account must be a number from 0 up, and that of \"{account}\" is {weight}"
                ));
            }
            if weights.insert(account.clone(), weight).is_some() {
                return Err(format!(
                    "an account can have one weight, and \"{account}\" has two"
                ));
            }
        }
        Ok(Self(weights))
    }

    fn of_account(&self, account: &Text) -> f64 {
        self.0.get(account.as_str()).copied().unwrap_or(1.0)
    }

    /// The shares that a stack of steps begins with: each account's is in proportion
    /// to what `weigh` makes of its weight and its hosts, and is divided equally over
    /// these.
    pub fn share_out<H>(
        &self,
        candidates: Candidates<H>,
        account: impl Fn(&H) -> &Text,
        weigh: impl Fn(f64, &[&H]) -> f64,
    ) -> Candidates<H> {
        candidates.weighed(|all| {
            let hosts: Vec<&H> = all.iter().map(|candidate| &candidate.host).collect();
            let mut weights = vec![0.0; hosts.len()];
            for (account, places) in places_by_account(hosts.iter().map(|host| account(host))) {
                let of_account: Vec<&H> = places.iter().map(|place| hosts[*place]).collect();
                let weight = weigh(self.of_account(account), &of_account);
                for place in &places {
                    weights[*place] = weight / places.len() as f64;
                }
            }
            weights
        })
    }
}
