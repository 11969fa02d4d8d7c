//! A request as a document has it, to be read again as the same.

use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::WrittenFacts;
use crate::cluster::write_pinning;
use placewright_model::schema::Schema;
use placewright_model::{Request, Vm};

/// A request, written as the document that asks for it.
pub struct WrittenRequest<'a> {
    /// The tables and columns that there are.
    pub schema: &'a Schema,
    /// The request.
    pub request: &'a Request,
}

impl Serialize for WrittenRequest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Request {
            members,
            // Each is written as the VM that it is.
            named: _,
            facts,
            now,
            draw,
            allowed,
            excluded,
            forced,
            preferred,
            dry_run,
            all_or_nothing,
            reserve_for,
            again,
            unset,
        } = self.request;
        let mut map = serializer.serialize_map(None)?;
        let written = WrittenFacts {
            schema: self.schema,
            table: "request",
            facts,
        };
        written.entries(&mut map)?;
        let vms = members.iter().map(|vm| WrittenVm {
            schema: self.schema,
            vm,
            unset: unset.get(&vm.id).map_or(&[], Vec::as_slice),
        });
        map.serialize_entry("vms", &vms.collect::<Vec<_>>())?;
        map.serialize_entry("now", now)?;
        if let Some(draw) = draw {
            map.serialize_entry("draw", draw)?;
        }
        for (key, hosts) in [
            ("allowed", allowed),
            ("excluded", excluded),
            ("preferred-hosts", preferred),
        ] {
            if !hosts.is_empty() {
                map.serialize_entry(key, hosts)?;
            }
        }
        if let Some(host) = forced {
            map.serialize_entry("force", host)?;
        }
        if let Some(seconds) = reserve_for {
            map.serialize_entry("reserve-for", seconds)?;
        }
        for (key, flag) in [
            ("together", members.len() > 1),
            ("dry-run", *dry_run),
            ("all-or-nothing", *all_or_nothing),
            ("again", *again),
        ] {
            if flag {
                map.serialize_entry(key, &true)?;
            }
        }
        map.end()
    }
}

struct WrittenVm<'a> {
    schema: &'a Schema,
    vm: &'a Vm,
    /// What it is to have no more.
    unset: &'a [Arc<str>],
}

impl Serialize for WrittenVm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let id: &Arc<str> = &self.vm.id;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", id)?;
        let written = WrittenFacts {
            schema: self.schema,
            table: "members",
            facts: &self.vm.facts,
        };
        written.entries(&mut map)?;
        write_pinning(&self.vm.pinning, &mut map)?;
        for name in self.unset {
            map.serialize_entry(&**name, &())?;
        }
        map.end()
    }
}
