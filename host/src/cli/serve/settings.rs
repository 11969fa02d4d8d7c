//! The configuration that is in force, ready for use.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use placewright_deployment::ReturnAfter;
use placewright_document::Word;
use placewright_engine::Limits;
use placewright_engine::unit::Digest;
use placewright_http::{ApiLimits, GroupRole, Token, Transport};
use placewright_library::signature::Key;
use placewright_model::Value;
use placewright_model::budget::ClusterBounds;
use placewright_records::audit::{AuditFileOptions, Destination};
use placewright_records::telemetry::{LogFormat, check_level};
use placewright_records::traces::{TraceOptions, endpoint};

use super::openid::{self, OpenIdSettings};
use super::options::Durability;
use super::sources::{Source, Sources};

/// Where traces are sent.
#[derive(Debug)]
pub(crate) struct TraceSettings {
    /// Without headers.
    pub options: TraceOptions,
    /// The file of headers.
    pub headers: Option<PathBuf>,
}

/// Everything that the server is told.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Where requests come in.
    pub listen: SocketAddr,
    /// Folder of what must last.
    pub data: PathBuf,
    /// Folder that is watched for units.
    pub units: PathBuf,
    /// Folder that is watched for policies.
    pub policies: PathBuf,
    /// Folder of compiled code.
    pub cache: PathBuf,
    /// Whether folders are used that other users may write to.
    pub shared_folders: bool,
    /// Files of certificates and key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Whether tokens may come in clear text from other machines.
    pub insecure_plain_http: bool,
    /// Who may call.
    pub tokens: Vec<Token>,
    /// Which provider people sign in with; None: with none.
    pub openid: Option<OpenIdSettings>,
    /// What they may do then.
    pub openid_roles: Vec<GroupRole>,
    /// Whose signatures are trusted.
    pub trusted_keys: Vec<Key>,
    /// Units that are never let in.
    pub revoked: Vec<Digest>,
    /// Whether units must be signed.
    pub require_signatures: bool,
    /// The greatest share of recorded decisions that a new unit may change.
    pub require_replay: Option<f64>,
    /// How long a request waits for its cluster's turn.
    pub decision_wait: Duration,
    /// How long one decision may take.
    pub decision_hold: Duration,
    /// How long one turn of a cluster may take.
    pub turn_time: Duration,
    /// How long a question may take.
    pub question_time: Duration,
    /// Seconds until a reservation ends; None: never.
    pub reservation: Option<i64>,
    /// The most seconds that a request may ask for; None: it may have places for good.
    pub longest_reservation: Option<i64>,
    /// The share of a cluster that may vanish when its inventory is replaced.
    pub vanishing_share: f64,
    /// When a unit that fails is rolled back; None: never.
    pub return_after: Option<ReturnAfter>,
    /// Decisions of a cluster that are remembered.
    pub recorded_decisions: usize,
    /// Bytes of a cluster's past that are kept for them.
    pub history_bytes: u64,
    /// How much of each cluster there may be.
    pub bounds: ClusterBounds,
    /// Bytes of the answers of a cluster that are given again.
    pub answer_bytes: u64,
    /// Bytes of the policies that a token may make.
    pub policy_bytes: u64,
    /// How sure changes are on disk.
    pub durability: Durability,
    /// What units may use.
    pub unit_limits: Limits,
    /// What requests may use.
    pub api_limits: ApiLimits,
    /// What the log looks like.
    pub log_format: LogFormat,
    /// What is logged.
    pub log_level: String,
    /// Where changes and refusals are recorded.
    pub audit: Destination,
    /// Where traces are sent; None: there are none.
    pub traces: Option<TraceSettings>,
    /// How long the server may take to end after a signal to stop.
    pub shutdown_time: Duration,
    /// Threads for requests.
    pub threads: usize,
    /// Whether pages for people are served.
    pub console: bool,
}

impl Settings {
    /// How requests reach the server.
    pub(crate) fn transport(&self) -> Transport {
        match (&self.tls, self.insecure_plain_http) {
            (Some(_), _) => Transport::Tls,
            (None, true) => Transport::PlainFromAfar,
            (None, false) => Transport::Plain,
        }
    }

    /// Take every value from its source.
    ///
    /// # Errors
    /// What is wrong with values that only shows when they are used, a line each.
    pub(crate) fn of(sources: &Sources) -> Result<Self, String> {
        let mut reader = Reader {
            sources,
            complaints: Vec::new(),
        };
        let settings = reader.settings();
        match reader.complaints.is_empty() {
            true => Ok(settings),
            false => Err(reader.complaints.join("\n")),
        }
    }
}

struct Reader<'s> {
    sources: &'s Sources,
    complaints: Vec<String>,
}

impl Reader<'_> {
    fn settings(&mut self) -> Settings {
        let data = self.path("data").unwrap_or_else(|| self.data_folder());
        let below =
            |reader: &Self, name: &str| reader.path(name).unwrap_or_else(|| data.join(name));
        Settings {
            listen: self.listen(),
            units: below(self, "units"),
            policies: below(self, "policies"),
            cache: below(self, "cache"),
            shared_folders: self.switch("shared-folders"),
            tls: self.tls(),
            insecure_plain_http: self.switch("insecure-plain-http"),
            tokens: self.sources.tokens.clone(),
            openid: self.openid(),
            openid_roles: self.sources.openid_roles.clone(),
            trusted_keys: self.sources.trusted_keys.clone(),
            revoked: self.sources.revoked.clone(),
            require_signatures: self.require_signatures(),
            require_replay: self.number("require-replay"),
            decision_wait: self.duration("decision-wait"),
            decision_hold: self.duration("decision-hold"),
            turn_time: self.duration("turn-time"),
            question_time: self.duration("question-time"),
            reservation: self.integer("reservation").filter(|seconds| *seconds > 0),
            longest_reservation: self
                .integer("longest-reservation")
                .filter(|seconds| *seconds > 0),
            vanishing_share: self.number("vanishing-share").unwrap_or(1.0),
            return_after: Some(ReturnAfter {
                failures: self.count("return-after-failures"),
                decisions: self.count("return-within-decisions") as u64,
            })
            .filter(|it| it.failures > 0),
            recorded_decisions: self.count("recorded-decisions"),
            history_bytes: self.count("history-bytes") as u64,
            bounds: ClusterBounds {
                inventory: self.count("inventory-bytes") as u64,
                columns: self.count("column-bytes") as u64,
            },
            answer_bytes: self.count("answer-bytes") as u64,
            policy_bytes: self.count("policy-bytes") as u64,
            durability: self.word("durability").unwrap_or(Durability::Full),
            unit_limits: Limits {
                time: self.duration("unit-time"),
                memory: self.count("unit-memory"),
                answer: self.count("unit-answer"),
                file: self.count("unit-file"),
                compile_time: self.duration("unit-compile-time"),
                compile_memory: self.count("unit-compile-memory"),
                instances: u32::try_from(self.count("unit-instances")).unwrap_or(u32::MAX),
                total_memory: self.count("unit-total-memory"),
                ..Limits::default()
            },
            api_limits: ApiLimits {
                body: self.count("request-body"),
                bodies: self.bodies(),
                answers: self.count("answers"),
                request: self.duration("request-time"),
                header: self.duration("header-time"),
                stall: self.duration("stall-time"),
                connections: self.count("connections"),
                connections_per_address: self.count("connections-per-address"),
                connections_per_token: self.count("connections-per-token"),
                streams_per_token: self.count("streams-per-token"),
            },
            log_format: self.word("log-format").unwrap_or_default(),
            log_level: self.log_level(),
            audit: self.audit(&data),
            traces: self.traces(),
            shutdown_time: self.duration("shutdown-time"),
            threads: self.count("threads"),
            console: self.console(),
            data,
        }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.sources.get(name)?.value.as_ref()
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    fn switch(&self, name: &str) -> bool {
        matches!(self.value(name), Some(Value::Boolean(true)))
    }

    /// Whether the console is served: only a program that was built with it can.
    fn console(&mut self) -> bool {
        let is_wanted = self.switch("console");
        if is_wanted && !cfg!(feature = "console") {
            let sentence = "this program was built without the console: leave it out";
            self.complain("console", sentence);
        }
        is_wanted
    }

    fn integer(&self, name: &str) -> Option<i64> {
        match self.value(name)? {
            Value::Integer(integer) => Some(*integer),
            _ => None,
        }
    }

    fn count(&self, name: &str) -> usize {
        let count = self.integer(name).unwrap_or(0);
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    fn number(&self, name: &str) -> Option<f64> {
        match self.value(name)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    fn duration(&self, name: &str) -> Duration {
        let seconds = self.number(name).unwrap_or(0.0);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    fn word<W: Word>(&self, name: &str) -> Option<W> {
        self.text(name).and_then(W::from_word)
    }

    /// Complain of a value, where it comes from.
    fn complain(&mut self, name: &str, sentence: impl std::fmt::Display) {
        let source = self.sources.get(name).map(|setting| &setting.source);
        let source = source.map_or_else(|| name.to_owned(), ToString::to_string);
        self.complaints.push(format!("{source}: {sentence}"));
    }

    fn data_folder(&mut self) -> PathBuf {
        match dirs::data_dir() {
            Some(folder) => folder.join("placewright"),
            None => {
                self.complain(
                    "data",
                    "this user has no folder for data; name one with --data",
                );
                PathBuf::new()
            }
        }
    }

    fn listen(&mut self) -> SocketAddr {
        let text = self.text("listen").unwrap_or_default().to_owned();
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        text.parse().unwrap_or_else(|_| {
            let sentence = format!(
                "\"listen\" must be an address and a port, not \"{text}\"; write for example \
                 \"127.0.0.1:7425\" or \"[::1]:7425\""
            );
            self.complain("listen", sentence);
            nowhere
        })
    }

    fn tls(&mut self) -> Option<(PathBuf, PathBuf)> {
        match (self.path("tls-certificate"), self.path("tls-key")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (Some(_), None) => {
                self.complain("tls-certificate", "a certificate needs its \"tls-key\"");
                None
            }
            (None, Some(_)) => {
                self.complain("tls-key", "a key needs its \"tls-certificate\"");
                None
            }
            (None, None) => None,
        }
    }

    /// The provider: what it needs is given with it, and nothing of it without.
    fn openid(&mut self) -> Option<OpenIdSettings> {
        let has_roles = !self.sources.openid_roles.is_empty();
        let Some(issuer) = self.text("openid-issuer").map(str::to_owned) else {
            let given = openid::OPTIONS.into_iter().find(|name| {
                let setting = self.sources.get(name);
                setting.is_some_and(|it| it.source != Source::Default)
            });
            if let Some(name) = given {
                let sentence = format!("\"{name}\" is of use only with \"openid-issuer\"");
                self.complain(name, sentence);
            } else if has_roles {
                let sentence = "[[openid-roles]] are of use only with \"openid-issuer\"";
                self.complain("openid-issuer", sentence);
            }
            return None;
        };
        if !self.switch("console") || !cfg!(feature = "console") {
            let sentence = "people sign in to the console, and there is none here";
            self.complain("openid-issuer", sentence);
        }
        if !has_roles {
            let sentence = "nobody could sign in: the configuration has no [[openid-roles]]";
            self.complain("openid-issuer", sentence);
        }
        let mut needed = |name: &str| {
            let text = self.text(name).unwrap_or_default().to_owned();
            if text.is_empty() {
                self.complain("openid-issuer", format!("a provider needs \"{name}\", too"));
            }
            text
        };
        let (client, public_url) = (needed("openid-client"), needed("public-url"));
        let [scopes, name, groups] =
            ["openid-scopes", "openid-name", "openid-groups"].map(&mut needed);
        if !scopes.split(' ').any(|scope| scope == "openid") {
            let sentence = "\"openid\" must be among the scopes: without it nobody is named";
            self.complain("openid-scopes", sentence);
        }
        Some(OpenIdSettings {
            issuer,
            client,
            secret: self.path("openid-client-secret"),
            certificates: self.path("openid-certificates"),
            public_url,
            scopes,
            name,
            groups,
            session: i64::try_from(self.duration("openid-session").as_secs())
                .unwrap_or(i64::MAX)
                .max(1),
        })
    }

    fn require_signatures(&mut self) -> bool {
        let required = self.switch("require-signatures");
        if required && self.sources.trusted_keys.is_empty() {
            self.complain(
                "require-signatures",
                "no unit could be loaded: the configuration has no [[trusted-keys]]",
            );
        }
        required
    }

    fn bodies(&mut self) -> usize {
        let (one, all) = (self.count("request-body"), self.count("request-bodies"));
        if all < one {
            self.complain(
                "request-bodies",
                "\"request-bodies\" must be no less than \"request-body\", or the largest body would never fit",
            );
        }
        all
    }

    fn audit(&self, data: &Path) -> Destination {
        let path = match self.text("audit-log") {
            Some("off") => return Destination::Off,
            Some("log") => return Destination::Log,
            Some(path) => PathBuf::from(path),
            None => data.join("audit.jsonl"),
        };
        Destination::File(AuditFileOptions {
            path,
            size: self.count("audit-log-size") as u64,
            files: self.count("audit-log-files"),
            age: self.duration("audit-log-age"),
            spare: self.count("audit-log-spare") as u64,
        })
    }

    fn traces(&mut self) -> Option<TraceSettings> {
        let to = self.text("trace-endpoint").map(endpoint);
        let headers = self.path("trace-headers");
        let share = self.number("trace-share").unwrap_or(1.0);
        match to {
            Some(Ok(endpoint)) => Some(TraceSettings {
                options: TraceOptions {
                    endpoint,
                    headers: Vec::new(),
                    share,
                },
                headers,
            }),
            Some(Err(error)) => {
                self.complain("trace-endpoint", error);
                None
            }
            None => {
                if headers.is_some() {
                    self.complain(
                        "trace-headers",
                        "headers for traces are given, and no \"trace-endpoint\" to send them to",
                    );
                }
                None
            }
        }
    }

    fn log_level(&mut self) -> String {
        let level = self.text("log-level").unwrap_or_default().to_owned();
        if let Err(error) = check_level(&level) {
            self.complain("log-level", error);
        }
        level
    }
}
