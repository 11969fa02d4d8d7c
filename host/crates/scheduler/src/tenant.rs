//! The tenant that a request is made for, where the request does not say so: that of its VMs.

use placewright_model::{Request, Value, Vm};

const TENANT: &str = "tenant";

/// Let a request that names no tenant be made for the one that all its VMs belong to.
pub(super) fn agree(request: &mut Request) {
    if request.facts.get(TENANT).is_none()
        && let Some(tenant) = common(&request.members)
    {
        request.facts.set(TENANT, tenant);
    }
}

fn common(members: &[Vm]) -> Option<Value> {
    let mut tenants = members.iter().map(|member| member.facts.get(TENANT));
    let first = tenants.next()??;
    tenants
        .all(|tenant| tenant == Some(first))
        .then(|| first.clone())
}
