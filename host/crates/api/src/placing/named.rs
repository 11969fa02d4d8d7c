//! VMs that a request names.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The id of a VM, written as a text or as a table with it: routes that take VMs as tables and
/// routes that take ids have the same list.
#[derive(Debug, Serialize)]
pub(crate) struct VmNamed(String);

impl VmNamed {
    /// Its id.
    pub(crate) fn id(self) -> String {
        self.0
    }
}

/// The ids of VMs that are named.
pub(crate) fn ids(vms: Vec<VmNamed>) -> Vec<String> {
    vms.into_iter().map(|VmNamed(id)| id).collect()
}

impl<'de> Deserialize<'de> for VmNamed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Named)
    }
}

struct Named;

impl<'de> Visitor<'de> for Named {
    type Value = VmNamed;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the id of a VM, such as \"web-1\" or {\"id\": \"web-1\"}")
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<VmNamed, E> {
        Ok(VmNamed(id.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<VmNamed, A::Error> {
        let mut id = None;
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            match (&*key, &id) {
                ("id", None) => id = Some(map.next_value()?),
                ("id", Some(_)) => return Err(Error::duplicate_field("id")),
                _ => return Err(Error::unknown_field(&key, &["id"])),
            }
        }
        id.map(VmNamed).ok_or_else(|| Error::missing_field("id"))
    }
}

/// The two ways in which a VM is named, besides others.
pub(crate) fn or_named(others: OneOfBuilder) -> OneOfBuilder {
    let id = || {
        let id = ObjectBuilder::new().schema_type(Type::String);
        id.description(Some("Id of the VM")).examples(["web-1"])
    };
    let table = ObjectBuilder::new()
        .schema_type(Type::Object)
        .property("id", id())
        .required("id")
        .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
    others.item(id()).item(table)
}

impl PartialSchema for VmNamed {
    fn schema() -> RefOr<Schema> {
        let meaning = "A VM, by its id: as a text, or as a table with it";
        let either = or_named(OneOfBuilder::new());
        either.description(Some(meaning)).into()
    }
}

impl ToSchema for VmNamed {
    fn name() -> Cow<'static, str> {
        "VmReference".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let vms = serde_json::from_str(text).map(ids);
        vms.map_err(|error| error.to_string())
    }

    #[test]
    fn vms_are_named_by_texts_and_tables_alike() {
        let named = read(r#"["a", {"id": "b"}, "a,b"]"#);
        assert_eq!(named, Ok(vec!["a".into(), "b".into(), "a,b".into()]));
        for (text, wrong) in [
            (r#"[{"id": "a", "host": "h"}]"#, "unknown field `host`"),
            (r#"[{}]"#, "missing field `id`"),
            (r#"[{"id": "a", "id": "b"}]"#, "duplicate field `id`"),
            ("[1]", "expected the id of a VM"),
        ] {
            let told = read(text).unwrap_err();
            assert!(told.contains(wrong), "{told}");
        }
    }
}
