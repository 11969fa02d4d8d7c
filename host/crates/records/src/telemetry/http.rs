//! Requests by route, status and time.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Routes are the patterns of paths, not the paths, so that there are few of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: &'static str,
    route: String,
}

/// Metrics of requests.
#[derive(Debug)]
pub struct HttpFamilies {
    requests: Family<Answered, Counter>,
    seconds: Family<Route, Histogram>,
    in_flight: Gauge,
}

impl HttpFamilies {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let families = Self {
            requests: Family::default(),
            seconds: Family::new_with_constructor(super::seconds),
            in_flight: Gauge::default(),
        };
        registry.register(
            "http_requests",
            "Requests answered, by route and status",
            families.requests.clone(),
        );
        registry.register(
            "http_request_seconds",
            "From the head of a request to the head of its answer, by route",
            families.seconds.clone(),
        );
        registry.register(
            "http_requests_in_flight",
            "Requests not answered yet",
            families.in_flight.clone(),
        );
        families
    }

    /// A request has come; its answer ends what is returned.
    pub fn began(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    /// A request was answered.
    pub fn answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        let method = known_method(method);
        let route = route.to_owned();
        self.seconds
            .get_or_create(&Route {
                method,
                route: route.clone(),
            })
            .observe(took.as_secs_f64());
        let labels = Answered {
            method,
            route,
            status,
        };
        self.requests.get_or_create(&labels).inc();
    }
}

/// A request that is not answered yet; also one whose client has gone is over when
/// this is dropped.
#[derive(Debug)]
pub struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Clients can make up methods; they shall not make up time series.
fn known_method(method: &str) -> &'static str {
    const METHODS: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"];
    let known = METHODS.into_iter().find(|known| *known == method);
    known.unwrap_or("other")
}
