//! Groups are made, changed and removed by forms.

use serde_json::json;

use super::Desk;

/// The hidden field of a form that says which state of a thing it is about.
pub(super) fn tag(page: &str) -> String {
    let after = page.split_once("name=\"tag\" value=\"").unwrap().1;
    after.split_once('"').unwrap().0.replace("&quot;", "\"")
}

#[test]
fn a_group_is_made_changed_and_removed_and_nobody_overwrites_another() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let list = "/clusters/north/groups";
    let form = desk.browse("GET", &format!("{list}?make=yes"), &cookie, &[]);
    assert_eq!(form.status, 200, "{}", form.body);
    assert!(form.body.contains("Make the group"), "{}", form.body);
    let made = [
        ("tag", ""),
        ("id", "web"),
        ("rule", "negative"),
        ("hard", "yes"),
        ("vms", "a\r\n c \r\n"),
        ("host-rule", "positive"),
        ("hosts", "h1\r\nh2"),
        ("name", "Web <b>servers</b>"),
    ];
    let shown = desk.browse("POST", list, &cookie, &made);
    let page = "/clusters/north/groups/web";
    assert_eq!(shown.header("location"), page, "{}", shown.body);
    let route = "/v1/clusters/north/groups/web";
    let group = api.get(route).body;
    assert_eq!(
        (
            &group["vms"],
            &group["hosts"],
            &group["hard"],
            &group["host-rule"]
        ),
        (
            &json!(["a", "c"]),
            &json!(["h1", "h2"]),
            &json!(true),
            &json!("positive")
        )
    );
    // Ids in one line are several, unless a VM has such an id.
    let mut in_line = made;
    in_line[1] = ("id", "line");
    in_line[4] = ("vms", "a, c");
    let told = desk.browse("POST", list, &cookie, &in_line);
    assert_eq!(told.status, 422, "{}", told.body);
    assert!(told.body.contains("a line of its own"), "{}", told.body);
    assert!(told.body.contains("a, c</textarea>"), "{}", told.body);
    assert_eq!(api.get("/v1/clusters/north/groups/line").status, 404);
    // Another one of the id is not put in its place.
    let again = desk.browse("POST", list, &cookie, &made);
    assert_eq!(again.status, 412, "{}", again.body);
    assert!(again.body.contains("of this id already"), "{}", again.body);
    let shown = desk.browse("GET", page, &cookie, &[]);
    assert_eq!(shown.status, 200, "{}", shown.body);
    for part in [
        "Web &lt;b&gt;servers&lt;/b&gt;",
        "apart, on its hosts",
        "Remove the group",
    ] {
        assert!(shown.body.contains(part), "{part}: {}", shown.body);
    }
    let tag = tag(&shown.body);
    let save = |vms: &str, priority: &str| {
        let form = [
            ("tag", tag.as_str()),
            ("rule", "positive"),
            ("vms", vms),
            ("priority", priority),
        ];
        desk.browse("POST", page, &cookie, &form)
    };
    let wrong = save("a", "much");
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    assert!(wrong.body.contains("is no number"), "{}", wrong.body);
    assert_eq!(save("a\nb", "2").status, 303);
    let group = api.get(route).body;
    assert_eq!(
        (
            &group["vms"],
            &group["rule"],
            &group["priority"],
            &group["hosts"]
        ),
        (
            &json!(["a", "b"]),
            &json!("positive"),
            &json!(2.0),
            &json!([])
        )
    );
    // Whoever looked at the page before that overwrites nothing, and loses nothing.
    let late = save("c", "");
    assert_eq!(late.status, 412, "{}", late.body);
    assert!(
        late.body.contains("Somebody else has changed"),
        "{}",
        late.body
    );
    assert!(late.body.contains("\nc</textarea>"), "{}", late.body);
    let remove = |tag: &str| {
        let form = [("tag", tag), ("deed", "remove")];
        desk.browse("POST", page, &cookie, &form)
    };
    assert_eq!(remove(&tag).status, 412);
    assert_eq!(api.get(route).body, group);
    let viewer = desk.sign_in(&desk.viewer);
    let seen = desk.browse("GET", page, &viewer, &[]);
    assert!(
        seen.body.contains("needs the role operator"),
        "{}",
        seen.body
    );
    assert!(!seen.body.contains("value=\"remove\""), "{}", seen.body);
    let refused = desk.browse(
        "POST",
        page,
        &viewer,
        &[("tag", "\"1\""), ("deed", "remove")],
    );
    assert_eq!(refused.status, 403);
    let now = self::tag(&desk.browse("GET", page, &cookie, &[]).body);
    assert_eq!(remove(&now).header("location"), list);
    assert_eq!(api.get(route).status, 404);
}
