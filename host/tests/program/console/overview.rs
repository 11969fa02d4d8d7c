//! The overview of many clusters.

use serde_json::json;

use super::Desk;

/// A desk with the cluster of all tests, in which a hard group is broken, and six others, each with
/// one VM of as many cores as its number.
fn desk() -> Desk {
    let desk = Desk::start().with_cluster();
    for number in 1..=6 {
        let cluster = json!({
            "name": format!("site-{number}"),
            "hosts": [{"id": "h1", "cpu.total": 10, "memory.total": "64 GiB"}],
            "vms": [{"id": "v", "host": "h1", "cpu": number, "memory": "1 GiB"}],
        });
        let made = desk
            .api()
            .send("POST", "/v1/clusters?policy=house", &cluster);
        assert_eq!(made.status, 201, "{made:?}");
    }
    desk
}

/// The clusters of a page, in its order.
fn clusters(page: &str) -> Vec<&str> {
    let links = page.split("<a href=\"/clusters/").skip(1);
    let links = links.filter_map(|link| link.split_once("\">"));
    let links = links.filter(|(_, shown)| shown.starts_with("<b>"));
    links.map(|(name, _)| name).collect()
}

#[test]
fn the_page_of_a_cluster_says_what_it_needs_and_how_even_it_is() {
    let desk = desk();
    let cookie = desk.sign_in(&desk.viewer);
    let page = desk.page("/clusters/north", &cookie);
    for part in [
        "2 things need somebody: ",
        "href=\"/clusters/north/groups?kept=no\">1 hard group broken",
        "Spread over hosts",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let alone = desk.page("/clusters/site-1", &cookie);
    for part in ["need somebody", "Spread over hosts"] {
        assert!(!alone.contains(part), "{part}: {alone}");
    }
}

#[test]
fn clusters_are_sorted_by_what_the_page_asks_for_and_filtered() {
    let desk = desk();
    let cookie = desk.sign_in(&desk.viewer);
    let sites = |numbers: [usize; 6]| numbers.map(|number| format!("site-{number}"));
    let shown = |query: &str| {
        let page = desk.page(&format!("/{query}"), &cookie);
        let names = clusters(&page).into_iter();
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let by_name = [vec!["north".to_owned()], sites([1, 2, 3, 4, 5, 6]).to_vec()];
    assert_eq!(shown(""), by_name.concat());
    assert_eq!(shown("?sort=state"), by_name.concat());
    let fullest = shown("?sort=-cpu&filter=SITE");
    assert_eq!(fullest, sites([6, 5, 4, 3, 2, 1]));
    assert_eq!(shown("?sort=-vms").first().unwrap(), "north");
    assert_eq!(shown("?state=needs"), ["north"]);
    assert_eq!(shown("?state=healthy&sort=name"), sites([1, 2, 3, 4, 5, 6]));
    let none = desk.page("/?filter=south", &cookie);
    assert!(none.contains("No cluster matches"), "{none}");
    for wrong in ["/?sort=colour", "/?state=down"] {
        let refused = desk.browse("GET", wrong, &cookie, &[]);
        assert_eq!(refused.status, 400, "{wrong}: {}", refused.body);
    }
}
