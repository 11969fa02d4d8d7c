//! Whether virtual NUMA nodes find nodes of a host, all at the same time.

use crate::needs::{GIB, Needs};

/// What a virtual node needs of the one node of the host that it lies on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Demand {
    /// The host's nodes that it may lie on.
    pub(crate) allowed: Vec<i64>,
    /// Memory in bytes.
    pub(crate) memory: i64,
    /// CPUs that nobody else has.
    pub(crate) cpus: i64,
    /// Whether it shares CPUs of the node with others.
    pub(crate) shares: bool,
}

/// What there is of a node of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// Memory in bytes.
    pub(crate) memory: i64,
    /// CPUs.
    pub(crate) cpus: i64,
    /// Whether any CPU names the node: else nothing is known of its CPUs.
    pub(crate) names_cpus: bool,
}

/// What each virtual node of a VM needs.
pub(crate) fn demands(needs: &Needs) -> Vec<Demand> {
    let nodes = needs.nodes.iter().zip(needs.own_cpus_of_nodes());
    let demand = nodes.map(|(node, cpus)| Demand {
        allowed: node.allowed.clone(),
        memory: node.memory * GIB,
        cpus,
        shares: !needs.exclusive,
    });
    demand.collect()
}

/// What a VM needs that runs with some and has a place reserved with others on the same host:
/// node by node the greater, and all of both where they may not lie on the same nodes.
pub(crate) fn of_both(running: Vec<Demand>, reserved: Vec<Demand>) -> Vec<Demand> {
    let mut both = reserved;
    for before in running {
        let same = both.iter_mut().find(|it| it.allowed == before.allowed);
        match same {
            Some(now) => {
                now.memory = now.memory.max(before.memory);
                now.cpus = now.cpus.max(before.cpus);
                // Its own CPUs are among those that it shares.
                now.shares &= before.shares;
            }
            None => both.push(before),
        }
    }
    both
}

/// The node of the host for each of the demands, if all of them find one: every way is tried. Where
/// some share CPUs of a node, one of these is nobody's own; of a node that no CPU names none is known.
pub(crate) fn assignment(demands: &[Demand], rooms: &[Room]) -> Option<Vec<usize>> {
    fn of_rest(
        (demands, all): (&[&Demand], &[&Demand]),
        rooms: &mut [Room],
        found: &mut Vec<usize>,
    ) -> bool {
        let Some((demand, rest)) = demands.split_first() else {
            let mut placed = all.iter().zip(&*found);
            return placed.all(|(demand, number)| {
                !demand.shares || rooms[*number].cpus >= 1 || !rooms[*number].names_cpus
            });
        };
        let allowed = demand.allowed.iter();
        for number in allowed.filter_map(|it| usize::try_from(*it).ok()) {
            let Some(room) = rooms.get(number).copied() else {
                continue;
            };
            let fits = |there: i64, needed: i64| needed <= 0 || there >= needed;
            if fits(room.memory, demand.memory) && fits(room.cpus, demand.cpus) {
                rooms[number] = Room {
                    memory: room.memory - demand.memory,
                    cpus: room.cpus - demand.cpus,
                    ..room
                };
                found.push(number);
                if of_rest((rest, all), rooms, found) {
                    return true;
                }
                found.pop();
                rooms[number] = room;
            }
        }
        false
    }
    let (mut rooms, mut found) = (rooms.to_vec(), Vec::new());
    let demands: Vec<&Demand> = demands.iter().collect();
    of_rest((&demands, &demands), &mut rooms, &mut found).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(memory: i64, allowed: &[i64]) -> Demand {
        Demand {
            allowed: allowed.to_vec(),
            memory,
            cpus: memory,
            shares: false,
        }
    }

    #[test]
    fn every_way_is_tried() {
        let rooms = [5, 4].map(|room| Room {
            memory: room,
            cpus: room,
            names_cpus: true,
        });
        let both = [demand(3, &[0, 1]), demand(2, &[1, 0]), demand(4, &[0, 1])];
        assert_eq!(assignment(&both, &rooms), Some(vec![0, 0, 1]));
        assert_eq!(assignment(&[demand(6, &[0, 1])], &rooms), None);
        assert_eq!(assignment(&[demand(1, &[2])], &rooms), None);
        let crowded = [Room {
            memory: 9,
            cpus: 2,
            names_cpus: true,
        }];
        assert_eq!(assignment(&[demand(3, &[0])], &crowded), None);
        let shared = |allowed: &[i64]| Demand {
            cpus: 0,
            shares: true,
            ..demand(1, allowed)
        };
        let rooms = [9, 9].map(|memory| Room {
            memory,
            cpus: 4,
            names_cpus: true,
        });
        let both = [shared(&[0, 1]), demand(4, &[0])];
        assert_eq!(assignment(&both, &rooms), Some(vec![1, 0]));
        assert_eq!(assignment(&[shared(&[0]), demand(4, &[0])], &rooms), None);
    }

    #[test]
    fn who_is_to_have_other_nodes_holds_both() {
        let both = of_both(vec![demand(3, &[0])], vec![demand(2, &[0])]);
        assert_eq!(both, [demand(3, &[0])]);
        let both = of_both(vec![demand(3, &[0])], vec![demand(2, &[1])]);
        assert_eq!(both, [demand(2, &[1]), demand(3, &[0])]);
    }
}
