//! The units and the policy that a command works with.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use placewright_document::nearest;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_library::watch::{ReadError, being_written};
use placewright_model::schema::Schema;
use placewright_plugins as plugins;
use placewright_policy as policy;

use super::failure::Failure;

/// Where units come from, and where compiled code goes.
#[derive(Debug, Clone, Args)]
pub(super) struct UnitArgs {
    /// A unit, or a folder of units (*.wasm), besides those that come with the program; of two of
    /// one name it takes the place of the one that comes with the program. May be given again
    #[arg(long = "units", value_name = "DIR|FILE")]
    units: Vec<PathBuf>,
    #[command(flatten)]
    cache: CacheArgs,
}

/// Where compiled code goes.
#[derive(Debug, Clone, Args)]
pub(super) struct CacheArgs {
    /// Folder for compiled units, so that they load fast next time
    #[arg(
        long = "cache",
        env = "PLACEWRIGHT_CACHE",
        value_name = "DIR",
        hide_env_values = true
    )]
    folder: Option<PathBuf>,
    /// Keep no compiled code, whatever --cache says
    #[arg(long)]
    no_cache: bool,
}

impl CacheArgs {
    /// No compiled code is kept.
    pub(super) const NONE: Self = Self {
        folder: None,
        no_cache: true,
    };

    /// An engine that keeps compiled code where these arguments say, by default in
    /// the platform's folder for caches.
    pub(super) fn engine(&self, limits: Limits) -> Result<Engine, Failure> {
        let folder = match (&self.folder, self.no_cache) {
            (_, true) => None,
            (Some(given), _) => Some(given.clone()),
            (None, _) => dirs::cache_dir().map(|caches| caches.join("placewright")),
        };
        Engine::new(limits, folder.as_deref()).map_err(Failure::internal)
    }
}

impl UnitArgs {
    /// All units: those that come with the program, but for those whose names the
    /// given ones have.
    pub(super) fn load(&self) -> Result<Generation, Failure> {
        self.load_under(Limits::default())
    }

    /// Where compiled code goes.
    pub(super) fn cache(&self) -> &CacheArgs {
        &self.cache
    }

    /// The same, under other limits.
    pub(super) fn load_under(&self, limits: Limits) -> Result<Generation, Failure> {
        let engine = self.cache.engine(limits)?;
        let given = Generation::load(&engine, files(&self.units)?).map_err(all)?;
        let mut units: Vec<Arc<Unit>> = given.units().cloned().collect();
        for embedded in plugins::UNITS {
            if given.get(embedded.name).is_none() {
                let unit = Unit::load(&engine, embedded.bytes, embedded.name);
                units.push(unit.map_err(Failure::internal)?);
            }
        }
        Generation::new(units).map_err(Failure::input)
    }
}

/// The bytes of a file, or of a unit that comes with the program.
pub(super) fn component(unit: &str) -> Result<Cow<'static, [u8]>, Failure> {
    let embedded = plugins::UNITS.iter().find(|embedded| embedded.name == unit);
    if let Some(embedded) = embedded.filter(|_| !Path::new(unit).is_file()) {
        return Ok(Cow::Borrowed(embedded.bytes));
    }
    let bytes = fs::read(unit).map_err(|error| {
        let error = anyhow::Error::new(error);
        Failure::input(error.context(format!("cannot read {unit}")))
    })?;
    Ok(Cow::Owned(bytes))
}

/// A unit among those that come with the program. It takes the place of the one of its
/// name.
pub(super) fn beside_embedded(unit: &Arc<Unit>) -> Result<Generation, Failure> {
    let mut units = vec![unit.clone()];
    for embedded in plugins::UNITS {
        if embedded.name != unit.name() {
            let unit = Unit::load(unit.engine(), embedded.bytes, embedded.name);
            units.push(unit.map_err(Failure::internal)?);
        }
    }
    Generation::new(units).map_err(Failure::internal)
}

/// The units that come with the program.
pub(super) fn embedded(engine: &Engine) -> Result<Generation, Failure> {
    let units: Result<Vec<Arc<Unit>>, _> = plugins::UNITS
        .iter()
        .map(|embedded| Unit::load(engine, embedded.bytes, embedded.name))
        .collect();
    Generation::new(units.map_err(Failure::internal)?).map_err(Failure::internal)
}

/// Several errors, a line each.
fn all(errors: Vec<impl std::error::Error + Send + Sync + 'static>) -> Failure {
    let lines: Vec<String> = errors
        .into_iter()
        .map(|error| format!("{:#}", anyhow::Error::new(error)))
        .collect();
    Failure::input_because(lines.join("\n"))
}

/// The files that are named, and all components in the folders that are named.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut inside = components(path)?;
        if inside.is_empty() {
            return Err(Failure::input_because(format!(
                "{} has no unit: there is no file in it whose name ends in .wasm",
                path.display()
            )));
        }
        inside.sort();
        files.append(&mut inside);
    }
    Ok(files)
}

fn components(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error| {
        let error = anyhow::Error::new(error);
        Failure::input(error.context(format!("cannot read the folder {}", folder.display())))
    };
    let mut components = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "wasm") && path.is_file() {
            components.push(path);
        }
    }
    Ok(components)
}

/// How long a program that is writing a file is waited for.
const LONGEST_WRITING: Duration = Duration::from_secs(10);

/// How often it is seen whether it has finished.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Wait until no other program has the file open to write it.
pub(super) fn wait_for_writers(path: &Path) -> Result<(), Failure> {
    let begin = Instant::now();
    while being_written(path) {
        if begin.elapsed() > LONGEST_WRITING {
            return Err(Failure::input(ReadError::BeingWritten(path.to_owned())));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

/// The text of a file, once nobody is writing it: a text that is cut off may be one that
/// means something else.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    wait_for_writers(path)?;
    fs::read_to_string(path).map_err(|error| {
        let error = anyhow::Error::new(error);
        Failure::input(error.context(format!("cannot read {}", path.display())))
    })
}

/// Text and name of a policy: one that comes with the program, or a file.
pub(super) fn policy_text(policy: &str) -> Result<(String, String), Failure> {
    if let Some(embedded) = plugins::policy(policy) {
        return Ok((embedded.text.to_owned(), format!("{policy}.toml")));
    }
    let path = Path::new(policy);
    let looks_like_file = path.is_file() || policy.contains(['/', '\\', '.']);
    if looks_like_file {
        return Ok((read(path)?, policy.to_owned()));
    }
    Err(no_policy(policy))
}

/// There is no policy of that name.
pub(super) fn no_policy(name: &str) -> Failure {
    let names = || plugins::POLICIES.iter().map(|policy| policy.name);
    let hint = match nearest(name, names()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!(
            "name a file, or one of {}",
            names().collect::<Vec<_>>().join(", ")
        ),
    };
    Failure::input_because(format!("there is no policy \"{name}\": {hint}"))
}

/// The policy of that name or file, checked against units and schema.
pub(super) fn policy(
    policy: &str,
    units: &Generation,
    schema: &Schema,
) -> Result<Arc<policy::Policy>, Failure> {
    let (text, file) = policy_text(policy)?;
    let checked = policy::Policy::load(&text, &file, units, schema);
    checked.map(Arc::new).map_err(Failure::input)
}
