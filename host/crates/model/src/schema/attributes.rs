//! What operators add to the tables, as data.

use super::{ATTRIBUTE, AttributeError, Column, Schema, Table, attribute_tables};
use crate::{Kind, Measure};

/// A column or table that an operator adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// What it is known of: `hosts`, `vms`, `tenants` or `clusters`.
    pub entity: &'static str,
    /// Its name, without `attribute.`.
    pub name: String,
    /// What its values are.
    pub shape: AttributeShape,
    /// One sentence, or nothing.
    pub meaning: String,
    /// Of VMs: whether a VM that has a value needs it of its host.
    pub need: bool,
}

/// What an attribute is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeShape {
    /// A column of this kind and measure.
    Column(Kind, Option<Measure>),
    /// A table of columns, each with its name, kind and measure.
    Table(Vec<(String, Kind, Option<Measure>)>),
}

impl Schema {
    /// Add an attribute.
    ///
    /// # Errors
    /// If there is no such entity, or there is an attribute of that name.
    pub fn define(&mut self, attribute: &Attribute) -> Result<(), AttributeError> {
        let Attribute {
            entity,
            name,
            shape,
            meaning,
            need,
        } = attribute;
        match shape {
            AttributeShape::Column(kind, measure) => {
                self.define_attribute(entity, name, *kind, *measure, meaning)?;
            }
            AttributeShape::Table(columns) => {
                self.define_attribute_table(entity, name, columns, meaning)?;
            }
        }
        if *need {
            self.declare_need(name, meaning);
        }
        Ok(())
    }

    /// Add an attribute, unless there is the same already. Whether it was added. One that
    /// is there already becomes a need where it is declared as one.
    ///
    /// # Errors
    /// If there is no such entity, or there is another attribute of that name.
    pub fn declare(&mut self, attribute: &Attribute) -> Result<bool, AttributeError> {
        let tables = attribute_tables(attribute.entity, &attribute.name)?;
        let name = format!("{ATTRIBUTE}{}", attribute.name);
        let known = tables.first().and_then(|table| {
            let column = self.column(table, &name).map(|it| AttributeShape::of(&it));
            let below = self.table(&format!("{table}/{name}"));
            column.or_else(|| below.map(|below| AttributeShape::of_table(below)))
        });
        match known {
            None => self.define(attribute).map(|()| true),
            Some(known) if known == attribute.shape => {
                if attribute.need {
                    self.declare_need(&attribute.name, &attribute.meaning);
                }
                Ok(false)
            }
            Some(_) => Err(AttributeError::Differs(
                attribute.name.clone(),
                attribute.entity.to_owned(),
            )),
        }
    }
}

impl AttributeShape {
    fn of(column: &Column) -> Self {
        Self::Column(column.kind, column.measure)
    }

    fn of_table(table: &Table) -> Self {
        let columns = table.columns.iter();
        let columns = columns.map(|it| (it.name.to_string(), it.kind, it.measure));
        Self::Table(columns.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_again_must_be_the_same() {
        let mut schema = Schema::default();
        let rack = |kind| Attribute {
            entity: "hosts",
            name: "rack".to_owned(),
            shape: AttributeShape::Column(kind, None),
            meaning: String::new(),
            need: false,
        };
        assert_eq!(schema.declare(&rack(Kind::Text)), Ok(true));
        assert_eq!(schema.declare(&rack(Kind::Text)), Ok(false));
        let differs = AttributeError::Differs("rack".into(), "hosts".into());
        assert_eq!(schema.declare(&rack(Kind::Integer)), Err(differs.clone()));
        let table = Attribute {
            shape: AttributeShape::Table(vec![("name".to_owned(), Kind::Text, None)]),
            ..rack(Kind::Text)
        };
        assert_eq!(schema.declare(&table), Err(differs));
    }
}
