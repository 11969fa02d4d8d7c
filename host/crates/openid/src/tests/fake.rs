//! A provider of a few fixed answers, on a socket of this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::Signer;
use crate::{Address, Begun, Identity, OpenIdError, OpenIdOptions, Provider, Returned};

/// What it answers.
pub(super) struct Answers {
    pub(super) metadata: Value,
    /// Of the ID token.
    pub(super) claims: Value,
    /// At the endpoint for further claims.
    pub(super) more: Value,
    /// The name of the key that the ID token names.
    pub(super) key_name: String,
}

pub(super) struct Fake {
    pub(super) provider: Provider,
    issuer: String,
    answers: Arc<Mutex<Answers>>,
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

pub(super) fn options(issuer: &str) -> OpenIdOptions {
    OpenIdOptions {
        issuer: Address::parse(issuer).unwrap(),
        client: super::CLIENT.to_owned(),
        secret: Some("s:ecret".to_owned()),
        certificates: None,
        redirect: Address::parse("https://placewright.example/sign-in/openid/back").unwrap(),
        scopes: "openid".to_owned(),
        name_claim: "sub".to_owned(),
        groups_claim: "groups".to_owned(),
    }
}

impl Fake {
    pub(super) fn start(change: impl FnOnce(&mut Answers)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let at = |path: &str| format!("{issuer}{path}");
        let mut answers = Answers {
            metadata: json!({
                "issuer": issuer,
                "authorization_endpoint": at("/authorize?tenant=1"),
                "token_endpoint": at("/token"),
                "jwks_uri": at("/keys"),
                "userinfo_endpoint": at("/more"),
                "authorization_response_iss_parameter_supported": true,
            }),
            claims: json!({
                "iss": issuer, "aud": super::CLIENT, "sub": "248289761001",
                "exp": super::now() + 300, "groups": ["operators"],
            }),
            more: json!({}),
            key_name: "a".to_owned(),
        };
        change(&mut answers);
        let (answers, asked) = (Arc::new(Mutex::new(answers)), Arc::default());
        let (shared, record) = (answers.clone(), Arc::clone(&asked));
        let signer = Signer::new();
        // It ends with the process.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let _ = answer(stream, &signer, &shared, &record);
            }
        });
        Self {
            provider: Provider::new(options(&issuer)),
            issuer,
            answers,
            asked,
        }
    }

    /// What a browser comes back with from the provider.
    pub(super) fn returned(&self, begun: &Begun) -> Returned {
        Returned {
            code: Some("c0de".to_owned()),
            state: Some(begun.state.clone()),
            iss: Some(self.issuer.clone()),
            ..Returned::default()
        }
    }

    pub(super) fn set_nonce(&self, nonce: &str) {
        self.answers.lock().unwrap().claims["nonce"] = json!(nonce);
    }

    pub(super) fn finish(&self, begun: &Begun) -> Result<Identity, OpenIdError> {
        self.set_nonce(&begun.nonce);
        self.provider.finish(&self.returned(begun), begun)
    }

    /// The requests for that path, with headers and body.
    pub(super) fn asks(&self, path: &str) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let of = asked.iter().filter(|(known, _)| known == path);
        of.map(|(_, text)| text.clone()).collect()
    }

    pub(super) fn asked(&self, path: &str) -> String {
        self.asks(path).concat()
    }
}

fn answer(
    stream: TcpStream,
    signer: &Signer,
    answers: &Mutex<Answers>,
    asked: &Mutex<Vec<(String, String)>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut text = String::new();
    reader.read_line(&mut text)?;
    let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        text.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    text.push_str(&String::from_utf8_lossy(&body));
    asked.lock().unwrap().push((path.clone(), text));
    let answers = answers.lock().unwrap();
    let body = match path.as_str() {
        "/.well-known/openid-configuration" => answers.metadata.clone(),
        "/keys" => json!({"keys": [signer.jwk("a")]}),
        "/token" => {
            let header = json!({"alg": "EdDSA", "kid": answers.key_name});
            let token = signer.sign(&header, &answers.claims);
            json!({"id_token": token, "access_token": "acc3ss", "token_type": "Bearer"})
        }
        "/more" => answers.more.clone(),
        _ => json!({}),
    };
    let body = body.to_string();
    let mut stream = reader.into_inner();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
