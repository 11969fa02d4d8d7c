//! Tokens that must not be trusted, and the flow against a provider that lies.

mod fake;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};
use serde_json::{Value, json};

use crate::keys::{KeySet, Keys};
use crate::{Address, Identity, OpenIdError, OpenIdOptions, Returned, ring_provider};
use fake::Fake;

const ISSUER: &str = "https://id.example";
const CLIENT: &str = "placewright";

/// A key of a provider.
struct Signer(Ed25519KeyPair);

impl Signer {
    fn new() -> Self {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self(Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap())
    }

    fn jwk(&self, name: &str) -> Value {
        let x = URL_SAFE_NO_PAD.encode(self.0.public_key());
        json!({"kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": name, "x": x})
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let message = message(header, claims);
        let signed = URL_SAFE_NO_PAD.encode(self.0.sign(message.as_bytes()));
        format!("{message}.{signed}")
    }
}

fn message(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}

fn keys(of: &[Value]) -> Keys {
    ring_provider::install();
    let set: KeySet = serde_json::from_value(json!({ "keys": of })).unwrap();
    set.into()
}

fn header() -> Value {
    json!({"alg": "EdDSA", "kid": "a"})
}

fn now() -> u64 {
    jsonwebtoken::get_current_timestamp()
}

fn claims() -> Value {
    json!({"iss": ISSUER, "aud": CLIENT, "sub": "248289761001", "exp": now() + 300})
}

fn with(mut value: Value, name: &str, to: Value) -> Value {
    match to {
        Value::Null => {
            value.as_object_mut().unwrap().remove(name);
        }
        to => value[name] = to,
    }
    value
}

#[test]
fn a_token_that_the_provider_signed_for_this_client_counts() {
    let signer = Signer::new();
    let keys = keys(&[json!({"kty": "unknown"}), signer.jwk("b"), signer.jwk("a")]);
    let token = signer.sign(&header(), &claims());
    let read = keys.claims(&token, ISSUER, CLIENT).unwrap();
    assert_eq!(read["sub"], "248289761001");
    // A provider of one key may leave its name out.
    let unnamed = signer.sign(&with(header(), "kid", Value::Null), &claims());
    assert!(keys.claims(&unnamed, ISSUER, CLIENT).is_ok());
    let pkcs8 =
        EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
    let random = SystemRandom::new();
    let (algorithm, pkcs8) = (&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.unwrap());
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).unwrap();
    let point = pair.public_key().as_ref();
    let part = |range: std::ops::Range<usize>| URL_SAFE_NO_PAD.encode(&point[range]);
    let jwk = json!({"kty": "EC", "crv": "P-256", "kid": "e", "x": part(1..33), "y": part(33..65)});
    let message = message(&json!({"alg": "ES256", "kid": "e"}), &claims());
    let signed = pair.sign(&random, message.as_bytes()).unwrap();
    let token = format!("{message}.{}", URL_SAFE_NO_PAD.encode(signed));
    let keys = self::keys(&[jwk]);
    assert!(keys.claims(&token, ISSUER, CLIENT).is_ok());
    let tampered = token.replacen('.', "A.", 1);
    assert!(keys.claims(&tampered, ISSUER, CLIENT).is_err());
}

#[test]
fn no_other_token_counts() {
    let (signer, stranger) = (Signer::new(), Signer::new());
    let keys = keys(&[signer.jwk("a")]);
    let sign = |claims: Value| signer.sign(&header(), &claims);
    let public = signer.0.public_key().as_ref().to_vec();
    let by_public_key = {
        let message = message(&json!({"alg": "HS256", "kid": "a"}), &claims());
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &public);
        let signed = ring::hmac::sign(&key, message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signed))
    };
    let unsigned = format!("{}.", message(&json!({"alg": "none"}), &claims()));
    let other_kind = signer.sign(&json!({"alg": "ES256", "kid": "a"}), &claims());
    for (case, token) in [
        ("of another key", stranger.sign(&header(), &claims())),
        ("signed by the public key", by_public_key),
        ("not signed", unsigned),
        ("of another kind of key", other_kind),
        (
            "of a key without its name",
            signer.sign(&with(header(), "kid", json!("z")), &claims()),
        ),
        (
            "of another issuer",
            sign(with(claims(), "iss", json!("https://evil.example"))),
        ),
        ("of no issuer", sign(with(claims(), "iss", Value::Null))),
        (
            "for another client",
            sign(with(claims(), "aud", json!("other"))),
        ),
        ("for nobody", sign(with(claims(), "aud", Value::Null))),
        ("expired", sign(with(claims(), "exp", json!(now() - 120)))),
        ("without an end", sign(with(claims(), "exp", Value::Null))),
        (
            "not valid yet",
            sign(with(claims(), "nbf", json!(now() + 600))),
        ),
        (
            "without a subject",
            sign(with(claims(), "sub", Value::Null)),
        ),
        ("of nothing", "..".to_owned()),
        ("empty", String::new()),
    ] {
        assert!(keys.claims(&token, ISSUER, CLIENT).is_err(), "{case}");
    }
}

#[test]
fn a_person_is_who_its_claim_says_and_has_the_groups_of_its_claim() {
    let options = |name: &str| OpenIdOptions {
        name_claim: name.to_owned(),
        ..fake::options(ISSUER)
    };
    let of = |claims: Value, name: &str| {
        Identity::of(claims.as_object().unwrap(), &options(name)).map_err(|it| it.to_string())
    };
    let groups = json!({"sub": "1", "groups": ["a", 2, "b"]});
    let identity = of(groups, "sub").unwrap();
    assert_eq!(
        (&*identity.name, &*identity.groups),
        ("1", ["a".into(), "b".into()].as_slice())
    );
    assert_eq!(
        of(json!({"sub": "1", "groups": "a"}), "sub")
            .unwrap()
            .groups,
        ["a"]
    );
    assert!(of(json!({"sub": "1"}), "sub").unwrap().groups.is_empty());
    let email = |verified: Value| {
        of(
            json!({"email": "a@b.c", "email_verified": verified}),
            "email",
        )
    };
    assert_eq!(email(json!(true)).unwrap().name, "a@b.c");
    for verified in [json!(false), json!("true"), Value::Null] {
        assert!(email(verified).unwrap_err().contains("is not verified"));
    }
    for name in [
        json!(""),
        json!(" "),
        json!(7),
        json!("a\nb"),
        json!("a".repeat(201)),
    ] {
        assert!(of(json!({"sub": name}), "sub").is_err(), "{name}");
    }
}

#[test]
fn secrets_go_by_https_or_stay_on_this_machine() {
    for good in [
        "https://id.example/realms/a",
        "http://127.0.0.1:80",
        "http://[::1]",
        "http://localhost:1",
    ] {
        assert!(Address::parse(good).is_ok(), "{good}");
    }
    for bad in [
        "http://id.example",
        "ftp://127.0.0.1",
        "id.example",
        "https://u:p@id.example",
        "https://a#b",
        "file:///etc",
        "http://127.0.0.1.evil.example",
    ] {
        assert!(Address::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_code_is_given_for_who_somebody_is() {
    let fake = Fake::start(|_| {});
    let (url, begun) = fake.provider.begin().unwrap();
    let (place, query) = url.as_str().split_once('?').unwrap();
    assert!(place.ends_with("/authorize"), "{url}");
    let asked: std::collections::HashMap<_, _> = form_urlencoded::parse(query.as_bytes()).collect();
    assert_eq!(asked["tenant"], "1");
    assert_eq!(asked["response_type"], "code");
    assert_eq!(asked["client_id"], CLIENT);
    assert_eq!(asked["state"], begun.state);
    assert_eq!(asked["code_challenge_method"], "S256");
    assert!(!url.as_str().contains(&begun.verifier));
    let identity = fake.finish(&begun).unwrap();
    assert_eq!(identity.name, "248289761001");
    assert_eq!(identity.groups, ["operators"]);
    // The secret goes into the header, the proof into the form.
    let redeemed = fake.asked("/token");
    assert!(
        redeemed.contains("Basic cGxhY2V3cmlnaHQ6cyUzQWVjcmV0"),
        "{redeemed}"
    );
    assert!(
        redeemed.contains(&format!("code_verifier={}", begun.verifier)),
        "{redeemed}"
    );
    assert!(!redeemed.contains("client_secret"), "{redeemed}");
}

#[test]
fn claims_that_the_token_lacks_are_asked_for() {
    let fake = Fake::start(|it| {
        it.claims.as_object_mut().unwrap().remove("groups");
        it.more = json!({"sub": "248289761001", "groups": ["admins"]});
    });
    let (_, begun) = fake.provider.begin().unwrap();
    assert_eq!(fake.finish(&begun).unwrap().groups, ["admins"]);
    let other = Fake::start(|it| {
        it.claims.as_object_mut().unwrap().remove("groups");
        it.more = json!({"sub": "somebody else", "groups": ["admins"]});
    });
    let (_, begun) = other.provider.begin().unwrap();
    let error = other.finish(&begun).unwrap_err();
    assert!(error.to_string().contains("somebody else"), "{error}");
}

#[test]
fn an_answer_for_another_browser_or_of_another_provider_signs_nobody_in() {
    let fake = Fake::start(|_| {});
    let (_, begun) = fake.provider.begin().unwrap();
    let finish = |change: fn(&mut Returned)| {
        let mut returned = fake.returned(&begun);
        change(&mut returned);
        fake.provider.finish(&returned, &begun).map(|it| it.name)
    };
    type Change = (&'static str, fn(&mut Returned));
    let cases: [Change; 5] = [
        ("another state", |it| it.state = Some("x".into())),
        ("no state", |it| it.state = None),
        ("another provider", |it| {
            it.iss = Some("https://evil.example".into());
        }),
        ("no provider, where it names itself", |it| it.iss = None),
        ("no code", |it| it.code = None),
    ];
    for (case, change) in cases {
        assert!(
            matches!(finish(change), Err(OpenIdError::Foreign(_))),
            "{case}"
        );
    }
    let refused = finish(|it| {
        it.code = None;
        it.error = Some("access_denied".into());
        it.error_description = Some("End-User\u{1b}[2J aborted".into());
    });
    let sentence = refused.unwrap_err().to_string();
    assert_eq!(
        sentence,
        "the provider refused: End-User[2J aborted (access_denied)"
    );
    assert!(fake.asks("/token").is_empty(), "no code was given away");
    // The token belongs to what this browser began.
    let (_, other) = fake.provider.begin().unwrap();
    let returned = fake.returned(&other);
    fake.set_nonce(&begun.nonce);
    let error = fake.provider.finish(&returned, &other).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("not for what this browser began"),
        "{error}"
    );
}

#[test]
fn what_shows_without_the_provider_is_told_without_asking_it() {
    let fake = Fake::start(|_| {});
    assert!(fake.provider.begin_unasked().is_none(), "nothing is known");
    let (_, begun) = fake.provider.begin().unwrap();
    let returned = fake.returned(&begun);
    assert!(fake.provider.objection(&returned, &begun).is_none());
    let (_, other) = fake.provider.begin_unasked().unwrap().unwrap();
    assert!(matches!(
        fake.provider.objection(&returned, &other),
        Some(OpenIdError::Foreign(_))
    ));
    assert!(fake.asks("/token").is_empty());
}

#[test]
fn a_token_for_several_clients_was_issued_to_this_one() {
    for (audience, by, counts) in [
        (json!(["placewright", "other"]), json!("placewright"), true),
        (json!(["placewright", "other"]), json!("other"), false),
        (json!(["placewright", "other"]), Value::Null, false),
        (json!("placewright"), json!("other"), false),
    ] {
        let case = format!("{audience} {by}");
        let fake = Fake::start(move |it| {
            it.claims["aud"] = audience;
            it.claims = with(it.claims.clone(), "azp", by);
        });
        let (_, begun) = fake.provider.begin().unwrap();
        assert_eq!(fake.finish(&begun).is_ok(), counts, "{case}");
    }
}

#[test]
fn a_provider_that_cannot_be_used_is_told_by_a_sentence() {
    let other = Fake::start(|it| it.metadata["issuer"] = json!("https://evil.example"));
    let error = other.provider.begin().unwrap_err().to_string();
    assert!(error.contains("names another issuer"), "{error}");
    let plain = Fake::start(|it| it.metadata["token_endpoint"] = json!("http://id.example/token"));
    let error = plain.provider.begin().unwrap_err().to_string();
    assert!(error.contains("must begin with https://"), "{error}");
    let away = crate::Provider::new(fake::options("http://127.0.0.1:1"));
    let error = away.begin().unwrap_err().to_string();
    assert!(
        error.contains("cannot be reached at http://127.0.0.1:1/.well-known"),
        "{error}"
    );
}

#[test]
fn an_answer_that_is_too_long_is_not_read() {
    let long = "a".repeat(1 << 20);
    let fake = Fake::start(move |it| it.metadata["padding"] = json!(long));
    let error = fake.provider.begin().unwrap_err();
    assert!(matches!(error, OpenIdError::Unreachable { .. }), "{error}");
}

#[test]
fn so_many_keys_and_groups_are_looked_at() {
    let (first, last) = (Signer::new(), Signer::new());
    let named = |number: usize| first.jwk(&format!("k{number}"));
    let of = |others: usize| {
        keys(
            &(0..others)
                .map(named)
                .chain([last.jwk("a")])
                .collect::<Vec<_>>(),
        )
    };
    let token = last.sign(&header(), &claims());
    assert!(of(63).claims(&token, ISSUER, CLIENT).is_ok());
    assert!(of(64).claims(&token, ISSUER, CLIENT).is_err());
    let groups: Vec<String> = (0..1001).map(|it| it.to_string()).collect();
    let claims = json!({"sub": "1", "groups": groups});
    let identity = Identity::of(claims.as_object().unwrap(), &fake::options(ISSUER)).unwrap();
    assert_eq!(identity.groups.len(), 1000);
}

#[test]
fn new_keys_of_the_provider_are_not_asked_for_at_every_unknown_name() {
    let fake = Fake::start(|it| it.key_name = "unknown".to_owned());
    for _ in 0..3 {
        let (_, begun) = fake.provider.begin().unwrap();
        let error = fake.finish(&begun).unwrap_err().to_string();
        assert!(error.contains("no key of that name"), "{error}");
    }
    assert_eq!(fake.asks("/keys").len(), 1);
}
