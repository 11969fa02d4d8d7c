//! Style and scripts. Each has the hash of what is in it in its name, so that a browser keeps it
//! for good and asks for another one when it is another.

use std::sync::OnceLock;

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use placewright_http::problem::{Code, Problem};

/// A file that pages name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    name: &'static str,
    ending: &'static str,
    kind: &'static str,
    text: &'static str,
}

pub(crate) const STYLE: Asset = Asset {
    name: "console",
    ending: "css",
    kind: "text/css; charset=utf-8",
    text: include_str!("../assets/console.css"),
};

pub(crate) const SCRIPT: Asset = script("console", include_str!("../assets/console.js"));
pub(crate) const HEAT_MAP: Asset = script("heat-map", include_str!("../assets/heat-map.js"));
pub(crate) const DRAFT: Asset = script("draft", include_str!("../assets/draft.js"));
pub(crate) const UNITS: Asset = script("units", include_str!("../assets/units.js"));

pub(crate) const ICON: Asset = Asset {
    name: "icon",
    ending: "svg",
    kind: "image/svg+xml",
    text: include_str!("../assets/icon.svg"),
};

const ALL: [Asset; 6] = [STYLE, SCRIPT, HEAT_MAP, DRAFT, UNITS, ICON];

const fn script(name: &'static str, text: &'static str) -> Asset {
    Asset {
        name,
        ending: "js",
        kind: "text/javascript; charset=utf-8",
        text,
    }
}

/// An asset as it is served.
struct Served {
    asset: Asset,
    path: String,
    text: String,
}

/// All assets, made once.
fn served() -> &'static [Served] {
    static SERVED: OnceLock<Vec<Served>> = OnceLock::new();
    SERVED.get_or_init(|| {
        let script = SCRIPT.hashed(SCRIPT.text);
        let all = ALL.iter().map(|asset| {
            // Scripts that use the first one name it as it is served.
            let name = script.trim_start_matches("/assets/");
            let text = asset.text.replace("./console.js", &format!("./{name}"));
            Served {
                asset: *asset,
                path: asset.hashed(&text),
                text,
            }
        });
        all.collect()
    })
}

impl Asset {
    /// Where it is found.
    pub(crate) fn path(self) -> &'static str {
        let is_this = |it: &&Served| (it.asset.name, it.asset.ending) == (self.name, self.ending);
        served().iter().find(is_this).map_or("", |it| &it.path)
    }

    fn hashed(&self, text: &str) -> String {
        let digest = hex::encode(Sha256::digest(text));
        format!("/assets/{}-{}.{}", self.name, &digest[..12], self.ending)
    }
}

/// An asset by its name with the hash.
pub(crate) async fn show(Path(name): Path<String>) -> Response {
    let path = format!("/assets/{name}");
    let Some(served) = served().iter().find(|it| it.path == path) else {
        return Problem::new(Code::NotFound, "there is no such file").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, served.asset.kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (StatusCode::OK, headers, served.text.as_str()).into_response()
}

#[cfg(test)]
mod tests {
    use placewright_deployment::EventKind;
    use placewright_document::words;

    use super::*;

    /// Bytes of all assets together at most.
    const BOUND: usize = 300 << 10;

    #[test]
    fn assets_are_few_and_ask_nobody_else_for_anything() {
        let bytes: usize = ALL.iter().map(|asset| asset.text.len()).sum();
        assert!(bytes < BOUND, "{bytes}");
        for asset in ALL {
            let text = asset.text.replace("http://www.w3.org/", "");
            assert!(
                !text.contains("http:") && !text.contains("https:"),
                "{}",
                asset.name
            );
            assert!(asset.path().starts_with("/assets/"), "{}", asset.name);
        }
    }

    #[test]
    fn assets_have_names_of_their_own() {
        let mut paths: Vec<&str> = ALL.iter().map(|asset| asset.path()).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), ALL.len());
    }

    #[test]
    fn pages_listen_to_every_kind_of_event() {
        let (_, rest) = SCRIPT.text.split_once("const KINDS = `").unwrap();
        let (listed, _) = rest.split_once('`').unwrap();
        let mut listed: Vec<&str> = listed.split_whitespace().collect();
        let mut kinds = words::<EventKind>();
        listed.sort_unstable();
        kinds.sort_unstable();
        assert_eq!(listed, kinds);
    }
}
