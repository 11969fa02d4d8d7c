//! `placewright unit build --watch`: build, check and test, and again whenever the sources change.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use placewright_library::trust::Trust;

use super::Build;
use super::sources::Sources;
use crate::cli::failure::{Answer, Failure};
use crate::cli::output;
use crate::cli::unit::check::Examiner;
use crate::cli::unit::test;
use crate::cli::units::CacheArgs;

/// How long nothing must change for a round to begin: an editor writes several files at once.
const SETTLE: Duration = Duration::from_millis(200);
/// How often the sources are looked at though nothing was heard of them.
const RESCAN: Duration = Duration::from_secs(2);

/// Go on until Ctrl-C.
pub(super) fn watch(build: Build) -> Result<Answer, Failure> {
    let examiner = Examiner::new(&CacheArgs::NONE, Trust::default(), 0)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::internal)?;
    let (sender, ended) = tokio::sync::oneshot::channel();
    let all_rounds = async move {
        // A thread of its own, so that Ctrl-C is heard while cargo runs.
        thread::spawn(move || sender.send(rounds(&build, &examiner)));
        ended.await
    };
    runtime.block_on(async {
        tokio::select! {
            // Ctrl-C is listened for before the first round begins.
            biased;
            heard = tokio::signal::ctrl_c() => match heard {
                Ok(()) => Ok(Answer::Yes),
                Err(error) => Err(Failure::internal(error)),
            },
            ended = all_rounds => match ended {
                Ok(Ok(never)) => match never {},
                Ok(Err(failure)) => Err(failure),
                Err(error) => Err(Failure::internal(error)),
            },
        }
    })
}

/// A round now and after every change. Ends if nothing can be printed any more.
fn rounds(build: &Build, examiner: &Examiner) -> Result<Infallible, Failure> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or(path.to_owned());
    let home = absolute(build.home());
    let out = build.out.as_deref().map(absolute).unwrap_or_default();
    let mut ears = Ears::new();
    let mut built = Sources::look(&home, &out, &Sources::default());
    ears.listen(&built);
    output::print(&format!("watching {}; Ctrl-C ends", home.display()))?;
    loop {
        let told = round(build, examiner);
        output::print(&format!("{} {told}", time_of_day()))?;
        let after = Sources::look(&home, &out, &built);
        built.take_lock_from(&after);
        built = loop {
            ears.wait();
            let now = Sources::look(&home, &out, &built);
            ears.listen(&now);
            if now.differ_from(&built) {
                break now;
            }
        };
    }
}

/// Build and check once, and run the scenarios of what is let in; what came of it.
fn round(build: &Build, examiner: &Examiner) -> String {
    let begin = Instant::now();
    let written = match build.once() {
        Ok(written) => written,
        Err(failure) => return format!("✗ not built: {failure}"),
    };
    let built = format!("{written}, built in {:.1} s", begin.elapsed().as_secs_f64());
    match examiner.examine(&written.out) {
        Err(failure) => format!("✗ {built}, not checked: {failure}"),
        Ok(checked) if !checked.passed => {
            format!("✗ {built}, would be refused\n{}", checked.remarks())
        }
        Ok(checked) => {
            let (mark, told) = match scenarios(build.home(), &written.out, examiner) {
                Ok((true, told)) => ('✓', told),
                Ok((false, told)) => ('✗', told),
                Err(failure) => ('✗', format!("scenarios not run: {failure}")),
            };
            format!("{mark} {built}, checked\n{}{told}", checked.remarks())
        }
    }
}

/// Whether no scenario of the project in `folder` fails, and what there is to tell.
fn scenarios(folder: &Path, unit: &Path, examiner: &Examiner) -> Result<(bool, String), Failure> {
    let unit = examiner.load(unit)?;
    let tested = test::of_project(folder, &unit)?;
    Ok(tested.unwrap_or((true, String::new())))
}

/// Of the world's time, as that of a server's log is.
fn time_of_day() -> String {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let time = now.split_once('T').map_or(&*now, |(_, time)| time);
    format!("{} UTC", time.trim_end_matches('Z'))
}

/// Hears from the system that something may have changed.
struct Ears {
    /// None where the system tells of nothing: then the sources are only looked at now and then.
    watcher: Option<RecommendedWatcher>,
    heard: BTreeSet<PathBuf>,
    bell: Receiver<()>,
    /// Keeps the bell's other end where there is no watcher.
    _sender: Sender<()>,
}

impl Ears {
    fn new() -> Self {
        let (sender, bell) = mpsc::channel();
        let ring = sender.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // That we read them ourselves is no change.
            if event.map_or(true, |event| !event.kind.is_access()) {
                // Nobody listens at the end of the program.
                let _ = ring.send(());
            }
        });
        Self {
            watcher: watcher.ok(),
            heard: BTreeSet::new(),
            bell,
            _sender: sender,
        }
    }

    /// Listen to the folders of these sources: not to those that a build fills.
    fn listen(&mut self, sources: &Sources) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        let wanted: BTreeSet<PathBuf> = sources.folders().map(PathBuf::from).collect();
        for folder in self.heard.difference(&wanted) {
            // It is gone, and with it what the system keeps of it.
            let _ = watcher.unwatch(folder);
        }
        self.heard.retain(|folder| wanted.contains(folder));
        for folder in wanted {
            if !self.heard.contains(&folder)
                && watcher.watch(&folder, RecursiveMode::NonRecursive).is_ok()
            {
                self.heard.insert(folder);
            }
        }
    }

    /// Wait until something was heard of and it is quiet again, or it is time to look anyway.
    fn wait(&self) {
        if self.bell.recv_timeout(RESCAN).is_ok() {
            while self.bell.recv_timeout(SETTLE).is_ok() {}
        }
    }
}
