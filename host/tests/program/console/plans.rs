//! The page of a plan: what it changes, and what can be done when it holds no more.

use serde_json::json;

use super::Desk;

/// A desk whose cluster has a plan that empties host `h1`, on which two VMs of a core run, and what
/// was placed there.
fn desk() -> (Desk, String) {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let form = [("deed", "evacuate"), ("host", "h1")];
    let made = desk.browse("POST", "/clusters/north/plans", &cookie, &form);
    assert_eq!(made.status, 303, "{}", made.body);
    (desk, cookie)
}

#[test]
fn a_plan_shows_what_its_hosts_promise_before_and_after() {
    let (desk, cookie) = desk();
    let api = desk.api();
    let host = api.get("/v1/clusters/north/hosts/h1").body;
    let count = |name: &str| host[name].as_u64().unwrap();
    let all = count("vms.count") + count("vms.pending");
    let page = desk.page("/clusters/north/plans/1", &cookie);
    assert!(page.contains("Hosts before and after"), "{page}");
    let plan = api.get("/v1/clusters/north/plans/1").body;
    let leave = plan["moves"].as_array().unwrap().len() as u64;
    // VMs whose places are only reserved do not run here yet, and stay.
    let stays = format!("{all} → <b>{}</b>", all - leave);
    assert!(leave > 0 && page.contains(&stays), "{stays}: {page}");
    let stopped = [("deed", "cancel")];
    desk.browse("POST", "/clusters/north/plans/1", &cookie, &stopped);
    let page = desk.page("/clusters/north/plans/1", &cookie);
    assert!(!page.contains("Hosts before and after"), "{page}");
}

#[test]
fn a_plan_with_stale_moves_is_made_again_for_the_same_host() {
    let (desk, cookie) = desk();
    let page = desk.page("/clusters/north/plans/1", &cookie);
    assert!(!page.contains("Plan again"), "{page}");
    let plan = desk.api().get("/v1/clusters/north/plans/1").body;
    let moves = plan["moves"].as_array().unwrap();
    let step = moves.iter().find(|step| step["vm"] == "a").unwrap();
    let gone = desk
        .api()
        .ask("DELETE", "/v1/clusters/north/vms/a", &[], b"");
    assert_eq!(gone.unwrap().status, 204);
    let step = step["step"].to_string();
    let begin = [("deed", "begin"), ("move", step.as_str())];
    desk.browse("POST", "/clusters/north/plans/1", &cookie, &begin);
    let page = desk.page("/clusters/north/plans/1", &cookie);
    assert!(page.contains("Plan again"), "{page}");
    let form = page.split("Plan again").next().unwrap();
    let form = form.rsplit("<form").next().unwrap();
    for part in ["value=\"evacuate\"", "name=\"host\" value=\"h1\""] {
        assert!(form.contains(part), "{part}: {form}");
    }
}

#[test]
fn moves_of_vms_that_are_gone_neither_wait_for_anybody_nor_change_a_host() {
    let (desk, cookie) = desk();
    let api = desk.api();
    let plan = api.get("/v1/clusters/north/plans/1").body;
    let all = plan["moves"].as_array().unwrap().len();
    let waits = |number: usize| match (all, number) {
        (_, 0) => "Plan 1: no move waits for you".to_owned(),
        (1, _) => "Plan 1: 1 of 1 move waits for you".to_owned(),
        _ => format!("Plan 1: {number} of {all} moves wait for you"),
    };
    let page = desk.page("/clusters/north/plans/1", &cookie);
    assert!(page.contains(&waits(all)), "{page}");
    let gone = api.ask("DELETE", "/v1/clusters/north/vms/a", &[], b"");
    assert_eq!(gone.unwrap().status, 204);
    let page = desk.page("/clusters/north/plans/1", &cookie);
    for part in [
        waits(all - 1).as_str(),
        "a is gone: it would not be begun",
        "1 would not be begun as things are",
        "Plan again",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn a_plan_that_goes_on_by_itself_is_made_to_wait_again() {
    let (desk, cookie) = desk();
    let path = "/clusters/north/plans/1";
    let plan = || desk.api().get("/v1/clusters/north/plans/1").body;
    let button = "Begin no more by itself";
    assert!(!desk.page(path, &cookie).contains(button));
    let begin = [("deed", "begin"), ("move", "1"), ("auto", "true")];
    let begun = desk.browse("POST", path, &cookie, &begin);
    assert_eq!(begun.status, 303, "{}", begun.body);
    assert!(desk.page(path, &cookie).contains(button));
    assert_eq!(plan()["auto"], true);
    let waits = desk.browse("POST", path, &cookie, &[("deed", "wait")]);
    assert_eq!(waits.status, 303, "{}", waits.body);
    let told = plan();
    assert_ne!(told["auto"], true, "{told}");
    assert_ne!(told["cancelled"], true, "{told}");
    assert_eq!(told["moves"][0]["state"], "begun", "{told}");
    assert!(!desk.page(path, &cookie).contains(button));
}

#[test]
fn places_reserved_on_a_host_that_is_emptied_are_told_wherever_its_moves_are() {
    let (desk, cookie) = desk();
    let api = desk.api();
    let vm = json!({"id": "early", "cpu": 1, "memory": "1 GiB", "allowed": ["h1"]});
    let placed = api.send("POST", "/v1/clusters/north/place", &vm);
    assert_eq!(placed.body["host"], "h1", "{placed:?}");
    let form = [("deed", "evacuate"), ("host", "h1")];
    let made = desk.browse("POST", "/clusters/north/plans", &cookie, &form);
    let question = "/clusters/north/questions?ask=maintenance&now=yes&host=h1";
    for path in [
        question,
        "/clusters/north/hosts/h1/maintenance",
        made.header("location"),
    ] {
        let page = desk.page(path, &cookie);
        let reserved = page.split("reserved already").nth(1).unwrap_or_default();
        let reserved = reserved.split("</section>").next().unwrap();
        for part in ["/vms/early", "/hosts/h1", "nothing yet", "data-ago"] {
            assert!(reserved.contains(part), "{path}: {part}: {page}");
        }
    }
    // Before it is in maintenance, VMs may come to it while it is emptied.
    let page = desk.page(question, &cookie);
    assert!(
        page.contains("so that new VMs may be placed on it"),
        "{page}"
    );
}
