//! How evenly load was spread: for each tenth of CPU load, how many hosts had it,
//! averaged over time.

use super::fleet::Fleet;
use super::tally::Load;

/// Empty hosts, and ten tenths.
const CLASSES: usize = 11;

/// Hosts by load, averaged over time.
#[derive(Debug, Clone)]
pub struct Spread {
    hosts: [u32; CLASSES],
    host_seconds: [f64; CLASSES],
    from: i64,
    to: i64,
    now: i64,
}

impl Spread {
    /// All hosts are empty. Averages are taken from `from` to `to`.
    pub(super) fn new(hosts: u32, from: i64, to: i64) -> Self {
        let mut classes = [0; CLASSES];
        classes[0] = hosts;
        Self {
            hosts: classes,
            host_seconds: [0.0; CLASSES],
            from,
            to,
            now: from,
        }
    }

    pub(super) fn advance(&mut self, time: i64) {
        let until = time.min(self.to);
        if until > self.now {
            let seconds = (until - self.now) as f64;
            for (sum, hosts) in self.host_seconds.iter_mut().zip(self.hosts) {
                *sum += f64::from(hosts) * seconds;
            }
            self.now = until;
        }
    }

    pub(super) fn moved(&mut self, fleet: Fleet, before: Load, after: Load) {
        let (before, after) = (class(fleet, before), class(fleet, after));
        if before != after {
            self.hosts[before] -= 1;
            self.hosts[after] += 1;
        }
    }

    /// How many hosts there were on average that were empty, then with a CPU load up
    /// to 10 %, up to 20 % and so on; what is over 100 % counts with the last.
    pub fn mean_hosts(&self) -> [f64; CLASSES] {
        let seconds = (self.to - self.from) as f64;
        match seconds > 0.0 {
            true => self.host_seconds.map(|sum| sum / seconds),
            false => self.hosts.map(f64::from),
        }
    }

    /// How many hosts were in use on average.
    pub fn mean_used_hosts(&self) -> f64 {
        self.mean_hosts()[1..].iter().sum()
    }
}

fn class(fleet: Fleet, load: Load) -> usize {
    if load.vms == 0 {
        return 0;
    }
    let tenths = load.cpu.saturating_mul(10);
    let full = fleet.cpu.max(1);
    let tenth = tenths / full + i64::from(tenths % full != 0);
    usize::try_from(tenth).map_or(1, |tenth| tenth.clamp(1, CLASSES - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLEET: Fleet = Fleet {
        hosts: 4,
        cpu: 1000,
        memory: 1,
    };

    fn load(vms: u32, cpu: i64) -> Load {
        Load {
            vms,
            cpu,
            memory: 0,
        }
    }

    #[test]
    fn hosts_stand_in_the_tenth_of_their_load() {
        let classes = [(0, 0), (1, 0), (1, 100), (1, 101), (2, 1000), (3, 1500)];
        let classes = classes.map(|(vms, cpu)| class(FLEET, load(vms, cpu)));
        assert_eq!(classes, [0, 1, 1, 2, 10, 10]);
    }

    #[test]
    fn averages_are_over_time() {
        let mut spread = Spread::new(4, 0, 10);
        spread.advance(5);
        spread.moved(FLEET, load(0, 0), load(1, 950));
        spread.advance(20);
        assert_eq!(spread.mean_hosts()[0], 3.5);
        assert_eq!(spread.mean_hosts()[10], 0.5);
        assert_eq!(spread.mean_used_hosts(), 0.5);
    }
}
