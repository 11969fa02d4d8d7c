//! Pages are whole, lead somewhere, and show what others have written as text.

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Value, json};

use super::{Desk, Shown};

/// The values of an attribute of all elements, as they are in the text.
fn values(body: &str, attribute: &str) -> Vec<String> {
    let begin = format!(" {attribute}=\"");
    let parts = body.split(&begin).skip(1);
    let values = parts.filter_map(|part| part.split('"').next());
    values.map(|value| value.replace("&amp;", "&")).collect()
}

fn check(path: &str, shown: &Shown) {
    assert_eq!(shown.status, 200, "{path}: {}", shown.body);
    let policy = shown.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
    assert!(!policy.contains("unsafe"), "{path}: {policy}");
    assert_eq!(shown.header("x-content-type-options"), "nosniff", "{path}");
    assert_eq!(shown.header("cache-control"), "no-store", "{path}");
    let body = &shown.body;
    assert_eq!(body.matches("<h1").count(), 1, "{path}");
    assert!(
        body.contains("<title>") && body.contains("lang=\"en\""),
        "{path}"
    );
    // Nothing that the policy would stop.
    assert!(
        !body.contains(" style=\"") && !body.contains("<style"),
        "{path}"
    );
    assert!(
        !body.contains(" onclick=") && !body.contains("javascript:"),
        "{path}"
    );
    for script in body.split("<script").skip(1) {
        assert!(script.contains(" src=\"/assets/"), "{path}: {script:.80}");
    }
    // No id names two things.
    let ids = values(body, "id");
    let different: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(ids.len(), different.len(), "{path}: {ids:?}");
}

/// All pages that are reached by links from the first one.
fn crawl(desk: &Desk, cookie: &str) -> Vec<(String, String)> {
    let mut known = BTreeSet::from(["/".to_owned()]);
    let mut next: VecDeque<String> = known.iter().cloned().collect();
    let mut pages = Vec::new();
    while let Some(path) = next.pop_front() {
        let shown = desk.browse("GET", &path, cookie, &[]);
        if path.starts_with("/assets/") {
            assert_eq!(shown.status, 200, "{path}");
            assert!(
                shown.header("cache-control").contains("immutable"),
                "{path}"
            );
            continue;
        }
        if path == "/docs" {
            // Made by Swagger UI, under a policy of its own; a browser tries it.
            assert_eq!(shown.status, 200, "{path}");
            continue;
        }
        check(&path, &shown);
        let linked = values(&shown.body, "href").into_iter();
        for link in linked.chain(values(&shown.body, "src")) {
            let link = link.split('#').next().unwrap().to_owned();
            let link = match link.strip_prefix('?') {
                Some(query) => format!("{}?{query}", path.split('?').next().unwrap()),
                None => link,
            };
            assert!(
                link.is_empty() || link.starts_with('/'),
                "{path} leads to {link}"
            );
            // Of units there are many alike, and orders and filters of one list.
            let many = link.starts_with("/units/")
                && known.iter().filter(|it| it.starts_with("/units/")).count() >= 4;
            if !link.is_empty() && !many && known.len() < 400 && known.insert(link.clone()) {
                next.push_back(link);
            }
        }
        pages.push((path, shown.body));
    }
    pages
}

#[test]
fn every_page_that_a_link_leads_to_is_there_and_whole() {
    let desk = Desk::start().with_cluster();
    let api = desk.api();
    let plan = api.send("POST", "/v1/clusters/north/plans", &json!({}));
    assert_eq!(plan.status, 201, "{plan:?}");
    let cookie = desk.sign_in(&desk.admin);
    let pages = crawl(&desk, &cookie);
    let reached = |begin: &str| pages.iter().any(|(path, _)| path.starts_with(begin));
    for begin in [
        "/clusters/north/hosts/h1",
        "/clusters/north/vms/v1",
        "/clusters/north/groups",
        "/clusters/north/decisions/8",
        "/clusters/north/plans/1",
        "/clusters/north/questions?ask=why",
        "/clusters/north/settings",
        "/policies/house?view=history",
        "/units/",
        "/events?kind=unit",
    ] {
        assert!(reached(begin), "{begin}");
    }
    let costs = pages
        .iter()
        .filter(|(_, page)| page.contains("What it costs"));
    let costs: Vec<&String> = costs.map(|(path, _)| path).collect();
    assert!(
        costs.iter().any(|path| path.starts_with("/units/")),
        "{costs:?}"
    );
    for (path, command) in [
        ("/events?kind=unit", "get events --where 'kind=unit'"),
        ("/policies/house?view=history", "policy history house"),
    ] {
        let page = pages.iter().find(|(known, _)| known == path);
        let page = &page.unwrap().1;
        assert!(page.contains(command), "{command}: {page}");
    }
    let plan = pages
        .iter()
        .find(|(path, _)| path == "/clusters/north/plans/1");
    let (_, plan) = plan.unwrap();
    for part in [">Gain<", ">Memory<", "1 core<", "1 GiB<"] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    let (_, overview) = &pages[0];
    assert!(
        overview.contains("8 decisions since the server started"),
        "{overview}"
    );
    let (_, groups) = pages
        .iter()
        .find(|(path, _)| path.ends_with("/groups"))
        .unwrap();
    assert!(
        groups.contains("a and b must be apart and are all on h1"),
        "{groups}"
    );
}

#[test]
fn every_question_is_answered_on_its_page() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    for (query, expected) in [
        ("ask=room&now=yes&cpu=2&memory=4+GiB", "more fit"),
        ("ask=failure&now=yes", "hosts may"),
        ("ask=failure&now=yes&host=h1", "Every VM finds another host"),
        ("ask=failure&now=yes&host=h1", "Would go to"),
        ("ask=maintenance&now=yes&host=h1", "would move"),
        (
            "ask=why&now=yes&vm=new&cpu=2&memory=4+GiB&host=h3",
            "No unit is asked about it",
        ),
        (
            "ask=why&now=yes&vm=new&cpu=2&memory=4+GiB&host=h9",
            "no host",
        ),
        ("ask=room&now=yes&cpu=x", "cpu"),
        (
            "ask=room&now=yes&cpu=1&memory=1+GiB&gpu.count=1&gpu-model=any",
            "which no filter of policy",
        ),
        (
            "ask=room&now=yes&cpu=1&memory=1+GiB&columns=memory.video+%3D+%22x%22",
            "memory.video",
        ),
        ("ask=room&now=yes&cpu=1&columns=nonsense", "is not TOML"),
        ("ask=room&now=yes&cpu=1&pages=4", "the size of one"),
        ("ask=room&now=yes&cpu=1&memory=1+GiB&zone=z1", "more fit"),
        (
            "ask=factor&now=yes&entry=memory&factors=2,-4",
            "with a factor of −4 for",
        ),
        ("ask=factor&now=yes&entry=disk&factors=2", "has no cost"),
        (
            "ask=factor&now=yes&entry=memory&factors=much",
            "is not a number",
        ),
    ] {
        let path = format!("/clusters/north/questions?{query}");
        let shown = desk.browse("GET", &path, &cookie, &[]);
        check(&path, &shown);
        assert!(shown.body.contains(expected), "{query}: {}", shown.body);
    }
}

#[test]
fn another_factor_changes_as_many_decisions_as_the_api_counts() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let path =
        "/clusters/north/questions?ask=factor&now=yes&policy=house&entry=memory&factors=2,-4";
    let shown = desk.browse("GET", path, &cookie, &[]);
    check(path, &shown);
    let text = super::document(&api)["text"].as_str().unwrap().to_owned();
    let kind = [("content-type", "application/toml")];
    for factor in ["2", "-4"] {
        let draft = text.replace("factor = 2", &format!("factor = {factor}"));
        let route = "/v1/clusters/north/draft?policy=house";
        let counted = api.ask("POST", route, &kind, draft.as_bytes()).unwrap();
        let differing = counted.body["differing"].as_u64().unwrap();
        assert_eq!(differing > 0, factor == "-4", "{counted:?}");
        let told = format!("data-differing=\"{differing}\"");
        assert!(shown.body.contains(&told), "{told}: {}", shown.body);
    }
    for copied in [
        "policy draft house draft.toml --cluster north",
        "factor = 2 # twice",
        "--data-binary",
    ] {
        assert!(shown.body.contains(copied), "{copied}: {}", shown.body);
    }
    assert_eq!(super::document(&api)["revision"], 1, "nothing is saved");
    // Who may not try drafts is told who may.
    let viewer = desk.sign_in(&desk.viewer);
    let shown = desk.browse("GET", "/clusters/north/questions?ask=factor", &viewer, &[]);
    check("?ask=factor", &shown);
    assert!(shown.body.contains("needs the role"), "{}", shown.body);
}

#[test]
fn the_map_is_coloured_by_a_column_or_the_cost_of_a_vm_and_the_table_says_the_same() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.viewer);
    let shown = |query: &str| {
        let path = format!("/clusters/north?{query}");
        let shown = desk.browse("GET", &path, &cookie, &[]);
        check(&path, &shown);
        shown.body
    };
    let map = shown("colour=cpu.total&group=none");
    // The host in maintenance, of 11 cores, is not on the scale.
    for part in ["9 cores to 14 cores", "CPU that it has", "[&quot;h2&quot;,"] {
        assert!(map.contains(part), "{part}: {map}");
    }
    assert!(
        map.contains("<td class=\"value num\"><span class=\"figure\">10 cores</span></td>"),
        "{map}"
    );
    assert!(shown("colour=memory.total").contains("64 GiB everywhere"));
    let sorted = shown("colour=cpu.total&view=table&sort=-value");
    let at = |host: &str| sorted.find(&format!("id=\"row-{host}\"")).unwrap();
    assert!(at("h6") < at("h5") && at("h5") < at("h1"), "{sorted}");

    let cost = shown("colour=cost&cpu=2&memory=4+GiB&policy=house");
    let vm = json!({"id": "map", "cpu": "2", "memory": "4 GiB"});
    let route = "/v1/clusters/north/host-costs?policy=house";
    let told = desk.api().send("POST", route, &vm).body;
    let chosen = told["chosen"].as_str().unwrap();
    assert!(cost.contains("It would go to"), "{cost}");
    assert!(cost.contains(&format!("/clusters/north/hosts/{chosen}")));
    for host in told["hosts"].as_array().unwrap() {
        if let Some(sum) = host["costs"][0].as_f64() {
            let sum = format!(
                "<td class=\"value num\">{}{:.3}</td>",
                if sum < 0.0 { "−" } else { "" },
                sum.abs()
            );
            assert!(cost.contains(&sum), "{sum}: {cost}");
        }
    }
    let command = "costs --cluster north --cpu 2 --memory '4 GiB' --policy house";
    assert!(cost.contains(command), "{cost}");
    let none = shown("colour=cost&cpu=2&memory=100+GiB");
    for part in [
        "No host would take it",
        "removed by memory",
        "removed by the policy",
    ] {
        assert!(none.contains(part), "{part}: {none}");
    }
    for (query, part) in [
        ("colour=nonsense", "no column of numbers"),
        ("group=attribute.nonsense", "could be grouped by"),
        ("colour=cost&memory=much", "much"),
        ("colour=cost&policy=nonsense", "nonsense"),
    ] {
        let shown = shown(query);
        assert!(shown.contains(part), "{query}: {shown}");
    }
    let panel = desk.browse("GET", "/clusters/north/panel?host=h5", &cookie, &[]);
    assert_eq!(panel.status, 200, "{}", panel.body);
    assert!(
        panel.body.contains("/clusters/north/hosts/h5"),
        "{}",
        panel.body
    );
    assert!(!panel.body.contains("<nav"), "{}", panel.body);
    let cells = desk.browse("GET", "/clusters/north/map?colour=cpu.total", &cookie, &[]);
    assert_eq!(cells.status, 200, "{}", cells.body);
    assert!(cells.body.contains("\"14 cores\""), "{}", cells.body);
}

#[test]
fn a_list_in_which_nothing_matches_says_so_and_offers_to_clear_the_filter() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    for path in [
        "/clusters/north?view=table&filter=nothing",
        "/clusters/north/vms?tenant=nobody",
        "/clusters/north/groups?filter=nothing",
        "/clusters/north/decisions?filter=nothing",
        "/policies?filter=nothing",
        "/units?filter=nothing",
        "/quotas?tenant=nobody",
        "/events?text=nothing-like-it",
        "/audit?text=nothing-like-it",
    ] {
        let shown = desk.browse("GET", path, &cookie, &[]);
        check(path, &shown);
        assert!(
            shown.body.contains("Clear the filter"),
            "{path}: {}",
            shown.body
        );
        assert!(shown.body.contains(" match"), "{path}: {}", shown.body);
    }
}

#[test]
fn a_word_of_the_address_that_a_page_does_not_know_is_refused_with_those_that_it_knows() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    for (page, says) in [
        ("/clusters/north/groups?kept=maybe", "yes, no"),
        ("/clusters/north/decisions?outcome=maybe", "host, none"),
        ("/clusters/north?sort=nope", "left-memory, value, -id"),
        ("/clusters/north?view=nope", "map, table"),
        ("/policies/general?view=nope", "history"),
        ("/clusters/north/questions?ask=nope", "failure, maintenance"),
        ("/clusters/north/decisions/1?values=nope", "raw, scaled"),
        ("/clusters/north/decisions/1?rows=nope", "one of all"),
        ("/clusters/north/decisions/1?columns=nope", "one of all"),
    ] {
        let shown = desk.browse("GET", page, &cookie, &[]);
        assert_eq!(shown.status, 400, "{page}: {}", shown.body);
        assert_eq!(shown.body.matches(says).count(), 1, "{}", shown.body);
    }
}

#[test]
fn events_of_one_kind_in_a_row_are_one_with_a_count() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.viewer);
    let shown = desk.browse("GET", "/events?kind=vm", &cookie, &[]);
    check("/events?kind=vm", &shown);
    assert!(
        shown.body.contains("and 7 more of this kind"),
        "{}",
        shown.body
    );
}

#[test]
fn a_decision_without_a_choice_says_so() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    for (vm, part) in [
        (
            json!({"id": "f", "cpu": 1, "memory": "1 GiB", "force": "h2"}),
            "forced h2 past the policy",
        ),
        (
            json!({"id": "g", "cpu": 1, "memory": "1 GiB", "allowed": ["h4"]}),
            "the request allows h4 alone",
        ),
    ] {
        let placed = desk.api().send("POST", "/v1/clusters/north/place", &vm);
        assert_eq!(placed.status, 200, "{placed:?}");
        let path = format!("/clusters/north/decisions/{}", placed.body["number"]);
        let shown = desk.browse("GET", &path, &cookie, &[]);
        check(&path, &shown);
        assert!(shown.body.contains(part), "{part}: {}", shown.body);
    }
}

#[test]
fn one_decision_says_why_there_and_why_not_there() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.viewer);
    let explained = desk
        .api()
        .get("/v1/clusters/north/decisions/8/explanation")
        .body;
    let chosen = explained["chosen"].as_str().unwrap();
    let shown = desk.browse("GET", "/clusters/north/decisions/8", &cookie, &[]);
    assert!(
        shown.body.contains(&format!("{chosen} costs least of")),
        "{}",
        shown.body
    );
    assert!(
        shown.body.contains("Comes out the same again"),
        "{}",
        shown.body
    );
    let why = |host: &str| {
        let path = format!("/clusters/north/decisions/8?host={host}");
        desk.browse("GET", &path, &cookie, &[]).body
    };
    assert!(why("h3").contains("is not up: its state is maintenance"));
    let up = "State of host h3 is up instead of maintenance.";
    assert!(why("h3").contains(up), "{}", why("h3"));
    assert!(why(chosen).contains("was chosen."));
    assert!(!why(chosen).contains("smallest change"));
    assert!(why("h99").contains("There was no host"));
    let other = (1..=6)
        .map(|it| format!("h{it}"))
        .find(|it| it != chosen && it != "h3")
        .unwrap();
    assert!(why(&other).contains("more than"), "{}", why(&other));
}

#[test]
fn a_decision_is_made_again_by_another_policy_on_its_page() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.viewer);
    let page = desk.page("/clusters/north/decisions/8", &cookie);
    let offered = r#"<option value="worst-fit">worst-fit as it is now</option>"#;
    assert!(page.contains(offered), "{page}");
    let by = "/v1/clusters/north/decisions/8/explanation?policy=worst-fit";
    let explained = desk.api().get(by).body;
    let chosen = explained["chosen"].as_str().unwrap();
    let page = desk.page("/clusters/north/decisions/8?policy=worst-fit", &cookie);
    for part in [
        "By worst-fit as it is now it would go to",
        chosen,
        "This changes nothing.",
        r#"<option value="worst-fit" selected>"#,
        "--policy worst-fit",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Comes out the same again"), "{page}");
    let page = desk.page("/clusters/north/decisions/8?policy=gone", &cookie);
    let refused = "This decision cannot be made again by gone.";
    assert!(page.contains(refused), "{page}");
}

#[test]
fn all_filters_that_remove_a_host_are_named_on_the_page_and_by_the_api() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.viewer);
    let vm = json!({"id": "large", "cpu": 1000, "memory": "1000 GiB"});
    let placed = desk.api().send("POST", "/v1/clusters/north/place", &vm);
    assert_eq!(placed.body["host"], Value::Null, "{placed:?}");
    let path = "/v1/clusters/north/decisions/9/why?host=h6";
    let why = desk.api().get(path).body;
    let by = why["by"].as_array().unwrap();
    let filters: Vec<&str> = by.iter().filter_map(|it| it["filter"].as_str()).collect();
    assert_eq!(filters, ["memory", "cpu"], "{why}");
    let page = desk.page("/clusters/north/decisions/9?host=h6", &cookie);
    for part in [
        "The filter <b>memory</b> removed it",
        "the filter <b>cpu</b> would, as it",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // One that a single filter removes says nothing of others.
    let vm = json!({"id": "wide", "cpu": 1000, "memory": "1 GiB"});
    desk.api().send("POST", "/v1/clusters/north/place", &vm);
    let page = desk.page("/clusters/north/decisions/10?host=h6", &cookie);
    assert!(page.contains("The filter <b>cpu</b> removed it"), "{page}");
    assert!(!page.contains("other-filters"), "{page}");
}

#[test]
fn the_smallest_change_that_would_let_a_host_through_is_told_as_by_the_api() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.viewer);
    let vm = json!({"id": "large", "cpu": 2, "memory": "100 GiB"});
    let placed = desk.api().send("POST", "/v1/clusters/north/place", &vm);
    assert_eq!(placed.body["host"], Value::Null, "{placed:?}");
    let why = desk
        .api()
        .get("/v1/clusters/north/decisions/9/why?host=h6")
        .body;
    assert_eq!(why["standing"], "removed", "{why}");
    let first = &why["ways"][0];
    assert_eq!(first["changes"][0]["column"], "memory", "{why}");
    assert_eq!(first["changes"][0]["before"], "100 GiB", "{why}");
    let path = "/clusters/north/decisions/9?host=h6";
    let shown = desk.browse("GET", path, &cookie, &[]).body;
    let rest = first["sentence"].as_str().unwrap().split_once(' ').unwrap();
    // The page sets thousands off.
    let (told, plain) = (rest.1.replace(',', ""), shown.replace(',', ""));
    assert!(plain.contains(&told), "{rest:?}: {shown}");
    assert!(
        shown.contains(
            "placewright --server &quot;$SERVER&quot; explain 9 --cluster north --host h6"
        )
    );
    // What is told is enough.
    let most = &first["changes"][0]["after"];
    let less = json!({"id": "less", "cpu": 2, "memory": most, "allowed": ["h6"]});
    let placed = desk.api().send("POST", "/v1/clusters/north/place", &less);
    assert_eq!(placed.body["host"], "h6", "{placed:?}");
    let unknown = desk
        .api()
        .get("/v1/clusters/north/decisions/9/why?host=nowhere");
    assert_eq!(unknown.status, 404, "{unknown:?}");
}

#[test]
fn an_address_that_is_none_is_a_page_for_a_browser_and_a_problem_for_a_program() {
    let desk = Desk::start();
    let cookie = desk.sign_in(&desk.admin);
    for path in ["/nothing-here", "/cluster/north"] {
        let accepts = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
        let shown = desk.browse_with("GET", path, &cookie, (&accepts, &[]));
        assert_eq!(shown.status, 404);
        for part in [
            "<title>",
            "lang=\"en\"",
            "there is no path",
            "Open the overview",
        ] {
            let body = shown.body.to_lowercase();
            assert!(
                body.contains(&part.to_lowercase()),
                "{part}: {}",
                shown.body
            );
        }
        let told = desk.api().get(path);
        assert_eq!(told.body["code"], "unknown-route", "{told:?}");
    }
}

#[test]
fn decisions_about_a_vm_are_found_behind_many_about_others() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    for _ in 0..60 {
        let again = json!({"id": "a", "again": true, "dry-run": true});
        let placed = desk.api().send("POST", "/v1/clusters/north/place", &again);
        assert_eq!(placed.status, 200, "{placed:?}");
    }
    let rows = |path: &str| {
        let shown = desk.browse("GET", path, &cookie, &[]);
        check(path, &shown);
        (values(&shown.body, "href"), shown.body)
    };
    let decision = "/clusters/north/decisions/3".to_owned();
    let (links, page) = rows("/clusters/north/vms/v2");
    assert!(links.contains(&decision), "{page}");
    let (links, page) = rows("/clusters/north/vms/a");
    assert!(page.contains("50 latest"), "{page}");
    let more = "/clusters/north/decisions?vm=a".to_owned();
    assert!(links.contains(&more), "{links:?}");
    let (links, page) = rows(&more);
    assert!(page.contains("about <span"), "{page}");
    assert!(
        links.contains(&"/clusters/north/decisions/9".to_owned()),
        "{links:?}"
    );
    assert!(!links.contains(&decision), "{links:?}");
}

#[test]
fn search_finds_what_has_the_text_in_its_id_and_leads_to_it() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let search = |text: &str| {
        let path = format!("/search?text={text}");
        let shown = desk.browse("GET", &path, &cookie, &[]);
        check(&path, &shown);
        let page = shown.body;
        let main = page.split_once("<main").unwrap().1.to_owned();
        (values(&main, "href"), main)
    };
    let (links, _) = search("H5");
    assert!(
        links.contains(&"/clusters/north/hosts/h5".to_owned()),
        "{links:?}"
    );
    let (links, _) = search("apart");
    let group = "/clusters/north/groups/apart".to_owned();
    assert!(links.contains(&group), "{links:?}");
    let (links, _) = search("house");
    assert!(links.contains(&"/policies/house".to_owned()), "{links:?}");
    let (links, _) = search("worst-fit");
    assert!(links.contains(&"/units/worst-fit".to_owned()), "{links:?}");
    let (links, _) = search("v7");
    assert_eq!(
        links
            .iter()
            .filter(|it| it.contains("/vms/"))
            .collect::<Vec<_>>(),
        ["/clusters/north/vms/v7"]
    );
    let (_, main) = search("nothing-like-it");
    assert!(main.contains("Nothing is called"), "{main}");
    // A VM that was refused is nowhere, and the decision is all that there is of it.
    let asked = json!({"id": "giant-1", "cpu": 1000, "memory": "1 GiB"});
    let refused = desk.api().send("POST", "/v1/clusters/north/place", &asked);
    assert!(refused.body["host"].is_null(), "{refused:?}");
    let number = refused.body["number"].as_u64().unwrap();
    let (links, main) = search("GIANT");
    let decision = format!("/clusters/north/decisions/{number}");
    assert!(links.contains(&decision), "{links:?}");
    assert!(main.contains("Requests without a host"), "{main}");
    let command = "get decisions --cluster north --where 'placed=false' --where 'text=GIANT'";
    assert!(main.contains(command), "{main}");
}

#[test]
fn units_are_listed_with_what_each_does_by_kind_and_found_by_it() {
    let desk = Desk::start();
    let cookie = desk.sign_in(&desk.viewer);
    let units = |query: &str| {
        let path = format!("/units{query}");
        let shown = desk.browse("GET", &path, &cookie, &[]);
        check(&path, &shown);
        let links = values(&shown.body, "href").into_iter();
        let names = links.filter_map(|it| it.strip_prefix("/units/").map(str::to_owned));
        (names.collect::<Vec<_>>(), shown.body)
    };
    let has = |names: &[String], name: &str| names.iter().any(|it| it == name);
    let (costs, page) = units("?kind=cost+function");
    assert!(
        has(&costs, "worst-fit") && !has(&costs, "numa"),
        "{costs:?}"
    );
    let listed = desk.api().get("/v1/units/worst-fit").body;
    let summary = listed["summary"].as_str().unwrap();
    assert!(page.contains(summary), "{summary}: {page}");
    assert_eq!(listed["kinds"], json!(["filter", "cost function"]));
    let (found, _) = units(&format!("?filter={}", &summary[..12].replace(' ', "+")));
    assert!(has(&found, "worst-fit"), "{found:?}");
    let wrong = desk.browse("GET", "/units?kind=magic", &cookie, &[]);
    assert_eq!(wrong.status, 400, "{}", wrong.body);
    assert!(wrong.body.contains("href=\"?\""), "{}", wrong.body);
}

#[test]
fn groups_are_looked_for_by_a_vm_and_shown_page_by_page() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    for (query, is_there) in [
        ("vm=a", true),
        ("vm=nobody", false),
        ("after=group-standings:a", true),
        ("after=group-standings:z", false),
    ] {
        let path = format!("/clusters/north/groups?{query}");
        let shown = desk.browse("GET", &path, &cookie, &[]);
        check(&path, &shown);
        let has = shown.body.contains("must be apart");
        assert_eq!(has, is_there, "{path}: {}", shown.body);
    }
}

#[test]
fn names_with_markup_are_shown_as_text() {
    let desk = Desk::start();
    let api = desk.api();
    let name = |kind: &str| format!("{kind}<img src=x onerror=alert(1)>\"'&");
    let cluster = json!({
        "name": "north",
        "attributes": {"hosts": {"rack": "text"}},
        "hosts": [
            {"id": name("host"), "zone": name("zone"), "attribute.rack": name("rack"), "cpu.cores": 8, "memory.total": "64 GiB"},
            {"id": "h2", "zone": name("zone"), "state": "down", "cpu.cores": 8, "memory.total": "64 GiB"},
        ],
        "vms": [
            {"id": name("vm"), "host": name("host"), "cpu": 1, "memory": "1 GiB", "tenant": name("tenant")},
            {"id": name("other"), "host": name("host"), "cpu": 1, "memory": "1 GiB"},
        ],
        "groups": [{"id": name("group"), "vms": [name("vm"), name("other")], "rule": "negative", "hard": true, "name": name("called")}],
    });
    let made = api.send("POST", "/v1/clusters", &cluster);
    assert_eq!(made.status, 201, "{made:?}");
    let placed = api.send(
        "POST",
        "/v1/clusters/north/place",
        &json!({"id": name("new"), "cpu": 1, "memory": "1 GiB"}),
    );
    assert_eq!(placed.status, 200, "{placed:?}");
    api.send("POST", "/v1/clusters/north/plans", &json!({}));
    let cookie = desk.sign_in(&desk.admin);
    let pages = crawl(&desk, &cookie);
    let shown = pages
        .iter()
        .filter(|(_, body)| body.contains("&lt;img src=x"));
    assert!(shown.count() > 8, "the names are shown");
    for (path, body) in &pages {
        assert!(!body.contains("<img"), "{path}");
    }
    for path in [
        "/clusters/%3Cimg%20src=x%3E",
        "/policies/%3Cimg%3E",
        "/units/%3Cimg%3E",
        "/clusters/north?filter=%3Cimg%3E",
        "/search?text=%3Cimg",
    ] {
        let shown = desk.browse("GET", path, &cookie, &[]);
        assert!(!shown.body.contains("<img"), "{path}: {}", shown.body);
    }
}

#[test]
fn the_audit_log_is_shown_to_admins_with_links_and_to_others_with_the_role_that_may() {
    let desk = Desk::start().with_cluster();
    let hostile = "<img src=x onerror=alert(1)>\"'&";
    let vm = json!({"id": hostile, "cpu": 1, "memory": "1 GiB"});
    let placed = desk.api().send("POST", "/v1/clusters/north/place", &vm);
    assert_eq!(placed.status, 200, "{placed:?}");
    let viewer = desk.sign_in(&desk.viewer);
    let shown = desk.browse("GET", "/audit", &viewer, &[]);
    check("/audit", &shown);
    assert!(
        shown.body.contains("needs the role admin"),
        "{}",
        shown.body
    );
    assert!(!shown.body.contains("/v1/clusters/{cluster}/place"));

    let admin = desk.sign_in(&desk.admin);
    let page = |query: &str| {
        let path = format!("/audit?{query}");
        let shown = desk.browse("GET", &path, &admin, &[]);
        check(&path, &shown);
        shown.body
    };
    let body = page("kind=call&result=done&by=admin-all");
    assert!(body.contains("POST /v1/clusters/{cluster}/place"), "{body}");
    assert!(
        body.contains("href=\"/clusters/north/decisions/9\""),
        "{body}"
    );
    assert!(body.contains("href=\"/policies/house\""), "{body}");
    assert!(
        body.contains("&lt;img src=x") && !body.contains("<img"),
        "{body}"
    );
    assert!(body.contains("audit list --kind call --by admin-all --result done"));
    assert!(body.contains("/v1/audit?kind=call&amp;by=admin-all&amp;result=done&amp;limit=100"));
    // A field for moments sends no zone.
    let body = page("since=2001-01-01T00%3A00&until=2001-01-01T00%3A01");
    assert!(body.contains("No record matches"), "{body}");
    assert!(body.contains("--since '2001-01-01T00:00:00Z'"), "{body}");
    let wrong = desk.browse("GET", "/audit?since=never", &admin, &[]);
    assert_eq!(wrong.status, 400);
    assert!(wrong.body.contains("must be a time"), "{}", wrong.body);
}

#[test]
fn earlier_records_of_the_audit_log_are_on_the_next_page() {
    let desk = Desk::start().with_cluster();
    for number in 0..110 {
        let row = json!({"id": format!("t{number}")});
        let path = format!("/v1/clusters/north/tenants/t{number}");
        assert_eq!(desk.api().send("PUT", &path, &row).status, 201);
    }
    let admin = desk.sign_in(&desk.admin);
    let first = desk.browse("GET", "/audit?kind=call&action=tenants", &admin, &[]);
    let next = values(&first.body, "href");
    let next = next.iter().find(|it| it.contains("after=")).unwrap();
    let second = desk.browse("GET", &format!("/audit{next}"), &admin, &[]);
    check(next, &second);
    let rows = |shown: &Shown| shown.body.matches("<tr id=\"record-").count();
    assert_eq!((rows(&first), rows(&second)), (100, 10));
}

#[test]
fn drafts_that_are_tried_leave_no_record_in_the_audit_log() {
    let desk = Desk::start().with_cluster();
    let admin = desk.sign_in(&desk.admin);
    let draft = [
        ("revision", "1"),
        ("view", "document"),
        ("text", super::POLICY),
        ("cluster", "north"),
    ];
    let tried = desk.browse("POST", "/policies/house/draft", &admin, &draft);
    assert_eq!(tried.status, 200, "{}", tried.body);
    let tried = desk.browse("POST", "/policies/house", &admin, &draft);
    assert_eq!(tried.status, 200, "{}", tried.body);
    let records = desk.api().get("/v1/audit?kind=call&limit=1000").body;
    let records = records["items"].as_array().unwrap();
    let of_pages = |it: &&Value| {
        it["route"]
            .as_str()
            .is_some_and(|it| it.starts_with("/policies"))
    };
    assert_eq!(records.iter().filter(of_pages).count(), 0, "{records:?}");
}

#[test]
fn a_unit_in_use_is_said_to_be_so_beside_the_button_that_would_disable_it() {
    let desk = Desk::start().with_cluster();
    let admin = desk.sign_in(&desk.admin);
    let page = desk.page("/units/memory", &admin);
    assert!(page.contains("used by house"), "{page}");
    assert!(!page.contains("value=\"disable\""), "{page}");
    let form = [("deed", "disable")];
    let refused = desk.browse("POST", "/units/memory", &admin, &form);
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(
        !refused.body.contains("there is no unit"),
        "{}",
        refused.body
    );
}

#[test]
fn a_unit_that_was_disabled_is_said_to_be_taken_out() {
    let desk = Desk::start().with_cluster();
    let admin = desk.sign_in(&desk.admin);
    let path = "/units/worst-fit";
    let disabled = desk.browse("POST", path, &admin, &[("deed", "disable")]);
    assert_eq!(disabled.status, 303, "{}", disabled.body);
    let shown = desk.browse("GET", path, &admin, &[]);
    check(path, &shown);
    let page = shown.body;
    assert!(!page.contains("<span class=\"pill\"></span>"), "{page}");
    let history = page.split("What became of candidates").nth(1).unwrap();
    assert!(history.contains("taken out"), "{history}");
    assert!(!history.contains("passed"), "{history}");
}
