//! The reference of the API as a page at `/docs`: Swagger UI over the server's own OpenAPI
//! document, which asks nobody but this server.
//!
//! Read [`face`] first. What the page is made of is compressed when the program is built.

#![forbid(unsafe_code)]

use std::io::Read;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use flate2::read::GzDecoder;
use placewright_http::compression::takes_gzip;
use placewright_http::permission::open;
use placewright_http::problem::{Code, Problem};
use placewright_http::{Face, Rule};

/// What is served: everybody may read it, as the document that it shows.
pub const RULES: &[Rule] = &[open("GET", "/docs"), open("GET", "/docs/{file}")];

/// What a browser may load and do on the page. Swagger UI sets styles of single elements, and
/// has its icons as `data:` addresses.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_TYPE, "text/html; charset=utf-8"),
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    // The names of what it loads change with the program.
    (header::CACHE_CONTROL, "no-cache"),
];

/// A file that the page names.
struct Asset {
    /// Has the hash of the content, so that a browser stores it for good.
    name: &'static str,
    /// Its media type.
    kind: &'static str,
    /// By gzip.
    compressed: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

const ASSETS: [&Asset; 4] = [&SCRIPT, &STYLE, &ICON, &START];

/// The page as a face of a server.
pub fn face() -> Face {
    let routes = Router::new()
        .route("/docs", get(page))
        .route("/docs/{file}", get(file));
    Face::new("/docs", routes, RULES, "/docs is the reference of the API")
}

async fn page() -> Response {
    let [script, style, icon, start] = ASSETS.map(|asset| asset.name);
    let text = format!(
        "<!doctype html>\n\
         <html lang=\"en\">\n\
         <head>\n\
         <meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Placewright API</title>\n\
         <link rel=\"icon\" type=\"image/png\" href=\"/docs/{icon}\">\n\
         <link rel=\"stylesheet\" href=\"/docs/{style}\">\n\
         <script src=\"/docs/{script}\" defer></script>\n\
         <script src=\"/docs/{start}\" defer></script>\n\
         </head>\n\
         <body>\n\
         <main id=\"reference\">\n\
         <noscript>This page needs scripts; the document that it shows is\n\
         <a href=\"/v1/openapi.json\">/v1/openapi.json</a>.</noscript>\n\
         </main>\n\
         </body>\n\
         </html>\n"
    );
    (HEADERS, text).into_response()
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some(asset) = ASSETS.into_iter().find(|asset| asset.name == name) else {
        return Problem::new(
            Code::NotFound,
            "there is no such file: /docs names those there are",
        )
        .into_response();
    };
    let stored = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::VARY, "accept-encoding"),
    ];
    if takes_gzip(&headers) {
        return (
            stored,
            [(header::CONTENT_ENCODING, "gzip")],
            asset.compressed,
        )
            .into_response();
    }
    let mut bytes = Vec::new();
    match GzDecoder::new(asset.compressed).read_to_end(&mut bytes) {
        Ok(_) => (stored, bytes).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_names_of_their_own_and_are_whole() {
        let mut names: Vec<&str> = ASSETS.iter().map(|asset| asset.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ASSETS.len());
        for asset in ASSETS {
            let mut bytes = Vec::new();
            GzDecoder::new(asset.compressed)
                .read_to_end(&mut bytes)
                .unwrap();
            assert!(bytes.len() > 400, "{}", asset.name);
        }
    }
}
