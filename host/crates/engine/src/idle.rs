//! Instances that are ready for their next call, and nobody uses just now. Where there is no
//! room for one more instance, or for its memory, whoever has the most of them loses one.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::unit::Instance;

/// What there is no room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// One more instance.
    Instance,
    /// More memory.
    Memory,
}

/// The ready instances of all holders.
#[derive(Debug, Default)]
pub(crate) struct Idle(Mutex<Vec<Weak<Shelf>>>);

/// The ready instances of one holder, such as the chain of a cluster. A clone is of the same
/// holder.
#[derive(Debug, Clone)]
pub struct IdleInstances(Arc<Shelf>);

/// A place for one ready instance; dropped, its instance goes.
#[derive(Debug)]
pub struct IdlePlace {
    shelf: Arc<Shelf>,
    number: usize,
}

#[derive(Default)]
struct Shelf(Mutex<Places>);

#[derive(Default)]
struct Places {
    instances: Vec<Option<Box<Instance>>>,
    count: usize,
}

impl Idle {
    /// One more holder.
    pub(crate) fn holder(&self) -> IdleInstances {
        let shelf = Arc::new(Shelf::default());
        let mut shelves = self.shelves();
        if shelves.len() == shelves.capacity() {
            shelves.retain(|shelf| shelf.strong_count() > 0);
        }
        shelves.push(Arc::downgrade(&shelf));
        IdleInstances(shelf)
    }

    /// Have whoever has the most of what is needed lose an instance. False: nobody has any.
    pub(crate) fn release(&self, need: Need) -> bool {
        let shelves: Vec<Arc<Shelf>> = self.shelves().iter().filter_map(Weak::upgrade).collect();
        let mut holders: Vec<(usize, Arc<Shelf>)> = shelves
            .into_iter()
            .map(|shelf| (shelf.amount(need), shelf))
            .filter(|(amount, _)| *amount > 0)
            .collect();
        holders.sort_by_key(|(amount, _)| std::cmp::Reverse(*amount));
        // What the greatest had may be in use by now.
        holders.iter().any(|(_, shelf)| {
            let instance = shelf.places().lose_one();
            // It ends when nothing is locked.
            instance.is_some()
        })
    }

    fn shelves(&self) -> MutexGuard<'_, Vec<Weak<Shelf>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IdleInstances {
    /// A place for one more instance.
    pub fn place(&self) -> IdlePlace {
        let mut places = self.0.places();
        places.instances.push(None);
        IdlePlace {
            shelf: self.0.clone(),
            number: places.instances.len() - 1,
        }
    }
}

impl IdlePlace {
    /// The instance that is ready there, for a call; None: there is none, or another holder
    /// needed its room.
    pub fn take(&mut self) -> Option<Box<Instance>> {
        self.shelf.places().take(self.number)
    }

    /// Have an instance ready there for the next call.
    pub fn keep(&mut self, instance: Box<Instance>) {
        let before = {
            let mut places = self.shelf.places();
            let before = places.take(self.number);
            if let Some(place) = places.instances.get_mut(self.number) {
                *place = Some(instance);
                places.count += 1;
            }
            before
        };
        drop(before);
    }

    /// Whether an instance is ready there.
    pub fn has_one(&self) -> bool {
        let places = self.shelf.places();
        places
            .instances
            .get(self.number)
            .is_some_and(Option::is_some)
    }
}

impl Drop for IdlePlace {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl Shelf {
    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn amount(&self, need: Need) -> usize {
        let places = self.places();
        match need {
            Need::Instance => places.count,
            Need::Memory => {
                let instances = places.instances.iter().flatten();
                instances.map(|instance| instance.memory()).sum()
            }
        }
    }
}

impl Places {
    fn take(&mut self, number: usize) -> Option<Box<Instance>> {
        let taken = self.instances.get_mut(number)?.take();
        self.count -= usize::from(taken.is_some());
        taken
    }

    fn lose_one(&mut self) -> Option<Box<Instance>> {
        let number = self.instances.iter().position(Option::is_some)?;
        self.take(number)
    }
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf")
            .field("instances", &self.places().count)
            .finish()
    }
}
