//! Tries a judge out: what it must not depend on, and what it claims.

use super::advice;
use super::alike::{Answer, Exactness, compare};
use super::random::Random;
use super::report::{Findings, Fuel};
use super::sample::{self, Variety};
use super::tables::Tables;
use super::{Warm, sentence, time};
use placewright_engine::contract::{Answers, Evaluation, JudgePart, Part};
use placewright_engine::unit::{Instance, Unit};
use placewright_model::GREATEST_INTEGER;

const PART: Part = Part::Judge;
const ANSWERS: &str = "answers made-up requests";

/// Hosts in a batch, to see whether batches matter.
const BATCH: usize = 7;

/// How long after its answer a judge is asked again that says its answers hold
/// for good: ten years, in seconds.
const LATER: i64 = 315_360_000;

pub(super) fn probe(unit: &Unit, seed: u64, findings: &mut Findings) {
    let Some(part) = &unit.description().judge else {
        return;
    };
    let mut random = Random::new(seed);
    let samples: Result<Vec<Tables>, String> = Variety::all()
        .into_iter()
        .map(|variety| sample::make(unit.description(), &part.reads, variety, &mut random))
        .collect();
    let samples = match samples {
        Ok(samples) => samples,
        Err(why) => return findings.not_applicable(PART, ANSWERS, &why),
    };
    let mut trial = Trial {
        unit,
        part,
        seed,
        warm: Warm::new(unit, PART),
        asked: Vec::new(),
    };
    let answers = trial.ask_all(&samples);
    let answered = answers.is_ok();
    findings.tried(PART, ANSWERS, answers);
    if !answered {
        return;
    }
    if trial
        .asked
        .iter()
        .all(|(_, answer)| matches!(answer, Answer::Refused(_)))
    {
        let why = "it refuses all that was made up, so that little could be tried";
        findings.not_applicable(PART, "accepts made-up requests", why);
    }
    for (claim, hold) in trial.claims() {
        if !findings.has_time(PART, claim) {
            continue;
        }
        let result = hold(&mut trial, &mut random);
        findings.tried(PART, claim, result);
    }
    if unit.engine().limits().fuel.is_some() {
        let fuel = trial.fuel(&mut random);
        fuel.into_iter().for_each(|fuel| findings.fuel(fuel));
    }
    if findings.is_unhurried() {
        for sentence in trial.advice(&mut random) {
            findings.advise(PART, sentence);
        }
    }
}

struct Trial<'a> {
    unit: &'a Unit,
    part: &'a JudgePart,
    seed: u64,
    warm: Warm<'a>,
    /// What was asked and answered first, with everything wanted.
    asked: Vec<(Tables, Answer)>,
}

type Claim<'a> = fn(&mut Trial<'a>, &mut Random) -> Result<(), String>;

impl<'a> Trial<'a> {
    fn claims(&self) -> Vec<(&'static str, Claim<'a>)> {
        let mut claims: Vec<(&'static str, Claim<'a>)> = vec![
            ("answers the same when it is asked again", Self::again),
            ("answers the same in a fresh instance", Self::fresh),
            (
                "answers the same whatever the codes of texts are",
                Self::codes,
            ),
            ("answers for the time that it says", Self::until),
        ];
        if self.part.answers == Answers::BOTH {
            claims.push((
                "answers the same for verdicts, costs and both",
                Self::separately,
            ));
        }
        claims.push((
            "answers the same in whatever order the hosts are",
            Self::order,
        ));
        if self.part.evaluation == Evaluation::RowWise {
            claims.push(("answers for each host alone as among others", Self::alone));
            claims.push(("answers the same in batches", Self::batches));
            claims.push(("answers the same for equal hosts", Self::doubled));
        }
        claims
    }

    fn ask_all(&mut self, samples: &[Tables]) -> Result<(), String> {
        for tables in samples {
            let answer = self.ask(tables, self.seed, self.part.answers)?;
            self.asked.push((tables.clone(), answer));
        }
        Ok(())
    }

    fn ask(&mut self, tables: &Tables, codes: u64, want: Answers) -> Result<Answer, String> {
        ask(self.warm.instance()?, self.unit, tables, codes, want)
    }

    /// How exactly an answer must agree that was worked out from the same hosts in
    /// another order.
    fn exactness(&self) -> Exactness {
        match self.part.evaluation {
            Evaluation::RowWise => Exactness::Bits,
            Evaluation::WholeTable => Exactness::Rounding,
        }
    }

    /// Ask about everything again, changed by `change`, which also says which host
    /// each row of the answer is about.
    fn each(
        &mut self,
        exactness: Exactness,
        mut change: impl FnMut(&Tables) -> (Tables, Vec<usize>),
    ) -> Result<(), String> {
        for (tables, expected) in self.asked.clone() {
            let (changed, rows) = change(&tables);
            let got = self.ask(&changed, self.seed, self.part.answers)?;
            compare(&expected, &got, &rows, exactness)?;
        }
        Ok(())
    }

    /// Twice each: right away, and after all the others.
    fn again(&mut self, _: &mut Random) -> Result<(), String> {
        for _ in 0..2 {
            self.each(Exactness::Bits, unchanged)?;
        }
        for (tables, expected) in self.asked.clone() {
            for _ in 0..2 {
                let got = self.ask(&tables, self.seed, self.part.answers)?;
                compare(&expected, &got, &all(&tables), Exactness::Bits)?;
            }
        }
        Ok(())
    }

    fn fresh(&mut self, _: &mut Random) -> Result<(), String> {
        for (tables, expected) in &self.asked {
            let mut instance = self
                .unit
                .instantiate_beside_decisions(PART)
                .map_err(sentence)?;
            let want = self.part.answers;
            let got = ask(&mut instance, self.unit, tables, self.seed, want)?;
            compare(expected, &got, &all(tables), Exactness::Bits)?;
        }
        Ok(())
    }

    fn codes(&mut self, random: &mut Random) -> Result<(), String> {
        for (tables, expected) in self.asked.clone() {
            let codes = self.seed.wrapping_add(random.below(1 << 20) as u64 + 1);
            let got = self.ask(&tables, codes, self.part.answers)?;
            compare(&expected, &got, &all(&tables), Exactness::Bits)?;
        }
        Ok(())
    }

    fn separately(&mut self, _: &mut Random) -> Result<(), String> {
        for (tables, expected) in self.asked.clone() {
            for want in [Answers::VERDICTS, Answers::COSTS] {
                let got = self.ask(&tables, self.seed, want)?;
                compare(&expected, &got, &all(&tables), Exactness::Bits)?;
            }
        }
        Ok(())
    }

    fn order(&mut self, random: &mut Random) -> Result<(), String> {
        self.each(self.exactness(), |tables| {
            if tables.find("hosts").is_none() {
                return unchanged(tables);
            }
            let order = random.permutation(tables.answers());
            (tables.with_hosts(&order), order)
        })
    }

    fn alone(&mut self, random: &mut Random) -> Result<(), String> {
        for _ in 0..3 {
            self.each(Exactness::Bits, |tables| {
                if tables.find("hosts").is_none() || tables.answers() == 0 {
                    return unchanged(tables);
                }
                let one = vec![random.below(tables.answers())];
                (tables.with_hosts(&one), one)
            })?;
        }
        Ok(())
    }

    fn batches(&mut self, _: &mut Random) -> Result<(), String> {
        for (tables, expected) in self.asked.clone() {
            if tables.find("hosts").is_none() {
                continue;
            }
            for batch in all(&tables).chunks(BATCH) {
                let got = self.ask(&tables.with_hosts(batch), self.seed, self.part.answers)?;
                compare(&expected, &got, batch, Exactness::Bits)?;
            }
        }
        Ok(())
    }

    fn doubled(&mut self, random: &mut Random) -> Result<(), String> {
        self.each(Exactness::Bits, |tables| {
            if tables.find("hosts").is_none() || tables.answers() == 0 {
                return unchanged(tables);
            }
            let count = tables.answers();
            let rows: Vec<_> = (0..2 * count).map(|_| random.below(count)).collect();
            (tables.with_hosts(&rows), rows)
        })
    }

    /// Ask again at the last second at which an answer is to hold.
    fn until(&mut self, _: &mut Random) -> Result<(), String> {
        for (tables, expected) in self.asked.clone() {
            let (Some(now), Answer::Given(judgement)) = (tables.now(), &expected) else {
                continue;
            };
            let mut ends: Vec<(Option<usize>, i64)> = match judgement.until.as_slice() {
                [] => vec![(None, now + LATER)],
                until => until
                    .iter()
                    .copied()
                    .enumerate()
                    .map(|(row, end)| (Some(row), end))
                    .collect(),
            };
            // A few ends stand for all.
            ends.truncate(BATCH);
            for (row, end) in ends {
                if end < now {
                    return Err(format!("an answer given at {now} ended at {end}"));
                }
                let later = tables.at(end.min(GREATEST_INTEGER).min(now + LATER));
                let got = self.ask(&later, self.seed, self.part.answers)?;
                holds(&expected, got, row, &tables)?;
            }
        }
        Ok(())
    }

    /// What the answers show that could be better.
    fn advice(&mut self, random: &mut Random) -> Vec<String> {
        let mut advice: Vec<String> = advice::of_reads(&self.part.reads).collect();
        let row_wise = self.part.evaluation == Evaluation::RowWise;
        if row_wise && self.is_for_one_second() {
            advice.push(advice::FOR_ONE_SECOND.to_owned());
        }
        if !row_wise && self.tells_hosts_apart() && self.is_row_wise(random) {
            advice.push(advice::ROW_WISE_WOULD_DO.to_owned());
        }
        if self.counts_in_vain() {
            advice.push(advice::YES_OR_NO_WOULD_DO.to_owned());
        }
        advice
    }

    /// Whether it reads the time and gives no answer that holds longer than its second.
    fn is_for_one_second(&self) -> bool {
        let mut any = false;
        for (tables, answer) in &self.asked {
            let (Some(now), Answer::Given(judgement)) = (tables.now(), answer) else {
                continue;
            };
            if tables.answers() == 0 {
                continue;
            }
            // No end at all is an answer for good.
            if judgement.until.is_empty() || judgement.until.iter().any(|end| *end > now) {
                return false;
            }
            any = true;
        }
        any
    }

    /// Whether hosts of one request got different answers: where all got the same, nothing
    /// can be told from them.
    fn tells_hosts_apart(&self) -> bool {
        self.asked.iter().any(|(tables, answer)| {
            let Answer::Given(judgement) = answer else {
                return false;
            };
            let differ = |one: &[u64]| one.windows(2).any(|pair| pair[0] != pair[1]);
            let verdicts: Vec<u64> = judgement.verdicts.iter().map(|it| u64::from(*it)).collect();
            let costs: Vec<u64> = judgement.costs.iter().map(|it| it.to_bits()).collect();
            tables.find("hosts").is_some() && (differ(&verdicts) || differ(&costs))
        })
    }

    /// Whether all that holds of row-wise parts holds of this one.
    fn is_row_wise(&mut self, random: &mut Random) -> bool {
        let claims: [Claim<'a>; 3] = [Self::alone, Self::batches, Self::doubled];
        claims.iter().all(|hold| hold(self, random).is_ok())
    }

    /// Whether it reads how many VMs of a group there are, and answers the same if there is
    /// never more than one.
    fn counts_in_vain(&mut self) -> bool {
        let mut any = false;
        for (tables, expected) in self.asked.clone() {
            let Some(once) = tables.counted_once() else {
                continue;
            };
            any = true;
            let got = self.ask(&once, self.seed, self.part.answers);
            let same = got.and_then(|got| compare(&expected, &got, &all(&tables), Exactness::Bits));
            if same.is_err() {
                return false;
            }
        }
        any
    }

    /// What a call costs without hosts, and with many.
    fn fuel(&mut self, random: &mut Random) -> Option<Fuel> {
        const HOSTS: usize = 64;
        let mut of = |hosts| {
            let variety = Variety {
                hosts,
                ..Variety::default()
            };
            let reads = &self.part.reads;
            let tables = sample::make(self.unit.description(), reads, variety, random).ok()?;
            let want = self.part.answers;
            ask(
                self.warm.instance().ok()?,
                self.unit,
                &tables,
                self.seed,
                want,
            )
            .ok()?;
            Some(self.warm.instance().ok()?.fuel_used())
        };
        let (call, many) = (of(0)?, of(HOSTS)?);
        Some(Fuel {
            part: PART,
            call,
            host: many.saturating_sub(call) as f64 / HOSTS as f64,
        })
    }
}

fn ask(
    instance: &mut Instance,
    unit: &Unit,
    tables: &Tables,
    codes: u64,
    want: Answers,
) -> Result<Answer, String> {
    let call = tables.encode(codes);
    match instance.judge(want, &call, tables.answers(), time(unit)) {
        Ok(judgement) => Ok(Answer::Given(judgement)),
        Err(fault) if fault.is_refusal() => Ok(Answer::Refused(fault.cause.to_string())),
        Err(fault) => Err(fault.to_string()),
    }
}

/// Whether the answer for one row, or all, is still the same; when it would end
/// may have changed.
fn holds(
    expected: &Answer,
    mut got: Answer,
    row: Option<usize>,
    tables: &Tables,
) -> Result<(), String> {
    let rows = all(tables);
    if let Answer::Given(judgement) = &mut got {
        judgement.until.clear();
        if let Some(row) = row {
            let of = |row: usize, judgement: &placewright_engine::contract::Judgement| {
                placewright_engine::contract::Judgement {
                    verdicts: judgement.verdicts.get(row).copied().into_iter().collect(),
                    costs: judgement.costs.get(row).copied().into_iter().collect(),
                    until: Vec::new(),
                }
            };
            let one = Answer::Given(of(row, judgement));
            return compare(expected, &one, &[row], Exactness::Bits);
        }
    }
    compare(expected, &got, &rows, Exactness::Bits)
}

fn unchanged(tables: &Tables) -> (Tables, Vec<usize>) {
    (tables.clone(), all(tables))
}

fn all(tables: &Tables) -> Vec<usize> {
    (0..tables.answers()).collect()
}
