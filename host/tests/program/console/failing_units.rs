//! Units that fail, and requests that they leave undecided, are told where somebody looks.

use serde_json::json;

use super::Desk;
use placewright_tests::units::component;

/// A desk with a cluster whose policy asks a unit that misbehaves so, after some requests.
fn desk(how: &str) -> Desk {
    let desk = Desk::start();
    let api = desk.api();
    let kind = [("content-type", "application/wasm")];
    let put = api.ask("PUT", "/v1/units", &kind, &component("misbehaving"));
    assert_eq!(put.unwrap().status, 200);
    let policy = format!(
        "[[filters]]\nunit = \"misbehaving\"\non-failure = \"fail\"\nsettings = {{ how = \"{how}\" }}\n\
         [[costs]]\nunit = \"memory\"\n"
    );
    let headers = [("content-type", "application/toml"), ("if-none-match", "*")];
    let put = api.ask("PUT", "/v1/policies/house", &headers, policy.as_bytes());
    assert_eq!(put.unwrap().status, 200);
    let cluster = json!({
        "name": "north",
        "hosts": [{"id": "h1", "cpu.cores": 8, "memory.total": "64 GiB"}],
    });
    let made = api.send("POST", "/v1/clusters?policy=house", &cluster);
    assert_eq!(made.status, 201, "{made:?}");
    for number in 0..8 {
        let vm = json!({"id": format!("v{number}"), "cpu": 1, "memory": "1 GiB"});
        let placed = api.send("POST", "/v1/clusters/north/place", &vm);
        assert!(placed.status >= 400, "{placed:?}");
    }
    desk
}

#[test]
fn requests_that_a_unit_refuses_keep_a_cluster_from_being_healthy() {
    let desk = desk("refuses");
    let cookie = desk.sign_in(&desk.viewer);
    let page = desk.page("/", &cookie);
    let told = "8 of 8 requests in the last hour were not decided";
    assert!(page.contains(told), "{page}");
    assert!(!page.contains("Healthy"), "{page}");
    assert!(page.contains("href=\"/events?cluster=north\""), "{page}");
}

#[test]
fn a_unit_that_keeps_failing_is_told_with_the_reason_wherever_it_matters() {
    let desk = desk("panics");
    let cookie = desk.sign_in(&desk.viewer);
    let paused = desk.api().get("/v1/clusters/north").body["paused"][0].take();
    assert_eq!(paused["unit"], "misbehaving", "{paused}");
    let because = paused["because"].as_str().unwrap();
    let because: String = because.chars().skip(1).take(40).collect();
    for path in [
        "/",
        "/units/misbehaving",
        "/clusters/north",
        "/clusters/north/decisions",
        "/clusters/north/questions",
    ] {
        let page = desk.page(path, &cookie);
        let told = page.split("keeps failing, ").nth(1).unwrap_or_default();
        let told = told.split("</div>").next().unwrap();
        let plain = told.replace("&quot;", "\"");
        assert!(plain.contains("times in a row so far. "), "{path}: {page}");
        assert!(plain.contains(&because), "{path}: {because}: {page}");
    }
    let list = desk.page("/units", &cookie);
    let row = list.split("href=\"/units/misbehaving\"").nth(1).unwrap();
    let row = row.split("</tr>").next().unwrap();
    assert!(row.contains("keeps failing"), "{row}");
    assert_eq!(list.matches("keeps failing").count(), 1, "{list}");
}
