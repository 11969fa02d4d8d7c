//! Arrivals and departures of a trace, in the order in which they are replayed.

use super::trace::TraceVm;

/// What happens to a VM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// It leaves, if it was placed.
    Departure,
    /// It is to be placed.
    Arrival,
}

/// Something that happens. Events are ordered by time, then departures before
/// arrivals, then row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    /// In seconds.
    pub time: i64,
    /// What happens.
    pub change: Change,
    /// To which VM, by its number among the VMs that are replayed.
    pub vm: u32,
}

/// All events of these VMs, in order.
pub(super) fn events(vms: &[&TraceVm]) -> Vec<Event> {
    let mut events = Vec::with_capacity(2 * vms.len());
    for (number, vm) in (0..).zip(vms) {
        let event = |time, change| Event {
            time,
            change,
            vm: number,
        };
        events.push(event(vm.start, Change::Arrival));
        events.extend(vm.end.map(|end| event(end, Change::Departure)));
    }
    events.sort_unstable();
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vm(start: i64, end: Option<i64>) -> TraceVm {
        TraceVm {
            line: 0,
            tenant: None,
            cpu: 1000,
            memory: 1 << 30,
            start,
            end,
        }
    }

    #[test]
    fn departures_come_before_arrivals_and_rows_in_order() {
        let vms = [vm(5, Some(9)), vm(-1, Some(5)), vm(5, None), vm(0, Some(5))];
        let order: Vec<_> = events(&vms.iter().collect::<Vec<_>>())
            .into_iter()
            .map(|event| (event.time, event.change, event.vm))
            .collect();
        use Change::{Arrival, Departure};
        assert_eq!(
            order,
            [
                (-1, Arrival, 1),
                (0, Arrival, 3),
                (5, Departure, 1),
                (5, Departure, 3),
                (5, Arrival, 0),
                (5, Arrival, 2),
                (9, Departure, 0),
            ]
        );
    }
}
