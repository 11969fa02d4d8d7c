//! What happens between the first start and the end.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::flexiant::form::{Key, Level, Mebibytes, State};
use crate::vectors;

/// One event.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Event {
    Start { vm: String },
    Stop { vm: String },
    SetKey { vm: String, level: Level, key: Key },
    Node { node: String, set: NodeChange },
    NodeKey { node: String, name: String, v: f64 },
}

/// The words of the events.
const OPS: [&str; 5] = ["start", "stop", "set_key", "node", "node_key"];

/// New values of a node.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeChange {
    pub state: Option<State>,
    pub ram_mb: Option<Mebibytes>,
    pub ram_ratio: Option<f64>,
    pub free_ram_mb: Option<Mebibytes>,
    pub pcpus: Option<i64>,
    pub cpu_ratio: Option<f64>,
    pub load: Option<f64>,
}

impl Event {
    /// Read an event. Its field `op` says which it is; read as the name of the rest,
    /// what is wrong in that is told with its place.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn read(event: &Value) -> Result<Self, String> {
        let mut fields = event.as_object().cloned().ok_or("it is no object")?;
        let Some(Value::String(op)) = fields.remove("op") else {
            return Err("its field op is no text".to_owned());
        };
        if !OPS.contains(&op.as_str()) {
            let known = OPS.join(", ");
            return Err(format!("its field op is \"{op}\"; there are {known}"));
        }
        let named = Map::from_iter([(op, Value::Object(fields))]);
        vectors::read(&Value::Object(named))
    }
}
