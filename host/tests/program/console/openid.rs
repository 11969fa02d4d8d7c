//! People sign in by a real provider: oidc-provider, which is certified. Where it is missing
//! nothing is tried: `tests/run --install` installs it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

use placewright_tests::server::{Server, placewright};
use placewright_tests::waiting::wait_until;
use placewright_tests::{repository, target_folder};

use super::browser::python;
use super::{Pairs, Shown, browse};
use crate::server::generated::{installed, run};

const CLIENT: &str = "placewright";
const SECRET: &str = "a secret: of %the client";

/// The provider. It is killed when it is dropped.
struct Provider {
    child: Child,
    /// Open as long as the provider may write to it.
    _output: BufReader<ChildStdout>,
    issuer: String,
}

impl Provider {
    fn start(redirect: &str) -> Option<Self> {
        installed("openid-provider/node_modules/oidc-provider/package.json")?;
        let mut child = Command::new("node")
            .arg(repository().join("host/tests/program/console/provider.mjs"))
            .arg(target_folder().join("openid-provider"))
            .args([CLIENT, SECRET, redirect])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let issuer = line.trim().to_owned();
        assert!(issuer.starts_with("http://"), "the provider does not start");
        Some(Self {
            child,
            _output: output,
            issuer,
        })
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody is given who asks for any: below those that the system gives, and another
/// one each time.
fn port() -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + (std::process::id() % 1_000) as u16 * 10;
    let mut ports = first + TAKEN.fetch_add(1, Ordering::Relaxed)..32_000;
    let free = ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.unwrap()
}

/// A server that people sign in to, without any token.
struct Desk {
    provider: Provider,
    server: Server,
    data: tempfile::TempDir,
}

const ROLES: &str = "[[openid-roles]]\ngroup = 'staff'\nrole = 'viewer'\n\
                     [[openid-roles]]\ngroup = 'operators'\nrole = 'operator'\nclusters = ['north']\n";

impl Desk {
    fn start() -> Option<Self> {
        let port = port();
        let url = format!("http://127.0.0.1:{port}");
        let provider = Provider::start(&format!("{url}/sign-in/openid/back"))?;
        let data = tempfile::tempdir().unwrap();
        let secret = data.path().join("secret");
        fs::write(&secret, format!("{SECRET}\n")).unwrap();
        let options = format!(
            "openid-issuer = '{}'\nopenid-client = '{CLIENT}'\nopenid-client-secret = '{}'\n\
             openid-scopes = 'openid groups'\npublic-url = '{url}'\n",
            provider.issuer,
            secret.display()
        );
        configure(data.path(), &format!("{options}{ROLES}"));
        let mut command = placewright(["serve", "--log-format", "json"]);
        command.args(["--listen", &format!("127.0.0.1:{port}")]);
        command
            .arg("--cache")
            .arg(target_folder().join("serve-cache"));
        command.arg("--data").arg(data.path().join("data"));
        command
            .arg("--config")
            .arg(data.path().join("placewright.toml"));
        let server = Server::spawn(command);
        Some(Self {
            provider,
            server,
            data,
        })
    }

    fn get(&self, path: &str, cookie: &str) -> Shown {
        browse(&self.server.url, "GET", path, cookie, (&[], &[]))
    }

    /// Sign in at the provider as somebody: the path that the browser comes back to, and what it
    /// keeps for the server.
    fn sign_in(&self, name: &str) -> (String, String) {
        let begun = self.get("/sign-in/openid", "");
        assert_eq!(begun.status, 303, "{}", begun.body);
        let kept = begun.header("set-cookie");
        assert!(
            kept.contains("HttpOnly") && kept.contains("SameSite=Lax"),
            "{kept}"
        );
        let kept = kept.split(';').next().unwrap().to_owned();
        let mut to = begun.header("location").to_owned();
        let mut form: Vec<(&str, String)> = Vec::new();
        let mut cookies = BTreeMap::new();
        loop {
            if let Some(back) = to.strip_prefix(&self.server.url) {
                return (back.to_owned(), kept);
            }
            let path = to.strip_prefix(&self.provider.issuer).unwrap_or(&to);
            let sent: Vec<String> = cookies
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            let method = if form.is_empty() { "GET" } else { "POST" };
            let fields: Vec<(&str, &str)> = form
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            let issuer = &self.provider.issuer;
            let shown = browse(issuer, method, path, &sent.join("; "), (&[], &fields));
            for cookie in shown.headers.get_all("set-cookie") {
                let pair = cookie.to_str().unwrap().split(';').next().unwrap();
                let (name, value) = pair.split_once('=').unwrap();
                match value {
                    "" => cookies.remove(name),
                    value => cookies.insert(name.to_owned(), value.to_owned()),
                };
            }
            form.clear();
            match shown.status {
                302 | 303 => shown.header("location").clone_into(&mut to),
                200 => {
                    // A form of the provider: who are you, and may this server know?
                    let after = |start: &str| {
                        let (_, rest) = shown.body.split_once(start)?;
                        Some(rest.split('"').next().unwrap_or_default().to_owned())
                    };
                    to = after("action=\"").unwrap();
                    let prompt = after("name=\"prompt\" value=\"").unwrap();
                    form.push(("prompt", prompt));
                    form.push(("login", name.to_owned()));
                    form.push(("password", "any".to_owned()));
                }
                status => panic!("{status} from {to}: {}", shown.body),
            }
        }
    }
}

fn configure(data: &Path, text: &str) {
    let path = data.join("placewright.toml");
    let new = data.join("placewright.toml.new");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

fn session(shown: &Shown) -> String {
    let mut kept = shown.headers.get_all("set-cookie").iter();
    let session = kept.find_map(|it| {
        let pair = it.to_str().unwrap().split(';').next()?;
        pair.starts_with("placewright-session=")
            .then(|| pair.to_owned())
    });
    session.unwrap_or_default()
}

#[test]
fn people_sign_in_by_a_provider_and_may_what_their_groups_may() {
    let Some(desk) = Desk::start() else { return };
    // There are no tokens, and yet nothing is open.
    let shown = desk.get("/", "");
    assert_eq!(shown.status, 401);
    assert!(
        shown.body.contains("href=\"/sign-in/openid\""),
        "{}",
        shown.body
    );
    assert_eq!(desk.get("/v1/clusters", "").status, 401);
    let (back, kept) = desk.sign_in("ann");
    // Another browser cannot use it, and neither can this one with another answer.
    assert_eq!(desk.get(&back, "").status, 401);
    assert_eq!(desk.get(&back, "placewright-openid=a.b.c.2f").status, 401);
    let signed_in = desk.get(&back, &kept);
    assert_eq!(signed_in.status, 200, "{}", signed_in.body);
    assert_eq!(signed_in.header("refresh"), "0; url=/");
    let session = session(&signed_in);
    let overview = desk.get("/", &session);
    assert_eq!(overview.status, 200);
    assert!(overview.body.contains("openid:ann"), "{}", overview.body);
    assert!(overview.body.contains("operator"), "{}", overview.body);
    // The operator of one cluster is not the admin of units.
    let own: Pairs<'_> = &[("sec-fetch-site", "same-origin")];
    let refused = browse(
        &desk.server.url,
        "POST",
        "/units/memory",
        &session,
        (own, &[("do", "disable")]),
    );
    assert_eq!(refused.status, 403, "{}", refused.body);
    // The code counts once, and stands nowhere.
    assert_eq!(desk.get(&back, &kept).status, 401);
    let log = desk.data.path().join("data/audit.jsonl");
    let read = || fs::read_to_string(&log).unwrap_or_default();
    wait_until("a record of the sign-in", || {
        read().contains("\"/sign-in/openid/back\"")
    });
    assert!(!read().contains("code="), "{}", read());
    // The groups get other roles: people sign in again.
    let path = desk.data.path().join("placewright.toml");
    let text = fs::read_to_string(&path)
        .unwrap()
        .replace("'staff'", "'nobody'");
    configure(desk.data.path(), &text);
    desk.server.signal("HUP");
    wait_until("the end of the session", || {
        desk.get("/", &session).status != 200
    });
    let (back, kept) = desk.sign_in("ann");
    let again = self::session(&desk.get(&back, &kept));
    assert_eq!(desk.get("/", &again).status, 200);
    let ended = browse(&desk.server.url, "POST", "/sign-out", &again, (own, &[]));
    assert_eq!(ended.status, 303);
    assert_eq!(desk.get("/", &again).status, 401);
}

#[test]
fn somebody_without_a_role_is_told_so_and_a_provider_that_is_gone_too() {
    let Some(mut desk) = Desk::start() else {
        return;
    };
    let (back, kept) = desk.sign_in("eve");
    let refused = desk.get(&back, &kept);
    assert_eq!(refused.status, 403, "{}", refused.body);
    let sentence = "none of your groups has a role here: visitors";
    assert!(refused.body.contains(sentence), "{}", refused.body);
    assert!(session(&refused).is_empty());
    let declined = format!(
        "/sign-in/openid/back?error=access_denied&iss={}&state=x",
        desk.provider.issuer
    );
    assert_eq!(desk.get(&declined, &kept).status, 401);
    // What is known of it lasts for an hour; a code is given for nothing without it.
    let (back, kept) = desk.sign_in("ann");
    desk.provider.child.kill().unwrap();
    desk.provider.child.wait().unwrap();
    let away = desk.get(&back, &kept);
    assert_eq!(away.status, 502, "{}", away.body);
    assert!(away.body.contains("cannot be reached"), "{}", away.body);
}

#[test]
fn a_browser_that_signs_in_by_a_provider_is_on_the_page_that_it_was_sent_from() {
    let Some(python) = python() else { return };
    let Some(desk) = Desk::start() else { return };
    let script = repository().join("host/tests/program/console/openid.py");
    let said = run(Command::new(python).arg(script).arg(&desk.server.url));
    assert!(said.contains("signed in"), "{said}");
}

#[test]
fn what_is_wrong_with_a_provider_in_the_configuration_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |text: &str| {
        configure(folder.path(), text);
        let file = folder.path().join("placewright.toml");
        let output = placewright(["serve", "--check", "--config"])
            .arg(file)
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let good = "openid-issuer = 'https://id.example'\nopenid-client = 'p'\npublic-url = 'https://p.example'\n";
    for (text, sentence) in [
        (
            ROLES.to_owned(),
            "[[openid-roles]] are of use only with \"openid-issuer\"",
        ),
        (
            "openid-client = 'p'\n".to_owned(),
            "\"openid-client\" is of use only with \"openid-issuer\"",
        ),
        (good.to_owned(), "nobody could sign in"),
        (
            format!("openid-issuer = 'https://id.example'\n{ROLES}"),
            "a provider needs \"openid-client\", too",
        ),
        (
            format!("{}{ROLES}", good.replace("https://id", "http://id")),
            "must begin with https://",
        ),
        (
            format!("{}{ROLES}", good.replace("p.example", "p.example/a")),
            "must have no path",
        ),
        (
            format!("console = false\n{good}{ROLES}"),
            "there is none here",
        ),
        (
            format!("openid-scopes = 'email'\n{good}{ROLES}"),
            "\"openid\" must be among the scopes",
        ),
        (
            format!("openid-client-secret = '/none'\n{good}{ROLES}"),
            "cannot read /none",
        ),
        (
            format!("{good}[[openid-roles]]\ngroup = ''\nrole = 'viewer'\n"),
            "the name of a group must not be empty",
        ),
    ] {
        let said = refused(&text);
        assert!(said.contains(sentence), "{sentence}: {said}");
    }
    configure(folder.path(), &format!("{good}{ROLES}"));
    let file = folder.path().join("placewright.toml");
    let mut shown = placewright(["serve", "--print-config", "--config"]);
    let shown = run(shown.arg(file).arg("--data").arg(folder.path()));
    assert!(
        shown.contains(
            "[[openid-roles]]\ngroup = \"operators\"\nrole = \"operator\"\nclusters = [\"north\"]"
        ),
        "{shown}"
    );
}
