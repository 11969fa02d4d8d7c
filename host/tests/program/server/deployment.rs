//! A deployment as its clients see it.

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::{client, folder};

/// A client of one server.
#[derive(Clone)]
pub(crate) struct Api {
    base: String,
    token: Option<String>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) etag: Option<String>,
    pub(crate) body: Value,
}

impl Api {
    pub(crate) fn of(server: &Server) -> Self {
        Self {
            base: server.url.clone(),
            token: None,
        }
    }

    pub(crate) fn with(server: &Server, token: &str) -> Self {
        Self {
            token: Some(token.to_owned()),
            ..Self::of(server)
        }
    }

    /// Ask with a body of that type and more headers. A connection that ends has no
    /// answer.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, ureq::Error> {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let agent = client();
        let request = request.body(body.to_vec()).unwrap();
        let config = agent.configure_request(request);
        let request = config.allow_non_standard_methods(true).build();
        let mut answer = agent.run(request)?;
        let etag = answer.headers().get("etag");
        let etag = etag.map(|tag| tag.to_str().unwrap().to_owned());
        let text = answer
            .body_mut()
            .with_config()
            .limit(1 << 30)
            .read_to_string()?;
        Ok(Answer {
            status: answer.status().as_u16(),
            etag,
            body: serde_json::from_str(&text).unwrap_or(Value::String(text)),
        })
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], b"").unwrap()
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.try_send(method, path, body).unwrap()
    }

    pub(crate) fn try_send(
        &self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Answer, ureq::Error> {
        // `null` is no body: routes that take none refuse one.
        if body.is_null() {
            return self.ask(method, path, &[], b"");
        }
        let kind = [("content-type", "application/json")];
        self.ask(method, path, &kind, body.to_string().as_bytes())
    }
}

/// A cluster of so many hosts with room for a few hundred VMs each.
pub(super) fn cluster(name: &str, hosts: usize) -> Value {
    let hosts = (0..hosts)
        .map(|it| json!({"id": format!("h{it}"), "cpu.cores": 1000, "memory.total": "1 TiB"}));
    json!({"name": name, "hosts": hosts.collect::<Vec<_>>()})
}

pub(super) fn vm(id: &str) -> Value {
    json!({"id": id, "cpu": "1 cores", "memory": "1 GiB"})
}

#[test]
fn vms_are_placed_confirmed_and_there_after_a_restart() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 3));
    assert_eq!(
        (made.status, &made.body["counted"]["hosts"]),
        (201, &json!(3))
    );
    let again = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 3));
    assert_eq!(
        (again.status, &again.body["code"]),
        (409, &json!("conflict"))
    );
    let placed = api.send("POST", "/v1/clusters/c/place", &vm("v"));
    assert_eq!((placed.status, &placed.body["host"]), (200, &json!("h0")));
    let confirmed = api.send("POST", "/v1/clusters/c/confirm", &json!({"vms": ["v"]}));
    assert_eq!(confirmed.status, 204);
    let changed = api.send(
        "POST",
        "/v1/clusters/c/inventory/changes",
        &json!({"hosts": [{"id": "new", "cpu.cores": 4, "memory.total": "8 GiB"}], "statistics": [{"id": "h1", "cpu.usage": 0.25}]}),
    );
    assert_eq!(changed.body["hosts"], json!(4));
    let why = api.send("POST", "/v1/clusters/c/why?host=new", &vm("w"));
    assert_eq!(why.body["standing"], json!("costlier"), "{why:?}");
    let explained = api.get("/v1/clusters/c/decisions/1/explanation");
    assert_eq!(explained.body["chosen"], json!("h0"));
    let replayed = api.send("POST", "/v1/clusters/c/decisions/1/replay", &json!({}));
    assert_eq!(replayed.body["same"], json!(true));
    server.signal("TERM");
    let (status, log) = server.ended();
    assert!(status.success(), "{log}");

    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let shown = api.get("/v1/clusters/c");
    assert_eq!(shown.body["counted"]["vms"], json!(1), "{shown:?}");
    assert_eq!(api.get("/v1/clusters/c/vms/v").body["host"], json!("h0"));
    assert_eq!(
        api.get("/v1/clusters/c/decisions").body["items"][0]["number"],
        json!(1)
    );
    let again = api.get("/v1/clusters/c/decisions/1/explanation");
    assert_eq!((again.status, &again.body), (200, &explained.body));
    assert_eq!(api.get("/v1/clusters/c/decisions/2").status, 404);
}

#[test]
fn of_two_edits_of_one_revision_the_second_is_refused() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let cloned = api.send(
        "POST",
        "/v1/policies/worst-fit/clone",
        &json!({"name": "mine"}),
    );
    let tag = cloned.etag.unwrap();
    let text = json!({"filters": [{"unit": "worst-fit"}]}).to_string();
    let edit = |tag: &str| {
        let headers = [("content-type", "application/json"), ("if-match", tag)];
        api.ask("PUT", "/v1/policies/mine", &headers, text.as_bytes())
            .unwrap()
    };
    assert_eq!(edit(&tag).status, 200);
    let second = edit(&tag);
    assert_eq!(
        (second.status, &second.body["code"]),
        (412, &json!("revision-changed"))
    );
    let unsaid = api.send("PUT", "/v1/policies/mine", &json!({}));
    assert_eq!(unsaid.status, 428);
    assert_eq!(
        api.get("/v1/policies/mine/history").body["items"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let locked = [("content-type", "application/json"), ("if-match", "*")];
    let locked = api
        .ask("PUT", "/v1/policies/none", &locked, text.as_bytes())
        .unwrap();
    assert_eq!(locked.status, 423);
    let headers = [("content-type", "application/json"), ("if-match", "*")];
    let typo = api.ask(
        "PUT",
        "/v1/policies/mine",
        &headers,
        br#"{"filters": [{"unit": "worst-fti"}]}"#,
    );
    let typo = typo.unwrap();
    assert_eq!(typo.status, 422);
    assert_eq!(
        typo.body["errors"][0]["suggestion"],
        json!("worst-fit"),
        "{typo:?}"
    );
}

#[test]
fn unknown_ids_and_documents_that_make_no_sense_get_problems_and_change_nothing() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 1));
    let counted = || {
        let mut counted = api.get("/v1/clusters/c").body["counted"].clone();
        // The clock counts up the version, too.
        counted.as_object_mut().unwrap().remove("version");
        counted
    };
    let before = counted();
    for (method, path, body, status) in [
        ("POST", "/v1/clusters/d/place", vm("v"), 404),
        (
            "POST",
            "/v1/clusters/c/confirm",
            json!({"vms": ["nobody"]}),
            404,
        ),
        (
            "POST",
            "/v1/clusters/c/place",
            json!({"id": "v", "memry": 1}),
            422,
        ),
        (
            "POST",
            "/v1/clusters/c/place",
            json!({"id": "v", "allowed": ["nowhere"]}),
            422,
        ),
        (
            "POST",
            "/v1/clusters/c/place",
            json!({"id": "v", "now": 9_999_999_999_i64}),
            422,
        ),
        (
            "POST",
            "/v1/clusters/c/inventory/changes",
            json!({"gone": {"hosts": ["x"]}}),
            404,
        ),
        ("POST", "/v1/clusters/c/why?host=nowhere", vm("v"), 404),
        ("POST", "/v1/clusters/c/plans/7/begin", json!({}), 404),
        (
            "PUT",
            "/v1/clusters/c/inventory",
            json!({"hosts": [{"id": "a"}, {"id": "a"}]}),
            422,
        ),
        ("POST", "/v1/units/nothing/rollback", json!({}), 404),
        (
            "POST",
            "/v1/units/nothing/rollback",
            json!({"digest": "00".repeat(32)}),
            404,
        ),
        (
            "POST",
            "/v1/clusters/c/place-batch?search=x",
            json!({"vms": [vm("v")]}),
            400,
        ),
        (
            "POST",
            "/v1/clusters/c/place-batch",
            json!({"vms": (0..10_001).map(|it| vm(&it.to_string())).collect::<Vec<_>>()}),
            413,
        ),
    ] {
        let headers = [("content-type", "application/json"), ("if-match", "*")];
        let answer = api.ask(method, path, &headers, body.to_string().as_bytes());
        let answer = answer.unwrap();
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        assert!(
            answer.body["detail"]
                .as_str()
                .is_some_and(|it| it.len() > 10),
            "{answer:?}"
        );
    }
    assert_eq!(counted(), before);
}
