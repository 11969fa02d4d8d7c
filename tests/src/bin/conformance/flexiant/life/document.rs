//! What a decision tells the VM manager to write into a VM's document.

use std::collections::BTreeMap;
use std::sync::Arc;

use placewright_model::{Effect, Entity, Facts, Moment, RowChange, Vm, Write};
use placewright_scheduler::Decision;

use crate::flexiant::form::Level;
use crate::flexiant::shown::SYSTEM_KEYS;

const SERVER: i64 = Level::Server as i64;

/// The VM's document with what a decision tells its manager to write into it, and
/// value and weight of each sticky key among that, by name.
///
/// # Errors
/// If it is to write anything but system keys of the server.
pub(super) fn with_sticky(
    vm: &Vm,
    decision: &Decision,
) -> Result<(Vm, BTreeMap<String, [f64; 2]>), String> {
    let mut rows = vm.facts.rows("keys").to_vec();
    let mut sticky = BTreeMap::new();
    let followed = decision.followed.iter();
    let followed = followed.filter(|followed| *followed.entry == *SYSTEM_KEYS);
    for write in followed.flat_map(|followed| &followed.writes) {
        let row = match change_of_keys(write, &vm.id)? {
            RowChange::Append(row) => {
                rows.push(row.clone());
                row
            }
            RowChange::Set(at, values) => {
                let row = rows.get_mut(*at);
                let row = row.ok_or_else(|| format!("the VM has no key {at} to be set"))?;
                for (column, value) in values {
                    match value {
                        Some(value) => row.set(column.clone(), value.clone()),
                        None => row.unset(column),
                    }
                }
                row
            }
            RowChange::Remove(_) => return Err("a key is taken from the VM".to_owned()),
        };
        let (name, key) = system_key(row)?;
        sticky.insert(name, key);
    }
    let mut vm = vm.clone();
    vm.facts.set_rows("keys", rows);
    Ok((vm, sticky))
}

fn change_of_keys<'a>(write: &'a Write, vm: &Arc<str>) -> Result<&'a RowChange, String> {
    match write {
        Write {
            moment: Moment::Running(when),
            effect:
                Effect::Row {
                    entity: Entity::Vm(whose),
                    table,
                    change,
                },
        } if when == vm && whose == vm && **table == *"keys" => Ok(change),
        write => Err(format!("no copy of a sticky key: {write:?}")),
    }
}

/// Name, value and weight of a system key of the server.
fn system_key(row: &Facts) -> Result<(String, [f64; 2]), String> {
    let name = row.text("name").unwrap_or_default().to_owned();
    if row.integer("level") != Some(SERVER) || row.text("class") != Some("sys") {
        return Err(format!(
            "the sticky key {name} is no system key of the server"
        ));
    }
    let value = row.text("value").unwrap_or_default();
    let value = value
        .parse()
        .map_err(|_| format!("the sticky key {name} has the value {value:?}"))?;
    Ok((name, [value, row.number("weight").unwrap_or(0.0)]))
}

/// The keys of a VM, as texts that can be compared.
pub(super) fn keys_of(vm: &Vm) -> Vec<String> {
    let rows = vm.facts.rows("keys").iter();
    rows.map(|row| {
        let values = row.values();
        let values = values.map(|(column, value)| format!("{column} = {value}"));
        values.collect::<Vec<_>>().join(", ")
    })
    .collect()
}
