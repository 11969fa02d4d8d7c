//! Somebody at the editor of a policy, while the clients go on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Client;

/// Decisions are recorded before the first draft is tried on them.
const HEAD_START: Duration = Duration::from_secs(2);

/// Try drafts until told to end: how long each took.
pub(super) fn work(client: &Client<'_>, ends: &AtomicBool) -> Result<Vec<Duration>, String> {
    let load = client.load;
    let Some(file) = &load.draft else {
        return Ok(Vec::new());
    };
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
    let path = format!(
        "/v1/clusters/load/draft?policy={}&decisions={}",
        load.policy, load.draft_decisions
    );
    std::thread::sleep(HEAD_START);
    let mut times = Vec::new();
    while !ends.load(Ordering::Relaxed) {
        let draft = format!("# {}\n{text}", times.len());
        let began = Instant::now();
        client.ask_with("POST", &path, Some(("application/toml", draft)))?;
        times.push(began.elapsed());
        std::thread::sleep(load.draft_pause.into());
    }
    Ok(times)
}
