//! A unit for tests of the runtime: its selection, its effects, its order and what it
//! explains go wrong in the way that its setting `how` says; or only what it explains,
//! if its setting `which` says so. All of it is what a Rust author could do by mistake
//! with the SDK.

#![forbid(unsafe_code)]

use std::hint::black_box;

use placewright_sdk::prelude::*;

#[derive(Settings)]
struct Settings {
    /// What goes wrong.
    #[setting(
        default = "nothing",
        choices = [
            "nothing",
            "loops-forever",
            "eats-memory",
            "recurses-forever",
            "panics",
            "refuses",
            "fails",
            "names-nobody",
            "names-one-twice",
            "names-a-stranger",
            "shares-a-half",
            "shares-nan",
            "shares-less-than-nothing",
            "writes-for-a-stranger",
            "sets-no-row",
            "removes-no-row",
            "writes-nan",
            "reserves-for-a-stranger",
            "reserves-less-than-nothing",
            "tells-of-no-row",
            "tells-of-no-table",
        ]
    )]
    how: Text,
    /// Which of the parts go wrong.
    #[setting(default = "every-part", choices = ["every-part", "only-explaining"])]
    which: Text,
}

/// Begins a part other than the one that explains.
fn begin(settings: &Settings) -> Result<&str, Problem> {
    match &*settings.which {
        "only-explaining" => Ok("nothing"),
        _ => go_wrong(settings),
    }
}

/// Goes wrong in the ways that every part can.
fn go_wrong(settings: &Settings) -> Result<&str, Problem> {
    match &*settings.how {
        "loops-forever" => loop {
            black_box(());
        },
        "eats-memory" => {
            let mut eaten = Vec::new();
            loop {
                eaten.push(black_box(vec![1_u8; 1 << 20]));
            }
        }
        "recurses-forever" => {
            black_box(deeper(0));
        }
        "panics" => panic!("this is beyond me"),
        "refuses" => return Err(Problem::refused("the VM must name its owner")),
        "fails" => return Err(Problem::failed("the table of prices is empty")),
        _ => {}
    }
    Ok(&settings.how)
}

#[expect(unconditional_recursion, reason = "this is the point")]
fn deeper(depth: u32) -> u32 {
    black_box(deeper(depth.wrapping_add(1))).wrapping_add(1)
}

/// The number of a row that is not there.
const STRANGER: u32 = 99;

struct Misleading;

#[derive(Row)]
struct Candidate {
    share: f64,
}

#[derive(Request)]
struct Choice {
    candidates: Rows<Candidate>,
}

impl Selection for Misleading {
    type Request = Choice;
    type Settings = Settings;

    /// If nothing goes wrong, what was there before.
    fn refine(choice: &Choice, settings: &Settings) -> Result<Groups, Problem> {
        let how = begin(settings)?;
        let candidates = choice.candidates.numbered();
        let mut group: Vec<Share> = candidates
            .map(|(candidate, row)| Share {
                candidate,
                share: row.share,
            })
            .collect();
        let (Some(first), Some(last)) = (group.first().copied(), group.last_mut()) else {
            return Ok(Groups::default());
        };
        match how {
            "names-nobody" => return Ok(Groups::default()),
            "names-one-twice" => last.candidate = first.candidate,
            "names-a-stranger" => last.candidate = STRANGER,
            "shares-nan" => last.share = f64::NAN,
            "shares-less-than-nothing" => last.share = -last.share,
            "shares-a-half" => group.iter_mut().for_each(|it| it.share /= 2.0),
            _ => {}
        }
        Ok(Groups(vec![group]))
    }
}

#[derive(Row)]
struct Vm {
    memory: Bytes,
}

#[derive(Request)]
struct Members {
    #[table("members")]
    vms: Rows<Vm>,
}

/// A key that is fixed for as long as the VM stays.
#[derive(Written)]
#[written(table = "fixed-keys", scope = "placement", moment = "decided")]
struct Fixed {
    name: Text,
    value: f64,
}

impl Effects for Misleading {
    type Request = Members;
    type Settings = Settings;
    type Writes = Fixed;

    /// If nothing goes wrong, each VM's memory as a key.
    fn placed(members: &Members, settings: &Settings) -> Result<Changes<Fixed>, Problem> {
        let how = begin(settings)?;
        let mut changes = Changes::new();
        let fixed = |value| Fixed {
            name: "memory".into(),
            value,
        };
        for (vm, row) in members.vms.numbered() {
            changes.append(vm, fixed(row.memory.0 as f64));
        }
        match how {
            "writes-for-a-stranger" => changes.append(STRANGER, fixed(1.0)),
            "sets-no-row" => changes.set(0, STRANGER, fixed(1.0)),
            "removes-no-row" => changes.remove::<Fixed>(0, STRANGER),
            "writes-nan" => changes.append(0, fixed(f64::NAN)),
            "reserves-for-a-stranger" => changes.reserve(STRANGER, "cpu", 1),
            "reserves-less-than-nothing" => changes.reserve(0, "cpu", -1),
            _ => {}
        }
        Ok(changes)
    }
}

impl Order for Misleading {
    type Request = Members;
    type Settings = Settings;

    /// If nothing goes wrong, the last first.
    fn order(members: &Members, settings: &Settings) -> Result<Vec<Vec<u32>>, Problem> {
        let how = begin(settings)?;
        let rows = members.vms.numbered();
        let mut turns: Vec<Vec<u32>> = rows.map(|(row, _)| vec![row]).collect();
        turns.reverse();
        match how {
            "names-nobody" => turns.clear(),
            "names-one-twice" => turns.push(vec![0]),
            "names-a-stranger" => turns.push(vec![STRANGER]),
            _ => {}
        }
        Ok(turns)
    }
}

#[derive(Row)]
struct Host {
    #[column("memory.total")]
    memory: Bytes,
}

#[derive(Request)]
struct Stage {
    hosts: Rows<Host>,
}

impl Explain for Misleading {
    type Request = Stage;
    type Settings = Settings;

    /// If nothing goes wrong, each host's memory.
    fn explain(stage: &Stage, settings: &Settings) -> Result<Vec<Fact>, Problem> {
        let how = go_wrong(settings)?;
        let memory =
            |(row, host): (u32, Host)| Fact::new("memory", host.memory.0).about("hosts", row);
        let mut facts: Vec<Fact> = stage.hosts.numbered().map(memory).collect();
        match how {
            "tells-of-no-row" => facts.push(Fact::new("memory", 1_i64).about("hosts", STRANGER)),
            "tells-of-no-table" => facts.push(Fact::new("memory", 1_i64).about("members", 0)),
            _ => {}
        }
        Ok(facts)
    }
}

placewright_sdk::export!(Misleading: selection, effects, order, explain);
