//! Callers that take places and never go.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use placewright_tests::server::Server;
use placewright_tests::waiting::{Ends, wait_until};

use super::access::token;
use super::{folder, get};

/// A server with few places, and a secret that it knows.
fn crowded(data: &std::path::Path, words: &[&str]) -> (Server, String) {
    let (secret, lines) = token(&["--name", "viewer", "--role", "viewer"]);
    let config = data.join("placewright.toml");
    fs::write(&config, lines).unwrap();
    let config = config.display().to_string();
    let server = Server::start(data, &[&["--config", &config], words].concat());
    (server, secret)
}

/// A connection that asks for much, and takes nothing of it.
fn greedy(address: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(address).ok()?;
    let timeout = Some(Duration::from_millis(100));
    stream.set_write_timeout(timeout).ok()?;
    let request = "GET /v1/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let _ = stream.write_all(request.repeat(200).as_bytes());
    Some(stream)
}

#[test]
fn callers_with_a_token_are_served_while_others_take_every_place_they_can() {
    let data = folder();
    let words = ["--connections", "16", "--connections-per-address", "8"];
    let (server, secret) = crowded(data.path(), &words);
    let address = server.url.trim_start_matches("http://").to_owned();
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _ends = Ends(&ends);
        let mut crowd: Vec<_> = (0..40).filter_map(|_| greedy(&address)).collect();
        let (ends, address) = (&ends, &address);
        scope.spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                crowd.remove(0);
                crowd.extend(greedy(address));
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        for _ in 0..50 {
            let url = format!("{}/v1/clusters", server.url);
            assert_eq!(get(&url, Some(&secret)).0, 200);
        }
    });
    server.signal("TERM");
    let (_, log) = server.ended();
    // Each closed one would be a line.
    let told = log.matches("closed for others").count();
    assert!((1..20).contains(&told), "{told} lines");
}

#[test]
fn who_never_takes_its_answers_is_closed() {
    let data = folder();
    let (server, secret) = crowded(data.path(), &["--stall-time", "1s"]);
    let address = server.url.trim_start_matches("http://");
    let url = format!("{}/metrics", server.url);
    let connections = || {
        let folder = format!("/proc/{}/fd", server.id());
        let files = fs::read_dir(folder).unwrap().flatten();
        let links = files.filter_map(|file| fs::read_link(file.path()).ok());
        let sockets = links.filter(|link| link.to_string_lossy().starts_with("socket:"));
        sockets.count()
    };
    assert_eq!(get(&url, Some(&secret)).0, 200);
    let before = connections();
    let crowd: Vec<_> = (0..30).filter_map(|_| greedy(address)).collect();
    assert_eq!(crowd.len(), 30);
    // The crowd holds its ends all the time.
    wait_until("the end of the connections", || connections() <= before + 2);
    drop(crowd);
}

#[test]
fn a_token_follows_events_on_so_many_connections() {
    let data = folder();
    let (server, secret) = crowded(data.path(), &["--streams-per-token", "2"]);
    let address = server.url.trim_start_matches("http://");
    let follow = || {
        let mut stream = TcpStream::connect(address).unwrap();
        let head = format!(
            "GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {secret}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        (String::from_utf8_lossy(&status).into_owned(), stream)
    };
    let (one, two, three) = (follow(), follow(), follow());
    assert_eq!(
        (one.0.as_str(), two.0.as_str()),
        ("HTTP/1.1 200", "HTTP/1.1 200")
    );
    assert_eq!(three.0, "HTTP/1.1 429");
    drop(one);
    wait_until("a place that came free", || follow().0 == "HTTP/1.1 200");
}
