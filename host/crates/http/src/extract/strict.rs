//! Reads JSON as the API's description says it, and no more freely than that.
//!
//! What serde derives for a struct takes a list of its values in their order as well as an object,
//! which is none that a caller means: an empty list would stand for an object with nothing but
//! usual values. Here a struct is read from an object alone. And a whole number may be written
//! with a point, as in documents: 8.0 is 8.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};

/// Beyond that not every whole number is a number with a point.
const GREATEST: f64 = 9_007_199_254_740_991.0;

/// What reads, and all that it reads, strictly.
pub(super) struct Strict<T>(pub(super) T);

/// What reads a value of which it is known what it is to be.
struct Reading<V> {
    visitor: V,
    wanted: Wanted,
}

/// What a value is to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Object,
    WholeNumber,
    Other,
}

impl Wanted {
    fn by<V>(self, visitor: V) -> Reading<V> {
        Reading {
            visitor,
            wanted: self,
        }
    }
}

/// Hands these methods on, with what they want.
macro_rules! read {
    ($($wanted:ident: $($method:ident)*;)*) => {
        $($(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
                self.0.$method(Wanted::$wanted.by(visitor))
            }
        )*)*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<D> {
    type Error = D::Error;

    read! {
        WholeNumber: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64;
        Other: deserialize_any deserialize_bool deserialize_i128 deserialize_u128 deserialize_f32
            deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
            deserialize_byte_buf deserialize_option deserialize_unit deserialize_seq
            deserialize_map deserialize_identifier deserialize_ignored_any;
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = Wanted::Other.by(visitor);
        self.0.deserialize_unit_struct(name, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = Wanted::Other.by(visitor);
        self.0.deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(length, Wanted::Other.by(visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = Wanted::Other.by(visitor);
        self.0.deserialize_tuple_struct(name, length, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = Wanted::Object.by(visitor);
        self.0.deserialize_struct(name, fields, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = Wanted::Other.by(visitor);
        self.0.deserialize_enum(name, variants, visitor)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// Hands values on as they are.
macro_rules! visit {
    ($($method:ident $kind:ty,)*) => {
        $(
            fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> {
                self.visitor.$method(value)
            }
        )*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Reading<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    visit! {
        visit_bool bool, visit_i64 i64, visit_i128 i128, visit_u64 u64, visit_u128 u128,
        visit_str &str, visit_borrowed_str &'de str, visit_string String, visit_bytes &[u8],
        visit_borrowed_bytes &'de [u8], visit_byte_buf Vec<u8>,
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<V::Value, E> {
        let is_whole = value.fract() == 0.0 && value.abs() <= GREATEST;
        match self.wanted == Wanted::WholeNumber && is_whole {
            true if value < 0.0 => self.visitor.visit_i64(value as i64),
            true => self.visitor.visit_u64(value as u64),
            false => self.visitor.visit_f64(value),
        }
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Strict(from))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(Strict(from))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<V::Value, A::Error> {
        match self.wanted {
            Wanted::Object => Err(A::Error::invalid_type(Unexpected::Seq, &self)),
            _ => self.visitor.visit_seq(Strict(list)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Strict(object))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(Strict(data))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Strict<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Strict(from))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Strict<A> {
    type Error = A::Error;
    type Variant = Strict<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let (word, content) = self.0.variant_seed(seed)?;
        Ok((word, Strict(content)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Strict(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(length, Wanted::Other.by(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, Wanted::Object.by(visitor))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wanted {
        one: Option<Part>,
        #[serde(default)]
        several: Vec<Part>,
        #[serde(default)]
        named: BTreeMap<String, Option<Part>>,
        #[serde(default)]
        kind: Kind,
        pair: Option<(u8, u8)>,
        any: Option<Value>,
        share: Option<f64>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Part {
        number: u32,
        change: Option<i64>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        #[default]
        Plain,
        Part {
            number: u32,
        },
        Of(Part),
    }

    fn read(body: &Value) -> Result<Wanted, String> {
        let text = body.to_string();
        let mut json = serde_json::Deserializer::from_str(&text);
        let read = Wanted::deserialize(Strict(&mut json));
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_is_no_object_wherever_it_stands() {
        for body in [
            json!([]),
            json!([null]),
            json!({"one": []}),
            json!({"one": [1]}),
            json!({"one": [1, 2]}),
            json!({"several": [{}, [1]]}),
            json!({"named": {"a": [1]}}),
            json!({"kind": {"part": [1]}}),
            json!({"kind": {"of": [1]}}),
        ] {
            let told = read(&body).unwrap_err();
            assert!(told.starts_with("invalid type: sequence"), "{body}: {told}");
        }
    }

    #[test]
    fn what_is_described_is_read_as_ever() {
        let body = json!({
            "one": {"number": 1},
            "several": [{"change": -1}, {}],
            "named": {"a": {"number": 2}, "b": null},
            "kind": {"part": {"number": 3}},
            "pair": [1, 2],
            "any": [{"x": [1]}, 8.0],
            "share": 2.0,
        });
        let text = body.to_string();
        assert_eq!(read(&body).unwrap(), serde_json::from_str(&text).unwrap());
        assert_eq!(read(&json!({"kind": "plain"})).unwrap().kind, Kind::Plain);
        assert!(read(&json!({"one": null})).unwrap().one.is_none());
        assert!(read(&json!({"more": null})).is_err());
    }

    #[test]
    fn a_whole_number_may_have_a_point_and_others_are_refused() {
        let read = |number: &str| {
            let text = format!("{{\"number\": {number}, \"change\": {number}}}");
            Part::deserialize(Strict(&mut serde_json::Deserializer::from_str(&text)))
        };
        assert_eq!(read("8.0").unwrap(), read("8").unwrap());
        assert_eq!(read("8e0").unwrap().number, 8);
        let change = |number: &str| {
            let text = format!("{{\"change\": {number}}}");
            Part::deserialize(Strict(&mut serde_json::Deserializer::from_str(&text)))
        };
        assert_eq!(change("-8.0").unwrap().change, Some(-8));
        assert_eq!(change("0.0").unwrap().change, Some(0));
        for wrong in ["8.5", "-1.0", "1e30", "\"8\"", "1e300", "4294967296.0"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
