use std::time::Duration;

use super::*;

fn text(telemetry: &Telemetry) -> String {
    telemetry.text().unwrap()
}

#[test]
fn what_is_counted_is_told() {
    let telemetry = Telemetry::new();
    let cluster = telemetry.clusters.of("east");
    cluster.wait_begins();
    cluster.wait_ends(Duration::from_millis(2));
    cluster.chain_took(Duration::from_micros(40));
    cluster.decided(Outcome::Placed);
    cluster.decided(Outcome::Rejected);
    cluster.rejected("memory: too little", 7);
    cluster.rejected_for("memory: too little");
    cluster.reservation_ended(ReservationEnd::HostLost);
    cluster.moved(MoveChange::Stale);
    telemetry.configuration.certificate_ends(1_800_000_000);
    let unit = telemetry.units.of("memory");
    unit.worked(1, 10, 90, Duration::from_micros(5));
    unit.failed("judge");
    unit.breaker("judge", Breaker::Open);
    let by = [
        ("memory", "has no room", 3),
        ("memory", "is full", 1),
        ("cpu", "is full", 2),
    ];
    telemetry.units.refused(by);
    telemetry.library.generation.set(3);
    telemetry.store.submitted();
    telemetry.store.kept(Duration::from_millis(1), false);
    telemetry
        .http
        .answered("BREW", "/v1/health", 200, Duration::from_micros(100));
    let text = text(&telemetry);
    for line in [
        "placewright_decisions_total{cluster=\"east\",outcome=\"placed\"} 1",
        "placewright_decisions_total{cluster=\"east\",outcome=\"failed\"} 0",
        "placewright_rejections_total{cluster=\"east\",reason=\"memory: too little\"} 7",
        "placewright_decisions_rejected_total{cluster=\"east\",reason=\"memory: too little\"} 1",
        "placewright_reservations_ended_total{cluster=\"east\",how=\"host-lost\"} 1",
        "placewright_reservations_ended_total{cluster=\"east\",how=\"expired\"} 0",
        "placewright_plan_moves_total{cluster=\"east\",how=\"stale\"} 1",
        "placewright_tls_certificate_not_after_timestamp_seconds{} 1800000000",
        "placewright_decisions_waiting{cluster=\"east\"} 0",
        "placewright_decision_wait_seconds_count{cluster=\"east\"} 1",
        "placewright_unit_rows_total{unit=\"memory\"} 10",
        "placewright_unit_rows_reused_total{unit=\"memory\"} 90",
        "placewright_unit_failures_total{unit=\"memory\",part=\"judge\"} 1",
        "placewright_unit_pauses_total{unit=\"memory\",part=\"judge\"} 1",
        "placewright_unit_decisions_refused_total{unit=\"memory\"} 1",
        "placewright_unit_hosts_refused_total{unit=\"memory\",reason=\"has no room\"} 3",
        "placewright_unit_hosts_refused_total{unit=\"cpu\",reason=\"is full\"} 2",
        "placewright_unit_state{unit=\"memory\",part=\"judge\",state=\"open\"} 1",
        "placewright_unit_state{unit=\"memory\",part=\"judge\",state=\"closed\"} 0",
        "placewright_library_generation 3",
        "placewright_store_failures_total 1",
        "placewright_store_waiting 0",
        "placewright_http_requests_total{method=\"other\",route=\"/v1/health\",status=\"200\"} 1",
        concat!(
            "placewright_build_info{version=\"",
            env!("CARGO_PKG_VERSION"),
            "\"} 1"
        ),
    ] {
        assert!(text.lines().any(|told| told == line), "{line}\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn what_is_no_more_is_told_no_more() {
    let telemetry = Telemetry::new();
    let cluster = telemetry.clusters.of("east");
    cluster.decided(Outcome::Placed);
    cluster.rejected("a", 1);
    cluster.rejected_for("a");
    telemetry.units.of("other").paused(&"east".into(), true);
    telemetry.units.forget_cluster("east");
    cluster.chain_took(Duration::ZERO);
    telemetry.clusters.forget(&cluster);
    let unit = telemetry.units.of("memory");
    unit.failed("judge");
    unit.breaker("judge", Breaker::Open);
    unit.breaker("judge", Breaker::Closed);
    telemetry.units.refused([("memory", "is full", 1)]);
    unit.paused(&"west".into(), true);
    telemetry.units.forget("memory", ["judge"]);
    let text = text(&telemetry);
    assert!(!text.contains("east"), "{text}");
    assert!(!text.contains("memory\""), "{text}");
}

#[test]
fn units_cannot_make_up_reasons_without_end() {
    let telemetry = Telemetry::new();
    let cluster = telemetry.clusters.of("east");
    for number in 0..10_000 {
        cluster.rejected(&format!("reason {number}"), 1);
        cluster.rejected_for(&format!("reason {number}"));
    }
    for number in 0..1000 {
        let reason = format!("reason {number}");
        telemetry.units.refused([("u", reason.as_str(), 1)]);
    }
    let text = text(&telemetry);
    let told = |of: &str| {
        let lines = text.lines().filter(|line| line.starts_with(of));
        lines.filter(|line| line.contains("reason=")).count()
    };
    assert!(told("placewright_rejections") <= 101, "{text}");
    assert!(told("placewright_decisions_rejected") <= 101, "{text}");
    assert!(told("placewright_unit_hosts_refused") <= 21, "{text}");
    assert!(text.contains("{unit=\"u\",reason=\"other\"} 980"), "{text}");
    assert!(text.contains("reason=\"other\"} 9900"), "{text}");
}

#[test]
fn levels_of_the_log_are_checked() {
    for good in ["info", "warn,placewright_library=debug", "off"] {
        assert!(check_level(good).is_ok(), "{good}");
    }
    for bad in ["loud", "", "info,x=loud"] {
        assert!(check_level(bad).is_err(), "{bad}");
    }
}
