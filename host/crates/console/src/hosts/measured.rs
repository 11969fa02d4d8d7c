//! What is measured of hosts, which changes without an event: the page of hosts refreshes it alone.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::{Colour, Fleet, ROWS, side, table};
use crate::ask::Ask;
use crate::format::Moment;
use crate::heat;
use crate::parts::{Measure, time};
use crate::url::of_cluster;

/// As of when what is measured is shown. A script refreshes it from the address that this names; where
/// that fails, the moment stays and its age is told.
pub(super) fn as_of(cluster: &str, fleet: &Fleet) -> Markup {
    // Costs are asked for once: of a large cluster that takes a while.
    let is_live = !matches!(fleet.colour, Colour::Cost(_));
    let from = is_live.then(|| of_cluster(cluster, &["map"]));
    html! {
        span.small.dim id="measured" data-measured=[from] {
            "measured values as of " (time(Moment::now())) span.age {}
        }
    }
}

/// What is measured, and what the map makes of it.
pub(super) fn now(ask: &Ask, cluster: &str, fleet: &Fleet) -> Value {
    let wanted = fleet.wanted(ask);
    let cells = heat::cells(&ask.query, fleet, &wanted);
    let rows = table::shown(ask, &wanted, ROWS);
    let rows = rows.into_iter().map(|host| {
        json!([
            host.id,
            used(&host.cpu),
            used(&host.memory),
            host.written(&fleet.colour)
        ])
    });
    let panel = ask
        .param("host")
        .map(|_| side(ask, cluster, fleet).into_string());
    json!({
        "layout": cells.layout,
        "scale": cells.scale,
        "bands": cells.bands,
        "texts": cells.texts,
        "legend": cells.legend.into_string(),
        "rows": rows.collect::<Vec<_>>(),
        "panel": panel,
    })
}

/// The used share in percent, as the bar shows it.
fn used(measure: &Measure) -> Option<Value> {
    let (wide, text) = measure.used_share()?;
    Some(json!([wide, text]))
}

fn digest(now: &Value) -> String {
    let mut hasher = DefaultHasher::new();
    now.to_string().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The answer to a page that shows what has this digest already: nothing but the digest where that is
/// so still.
pub(super) fn answered(now: &Value, known: Option<&str>) -> Response {
    let digest = digest(now);
    let is_known = known == Some(digest.as_str());
    let answer = match is_known {
        true => json!({"digest": digest}),
        false => json!({"digest": digest, "now": now}),
    };
    axum::Json(answer).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    #[tokio::test]
    async fn who_shows_what_is_measured_now_is_told_nothing_again() {
        let now = json!({"bands": "0123"});
        let told = async |known: Option<&str>| -> Value {
            let body = answered(&now, known).into_body();
            let bytes = to_bytes(body, 10_000).await.unwrap();
            serde_json::from_slice(&bytes).unwrap()
        };
        let first = told(None).await;
        assert_eq!(first["now"], now);
        let again = told(first["digest"].as_str()).await;
        assert_eq!(again, json!({"digest": first["digest"]}));
        assert_eq!(told(Some("another")).await["now"], now);
    }

    #[test]
    fn what_is_not_measured_has_no_share_and_what_is_has_that_of_its_bar() {
        let measure = |used| Measure {
            used,
            total: 8.0,
            promisable: 16.0,
            ..Measure::default()
        };
        assert_eq!(used(&measure(None)), None);
        assert_eq!(used(&measure(Some(2.0))), Some(json!(["25.0", "25 %"])));
        let bar = measure(Some(2.0)).bar("CPU").into_string();
        assert!(
            bar.contains("width=\"25.0\"") && bar.contains(", 25 % used"),
            "{bar}"
        );
    }
}
