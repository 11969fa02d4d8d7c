//! How much tenants may hold, and who may call.

use placewright_tests::server::Server;
use serde_json::json;

use super::Desk;
use super::groups::tag;
use crate::server::deployment::Api;

#[test]
fn quotas_are_shown_with_what_is_used_and_changed_by_admins() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let vm = json!({"id": "t", "cpu": 3, "memory": "8 GiB", "tenant": "shop"});
    assert_eq!(
        api.send("POST", "/v1/clusters/north/place", &vm).status,
        200
    );
    let make = |name: &str, memory: &str| {
        let form = [
            ("tag", ""),
            ("name", name),
            ("tenant", "shop"),
            ("cluster", "north"),
            ("cpu", "4"),
            ("memory", memory),
        ];
        desk.browse("POST", "/quotas", &cookie, &form)
    };
    let wrong = make("shop-north", "much");
    assert!((400..500).contains(&wrong.status), "{}", wrong.body);
    assert!(wrong.body.contains("Nothing was saved"), "{}", wrong.body);
    assert!(wrong.body.contains("value=\"much\""), "{}", wrong.body);
    let made = make("shop-north", "16 GiB");
    assert_eq!(
        made.header("location"),
        "/quotas/shop-north",
        "{}",
        made.body
    );
    let limits = || api.get("/v1/quotas/shop-north").body["limits"].take();
    assert_eq!(limits(), json!({"cpu": 4, "memory": 17_179_869_184_u64}));
    let list = desk.browse("GET", "/quotas", &cookie, &[]);
    for part in [
        "3 cores of 4 cores",
        "8 GiB of 16 GiB",
        "not limited",
        "has room left",
    ] {
        assert!(list.body.contains(part), "{part}: {}", list.body);
    }
    let none = desk.browse("GET", "/quotas?tenant=nobody", &cookie, &[]);
    assert!(none.body.contains("Clear the filter"), "{}", none.body);
    assert_eq!(make("shop-north", "1 GiB").status, 412);
    let page = desk.browse("GET", "/quotas/shop-north", &cookie, &[]).body;
    assert!(page.contains("value=\"16 GiB\""), "{page}");
    let tag = tag(&page);
    let save = |cookie: &str, cpu: &str| {
        let form = [
            ("tag", tag.as_str()),
            ("tenant", "shop"),
            ("cluster", "north"),
            ("cpu", cpu),
        ];
        desk.browse("POST", "/quotas/shop-north", cookie, &form)
    };
    let viewer = desk.sign_in(&desk.viewer);
    assert_eq!(save(&viewer, "1").status, 403);
    for path in ["/quotas", "/quotas/shop-north"] {
        let seen = desk.browse("GET", path, &viewer, &[]);
        assert!(
            seen.body.contains("needs the role admin"),
            "{path}: {}",
            seen.body
        );
    }
    assert_eq!(save(&cookie, "2").status, 303);
    assert_eq!(limits(), json!({"cpu": 2}));
    let list = desk.browse("GET", "/quotas", &cookie, &[]);
    assert!(list.body.contains("more than it allows"), "{}", list.body);
    let late = save(&cookie, "9");
    assert_eq!(late.status, 412, "{}", late.body);
    assert!(
        late.body.contains("Somebody else has changed"),
        "{}",
        late.body
    );
    let page = desk.browse("GET", "/quotas/shop-north", &cookie, &[]).body;
    let form = [("tag", &*self::tag(&page)), ("deed", "remove")];
    let removed = desk.browse("POST", "/quotas/shop-north", &cookie, &form);
    assert_eq!(removed.header("location"), "/quotas", "{}", removed.body);
    assert_eq!(api.get("/v1/quotas/shop-north").status, 404);
}

fn as_token(server: &Server, secret: &str) -> u16 {
    Api::with(server, secret).get("/v1/clusters").status
}

#[test]
fn a_token_is_issued_shown_once_and_revoked_by_admins_alone() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let issue = |cookie: &str, name: &str, role: &str| {
        let form = [
            ("name", name),
            ("role", role),
            ("cluster", "north"),
            ("expires", "2099-12-31"),
        ];
        desk.browse("POST", "/tokens", cookie, &form)
    };
    let issued = issue(&cookie, "ci", "operator");
    assert_eq!(issued.status, 201, "{}", issued.body);
    assert_eq!(issued.header("cache-control"), "no-store");
    let secret = issued.body.split_once("id=\"secret\"").unwrap().1;
    let secret = secret.split(['>', '<']).nth(1).unwrap().to_owned();
    assert_eq!(as_token(&desk.server, &secret), 200);
    let page = desk.browse("GET", "/tokens", &cookie, &[]).body;
    assert!(!page.contains(&secret), "it is shown once");
    for part in [">ci<", "operator", "the configuration", "Revoke"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let token = desk.api().get("/v1/tokens/ci").body;
    assert_eq!(token["clusters"], json!(["north"]));
    assert_eq!(token["expires-time"], "2099-12-31T23:59:59Z");
    let again = issue(&cookie, "ci", "viewer");
    assert!((400..500).contains(&again.status), "{}", again.body);
    assert!(again.body.contains("Nothing was changed"), "{}", again.body);
    let hostile = issue(&cookie, "<img src=x>", "viewer");
    assert!(!hostile.body.contains("<img"), "{}", hostile.body);
    // Whoever may not is told who may, and sees none.
    let viewer = desk.sign_in(&desk.viewer);
    let seen = desk.browse("GET", "/tokens", &viewer, &[]).body;
    assert!(seen.contains("needs the role admin"), "{seen}");
    assert!(!seen.contains(">ci<"), "{seen}");
    assert_eq!(issue(&viewer, "mine", "viewer").status, 403);
    let revoke = |cookie: &str| desk.browse("POST", "/tokens/ci", cookie, &[("deed", "revoke")]);
    assert_eq!(revoke(&viewer).status, 403);
    assert_eq!(as_token(&desk.server, &secret), 200);
    assert_eq!(revoke(&cookie).header("location"), "/tokens");
    assert_eq!(as_token(&desk.server, &secret), 401);
    assert_eq!(revoke(&cookie).status, 404);
}
