//! Changes of several steps that are made as one: all of them stay, or none.
//!
//! The journal forgets old changes, so that it does not grow for good. While a transaction
//! is open it forgets nothing: so many steps can always be taken back as were made.

use super::Inventory;

/// A change of several steps that is under way, from [`Inventory::begin`] on. Transactions
/// may be nested; the inner one ends first.
#[derive(Debug)]
#[must_use = "end it by `commit` or `roll_back`: until then the journal grows with every change"]
pub struct Transaction {
    /// The version before the first step.
    version: u64,
    /// How many replaced times of measurements the journal held before the first step.
    replaced: usize,
}

impl Inventory {
    /// Begin a change of several steps that stays as a whole or not at all.
    pub fn begin(&mut self) -> Transaction {
        Transaction {
            version: self.version,
            replaced: self.journal.open(),
        }
    }

    /// All that was changed since the transaction began stays.
    pub fn commit(&mut self, transaction: Transaction) {
        let Transaction { .. } = transaction;
        self.journal.close();
    }

    /// Take back all that was changed since the transaction began.
    ///
    /// # Panics
    /// If the way back was given up meanwhile, as [`Inventory::set_facts`],
    /// [`Inventory::begin_at`] and new watches do: they are no part of a transaction. Nobody
    /// may go on with a state of which half was changed, so this ends the thread that owns
    /// it, and not one that was asked to look at the outcome.
    pub fn roll_back(&mut self, transaction: Transaction) {
        let taken_back = self.take_back(transaction.version);
        assert!(
            taken_back,
            "a change of cluster \"{}\" was refused, and nothing leads back to version {} before it",
            self.name, transaction.version
        );
        for (slot, measured) in self.journal.replaced_since(transaction.replaced) {
            if let Some(host) = self.host_mut(slot) {
                host.measured = measured;
                self.oldest_measured = i64::MIN;
            }
        }
        self.journal.close();
    }

    /// Do `work`, all of it or nothing: if it fails, all that it changed is taken back.
    ///
    /// # Errors
    /// As `work`.
    ///
    /// # Panics
    /// As [`Inventory::roll_back`].
    pub fn all_or_nothing<T, E>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let transaction = self.begin();
        let done = work(self);
        match done {
            Ok(_) => self.commit(transaction),
            Err(_) => self.roll_back(transaction),
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{InventoryError, JOURNAL_BOUND};
    use placewright_document::InventoryChanges;
    use placewright_model::schema::Schema;
    use placewright_model::{Facts, Host, Vm};

    /// More than the journal holds when no transaction is open.
    const MANY: usize = JOURNAL_BOUND + 4500;

    fn cluster(hosts: usize) -> Inventory {
        let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
        for host in 0..hosts {
            inventory
                .add_host(Host::new(format!("h{host:03}")))
                .unwrap();
        }
        inventory
    }

    fn run(inventory: &mut Inventory, vms: usize) {
        for vm in 0..vms {
            let host = format!("h{:03}", vm % inventory.host_count());
            inventory
                .run_vm(Vm::new(format!("v{vm:06}")), &host)
                .unwrap();
        }
    }

    #[test]
    fn a_change_of_more_steps_than_the_journal_holds_is_taken_back_whole() {
        let mut inventory = cluster(100);
        let before = inventory.version();
        let failed: Result<(), _> = inventory.all_or_nothing(|inventory| {
            run(inventory, MANY);
            inventory.remove_vm("unknown")
        });
        assert!(matches!(failed, Err(InventoryError::UnknownVm(_))));
        assert_eq!(
            (inventory.running_count(), inventory.version()),
            (0, before)
        );
    }

    #[test]
    fn what_an_inner_change_has_committed_is_taken_back_with_the_outer_one() {
        let mut inventory = cluster(100);
        let outer = inventory.begin();
        let inner: Result<(), InventoryError> = inventory.all_or_nothing(|inventory| {
            run(inventory, MANY);
            Ok(())
        });
        inner.unwrap();
        assert_eq!(inventory.running_count(), MANY);
        inventory.roll_back(outer);
        assert_eq!(inventory.running_count(), 0);
    }

    #[test]
    fn after_a_large_change_the_journal_is_as_short_as_before() {
        let mut inventory = cluster(100);
        let transaction = inventory.begin();
        run(&mut inventory, MANY);
        let copy = inventory.clone();
        inventory.commit(transaction);
        let oldest = inventory.oldest_version();
        assert_eq!(oldest, inventory.version() - JOURNAL_BOUND as u64);
        // A copy is no part of the transaction of what it was copied from.
        let mut copy = copy;
        copy.remove_vm("v000000").unwrap();
        let oldest = copy.oldest_version();
        assert_eq!(oldest, copy.version() - JOURNAL_BOUND as u64);
    }

    #[test]
    fn when_values_were_measured_is_taken_back_too() {
        let mut inventory = cluster(1);
        inventory.advance(1000);
        let change = |inventory: &mut Inventory, text: &str| {
            let changes = InventoryChanges::read(text, "c.json", inventory.schema()).unwrap();
            inventory.change(changes)
        };
        let text = r#"{"statistics": [{"id": "h000", "cpu.usage": 0.5, "measured": 900}]}"#;
        change(&mut inventory, text).unwrap();
        let measured = |inventory: &Inventory| {
            let host = inventory.host(0).unwrap();
            let measured = inventory.measured(host);
            measured.map(|it| it.measured).collect::<Vec<_>>()
        };
        let transaction = inventory.begin();
        let text = r#"{"statistics": [{"id": "h000", "cpu.usage": 0.5, "measured": 950}]}"#;
        change(&mut inventory, text).unwrap();
        // What an operator gives is no measurement.
        let text = r#"{"hosts": [{"id": "h000", "cpu.usage": 0.25}]}"#;
        change(&mut inventory, text).unwrap();
        assert!(measured(&inventory).is_empty());
        inventory.roll_back(transaction);
        assert_eq!(measured(&inventory), [900]);
    }

    #[test]
    fn hosts_that_were_refused_again_and_again_take_no_more_room() {
        let mut inventory = cluster(3);
        for _ in 0..4 {
            let refused: Result<(), InventoryError> = inventory.all_or_nothing(|inventory| {
                for host in 0..50 {
                    inventory.add_host(Host::new(format!("x{host}")).with("cpu.usage", 0.5))?;
                }
                inventory.remove_host("h002")?;
                inventory.remove_vm("unknown")
            });
            refused.unwrap_err();
            assert_eq!((inventory.slots(), inventory.host_count()), (53, 3));
        }
        // Nothing is left of what stood there before.
        let slot = inventory.add_host(Host::new("new")).unwrap();
        assert_eq!((slot, inventory.slots()), (3, 53));
        assert_eq!(inventory.host_value(slot, "cpu.usage"), None);
        // What is free between hosts stays free, so that they stand as they are listed.
        inventory.remove_host("h001").unwrap();
        assert_eq!(inventory.add_host(Host::new("next")).unwrap(), 4);
        inventory.remove_host("next").unwrap();
        inventory.remove_host("new").unwrap();
        inventory.remove_host("h002").unwrap();
        assert_eq!(inventory.add_host(Host::new("last")).unwrap(), 1);
    }

    #[test]
    fn a_host_in_whose_place_another_stood_for_a_while_is_had_again_as_it_was() {
        let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
        let host = |id: &str| Host::new(id).with("cpu.cores", 8i64).with("zone", "a");
        inventory.add_host(host("a")).unwrap();
        inventory
            .add_host(host("b").with("cpu.usage", 0.5))
            .unwrap();
        let values = |inventory: &Inventory| {
            let names = [
                "id",
                "state",
                "cpu.cores",
                "zone",
                "cpu.usage",
                "memory.free",
            ];
            names.map(|name| inventory.host_value(1, name))
        };
        let before = values(&inventory);
        let transaction = inventory.begin();
        inventory.remove_host("b").unwrap();
        let other = Host::new("c")
            .with("state", "down")
            .with("memory.free", 1i64);
        assert_eq!(inventory.add_host(other).unwrap(), 1);
        assert_ne!(values(&inventory), before);
        inventory.roll_back(transaction);
        assert_eq!(values(&inventory), before);
        assert!(inventory.is_all_up());
        assert_eq!(inventory.ranks(), [0, 1]);
    }

    #[test]
    #[should_panic(expected = "nothing leads back to version")]
    fn a_change_that_cannot_be_taken_back_ends_the_thread() {
        let mut inventory = cluster(1);
        let _: Result<(), InventoryError> = inventory.all_or_nothing(|inventory| {
            inventory.run_vm(Vm::new("v"), "h000")?;
            inventory.set_facts(Facts::new())?;
            inventory.remove_vm("unknown")
        });
    }
}
