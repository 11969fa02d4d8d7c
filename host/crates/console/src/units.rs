//! Units: what is in force, and handing one in.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::Response;
use futures_util::stream;
use maud::{Markup, html};
use multer::{Constraints, Multipart, SizeLimit};
use serde_json::Value;

use crate::ask::{Ask, Console, Sent};
use crate::assets;
use crate::format::{self, Moment, cut, things};
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{self, barred, empty, note, state};
use crate::url::{self, segment};
use crate::value::{self, count, items, text, texts};
use placewright_http::Permission;
use placewright_http::problem::{Code, Problem};

/// Candidates that are shown while they are staged.
const STAGINGS: usize = 100;

/// Bytes of a signature.
const SIGNATURE: usize = 64;

/// What a unit can be in a policy.
const KINDS: [&str; 6] = [
    "filter",
    "cost function",
    "selection",
    "placement effects",
    "balance",
    "order",
];

/// Units that are shown.
const MOST: usize = 10_000;

/// The list.
pub(crate) async fn list(State(_): State<Arc<Console>>, ask: Ask) -> Result<Response, Problem> {
    match ask.param("view") {
        None => page_of(&ask, None, StatusCode::OK).await,
        Some("stagings") => stagings_alone(&ask).await,
        Some(_) => {
            let wrong = "\"view\" must be stagings, or not given";
            Err(Problem::new(Code::InvalidParameter, wrong))
        }
    }
}

/// What is being staged, and nothing else: the list of units waits while a candidate is tried on
/// policies and decisions, and this does not.
async fn stagings_alone(ask: &Ask) -> Result<Response, Problem> {
    let stagings = ask.list("/v1/unit-stagings", STAGINGS).await?;
    let main = html! {
        div.head { div {
            (crumbs(&[("Overview", "/".to_owned()), ("Units", "/units".to_owned())], "Being staged"))
            h1 { (things(stagings.len(), "candidate is being staged", "candidates are being staged")) }
        } }
        (under_way(&stagings))
        div.acts { (parts::copies(&parts::curl("GET", "/v1/unit-stagings", None), Some(&parts::command(&["get", "unit-stagings"])))) }
    };
    let page = Page {
        title: "Units being staged".to_owned(),
        area: Area::Units,
        cluster: None,
        main,
        live: "unit,file",
        script: Some(assets::UNITS),
    };
    page::shown(ask, page).await
}

/// What became of a unit that was handed in just now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Became<'s> {
    /// The steps that it went through.
    pub(crate) staging: &'s Value,
    /// The name of the file that it came in, if it came in one: a file that is refused may have no other.
    pub(crate) file: Option<&'s str>,
    /// Whether it judges beside what is in force, if it has passed them.
    pub(crate) judges: bool,
}

/// The list, with what became of a unit that was handed in just now.
pub(crate) async fn page_of(
    ask: &Ask,
    became: Option<Became<'_>>,
    status: StatusCode,
) -> Result<Response, Problem> {
    let mut units = ask.list("/v1/units", MOST).await?;
    let wanted = ask.param("filter").unwrap_or_default().to_lowercase();
    let all = units.len();
    units.retain(|unit| {
        let texts = [text(unit, "name"), text(unit, "summary")];
        texts.iter().any(|it| it.to_lowercase().contains(&wanted))
    });
    let own = ask.param("which") == Some("own");
    units.retain(|unit| !own || unit["source"]["kind"] != "embedded");
    let kind = ask.one_of("kind", &KINDS)?;
    units.retain(|unit| kind.is_none_or(|kind| texts(unit, "kinds").contains(&kind)));
    let files = ask.list("/v1/unit-files", 1000).await.unwrap_or_default();
    let stagings = ask.list("/v1/unit-stagings", STAGINGS).await;
    let clusters = ask.list("/v1/clusters", 1000).await.unwrap_or_default();
    let paused = clusters.iter().flat_map(|cluster| items(cluster, "paused"));
    let paused: Vec<&str> = paused.map(|it| text(it, "unit")).collect();
    let troubled: Vec<&Value> = files
        .iter()
        .filter(|file| file["trouble"].is_string())
        .collect();
    let main = html! {
        div.head { div {
            (crumbs(&[("Overview", "/".to_owned())], "Units"))
            h1 { (things(all, "unit", "units")) }
            p { "WebAssembly components that filter hosts, say what each costs, choose, and propose moves." }
        } }
        div {
            (hand_in(ask))
            (under_way(&stagings.unwrap_or_default()))
            div id="became" role="status" data-own tabindex=[became.map(|_| "-1")] autofocus[became.is_some()] { @if let Some(became) = became { (staged(became)) } }
        }
        @for file in troubled { (note("bad", html! {
            "The file " b.mono { (cut(text(file, "path"), 100)) } " is refused: " (sentence(&cut(text(file, "trouble"), 300)))
        })) }
        section.panel aria-label="Units" {
            header { form.bar.grow method="get" action="/units" data-auto {
                label.lab { "Which"
                    select.field name="which" { option value="" { "all" } option value="own" selected[own] { "not of the program" } } }
                label.lab { "Kind"
                    select.field name="kind" {
                        option value="" { "all" }
                        @for word in KINDS { option value=(word) selected[kind == Some(word)] { (word) } }
                    } }
                input.field type="search" name="filter" value=(ask.param("filter").unwrap_or_default()) aria-label="Filter" placeholder="Name, or what it does" size="26";
                button.btn.without-script type="submit" { "Show" }
            } }
            @if units.is_empty() { div.in { (empty("No unit matches", html! { a href="/units" { "Clear the filter" } })) } }
            @else { div.scroll { table {
                caption.vh { "Units by name" }
                thead { tr { th scope="col" { "Unit" } th scope="col" { "Kind" } th scope="col" { "State" } th scope="col" { "Version" } th scope="col" { "From" } th scope="col" { "Digest" } } }
                tbody { @for unit in &units { tr {
                    th.row scope="row" { a href={ "/units/" (segment(text(unit, "name"))) } { (cut(text(unit, "name"), 60)) }
                        span.sub { (cut(text(unit, "summary"), 160)) } }
                    td { (texts(unit, "kinds").join(", ")) }
                    td { (standing(unit)) @if paused.contains(&text(unit, "name")) { " " (state("bad", "bad", "keeps failing")) } }
                    td { (cut(text(unit, "version"), 40)) }
                    td.from { (source(&unit["source"])) }
                    td.mono.dim { (text(unit, "in-force").get(..12).unwrap_or("–")) }
                } } }
            } } }
        }
        div.acts { (parts::copies(&parts::curl("GET", "/v1/units", None), Some(&parts::command(&["get", "units"])))) }
    };
    let page = Page {
        title: "Units".to_owned(),
        area: Area::Units,
        cluster: None,
        main,
        live: if became.is_some() { "" } else { "unit,file" },
        script: Some(assets::UNITS),
    };
    page::shown_as(ask, page, status).await
}

fn hand_in(ask: &Ask) -> Markup {
    match ask.may(Permission::Administer, None) {
        true => html! {
            form.drop action="/units" method="post" enctype="multipart/form-data" {
                div.grow {
                    b { "Hand in a unit" }
                    p.small.soft { "A .wasm file, chosen here or dropped on this page, together with its signature in a .wasm.sig file if it has one. It is checked step by step; what is in force stays until the last one has passed." }
                }
                label.vh for="unit-file" { "File of the unit, and of its signature" }
                input id="unit-file" type="file" name="unit" accept=".wasm,application/wasm,.sig" multiple required;
                button.btn type="submit" name="deed" value="check" { "Check it" }
                span.bar {
                    (parts::sure_button("", "shadow", "Let it judge beside", "Let it judge beside the unit in force? It decides nothing. Clusters that use a unit of its name wait while it judges a decision."))
                    label.lab.small { "every" input.field.small name="every" value="1" size="4" inputmode="numeric" aria-label="It judges every so many decisions"; "decisions" }
                }
                (parts::sure_button("main", "put", "Put in force", "Put this unit in force? Clusters that use a unit of its name decide by it from then on."))
            }
        },
        false => {
            html! { div.drop { b.grow { "Hand in a unit" } (barred(ask, Permission::Administer, "Let it judge beside")) (barred(ask, Permission::Administer, "Put in force")) } }
        }
    }
}

/// The state of a unit.
pub(crate) fn standing(unit: &Value) -> Markup {
    html! {
        @if unit["disabled"] == true { (state("off", "idle", "disabled")) }
        @else if unit["not-trusted"].is_object() { (state("bad", "bad", "not trusted")) }
        @else if unit["in-force"].is_string() { (state("ok", "ok", "in force")) }
        @else { (state("off", "idle", "not in force")) }
        @if unit["pinned"] == true { " " span.chip { "pinned" } }
        @if unit["staging"].is_string() { " " span.chip { "being staged" } }
        @if unit["kept-although-deleted"] == true { " " span.chip { "its file is gone" } }
    }
}

/// What is known of a unit that keeps failing, after its name: how often it failed, how, and what that
/// means for decisions.
pub(crate) fn paused(paused: &Value) -> Markup {
    let until = Moment::of(&paused["until"]).filter(|until| until.0 > Moment::now().0);
    html! {
        "keeps failing, " (things(count(paused, "failures"), "time", "times")) " in a row so far. "
        (sentence(&cut(text(paused, "because"), 300))) " "
        // It is called again by a decision, and not before there is one.
        @match (until, paused["skipped"] == true) {
            (None, _) => "The next decision calls it again.",
            (Some(until), true) => { "Its entries of the policy are left out until " (parts::time(until)) "." }
            (Some(until), false) => { b { "No decision is made" } " until " (parts::time(until)) "." }
        }
    }
}

/// Where a unit came from, as it stands after "From".
pub(crate) fn source(source: &Value) -> Markup {
    html! { @match text(source, "kind") {
        "embedded" => "the program",
        "upload" => { "upload by " (cut(text(source, "by"), 40)) }
        "file" => { span.mono { (cut(text(source, "path"), 60)) } }
        "rollback" => "a rollback to an earlier version",
        "pin" => "the version that was pinned",
        "kept" => "an earlier version",
        _ => { span.dim { "–" } }
    } }
}

/// The steps that a candidate went through.
fn staged(became: Became<'_>) -> Markup {
    let staging = became.staging;
    let outcome = &staging["outcome"];
    let why = text(outcome, "why");
    let is_refused = text(outcome, "result") == "refused" || outcome["step"].is_string();
    let name = staging["name"].as_str().or(became.file);
    let name = name.unwrap_or("the file");
    // One that is held for another reason, such as a pin, is not tried on decisions.
    let mut steps = items(staging, "steps").iter();
    let has_passed = !is_refused && steps.any(|step| text(step, "step") == "trial");
    let is_unchanged = outcome["result"] == "unchanged";
    html! {
        section.panel aria-labelledby="staged" {
            header { h2 id="staged" { "What became of " (cut(name, 60)) } span.mono.small.dim { (text(staging, "digest").get(..12).unwrap_or_default()) } }
            div.in.stack {
                @let differing = staging["replay"]["differing"].as_u64().unwrap_or_default();
                @let tried = staging["replay"]["tried"].as_u64().unwrap_or_default();
                @if differing * 2 > tried { (note("warn", html! {
                    b { "Most recorded decisions would have another outcome with it: " (differing) " of " (tried) "." } " Look at the examples before it comes into force."
                })) }
                @if became.judges && !is_refused { (note("ok", html! {
                    b { "It judges from now on, and decides nothing. " }
                    a href={ "/units/" (segment(name)) "#shadow" } { "See what it comes to" }
                })) }
                @else if is_refused { (note("bad", html! { b { "Refused at the step “" (text(outcome, "step")) "”. " } (sentence(&cut(why, 400))) " What is in force stays." })) }
                @else if is_unchanged { (note("", html! { b { "This file is in force already; nothing changes." } })) }
                @else if has_passed { (note("ok", html! { b { "It has passed every step. " } @if !why.is_empty() { "It is not in force: " (sentence(&cut(why, 400))) } })) }
                @else if !why.is_empty() { (note("warn", html! { (sentence(&cut(why, 400))) })) }
                @else { (note("ok", html! { b { "It has passed every step." } })) }
                ol.tl { @for step in items(staging, "steps") { (taken(step)) } }
                @let replay = &staging["replay"];
                @if replay.is_object() {
                    p data-replayed { "Made again with it: " b { (differing) } " of " (tried) " recorded decisions have another outcome." }
                    (examples(replay))
                }
            }
        }
    }
}

/// Decisions that would have another outcome with a candidate, and calls that gave no answer.
fn examples(replay: &Value) -> Markup {
    let (examples, failures) = (items(replay, "examples"), items(replay, "failures"));
    html! {
        @if !examples.is_empty() { div.scroll { table.flat {
            thead { tr { th scope="col" { "Cluster" } th.num scope="col" { "Decision" } th scope="col" { "As decided" } th scope="col" { "With it" } } }
            tbody { @for one in examples {
                @let cluster = text(one, "cluster");
                @let number = one["decision"].as_u64().unwrap_or_default().to_string();
                tr {
                    td { (cut(cluster, 40)) }
                    td.num { a href=(url::of_cluster(cluster, &["decisions", &number])) { (number) } }
                    td { (parts::host_link(cluster, one["before"].as_str())) }
                    td { (parts::host_link(cluster, one["after"].as_str())) }
                }
            } }
        } } }
        @for one in failures { p.small.bad {
            "Decision " (one["decision"].as_u64().unwrap_or_default()) " of " (cut(text(one, "cluster"), 40)) ": " (sentence(&cut(text(one, "because"), 200)))
        } }
    }
}

/// What is being staged now, step by step.
fn under_way(stagings: &[Value]) -> Markup {
    html! {
        div.stack id="under-way" data-own {
            @for staging in stagings {
                @let number = staging["number"].as_u64().unwrap_or_default();
                section.panel aria-labelledby={ "staging-" (number) } {
                    header {
                        h2 id={ "staging-" (number) } { (cut(staging["name"].as_str().unwrap_or("A candidate"), 60)) " is being staged" }
                        span.small.dim { (source(&staging["source"])) " " span.mono { (text(staging, "digest").get(..12).unwrap_or_default()) } }
                    }
                    div.in { ol.tl {
                        @for step in items(staging, "steps") { (taken(step)) }
                        @if let Some(step) = staging["step"].as_str() { li {
                            span.run { (parts::sign("run")) } span.what { (step) } span.soft { "under way" }
                            span.dim.num { (format::duration(value::number(staging, "took-us") / 1e6)) " so far" }
                        } }
                    } }
                }
            }
        }
    }
}

/// A step that was taken, in a list of steps.
fn taken(step: &Value) -> Markup {
    let (colour, name) = match text(step, "result") {
        "passed" => ("ok", "ok"),
        "skipped" => ("off", "idle"),
        _ => ("bad", "bad"),
    };
    html! { li {
        span class=(colour) { (parts::sign(name)) }
        span.what { (text(step, "step")) }
        span.soft { @if name == "idle" { "skipped: " } (cut(step["note"].as_str().or(step["why"].as_str()).unwrap_or(""), 240)) }
        span.dim.num { (format::duration(value::number(step, "took-us") / 1e6)) }
    } }
}

/// Hand a unit in, or only check it.
pub(crate) async fn upload(
    State(_): State<Arc<Console>>,
    headers: HeaderMap,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let form = parts_of(kind.unwrap_or_default(), body).await?;
    let judges = form.deed == "shadow";
    if form.deed == "check" {
        ask.only_asks();
    }
    let (method, path) = match form.deed.as_str() {
        "check" => ("POST", "/v1/units/check".to_owned()),
        "put" => ("PUT", "/v1/units".to_owned()),
        "shadow" => {
            let every = url::query([("every", Some(form.every.trim()))]);
            ("POST", format!("/v1/units/shadow?{every}"))
        }
        _ => {
            let wrong = "\"deed\" must be check, shadow or put";
            return Err(Problem::new(Code::InvalidParameter, wrong));
        }
    };
    let signature = form.signature.as_deref().map(written);
    let signature = signature.map(|it| (HeaderName::from_static("x-unit-signature"), it));
    let sent = Sent::Document {
        kind: "application/wasm",
        text: form.file,
        headers: signature.into_iter().collect(),
    };
    let answer = ask.send(method, path.trim_end_matches('?'), sent).await?;
    let became = Became {
        staging: &answer.body,
        file: form.name.as_deref(),
        judges,
    };
    page_of(&ask, Some(became), answer.status).await
}

/// What the form has with which a unit is handed in.
#[derive(Debug, Default)]
struct HandedIn {
    file: Bytes,
    /// The name of the file.
    name: Option<String>,
    /// The file with its signature, if it came with one.
    signature: Option<Bytes>,
    /// The button.
    deed: String,
    /// Of one that judges: every so many decisions.
    every: String,
}

/// The fields of a form that is sent in parts.
async fn parts_of(kind: &str, body: Bytes) -> Result<HandedIn, Problem> {
    let wrong = |error: multer::Error| Problem::new(Code::BadRequest, error);
    let boundary = multer::parse_boundary(kind).map_err(wrong)?;
    // The body was limited where it came in.
    let limits = SizeLimit::new()
        .for_field("deed", 16)
        .for_field("every", 16);
    let bounds = Constraints::new().size_limit(limits);
    let whole = stream::iter([Ok::<_, Infallible>(body)]);
    let mut form = Multipart::with_constraints(whole, boundary, bounds);
    let mut handed_in = HandedIn::default();
    while let Some(field) = form.next_field().await.map_err(wrong)? {
        match field.name() {
            Some("unit") if field.file_name().is_some_and(|it| it.ends_with(".sig")) => {
                let other = handed_in
                    .signature
                    .replace(field.bytes().await.map_err(wrong)?);
                one_of_each(other.is_none())?;
            }
            Some("unit") => {
                one_of_each(handed_in.file.is_empty())?;
                let name = field.file_name().filter(|name| !name.is_empty());
                handed_in.name = name.map(str::to_owned);
                handed_in.file = field.bytes().await.map_err(wrong)?;
            }
            Some("deed") => handed_in.deed = field.text().await.map_err(wrong)?,
            Some("every") => handed_in.every = field.text().await.map_err(wrong)?,
            _ => {
                let wrong = "the form has a field that is none of \"unit\", \"deed\" and \"every\"";
                return Err(Problem::new(Code::BadRequest, wrong));
            }
        }
    }
    match handed_in.file.is_empty() {
        true => Err(Problem::new(
            Code::BadRequest,
            "no file was chosen, or it is empty",
        )),
        false => Ok(handed_in),
    }
}

/// Another file of a kind would not be looked at.
fn one_of_each(is_first: bool) -> Result<(), Problem> {
    match is_first {
        true => Ok(()),
        false => Err(Problem::new(
            Code::BadRequest,
            "choose one unit at a time, together with its signature if it has one",
        )),
    }
}

/// A signature as a header carries it: files have it as it is, in hexadecimal or in base64.
fn written(signature: &[u8]) -> String {
    let text = std::str::from_utf8(signature).map(str::trim);
    match text {
        Ok(text)
            if signature.len() != SIGNATURE && text.bytes().all(|it| it.is_ascii_graphic()) =>
        {
            text.to_owned()
        }
        _ => hex::encode(signature),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_staged_is_shown_with_its_steps_and_hostile_texts_are_texts() {
        let staging = serde_json::json!({
            "number": 7, "source": {"kind": "upload", "by": "<b>me</b>"}, "digest": "0123456789abcdef",
            "name": null, "took-us": 2_500_000, "step": "compile",
            "steps": [
                {"step": "signature", "result": "passed", "note": "<i>no</i>", "took-us": 12},
                {"step": "contract", "result": "skipped", "why": "known", "took-us": 0},
            ],
        });
        let shown = under_way(&[staging]).into_string();
        for part in [
            "A candidate is being staged",
            "&lt;b&gt;me&lt;/b&gt;",
            "0123456789ab",
            "&lt;i&gt;no&lt;/i&gt;",
            "12 µs",
            "skipped: known",
            "compile",
            "under way",
            "2.5 s so far",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!under_way(&[]).into_string().contains("section"));
    }

    #[test]
    fn what_became_of_a_file_is_told_by_its_outcome() {
        let told = |outcome: Value, steps: Value| {
            let staging = serde_json::json!({"name": "memory", "digest": "0123456789abcdef", "outcome": outcome, "steps": steps});
            let became = Became {
                staging: &staging,
                file: None,
                judges: false,
            };
            staged(became).into_string()
        };
        let trial =
            || serde_json::json!([{"step": "trial", "result": "passed", "note": "", "took-us": 1}]);
        for (outcome, steps, part) in [
            (
                serde_json::json!({"result": "unchanged"}),
                serde_json::json!([]),
                "This file is in force already; nothing changes.",
            ),
            (
                serde_json::json!({"result": "in-force", "generation": 2}),
                trial(),
                "It has passed every step.",
            ),
            (
                serde_json::json!({"result": "refused", "step": "contract", "why": "it is not a component"}),
                serde_json::json!([]),
                "Refused at the step “contract”.",
            ),
        ] {
            let told = told(outcome, steps);
            assert!(told.contains(part), "{part}: {told}");
            let has_passed = told.contains("has passed every step");
            assert_eq!(has_passed, part.contains("has passed"), "{told}");
        }
        // A file that is refused before its name was read is told of by that of the file.
        let refused = serde_json::json!({"name": null, "digest": "01", "outcome": {"result": "refused", "step": "contract", "why": "no"}});
        let called = |file: Option<&str>| {
            let became = Became {
                staging: &refused,
                file,
                judges: false,
            };
            staged(became).into_string()
        };
        assert!(called(Some("<b>.wasm")).contains("What became of &lt;b&gt;.wasm"));
        assert!(called(None).contains("What became of the file"));
    }

    #[tokio::test]
    async fn the_file_of_a_form_is_found_among_its_parts() {
        let kind = "multipart/form-data; boundary=----x";
        let body = Bytes::from_static(
            b"------x\r\nContent-Disposition: form-data; name=\"unit\"; filename=\"a;b.wasm\"\r\nContent-Type: application/wasm\r\n\r\n\0asm\r\n\x01\r\n------x\r\nContent-Disposition: form-data; name=\"deed\"\r\n\r\ncheck\r\n------x--\r\n",
        );
        let form = parts_of(kind, body.clone()).await.unwrap();
        let said = (&form.file[..], form.deed.as_str(), form.every.as_str());
        assert_eq!(said, (&b"\0asm\r\n\x01"[..], "check", ""));
        assert_eq!(form.name.as_deref(), Some("a;b.wasm"));
        assert!(parts_of("multipart/form-data", body.clone()).await.is_err());
        assert!(parts_of(kind, body.slice(..body.len() - 30)).await.is_err());
        assert!(parts_of(kind, Bytes::new()).await.is_err());
        let other = Bytes::from_static(
            b"------x\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n------x--\r\n",
        );
        assert!(parts_of(kind, other).await.is_err());
    }

    #[test]
    fn a_signature_is_sent_as_text_however_its_file_has_it() {
        let signature = [0xA5_u8; SIGNATURE];
        let as_hex = hex::encode(signature);
        assert_eq!(written(&signature), as_hex);
        assert_eq!(written(format!("{as_hex}\n").as_bytes()), as_hex);
        assert_eq!(written(b"pQ+/==\r\n"), "pQ+/==");
        // Whatever else it is, a header can carry it.
        assert_eq!(written(b"two words"), hex::encode("two words"));
        assert_eq!(written(b""), "");
    }
}
