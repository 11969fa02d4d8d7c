//! What the upgrade of a cluster says of itself: that it begins, how far it is, that it is over.
//! Nobody is moved by it; the policy of the cluster is changed as a cluster's is.

use super::call::{Call, Reply};
use super::clusters;
use super::element::only;
use super::fault::Fault;
use placewright_http::Permission;

/// `POST /clusters/{id}/upgrade`
pub(crate) fn upgrade(call: &Call) -> Result<Reply, Fault> {
    let cluster = clusters::find(call)?;
    let body = call.body("action")?;
    let known = [
        "async",
        "correlation_id",
        "upgrade_action",
        "upgrade_percent_complete",
    ];
    only(body, &known)?;
    let name = cluster.name();
    call.is_about_cluster(name);
    call.caller.must(Permission::Operate, Some(name))?;
    let action = body.get("upgrade_action").map(|it| it.text.as_str());
    let percent = body.get("upgrade_percent_complete");
    let percent = percent.map(|it| it.text.parse::<u8>().ok().filter(|it| *it <= 100));
    let mut upgrades = call.site.upgrades();
    match (action, percent) {
        (_, Some(None)) => Err(Fault::syntax(
            "\"upgrade_percent_complete\" must be a whole number from 0 to 100",
        )),
        (Some("start"), _) => match upgrades.contains_key(name) {
            false => {
                upgrades.insert(name.clone(), 0);
                Ok(Reply::complete())
            }
            true => Err(Fault::in_use(
                "Cannot start an upgrade. One of this cluster is under way: end it with \"finish\"",
            )),
        },
        (Some("update_progress"), Some(Some(percent))) => {
            // What says so before it begins or after its end is not told either: roles that are
            // played twice do so.
            if let Some(known) = upgrades.get_mut(name) {
                *known = percent;
            }
            Ok(Reply::complete())
        }
        (Some("update_progress"), None) => Err(Fault::incomplete(
            "Action",
            "upgrade_percent_complete",
            "upgrade",
        )),
        (Some("finish"), _) => {
            upgrades.remove(name);
            Ok(Reply::complete())
        }
        (Some(_), _) => Err(Fault::syntax(
            "\"upgrade_action\" must be start, update_progress or finish",
        )),
        (None, _) => Err(Fault::incomplete("Action", "upgradeAction", "upgrade")),
    }
}
