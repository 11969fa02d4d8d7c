//! The console as browsers see it: without one, and in one. Where there is none, nothing is tried
//! in it: `tests/run --install` installs one.

mod browser;
mod failing_units;
mod groups;
mod hosts_and_vms;
mod missing;
mod openid;
mod overview;
mod pages;
mod plans;
mod signing_in;
mod told;
mod what_is_allowed;
mod what_it_changes;

use std::fs;

use placewright_tests::server::Server;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::server::deployment::Api;
use super::server::roles::token;

/// Names and values: of headers, or of the fields of a form.
type Pairs<'p> = &'p [(&'p str, &'p str)];

/// A server with tokens of two roles, and a cluster.
struct Desk {
    server: Server,
    admin: String,
    viewer: String,
    _data: TempDir,
}

/// What a browser is answered.
struct Shown {
    status: u16,
    headers: ureq::http::HeaderMap,
    body: String,
}

impl Shown {
    fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).map(|value| value.to_str().unwrap());
        value.unwrap_or_default()
    }
}

impl Desk {
    fn start() -> Self {
        Self::start_with("")
    }

    /// The same with more in its configuration.
    fn start_with(more: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        let (admin, of_admin) = token("admin", None);
        let (viewer, of_viewer) = token("viewer", None);
        let configuration = data.path().join("placewright.toml");
        fs::write(&configuration, [more, &of_admin, &of_viewer].join("\n")).unwrap();
        let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
        Self {
            server,
            admin,
            viewer,
            _data: data,
        }
    }

    /// The API in the name of the admin.
    fn api(&self) -> Api {
        Api::with(&self.server, &self.admin)
    }

    /// A policy, and a cluster that it decides in.
    fn with_cluster(self) -> Self {
        let api = self.api();
        let headers = [("content-type", "application/toml"), ("if-none-match", "*")];
        let put = api.ask("PUT", "/v1/policies/house", &headers, POLICY.as_bytes());
        assert_eq!(put.unwrap().status, 200);
        let host = |number: usize| {
            json!({
                "id": format!("h{number}"), "zone": format!("z{}", number % 2),
                "cpu.cores": 8 + number, "memory.total": "64 GiB", "memory.free": "32 GiB",
                "state": if number == 3 { "maintenance" } else { "up" },
            })
        };
        let cluster = json!({
            "name": "north",
            "hosts": (1..=6).map(host).collect::<Vec<_>>(),
            "vms": [
                {"id": "a", "host": "h1", "cpu": 1, "memory": "1 GiB"},
                {"id": "b", "host": "h1", "cpu": 1, "memory": "1 GiB"},
                {"id": "c", "host": "h3", "cpu": 1, "memory": "1 GiB"},
            ],
            "groups": [{"id": "apart", "vms": ["a", "b"], "rule": "negative", "hard": true}],
        });
        let made = api.send("POST", "/v1/clusters?policy=house", &cluster);
        assert_eq!(made.status, 201, "{made:?}");
        for number in 0..8 {
            let vm = json!({"id": format!("v{number}"), "cpu": 2, "memory": format!("{} GiB", 2 + number)});
            let placed = api.send("POST", "/v1/clusters/north/place", &vm);
            assert_eq!(placed.status, 200, "{placed:?}");
        }
        self
    }

    /// Ask as a browser does: `cookie` is that of a session; a form comes from an own page.
    fn browse(&self, method: &str, path: &str, cookie: &str, form: &[(&str, &str)]) -> Shown {
        let own = [("sec-fetch-site", "same-origin")];
        self.browse_with(method, path, cookie, (&own, form))
    }

    fn browse_with(
        &self,
        method: &str,
        path: &str,
        cookie: &str,
        (headers, form): (Pairs<'_>, Pairs<'_>),
    ) -> Shown {
        browse(&self.server.url, method, path, cookie, (headers, form))
    }

    /// A page that there is.
    fn page(&self, path: &str, cookie: &str) -> String {
        let shown = self.browse("GET", path, cookie, &[]);
        assert_eq!(shown.status, 200, "{path}: {}", shown.body);
        shown.body
    }

    /// Sign in; gives the cookie.
    fn sign_in(&self, token: &str) -> String {
        let shown = self.browse("POST", "/sign-in", "", &[("token", token)]);
        assert_eq!(shown.status, 303, "{}", shown.body);
        let cookie = shown.header("set-cookie").split(';').next().unwrap();
        cookie.to_owned()
    }
}

/// Ask as a browser does that follows no redirect.
fn browse(
    server: &str,
    method: &str,
    path: &str,
    cookie: &str,
    (headers, form): (Pairs<'_>, Pairs<'_>),
) -> Shown {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .build();
    let agent: ureq::Agent = config.into();
    let mut request = ureq::http::Request::builder()
        .method(method)
        .uri(format!("{}{path}", server));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if !cookie.is_empty() {
        request = request.header("cookie", cookie);
    }
    let body = match method {
        "GET" => String::new(),
        _ => {
            request = request.header("content-type", "application/x-www-form-urlencoded");
            encoded(form)
        }
    };
    let mut answer = agent.run(request.body(body).unwrap()).unwrap();
    let limit = answer.body_mut().with_config().limit(16 << 20);
    let body = limit.read_to_string().unwrap();
    Shown {
        status: answer.status().as_u16(),
        headers: answer.headers().clone(),
        body,
    }
}

fn encoded(form: &[(&str, &str)]) -> String {
    let encode = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
                _ => format!("%{byte:02X}"),
            })
            .collect()
    };
    let pairs = form
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

const POLICY: &str = r#"
# What decides here.
name = "house"
tie-rule = ["id"]

[[filters]]
unit = "memory"

[[filters]]
unit = "cpu"

[[filters]]
unit = "affinity"

[[costs]]
unit = "memory"
scaling = "min-max"
factor = 2 # twice

[[costs]]
unit = "cpu"
scaling = "min-max"
"#;

/// The document of a policy as it is in force.
fn document(api: &Api) -> Value {
    api.get("/v1/policies/house").body
}
