//! Tenant isolation: a VM that is isolated shares its host with VMs of its own tenant
//! alone; isolated VMs fill hosts of their tenant before they take others.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// A VM to be placed.
#[derive(Row)]
struct Vm {
    tenant: Option<Text>,
    #[column("attribute.isolated")]
    isolated: Option<bool>,
}

#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

#[derive(Row)]
struct Host {
    #[table("vms")]
    vms: Rows<Resident>,
}

/// A VM that runs on the host or has a place reserved there.
#[derive(Row)]
struct Resident {
    tenant: Option<Text>,
    #[column("attribute.isolated")]
    isolated: Option<bool>,
    pending: bool,
}

#[derive(Settings)]
struct Settings {
    /// Whether VMs without a tenant, which are the operator's own, may run beside
    /// isolated ones. If not, the operator counts as one more tenant.
    #[setting(default = false)]
    operator_anywhere: bool,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// cannot take VMs of several tenants at once of which one is isolated
    NotTogether,
    /// runs VMs of another tenant
    OtherTenant,
    /// has places reserved for VMs of another tenant
    #[reason(passing)]
    OtherTenantPending,
}

struct Need {
    vms: Vec<Vm>,
    operator_anywhere: bool,
}

impl Need {
    /// Whether a VM may share a host with one of this tenant that is isolated or not.
    fn may_share(&self, vm: &Vm, tenant: &Option<Text>, isolated: bool) -> bool {
        let operators = vm.tenant.is_none() || tenant.is_none();
        vm.tenant == *tenant
            || !(isolated || vm.is_isolated())
            || (self.operator_anywhere && operators)
    }

    fn all_may_share(&self, tenant: &Option<Text>, isolated: bool) -> bool {
        let mut vms = self.vms.iter();
        vms.all(|vm| self.may_share(vm, tenant, isolated))
    }
}

impl Vm {
    fn is_isolated(&self) -> bool {
        self.isolated.unwrap_or(false)
    }
}

struct TenantIsolation;

impl RowWise for TenantIsolation {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        Ok(Need {
            vms: request.vms.iter().collect(),
            operator_anywhere: settings.operator_anywhere,
        })
    }
}

impl RowFilter for TenantIsolation {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let mut vms = need.vms.iter();
        if !vms.all(|vm| need.all_may_share(&vm.tenant, vm.is_isolated())) {
            return Verdict::Remove(Reason::NotTogether);
        }
        let mut pending = false;
        for row in &host.vms {
            if !need.all_may_share(&row.tenant, row.isolated.unwrap_or(false)) {
                if !row.pending {
                    return Verdict::Remove(Reason::OtherTenant);
                }
                pending = true;
            }
        }
        Verdict::keep_if(!pending, Reason::OtherTenantPending)
    }
}

impl RowCost for TenantIsolation {
    const RANGE: Option<(f64, f64)> = Some((0.0, 1.0));

    /// 1 where an isolated VM would be the first of its tenant.
    fn cost(need: &Need, host: &Host) -> f64 {
        let is_first = |vm: &Vm| host.vms.iter().all(|row| row.tenant != vm.tenant);
        let mut isolated = need.vms.iter().filter(|vm| vm.is_isolated());
        f64::from(isolated.any(is_first))
    }
}

placewright_sdk::export!(TenantIsolation: filter, cost_function);

#[cfg(test)]
mod tests;
