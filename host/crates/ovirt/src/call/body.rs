//! The body of a request: an element in XML, or an object in JSON.

use axum::body::Bytes;

use crate::fault::Fault;
use crate::import::{self, Element};
use placewright_http::Problem;
use placewright_http::document::{Incoming, Weight};

/// What a request has sent.
#[derive(Debug)]
pub(super) enum Sent {
    Nothing,
    /// From XML: it has a name.
    Element(Element),
    /// From JSON: it has none.
    Object(Element),
    /// It cannot be read; only routes that look at it say so.
    Wrong(Fault),
}

impl Sent {
    /// The element of that name.
    ///
    /// # Errors
    /// If it is another one, or none.
    pub(super) fn element(&self, name: &str) -> Result<&Element, Fault> {
        match self {
            Self::Nothing => Err(Fault::syntax(format!(
                "the body is empty; an element \"{name}\" belongs here"
            ))),
            Self::Element(element) if element.name != name => Err(Fault::syntax(format!(
                "an element \"{name}\" belongs here, and not \"{}\"",
                placewright_document::shown(&element.name)
            ))),
            Self::Element(element) | Self::Object(element) => Ok(element),
            Self::Wrong(fault) => Err(fault.clone()),
        }
    }
}

/// Read a body as other documents are read: a long one when it is its turn, and counted until
/// what is given with it is dropped.
///
/// # Errors
/// If there is no room for it, or too many wait to be read.
pub(super) async fn read(
    incoming: Incoming,
    body: Bytes,
    content_type: &str,
) -> Result<(Sent, Weight), Problem> {
    let (text, file) = match text(body, content_type) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok((Sent::Nothing, Weight::default())),
        Err(fault) => return Ok((Sent::Wrong(fault), Weight::default())),
    };
    let document = incoming.document(text, file);
    let parsed = |text: &str, file: &str| Ok::<_, Problem>(parsed(text, file));
    document.read(parsed).await
}

/// The text of a body, and the file of its language; None: there is nothing in it.
fn text(body: Bytes, content_type: &str) -> Result<Option<(String, &'static str)>, Fault> {
    let text = String::from_utf8(body.into()).map_err(|_| {
        Fault::syntax("the body is not in UTF-8: send it so, whatever its declaration says")
    })?;
    let inner = inner(&text);
    if inner.is_empty() {
        return Ok(None);
    }
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    let is_json = match essence.to_ascii_lowercase().as_str() {
        "application/json" => true,
        "application/xml" | "text/xml" | "" => false,
        _ => {
            return Err(Fault::syntax(
                "send a body with Content-Type: application/xml or application/json",
            ));
        }
    };
    if !is_json && let Some(encoding) = declared_encoding(inner) {
        return Err(Fault::syntax(format!(
            "the body declares the encoding \"{}\"; only UTF-8 is read",
            placewright_document::shown(encoding)
        )));
    }
    match (is_json, inner.starts_with('{')) {
        (true, true) => Ok(Some((text, "body.json"))),
        (false, false) => Ok(Some((text, "body.xml"))),
        (true, false) => Err(Fault::syntax(
            "the body is to be JSON by its type, and is no object of JSON",
        )),
        (false, true) => Err(Fault::syntax(
            "the body is to be XML by its type, and is none",
        )),
    }
}

/// A text without the mark that some begin with, and without blanks around it.
fn inner(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim()
}

fn parsed(text: &str, file: &str) -> Sent {
    match import::parse(inner(text), file) {
        Ok(object) if file.ends_with(".json") => Sent::Object(object),
        Ok(element) => Sent::Element(element),
        Err(problems) => Sent::Wrong(Fault::syntax(problems)),
    }
}

/// The encoding that the declaration of a document in XML names, if it is another than UTF-8.
fn declared_encoding(text: &str) -> Option<&str> {
    let declaration = text.strip_prefix("<?xml")?.split("?>").next()?;
    let (_, after) = declaration.split_once("encoding")?;
    let value = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next()?;
    let encoding = value.get(1..)?.split(quote).next()?;
    let is_known = |known: &str| encoding.eq_ignore_ascii_case(known);
    (!["utf-8", "utf8", "us-ascii"].into_iter().any(is_known)).then_some(encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(body: &[u8], content_type: &str) -> Result<Element, Fault> {
        let sent = match text(Bytes::copy_from_slice(body), content_type)? {
            Some((text, file)) => parsed(&text, file),
            None => Sent::Nothing,
        };
        sent.element("filter").cloned()
    }

    fn refused(body: &[u8], content_type: &str) -> String {
        format!("{:?}", element(body, content_type).unwrap_err())
    }

    #[test]
    fn a_body_is_read_in_xml_and_in_json() {
        let xml = b"<filter>\n  <position>-1</position>\n  <scheduling_policy_unit id=\"u\"/>\n</filter>\n";
        let json = br#"{"position": "-1", "scheduling_policy_unit": {"id": "u"}}"#;
        for (body, kind) in [
            (&xml[..], "application/xml"),
            (&xml[..], "application/xml; charset=utf-8"),
            (&json[..], "application/json"),
        ] {
            let filter = element(body, kind).unwrap();
            assert_eq!(filter.get("position").unwrap().text, "-1", "{kind}");
            let unit = filter.get("scheduling_policy_unit").unwrap();
            assert_eq!(unit.get("id").unwrap().text, "u", "{kind}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let xml = "application/xml";
        let bomb = b"<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\">]><filter>&c;</filter>";
        assert!(refused(bomb, xml).contains("document type"));
        let external =
            b"<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><filter>&b;</filter>";
        assert!(refused(external, xml).contains("document type"));
        assert!(refused(b"", xml).contains("empty"));
        assert!(refused(b"<weight/>", xml).contains("weight"));
        assert!(refused(b"{}", xml).contains("XML"));
        assert!(refused(b"<filter/>", "application/json").contains("JSON"));
        assert!(refused(b"<filter/>", "text/plain").contains("Content-Type"));
        let foreign = b"<?xml version='1.0' encoding='ISO-8859-1'?><filter/>";
        assert!(refused(foreign, xml).contains("ISO-8859-1"));
        assert!(refused(b"<filter>\xe4</filter>", xml).contains("UTF-8"));
        let deep = "<filter>".repeat(10_000) + &"</filter>".repeat(10_000);
        assert!(refused(deep.as_bytes(), xml).contains("deeper"));
    }
}
