//! Tenant bindings: a tenant that is bound to hosts runs its VMs there and nowhere
//! else.
//!
//! A binding holds for as long as it has no end. One that has a zone is about requests
//! for that zone, and about those that ask for none.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of the request.
#[derive(Row)]
struct Asked {
    zone: Option<Text>,
}

/// What is read of the tenant.
#[derive(Row)]
struct Tenant {
    #[table("bindings")]
    bindings: Rows<Binding>,
}

/// A binding of the request's tenant, to whatever host or to the host that is looked at.
#[derive(Row)]
struct Binding {
    zone: Option<Text>,
    end: Option<Seconds>,
}

#[derive(Request)]
struct Request {
    request: Asked,
    /// None: the request is made for nobody.
    tenant: Option<Tenant>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("bindings")]
    bindings: Rows<Binding>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is not among the hosts that the tenant is bound to
    NotBoundTo,
}

/// Which bindings count, if there are any.
struct Need {
    is_bound: bool,
    zone: Option<Text>,
}

impl Binding {
    /// Does it hold for a request for this zone?
    fn holds(&self, zone: Option<&Text>) -> bool {
        let is_elsewhere = zone.is_some() && self.zone.is_some() && self.zone.as_ref() != zone;
        self.end.is_none() && !is_elsewhere
    }
}

fn any_holds(bindings: &Rows<Binding>, zone: Option<&Text>) -> bool {
    bindings.iter().any(|binding| binding.holds(zone))
}

struct TenantBindings;

impl RowWise for TenantBindings {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, (): &()) -> Result<Need, Problem> {
        let zone = request.request.zone.clone();
        let tenant = request.tenant.as_ref();
        Ok(Need {
            is_bound: tenant.is_some_and(|it| any_holds(&it.bindings, zone.as_ref())),
            zone,
        })
    }
}

impl RowFilter for TenantBindings {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let fits = !need.is_bound || any_holds(&host.bindings, need.zone.as_ref());
        Verdict::keep_if(fits, Reason::NotBoundTo)
    }
}

placewright_sdk::export!(TenantBindings: filter);

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(zone: Option<&str>, end: Option<i64>) -> Binding {
        Binding {
            zone: zone.map(Into::into),
            end: end.map(Seconds),
        }
    }

    /// The verdict on a host with these bindings, where the tenant has others, too.
    fn keep(zone: Option<&str>, others: Vec<Binding>, here: Vec<Binding>) -> Verdict<Reason> {
        let all = others.into_iter().chain(here.iter().map(|row| Binding {
            zone: row.zone.clone(),
            end: row.end,
        }));
        let request = Request {
            request: Asked {
                zone: zone.map(Into::into),
            },
            tenant: Some(Tenant {
                bindings: all.collect(),
            }),
        };
        let need = TenantBindings::prepare(&request, &()).expect("nothing is refused");
        let bindings = here.into();
        TenantBindings::keep(&need, &Host { bindings })
    }

    const NOT_BOUND_TO: Verdict<Reason> = Verdict::Remove(Reason::NotBoundTo);

    #[test]
    fn a_tenant_that_is_bound_runs_where_it_is_bound_to() {
        let one = || vec![binding(None, None)];
        assert_eq!(keep(None, one(), Vec::new()), NOT_BOUND_TO);
        assert_eq!(keep(None, Vec::new(), one()), Verdict::Keep);
        assert_eq!(keep(None, one(), one()), Verdict::Keep);
    }

    #[test]
    fn who_is_not_bound_runs_anywhere() {
        assert_eq!(keep(None, Vec::new(), Vec::new()), Verdict::Keep);
        let ended = || vec![binding(None, Some(7))];
        assert_eq!(keep(None, ended(), Vec::new()), Verdict::Keep);
        let request = Request {
            request: Asked { zone: None },
            tenant: None,
        };
        let need = TenantBindings::prepare(&request, &()).expect("nothing is refused");
        let bindings = Rows::default();
        assert_eq!(
            TenantBindings::keep(&need, &Host { bindings }),
            Verdict::Keep
        );
    }

    #[test]
    fn a_binding_in_another_zone_is_about_other_requests() {
        let east = || vec![binding(Some("east"), None)];
        assert_eq!(keep(Some("west"), east(), Vec::new()), Verdict::Keep);
        assert_eq!(keep(Some("east"), east(), Vec::new()), NOT_BOUND_TO);
        assert_eq!(keep(None, east(), Vec::new()), NOT_BOUND_TO);
        assert_eq!(keep(Some("east"), Vec::new(), east()), Verdict::Keep);
    }
}
