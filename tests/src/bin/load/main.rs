//! Drives a server through its API and tells how many decisions a second it makes, or
//! how soon it decides after a start.
//!
//! Each client has one connection, places a VM (or a batch), gives the places back, and
//! begins again.

mod drafts;
mod start;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use serde_json::{Value, json};

/// Measure a server's decisions a second.
///
/// Makes a cluster of its own on the server, and takes it out again.
#[derive(Debug, Clone, Parser)]
#[command(after_help = "\
Examples:
  load --clients 16                            decisions a second of a server that runs
  load --replace units --every 200ms           the same, while a unit is replaced in a folder of units
  load --hosts 1000 --policy mine --rate 2000 --draft mine.toml
                                               how soon drafts of a policy are tried beside it
  load --start target/release/placewright --data /tmp/large --hosts 10000 --vms 100000
                                               from its start to its first decision")]
struct Load {
    /// Where the server is
    #[arg(long, default_value = "http://127.0.0.1:7425", value_name = "URL")]
    url: String,
    /// Hosts of the cluster
    #[arg(long, default_value_t = 5000)]
    hosts: usize,
    /// VMs that run in the cluster
    #[arg(long, default_value_t = 0)]
    vms: usize,
    /// Name of the policy
    #[arg(long, default_value = "even-distribution")]
    policy: String,
    /// Clients at once
    #[arg(long, default_value_t = 8)]
    clients: usize,
    /// VMs of a request; more than one is a batch
    #[arg(long, default_value_t = 1)]
    batch: usize,
    /// Decisions a second at most, of all clients together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Meanwhile try this draft of the policy on recorded decisions, as the editor of the console
    /// does, each time as another document
    #[arg(long, value_name = "FILE")]
    draft: Option<PathBuf>,
    /// Recorded decisions that a draft is tried on
    #[arg(long, default_value_t = 200, requires = "draft", value_name = "N")]
    draft_decisions: usize,
    /// Between the answer to a draft and the next one
    #[arg(long, default_value = "50ms", requires = "draft")]
    draft_pause: humantime::Duration,
    /// How long
    #[arg(long, default_value = "10s")]
    time: humantime::Duration,
    /// Token, if the server asks for one
    #[arg(long, env = "PLACEWRIGHT_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Start that program, and tell how long it takes until it is ready and has decided;
    /// the cluster is made before, if the data has none
    #[arg(long, value_name = "PROGRAM", requires = "data")]
    start: Option<PathBuf>,
    /// Data folder of the program to start
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Meanwhile replace the unit "even-distribution" in this folder of units
    #[arg(long, value_name = "DIR")]
    replace: Option<PathBuf>,
    /// How often it is replaced
    #[arg(long, default_value = "200ms", requires = "replace")]
    every: humantime::Duration,
}

/// One client, with its connection.
struct Client<'a> {
    load: &'a Load,
    agent: ureq::Agent,
}

impl<'a> Client<'a> {
    fn new(load: &'a Load) -> Self {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let agent = config.build().into();
        Self { load, agent }
    }

    /// Ask something of clusters.
    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        self.ask(method, &format!("/v1/clusters{path}"), body)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        // `null` is no body: routes that take none refuse one.
        let body = (!body.is_null()).then(|| ("application/json", body.to_string()));
        self.ask_with(method, path, body)
    }

    /// Ask with a body of that type, if there is one.
    fn ask_with(
        &self,
        method: &str,
        path: &str,
        body: Option<(&str, String)>,
    ) -> Result<Value, String> {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.load.url));
        if let Some((kind, _)) = &body {
            request = request.header("content-type", *kind);
        }
        if let Some(token) = &self.load.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(body.map(|(_, text)| text).unwrap_or_default());
        let request = request.map_err(|error| error.to_string())?;
        let mut answer = self.agent.run(request).map_err(|error| error.to_string())?;
        let text = answer.body_mut().with_config().limit(1 << 30);
        let text = text.read_to_string().map_err(|error| error.to_string())?;
        match answer.status().is_success() {
            true => Ok(serde_json::from_str(&text).unwrap_or_default()),
            false => Err(format!("{method} {path}: {text}")),
        }
    }

    /// Place and give back until told to end: how long each request to place took.
    fn drive(&self, number: usize, ends: &AtomicBool) -> Result<Vec<Duration>, String> {
        let (mut times, mut round) = (Vec::new(), 0_usize);
        let (start, together) = (Instant::now(), self.load.clients * self.load.batch);
        let between = self.load.rate.map(|rate| together as f64 / f64::from(rate));
        while !ends.load(Ordering::Relaxed) {
            if let Some(between) = between {
                let due = Duration::from_secs_f64(between * round as f64);
                std::thread::sleep(due.saturating_sub(start.elapsed()));
            }
            let ids: Vec<String> = (0..self.load.batch)
                .map(|vm| format!("{number}-{round}-{vm}"))
                .collect();
            let vms: Vec<Value> = ids
                .iter()
                .enumerate()
                .map(|(vm, id)| shape(id, round + vm))
                .collect();
            let began = Instant::now();
            match vms.as_slice() {
                [vm] => self.send("POST", "/load/place", vm)?,
                _ => self.send(
                    "POST",
                    "/load/place-batch?listed=true",
                    &json!({"vms": vms}),
                )?,
            };
            times.push(began.elapsed());
            // Some stay a while, as VMs do.
            self.send("POST", "/load/cancel", &json!({"vms": ids}))?;
            round += 1;
        }
        Ok(times)
    }
}

/// Twelve shapes of VMs.
fn shape(id: &str, number: usize) -> Value {
    let (cores, gib) = (1 << (number % 4), 2 << (number % 3));
    json!({"id": id, "cpu": format!("{cores} cores"), "memory": format!("{gib} GiB")})
}

/// The cluster, with its VMs spread evenly.
fn cluster(load: &Load) -> Value {
    let hosts = (0..load.hosts).map(|number| {
        json!({
            "id": format!("h{number:05}"), "cpu.cores": 64, "memory.total": "512 GiB",
            "cpu.usage": (number % 50) as f64 / 100.0, "networks": [{"name": "management"}],
        })
    });
    let vms = (0..load.vms).map(|number| {
        let mut vm = shape(&format!("vm{number:06}"), number);
        vm["host"] = json!(format!("h{:05}", number % load.hosts));
        vm
    });
    json!({"name": "load", "hosts": hosts.collect::<Vec<_>>(), "vms": vms.collect::<Vec<_>>()})
}

/// The component of a unit with other bytes each time: with a section that nobody reads.
fn variant(component: &[u8], number: usize) -> Vec<u8> {
    let note = format!("{number:010}");
    let mut bytes = component.to_vec();
    bytes.extend([0, 12, 1, b'n']);
    bytes.extend(note.as_bytes());
    bytes
}

/// Replace the unit in its folder until told to end; how often.
fn replace(load: &Load, ends: &AtomicBool) -> Result<usize, String> {
    let Some(folder) = &load.replace else {
        return Ok(0);
    };
    let embedded = placewright_plugins::UNITS.iter();
    let unit = embedded.clone().find(|unit| unit.name == REPLACED);
    let unit = unit.ok_or("the unit is not there any more")?;
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
    // Bytes that no run has had before.
    let first = since.map_or(0, |since| since.as_secs() as usize % 10_000_000 * 1000);
    let mut number = 0;
    while !ends.load(Ordering::Relaxed) {
        let new = folder.join(".new");
        std::fs::write(&new, variant(unit.bytes, first + number)).map_err(told)?;
        std::fs::rename(new, folder.join("replaced.wasm")).map_err(told)?;
        number += 1;
        std::thread::sleep(load.every.into());
    }
    Ok(number)
}

/// The unit that is replaced: that of the default policy.
const REPLACED: &str = "even-distribution";

/// What that share of sorted times is at most, in milliseconds.
fn at(times: &[Duration], share: f64) -> f64 {
    let place = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
    let time = times.get(place);
    time.map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

fn run(load: &Load) -> Result<(), String> {
    if let (Some(program), Some(data)) = (&load.start, &load.data) {
        return start::measure(load, program, data);
    }
    let admin = Client::new(load);
    let _ = admin.send("DELETE", "/load", &Value::Null);
    let path = format!("?policy={}", load.policy);
    admin.send("POST", &path, &cluster(load))?;
    let ends = AtomicBool::new(false);
    let began = Instant::now();
    let times = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..load.clients)
            .map(|number| {
                let ends = &ends;
                scope.spawn(move || Client::new(load).drive(number, ends))
            })
            .collect();
        let replaced = scope.spawn(|| replace(load, &ends));
        let tried = scope.spawn(|| drafts::work(&Client::new(load), &ends));
        std::thread::sleep(load.time.into());
        ends.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for client in clients {
            all.extend(client.join().map_err(|_| "a client has panicked")??);
        }
        let replaced = replaced
            .join()
            .map_err(|_| "what replaces has panicked")??;
        let tried = tried
            .join()
            .map_err(|_| "what tries drafts has panicked")??;
        Ok::<_, String>((all, replaced, tried))
    });
    let ((mut times, replaced, mut tried), took) = (times?, began.elapsed().as_secs_f64());
    admin.send("DELETE", "/load", &Value::Null)?;
    times.sort_unstable();
    tried.sort_unstable();
    let at = |share: f64| at(&times, share);
    let decisions = (times.len() * load.batch) as f64 / took;
    println!(
        "{} hosts, {} clients, {} VMs a request: {decisions:.0} decisions a second; a request takes {:.2} ms, 99 of 100 at most {:.2} ms, all at most {:.2} ms",
        load.hosts,
        load.clients,
        load.batch,
        at(0.5),
        at(0.99),
        at(1.0)
    );
    if !tried.is_empty() {
        println!(
            "{} drafts on {} decisions: one takes {:.0} ms, 95 of 100 at most {:.0} ms, all at most {:.0} ms",
            tried.len(),
            load.draft_decisions,
            self::at(&tried, 0.5),
            self::at(&tried, 0.95),
            self::at(&tried, 1.0)
        );
    }
    if replaced > 0 {
        println!("the unit {REPLACED} was replaced {replaced} times");
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    match run(&Load::parse()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::ExitCode::from(2)
        }
    }
}
