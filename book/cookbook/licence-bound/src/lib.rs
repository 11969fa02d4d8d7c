//! Licence-bound hosts: a VM that needs a licence runs where one is left for it;
//! VMs that need none keep off hosts with licences.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// A VM to be placed.
#[derive(Row)]
struct Vm {
    /// The licensed product that runs in it, if any.
    #[column("attribute.product")]
    product: Option<Text>,
}

/// All VMs that are to be placed together on one host: they take licences together.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

#[derive(Row)]
struct Host {
    #[table("attribute.licences")]
    licences: Rows<Licence>,
    #[table("vms")]
    vms: Rows<Resident>,
    #[table("current")]
    current: Rows<Current>,
}

/// A licence of the host.
#[derive(Row)]
struct Licence {
    product: Option<Text>,
    /// For how many VMs it is good; for any number, if absent.
    vms: Option<i64>,
}

/// A VM that runs on the host or has a place reserved there.
#[derive(Row)]
struct Resident {
    #[column("attribute.product")]
    product: Option<Text>,
    pending: bool,
}

/// A member that runs on the host now.
#[derive(Row)]
struct Current {
    member: i64,
}

#[derive(Settings)]
struct Settings {
    /// Whether hosts with licences take no VM that needs none of them. If not, such
    /// VMs cost more there.
    #[setting(default = false)]
    reserve: bool,
}

/// The first of those that hold is told.
#[derive(Reason, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// has no licence for the product
    NoLicence,
    /// has no licence left for the product
    NoneLeft,
    /// has no licence left for the product while places on it are reserved
    #[reason(passing)]
    NoneLeftWhilePending,
    /// keeps its licences for VMs that need them
    Reserved,
}

struct Need {
    /// The product of each member.
    products: Vec<Option<Text>>,
    reserve: bool,
}

impl Need {
    /// The products of the members that do not run on the host yet.
    fn new_on(&self, host: &Host) -> Vec<Option<&Text>> {
        let runs = |member: usize| host.current.iter().any(|row| row.member == member as i64);
        let members = self.products.iter().enumerate();
        let new = members.filter(|(member, _)| !runs(*member));
        new.map(|(_, product)| product.as_ref()).collect()
    }
}

impl Host {
    /// For how many VMs it has licences of the product; none if it has no licence.
    fn licensed(&self, product: &Text) -> Option<i64> {
        let of_product = |row: &Licence| row.product.as_ref() == Some(product);
        let rows = self.licences.iter().filter(of_product);
        let vms = rows.map(|row| row.vms.unwrap_or(i64::MAX));
        vms.reduce(i64::saturating_add)
    }

    /// How many VMs with the product it has, and how many of these are pending.
    fn taken(&self, product: &Text) -> (i64, i64) {
        let of_product = |row: &Resident| row.product.as_ref() == Some(product);
        let rows = self.vms.iter().filter(of_product);
        rows.fold((0, 0), |(all, pending), row| {
            (all + 1, pending + i64::from(row.pending))
        })
    }

    /// Why it has no licences for so many VMs more with the product, if it has not.
    fn lacks(&self, product: &Text, more: i64) -> Option<Reason> {
        let Some(licensed) = self.licensed(product) else {
            return Some(Reason::NoLicence);
        };
        match self.taken(product) {
            (all, pending) if all - pending + more > licensed => Some(Reason::NoneLeft),
            (all, _) if all + more > licensed => Some(Reason::NoneLeftWhilePending),
            _ => None,
        }
    }

    /// Whether it has licences, none of which such a VM needs.
    fn wasted_on(&self, product: Option<&Text>) -> bool {
        !self.licences.is_empty() && product.is_none_or(|product| self.licensed(product).is_none())
    }
}

struct LicenceBound;

impl RowWise for LicenceBound {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        Ok(Need {
            products: request.vms.iter().map(|vm| vm.product).collect(),
            reserve: settings.reserve,
        })
    }
}

impl RowFilter for LicenceBound {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let new = need.new_on(host);
        let products = || new.iter().copied().flatten();
        let alike = |product| products().filter(|it| *it == product).count() as i64;
        let lacks = products().filter_map(|product| host.lacks(product, alike(product)));
        if let Some(reason) = lacks.min() {
            return Verdict::Remove(reason);
        }
        let wasted = need.reserve && new.iter().any(|product| host.wasted_on(*product));
        Verdict::keep_if(!wasted, Reason::Reserved)
    }
}

impl RowCost for LicenceBound {
    /// The VMs that need none of the host's licences.
    fn cost(need: &Need, host: &Host) -> f64 {
        let products = need.products.iter().map(Option::as_ref);
        products.filter(|it| host.wasted_on(*it)).count() as f64
    }
}

placewright_sdk::export!(LicenceBound: filter, cost_function);

#[cfg(test)]
mod tests;
