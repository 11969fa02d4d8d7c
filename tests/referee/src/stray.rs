//! Requests with something that their route does not know: they are refused, and change nothing.

use serde_json::{Value, json};

use crate::history::Stray;

/// A request that would be carried out if it were not for what is stray in it.
pub(crate) struct Sent {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
}

/// The request of the route of that number, of all that change something or plan it.
pub(crate) fn request(route: usize, stray: Stray) -> Sent {
    let plain = json!({"id": "vm-0", "memory": 1 << 30, "cpu": 1});
    let routes = [
        ("POST", "/place", Some(plain.clone())),
        (
            "POST",
            "/place-batch",
            Some(json!({"vms": [plain.clone()]})),
        ),
        ("POST", "/migrate", Some(json!({"id": "vm-0"}))),
        ("POST", "/confirm", Some(json!({"vms": ["vm-0"]}))),
        ("POST", "/cancel", Some(json!({"vms": ["vm-0"]}))),
        ("POST", "/evacuate", Some(json!({"hosts": ["host-0"]}))),
        ("POST", "/plans", Some(json!({}))),
        (
            "POST",
            "/inventory/changes",
            Some(json!({"gone": {"vms": ["vm-0"]}})),
        ),
        (
            "PATCH",
            "/hosts/host-0",
            Some(json!({"memory.total": 1 << 30})),
        ),
        ("PATCH", "/vms/vm-0", Some(json!({"memory": 1 << 30}))),
        ("POST", "/what-if?without=host-0", None),
        ("DELETE", "/reservations/vm-0", None),
    ];
    let number = route % routes.len();
    let (method, path, mut body) = routes
        .into_iter()
        .nth(number)
        .unwrap_or(("POST", "/place", None));
    let mut path = path.to_owned();
    match stray {
        Stray::Key => {
            let body = body.get_or_insert_with(|| json!({}));
            // One that is nearly right, as of somebody who knows another API.
            body["memory_mb"] = 1024.into();
        }
        Stray::Parameter => {
            let joint = if path.contains('?') { '&' } else { '?' };
            path.push(joint);
            path.push_str("dryrun=true");
        }
    }
    Sent { method, path, body }
}
