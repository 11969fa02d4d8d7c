//! Examples of documents: each one is read by a test.

use serde_json::{Value as Json, json};

pub(super) fn host() -> Json {
    json!({
        "id": "h1",
        "zone": "z1",
        "cpu.cores": 40,
        "cpu.threads": 80,
        "memory.total": "512 GiB",
        "memory.overcommit": 1.5,
        "networks": [{ "name": "management" }]
    })
}

pub(super) fn vm() -> Json {
    json!({ "id": "web-1", "host": "h1", "cpu": 2, "memory": "4 GiB", "tenant": "shop" })
}

pub(super) fn tenant() -> Json {
    json!({ "id": "shop" })
}

pub(super) fn group() -> Json {
    json!({
        "id": "web-apart",
        "vms": ["web-1", "web-2"],
        "rule": "negative",
        "hard": true
    })
}

pub(super) fn cluster() -> Json {
    json!({
        "name": "north",
        "hosts": [host(), { "id": "h2", "cpu.cores": 40, "memory.total": "512 GiB" }],
        "vms": [vm()],
        "groups": [group()],
        "tenants": [tenant()],
        "attributes": { "vms": { "team": "text" } }
    })
}

pub(super) fn changes() -> Json {
    json!({
        "hosts": [{ "id": "h2", "state": "maintenance" }],
        "statistics": [{ "id": "h1", "cpu.usage": 0.35 }],
        "vms": [{ "id": "web-1", "memory": "8 GiB" }],
        "groups": [{ "id": "web-apart", "add-vms": ["web-3"] }],
        "gone": { "vms": ["web-2"] }
    })
}

pub(super) fn vm_of_request() -> Json {
    json!({ "id": "web-3", "cpu": 2, "memory": "4 GiB", "ha": true })
}

pub(super) fn vm_to_place() -> Json {
    json!({
        "id": "web-3",
        "cpu": 2,
        "memory": "4 GiB",
        "nics": [{ "network": "management" }],
        "excluded": ["h2"],
        "reserve-for": 120
    })
}

pub(super) fn request() -> Json {
    json!({ "vms": [vm_of_request(), "web-1"], "together": true, "dry-run": true })
}
