//! How soon a program decides after its start, with a large cluster in its store.

use std::path::Path;
use std::time::{Duration, Instant};

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::{Client, Load, cluster, shape};

/// How long to wait between two looks at whether it is ready.
const PAUSE: Duration = Duration::from_millis(1);

/// Start the program on the data folder and tell when it is ready and has decided. The
/// cluster is made in a run before, if there is none.
pub(crate) fn measure(load: &Load, program: &Path, data: &Path) -> Result<(), String> {
    let server = spawn(program, data);
    let of = |server: &Server| Load {
        url: server.url.clone(),
        ..load.clone()
    };
    let filling = of(&server);
    let client = Client::new(&filling);
    if client.send("GET", "/load", &Value::Null).is_err() {
        let path = format!("?policy={}", load.policy);
        client.send("POST", &path, &cluster(load))?;
    }
    end(server);
    let began = Instant::now();
    let server = spawn(program, data);
    let starting = of(&server);
    let client = Client::new(&starting);
    let served = began.elapsed();
    while client.ask("GET", "/v1/ready", &Value::Null).is_err() {
        std::thread::sleep(PAUSE);
    }
    let ready = began.elapsed();
    let vm = shape("first", 0);
    client.send("POST", "/load/place", &vm)?;
    let decided = began.elapsed();
    client.send("POST", "/load/cancel", &json!({"vms": ["first"]}))?;
    let shown = client.send("GET", "/load", &Value::Null)?;
    let seconds = |took: Duration| took.as_secs_f64();
    println!(
        "{} hosts, {} VMs: serves after {:.2} s, ready after {:.2} s, decided after {:.2} s",
        shown["counted"]["hosts"],
        shown["counted"]["vms"],
        seconds(served),
        seconds(ready),
        seconds(decided)
    );
    end(server);
    Ok(())
}

fn spawn(program: &Path, data: &Path) -> Server {
    let mut command = std::process::Command::new(program);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
        .arg("--data")
        .arg(data);
    Server::spawn(command)
}

fn end(server: Server) {
    server.signal("TERM");
    server.ended();
}
