//! Requests to the server as an engine of oVirt's: a line with method and path, then a body in XML,
//! or in JSON if it begins with a brace.

use super::http::answered;
use super::text;

/// Bytes of a path as they may stand in the first line of a request.
fn path(text: &str) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_graphic();
    text.bytes()
        .map(|byte| match is_plain(&byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

/// What is not carried out is a fault of a client's with a reason, which can be read again.
pub(crate) fn engine(input: &[u8]) {
    let Some(input) = text(input) else { return };
    let (line, body) = input.split_once('\n').unwrap_or((input, ""));
    let (method, rest) = line.split_once(' ').unwrap_or(("GET", line));
    let methods = ["GET", "POST", "PUT", "DELETE"];
    let method = methods.into_iter().find(|known| *known == method);
    let kind = if body.starts_with('{') { "json" } else { "xml" };
    let request = format!(
        "{} /ovirt-engine/api{} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/{kind}\r\ncontent-length: {}\r\n\r\n{body}",
        method.unwrap_or("GET"),
        path(rest),
        body.len(),
    );
    let answer = answered(request.as_bytes());
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.get(9..12).unwrap_or_default();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    if status.starts_with('4') && answer.contains("application/xml") {
        assert!(body.contains("<reason>"), "{answer}");
    }
}
