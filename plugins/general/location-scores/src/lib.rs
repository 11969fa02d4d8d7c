//! Location scores: keeps a VM off the hosts for which its scores are negative, and
//! prefers the hosts for which they are highest.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;
use scores::{Location, Score};

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    #[column("has-location", gate)]
    has_location: bool,
}

/// All VMs that are to be placed together on one host.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("location")]
    location: Rows<Location>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is forbidden to the VM: its score there is minus infinity
    Forbidden,
    /// has a score below 0 for the VM
    BelowZero,
}

/// The numbers of the members that have scores.
struct Scored(Vec<i64>);

impl Scored {
    /// The score of each of the VMs on a host.
    fn on<'a>(&'a self, host: &'a Host) -> impl Iterator<Item = Score> + 'a {
        let members = self.0.iter();
        members.map(|member| {
            let rows = host.location.iter().filter(|row| row.member == *member);
            Score::sum(rows.map(|row| row.score))
        })
    }
}

struct LocationScores;

impl RowWise for LocationScores {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Scored;

    fn prepare(request: &Request, (): &()) -> Result<Scored, Problem> {
        let members = (0..).zip(&request.vms);
        let scored = members.filter(|(_, vm)| vm.has_location);
        Ok(Scored(scored.map(|(member, _)| member).collect()))
    }
}

impl RowFilter for LocationScores {
    /// Every one of the VMs must be allowed there.
    fn keep(scored: &Scored, host: &Host) -> Verdict<Reason> {
        let lowest = scored.on(host).min().unwrap_or(Score::ZERO);
        Verdict::keep_if(lowest > Score::FORBIDDEN, Reason::Forbidden)
            .and(|| Verdict::keep_if(lowest >= Score::ZERO, Reason::BelowZero))
    }
}

impl RowCost for LocationScores {
    /// Minus the score.
    fn cost(scored: &Scored, host: &Host) -> f64 {
        let sum: i64 = scored.on(host).map(Score::value).sum();
        0.0 - sum as f64
    }
}

placewright_sdk::export!(LocationScores: filter, cost_function);

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdict and the cost for VMs that have scores or not, on a host with rows of
    /// (member, score).
    fn judge(vms: &[bool], location: &[(i64, i64)]) -> (Verdict<Reason>, f64) {
        let request = Request {
            vms: (vms.iter())
                .map(|&has_location| Vm { has_location })
                .collect(),
        };
        let need = LocationScores::prepare(&request, &()).expect("nothing is refused");
        let row = |&(member, score): &(i64, i64)| Location { member, score };
        let host = Host {
            location: location.iter().map(row).collect(),
        };
        (
            LocationScores::keep(&need, &host),
            LocationScores::cost(&need, &host),
        )
    }

    #[test]
    fn minus_infinity_forbids_a_host_whatever_else_is_said_of_it() {
        let (verdict, _) = judge(&[true], &[(0, 1_000_000), (0, -1_000_000)]);
        assert_eq!(verdict, Verdict::Remove(Reason::Forbidden));
    }

    #[test]
    fn a_sum_below_zero_forbids_a_host() {
        let (verdict, _) = judge(&[true], &[(0, 5), (0, -6)]);
        assert_eq!(verdict, Verdict::Remove(Reason::BelowZero));
        assert_eq!(judge(&[true], &[(0, 5), (0, -5)]).0, Verdict::Keep);
    }

    #[test]
    fn the_higher_the_score_the_lower_the_cost() {
        assert_eq!(judge(&[true], &[(0, 100)]), (Verdict::Keep, -100.0));
        assert_eq!(judge(&[true], &[]), (Verdict::Keep, 0.0));
        let infinite = judge(&[true], &[(0, 1_000_000), (0, 1_000_000)]);
        assert_eq!(infinite, (Verdict::Keep, -1_000_000.0));
    }

    #[test]
    fn of_several_vms_each_must_be_allowed_and_scores_add_up() {
        let (verdict, _) = judge(&[true, true], &[(0, 100), (1, -1_000_000)]);
        assert_eq!(verdict, Verdict::Remove(Reason::Forbidden));
        assert_eq!(judge(&[true, false, true], &[(0, 1), (2, 2)]).1, -3.0);
    }
}
