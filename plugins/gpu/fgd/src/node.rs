//! One host's free GPUs, and what typical VMs can use of them.
//!
//! With `W` the weight of all shapes, `T` the free thousandths and `U` those that shapes
//! can use, each times the shape's weight, the fragments are `(W T - U) / W`. All of it
//! is in integers; a VM changes few of the terms, which is why it is fast.

use gpu_room::{WHOLE, Want};
use placewright_sdk::prelude::*;

use crate::typical::Typical;

/// Few hosts have more GPUs.
const USUAL_GPUS: usize = 8;

/// A host as a unit looks at it. It is filled again for every host, so that its lists
/// are made once.
#[derive(Default)]
pub struct Node {
    cpu: i64,
    /// What is free of each GPU, from 0.
    free: Vec<i64>,
    /// The different amounts among these, each with how many GPUs have it.
    amounts: Vec<(i64, i64)>,
    /// The groups of shapes that can use anything when a VM has its place.
    terms: Vec<Term>,
    /// Models that were seen, with the lists that name them.
    models: Vec<(Option<Text>, Vec<bool>)>,
    model: usize,
}

/// GPUs with some share free, and what is free of them.
#[derive(Clone, Copy)]
struct Room {
    gpus: i64,
    thousandths: i64,
}

/// A group of typical shapes: what it wants, how much weight of it the host has CPU
/// for, its room before the VM has its place.
struct Term {
    share: i64,
    gpus: i64,
    weight: i64,
    room: Room,
}

/// So many GPUs with `from` free each have `to` free from now on.
#[derive(Clone, Copy)]
struct Move {
    from: i64,
    to: i64,
    gpus: i64,
}

impl Room {
    /// The room for a share after a move.
    #[inline(always)]
    fn after(self, share: i64, it: Move) -> Self {
        if share > it.from {
            return self;
        }
        let (gone, kept) = match share > it.to {
            true => (it.gpus, 0),
            false => (0, it.to),
        };
        Self {
            gpus: self.gpus - gone,
            thousandths: self.thousandths - it.gpus * (it.from - kept),
        }
    }
}

impl Term {
    /// What it can use of a room, times its weight.
    #[inline(always)]
    fn usable(&self, room: Room) -> i64 {
        match room.gpus >= self.gpus {
            true => self.weight * room.thousandths,
            false => 0,
        }
    }
}

/// Where a VM's GPUs would be.
pub struct Place {
    /// If there is a choice: the GPU. Else those with the least room that is enough.
    pub gpu: Option<usize>,
    /// How many thousandths of fragments there would be less.
    pub fragments_less: f64,
}

impl Node {
    /// With room for what is worked out of the shapes for any host.
    pub fn with_room_for(typical: &Typical) -> Self {
        Self {
            free: Vec::with_capacity(USUAL_GPUS),
            amounts: Vec::with_capacity(USUAL_GPUS),
            terms: Vec::with_capacity(typical.groups.len()),
            ..Self::default()
        }
    }

    /// Look at a host.
    pub fn look_at(
        &mut self,
        typical: &Typical,
        cpu: i64,
        free: impl Iterator<Item = i64>,
        model: Option<&Text>,
    ) {
        self.cpu = cpu;
        self.fill(free);
        if !typical.models.is_empty() {
            self.model = self.find_model(typical, model);
        }
    }

    /// From now on so much of each GPU is free.
    pub fn set_free(&mut self, free: &[i64]) {
        self.fill(free.iter().copied());
    }

    #[inline(always)]
    fn fill(&mut self, free: impl Iterator<Item = i64>) {
        self.free.clear();
        // Where more was given than there is, nothing is free.
        self.free.extend(free.map(|free| free.clamp(0, WHOLE)));
    }

    fn find_model(&mut self, typical: &Typical, model: Option<&Text>) -> usize {
        let mut known = self.models.iter();
        let known = known.position(|(known, _)| known.as_ref() == model);
        known.unwrap_or_else(|| {
            let lists = typical.lists_with(model);
            self.models.push((model.cloned(), lists));
            self.models.len() - 1
        })
    }

    /// The GPUs with so much free.
    #[inline(always)]
    fn room(&self, share: i64) -> Room {
        let (mut gpus, mut thousandths) = (0, 0);
        for (free, count) in &self.amounts {
            if *free >= share {
                gpus += count;
                thousandths += count * free;
            }
        }
        Room { gpus, thousandths }
    }

    /// Fill the terms for a host that has so much CPU left, and tell what typical shapes
    /// can use before that.
    fn weigh(&mut self, typical: &Typical, left: i64) -> i64 {
        self.amounts.clear();
        for free in &self.free {
            match self.amounts.iter_mut().find(|(known, _)| known == free) {
                Some((_, gpus)) => *gpus += 1,
                None => self.amounts.push((*free, 1)),
            }
        }
        self.terms.clear();
        let mut before = 0;
        for group in &typical.groups {
            let accepts = |list: usize| self.models[self.model].1[list];
            let room = self.room(group.share);
            if room.gpus < group.gpus || !group.models.is_none_or(accepts) {
                continue;
            }
            let (weight_before, weight) = typical.weights(group, self.cpu, left);
            before += weight_before * room.thousandths;
            if weight > 0 {
                self.terms.push(Term {
                    share: group.share,
                    gpus: group.gpus,
                    weight,
                    room,
                });
            }
        }
        before
    }

    /// The place for a VM that leaves typical shapes the most, the first of equal ones;
    /// none if there is no room.
    pub fn best_place(&mut self, typical: &Typical, want: &Want) -> Option<Place> {
        let before = self.weigh(typical, self.cpu - want.cpu);
        let move_of = |from: i64, gpus: i64| Move {
            from,
            to: from - want.share,
            gpus,
        };
        let (most, gpu) = if want.count == 1 {
            let mut best: Option<(i64, i64)> = None;
            // Of equal GPUs one is enough.
            for (from, _) in self.amounts.iter().filter(|(from, _)| *from >= want.share) {
                let it = move_of(*from, 1);
                let terms = self.terms.iter();
                let usable = terms
                    .map(|term| term.usable(term.room.after(term.share, it)))
                    .sum();
                if best.is_none_or(|(most, _)| usable > most) {
                    best = Some((usable, *from));
                }
            }
            let (most, from) = best?;
            (most, self.free.iter().position(|free| *free == from))
        } else {
            let places = want.least_room(&self.free)?;
            let taken: Vec<i64> = places.iter().map(|place| self.free[*place]).collect();
            let moves = taken.chunk_by(i64::eq);
            let moves = moves.map(|alike| move_of(alike[0], alike.len() as i64));
            let usable = |term: &Term| {
                let after = |room: Room, it| room.after(term.share, it);
                term.usable(moves.clone().fold(term.room, after))
            };
            (self.terms.iter().map(usable).sum(), None)
        };
        let taken = typical.total * want.thousandths();
        let less = taken + most - before;
        Some(Place {
            gpu,
            fragments_less: less as f64 / typical.total.max(1) as f64,
        })
    }

    /// Put a VM in its place.
    pub fn take(&mut self, want: &Want, place: &Place) {
        match place.gpu {
            Some(gpu) => self.free[gpu] -= want.share,
            None => drop(want.take(&mut self.free)),
        }
        self.cpu -= want.cpu;
    }
}
