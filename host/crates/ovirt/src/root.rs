//! What a client asks first: which engine this is.

use super::call::{Call, Reply};
use super::constants::{self, DATA_CENTER};
use super::fault::Fault;
use super::ids;
use super::search::{Field, Search};
use super::tree::Tree;

/// `GET /`
pub(crate) fn show(_: &Call) -> Result<Reply, Fault> {
    let version = Tree::new("version")
        .text("major", 4)
        .text("minor", 5)
        .text("build", 0)
        .text("revision", 0)
        .text("full_version", "4.5.0");
    let product = Tree::new("product_info")
        .text(
            "name",
            "Placewright, with the scheduling part of the API of oVirt's engine",
        )
        .text("vendor", "Placewright")
        .text("instance_id", ids::of("engine", &[]))
        .with(version);
    let base = "/ovirt-engine/api";
    let mut api = Tree::new("api").with(product);
    for rel in [
        "affinitylabels",
        "clusters",
        "datacenters",
        "events",
        "hosts",
        "jobs",
        "macpools",
        "schedulingpolicies",
        "schedulingpolicyunits",
        "vms",
    ] {
        api = api.link(rel, format!("{base}/{rel}"));
    }
    Ok(Reply::ok(api))
}

/// `GET /datacenters`: the one in which all clusters seem to be.
pub(crate) fn data_centers(call: &Call) -> Result<Reply, Fault> {
    let fields = |key: &str| matches!(key, "name" | "id" | "status").then_some(Field::Text);
    let search = Search::read(call, fields)?;
    let id = constants::data_center();
    let found = search.of(vec![id], |id, key| match key {
        "id" => Some(id.clone()),
        "status" => Some("up".to_owned()),
        _ => Some(DATA_CENTER.to_owned()),
    })?;
    let shown = found.iter().take(call.most()?).map(|id| {
        let version = Tree::new("version").text("major", 4).text("minor", 7);
        Tree::new("data_center")
            .at(&format!("/ovirt-engine/api/datacenters/{id}"), id)
            .text("name", DATA_CENTER)
            .text("status", "up")
            .with(version)
    });
    Ok(Reply::ok(Tree::list("data_centers", shown)))
}

/// `GET /macpools`: the one that all clusters seem to have.
pub(crate) fn mac_pools(_: &Call) -> Result<Reply, Fault> {
    let id = constants::mac_pool();
    let pool = Tree::new("mac_pool")
        .at(&format!("/ovirt-engine/api/macpools/{id}"), &id)
        .text("name", "Default")
        .text("default_pool", true);
    Ok(Reply::ok(Tree::list("mac_pools", [pool])))
}
