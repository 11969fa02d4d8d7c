//! Drives a server through its API and tells how many decisions a second it makes.
//!
//! Each client has one connection, places a VM (or a batch), gives the places back, and
//! begins again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use serde_json::{Value, json};

/// Measure a server's decisions a second.
///
/// Makes a cluster of its own on the server, and takes it out again.
#[derive(Debug, Parser)]
struct Load {
    /// Where the server is
    #[arg(long, default_value = "http://127.0.0.1:7425", value_name = "URL")]
    url: String,
    /// Hosts of the cluster
    #[arg(long, default_value_t = 5000)]
    hosts: usize,
    /// Name of the policy
    #[arg(long, default_value = "even-distribution")]
    policy: String,
    /// Clients at once
    #[arg(long, default_value_t = 8)]
    clients: usize,
    /// VMs of a request; more than one is a batch
    #[arg(long, default_value_t = 1)]
    batch: usize,
    /// How long
    #[arg(long, default_value = "10s")]
    time: humantime::Duration,
    /// Token, if the server asks for one
    #[arg(long, env = "PLACEWRIGHT_TOKEN", hide_env_values = true)]
    token: Option<String>,
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

    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}/v1/clusters{path}", self.load.url))
            .header("content-type", "application/json");
        if let Some(token) = &self.load.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(body.to_string());
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
        while !ends.load(Ordering::Relaxed) {
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

fn cluster(hosts: usize) -> Value {
    let hosts = (0..hosts).map(|number| {
        json!({
            "id": format!("h{number:05}"), "cpu.cores": 64, "memory.total": "512 GiB",
            "cpu.usage": (number % 50) as f64 / 100.0, "networks": [{"name": "management"}],
        })
    });
    json!({"name": "load", "hosts": hosts.collect::<Vec<_>>()})
}

fn run(load: &Load) -> Result<(), String> {
    let admin = Client::new(load);
    let _ = admin.send("DELETE", "/load", &Value::Null);
    let path = format!("?policy={}", load.policy);
    admin.send("POST", &path, &cluster(load.hosts))?;
    let ends = AtomicBool::new(false);
    let began = Instant::now();
    let times = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..load.clients)
            .map(|number| {
                let ends = &ends;
                scope.spawn(move || Client::new(load).drive(number, ends))
            })
            .collect();
        std::thread::sleep(load.time.into());
        ends.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for client in clients {
            all.extend(client.join().map_err(|_| "a client has panicked")??);
        }
        Ok::<_, String>(all)
    });
    let (mut times, took) = (times?, began.elapsed().as_secs_f64());
    admin.send("DELETE", "/load", &Value::Null)?;
    times.sort_unstable();
    let at = |share: f64| {
        let place = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
        times
            .get(place)
            .map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    };
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
