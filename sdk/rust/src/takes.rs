//! What VMs take of a host: what they ask for, less what they hold there now.

use std::borrow::Cow;

use crate::row::Row;
use crate::rows::Rows;

/// Resources of a host that VMs take, one or several kinds of them.
pub trait Resources: Clone + Default {
    /// Takes as much besides.
    fn add(&mut self, other: &Self);

    /// Takes that much less, of each kind not below nothing: who gives some of one kind back
    /// has no more of another.
    fn less(&mut self, held: &Self);
}

/// What VMs ask for, one by one and together.
///
/// What a VM takes on a host is what it asks for less what it holds there: rows of
/// `hosts/current` say so. A VM that stays as it is takes nothing, even where too much is
/// promised already; one that grows takes the growth; one that is asked about as if it had
/// no place holds nothing. The sums of a host, such as `memory.committed`, contain what is
/// held.
///
/// ```
/// use placewright_sdk::prelude::*;
///
/// #[derive(Clone, Copy, Default)]
/// struct Memory(i64);
///
/// impl Resources for Memory {
///     fn add(&mut self, other: &Self) {
///         self.0 += other.0;
///     }
///     fn less(&mut self, held: &Self) {
///         self.0 = (self.0 - held.0).max(0);
///     }
/// }
///
/// /// A row of `hosts/current`.
/// #[derive(Row)]
/// struct Current {
///     member: i64,
///     memory: Bytes,
/// }
///
/// let asked = Takes::of([Memory(4), Memory(2)]);
/// let row = |row: Current| (row.member, Memory(row.memory.0));
/// assert_eq!(asked.on(&Rows::default(), row).0, 6);
/// let current = Rows::from(vec![Current { member: 0, memory: Bytes(3) }]);
/// assert_eq!(asked.on(&current, row).0, 1 + 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Takes<A> {
    each: Vec<A>,
    all: A,
}

impl<A: Resources> Takes<A> {
    /// Of VMs that ask for so much each, in the order of `members`.
    pub fn of(each: impl IntoIterator<Item = A>) -> Self {
        let each: Vec<A> = each.into_iter().collect();
        let mut all = A::default();
        for one in &each {
            all.add(one);
        }
        Self { each, all }
    }

    /// What each asks for, in the order of `members`.
    pub fn each(&self) -> &[A] {
        &self.each
    }

    /// What they ask for together.
    pub fn asked(&self) -> &A {
        &self.all
    }

    /// What they take of a host with these rows of `hosts/current`, of which `held` gives the
    /// member and what it holds.
    #[inline(always)]
    pub fn on<C: Row>(&self, current: &Rows<C>, held: impl Fn(C) -> (i64, A)) -> Cow<'_, A> {
        // Few hosts have any, and a copy of none costs nothing.
        match current.is_empty() {
            true => Cow::Borrowed(&self.all),
            false => Cow::Owned(self.less_held(current.clone(), held)),
        }
    }

    #[inline(never)]
    fn less_held<C: Row>(&self, current: Rows<C>, held: impl Fn(C) -> (i64, A)) -> A {
        let mut all = A::default();
        for (member, asked) in (0..).zip(&self.each) {
            let mut takes = asked.clone();
            for (holder, held) in current.iter().map(&held) {
                if holder == member {
                    takes.less(&held);
                }
            }
            all.add(&takes);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Two(i64, i64);

    impl Resources for Two {
        fn add(&mut self, other: &Self) {
            *self = Self(self.0 + other.0, self.1 + other.1);
        }

        fn less(&mut self, held: &Self) {
            *self = Self((self.0 - held.0).max(0), (self.1 - held.1).max(0));
        }
    }

    #[derive(crate::prelude::Row)]
    struct Current {
        member: i64,
        cpu: i64,
        memory: i64,
    }

    fn takes(each: &[(i64, i64)], held: &[(i64, i64, i64)]) -> Two {
        let takes = Takes::of(each.iter().map(|it| Two(it.0, it.1)));
        let row = |&(member, cpu, memory): &(i64, i64, i64)| Current {
            member,
            cpu,
            memory,
        };
        let current: Rows<Current> = held.iter().map(row).collect();
        takes
            .on(&current, |row| (row.member, Two(row.cpu, row.memory)))
            .into_owned()
    }

    #[test]
    fn what_is_held_is_not_taken_again_and_makes_no_room_for_another_kind_or_vm() {
        assert_eq!(takes(&[(2, 8), (1, 4)], &[]), Two(3, 12));
        assert_eq!(takes(&[(2, 8), (1, 4)], &[(1, 1, 4)]), Two(2, 8));
        assert_eq!(takes(&[(2, 8)], &[(0, 2, 8)]), Two(0, 0));
        assert_eq!(takes(&[(4, 4)], &[(0, 2, 8)]), Two(2, 0));
        assert_eq!(takes(&[(2, 2), (2, 2)], &[(0, 9, 9)]), Two(2, 2));
        assert_eq!(takes(&[(2, 8)], &[(0, 0, 0)]), Two(2, 8));
    }
}
