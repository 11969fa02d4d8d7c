//! What all pages have: the frame, the ways to the others, and the headers that keep foreign
//! things out.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

use crate::ask::{Ask, Console};
use crate::assets;
use crate::format;
use crate::parts::{note, sign};
use crate::search;
use crate::session::Scheme;
use crate::told;
use crate::units;
use crate::url::{of_cluster, segment};
use crate::value::{items, text};
use placewright_document::Word;
use placewright_http::problem::{Code, Problem};
use placewright_model::is_hidden;

/// What a browser may load and do: what comes from here, and no code in pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types placewright";

const HEADERS: [(HeaderName, &str); 8] = [
    (header::CONTENT_TYPE, "text/html; charset=utf-8"),
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // To be led back after signing in, and nowhere else.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=()",
    ),
];

/// The signs of pages; drawn for them.
const SPRITE: &str = include_str!("../assets/sprite.svg");
const MARK: &str = include_str!("../assets/mark.svg");

/// Which of the pages in the navigation is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Area {
    Overview,
    Hosts,
    Vms,
    Groups,
    Reservations,
    Decisions,
    Plans,
    Questions,
    Settings,
    Policies,
    Units,
    Quotas,
    Events,
    Audit,
    Tokens,
    Search,
}

/// A page.
pub(crate) struct Page<'p> {
    pub(crate) title: String,
    pub(crate) area: Area,
    /// The cluster that it is about.
    pub(crate) cluster: Option<&'p str>,
    pub(crate) main: Markup,
    /// Kinds of events after which it is read again, with commas between them; "": never.
    pub(crate) live: &'static str,
    /// A script that it needs besides.
    pub(crate) script: Option<assets::Asset>,
}

/// Write a page.
pub(crate) async fn shown(ask: &Ask, page: Page<'_>) -> Result<Response, Problem> {
    shown_as(ask, page, StatusCode::OK).await
}

/// The same with another status.
pub(crate) async fn shown_as(
    ask: &Ask,
    page: Page<'_>,
    status: StatusCode,
) -> Result<Response, Problem> {
    let clusters = ask.list("/v1/clusters", 1000).await?;
    let named = page.cluster.or_else(|| match clusters.as_slice() {
        [only] => only["name"].as_str(),
        _ => None,
    });
    let current = named.and_then(|name| clusters.iter().find(|it| it["name"] == name));
    let live = (!page.live.is_empty()).then_some(page.live);
    let body = html! {
        div.shell data-live=[live] data-cluster=[page.cluster] {
            nav.side aria-label="Main" {
                a.brand href="/" { (PreEscaped(MARK)) "Placewright" }
                (search::field())
                (switch(&clusters, named, page.area))
                (ways(current, page.area))
                (me(ask))
            }
            details.top {
                summary { span.brand { (PreEscaped(MARK)) "Placewright" } span.btn { "Menu" } }
                nav aria-label="Menu" {
                    (search::field())
                    (switch(&clusters, named, page.area))
                    (ways(current, page.area))
                    (me(ask))
                }
            }
            main id="main" tabindex="-1" {
                (told::shown(ask.told.as_deref()))
                // On whatever page of the cluster a decision is waited for.
                @if let Some(cluster) = current.filter(|_| page.cluster.is_some()) { @for paused in items(cluster, "paused") {
                    @let unit = text(paused, "unit");
                    (note("bad", html! { "Unit " a href={ "/units/" (segment(unit)) } { (format::cut(unit, 60)) } " " (units::paused(paused)) }))
                } }
                (page.main)
            }
        }
    };
    let scripts = [Some(assets::SCRIPT), page.script];
    let scripts = scripts.into_iter().flatten();
    let whole = document(&page.title, ask.scheme, scripts, body);
    let mut headers = HeaderMap::new();
    if ask.told.is_some() {
        headers.append(header::SET_COOKIE, told::forgotten(ask.console.cookie)?);
    }
    Ok(answered(status, headers, whole))
}

/// A whole document.
fn document(
    title: &str,
    scheme: Scheme,
    scripts: impl Iterator<Item = assets::Asset>,
    body: Markup,
) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" data-scheme=(scheme.word()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · Placewright" }
                link rel="icon" href=(assets::ICON.path());
                link rel="stylesheet" href=(assets::STYLE.path());
                @for script in scripts { script type="module" src=(script.path()) {} }
            }
            body {
                (PreEscaped(SPRITE))
                a.skip href="#main" { "Skip to content" }
                (body)
                div id="toast" role="status" {}
            }
        }
    }
}

/// A part of a page alone, for a script that puts it into its place.
pub(crate) fn part(part: Markup) -> Response {
    answered(StatusCode::OK, HeaderMap::new(), part)
}

fn answered(status: StatusCode, mut headers: HeaderMap, whole: Markup) -> Response {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let whole = visible(whole.into_string());
    (status, headers, whole).into_response()
}

/// Write characters out that turn the direction of what follows, or that nobody sees: a name that has
/// one would make the sentence around it read otherwise. Pages themselves have none. What forms send
/// back stays as it is: else it would be another id, or another document.
pub(crate) fn visible(page: String) -> String {
    // Pages have lines of their own, and U+200D joins signs to one, as in many emoji.
    let is_hidden =
        |letter: char| !matches!(letter, '\n' | '\r' | '\t' | '\u{200d}') && is_hidden(letter);
    if !page.contains(is_hidden) {
        return page;
    }
    let mut visible = String::with_capacity(page.len());
    let mut place = Place::default();
    for (at, letter) in page.char_indices() {
        place.pass(&page, at, letter);
        match is_hidden(letter) && !place.is_sent_back() {
            true => visible.push_str(&format!("[U+{:04X}]", u32::from(letter))),
            false => visible.push(letter),
        }
    }
    visible
}

/// Where in a page something stands. Within texts and values of attributes `<`, `>` and `"` are
/// written as entities.
#[derive(Debug, Default)]
struct Place {
    /// Where the tag begins that is not at its end.
    tag: Option<usize>,
    /// Whether it is the value of an attribute, and one that people read.
    value: Option<bool>,
    in_textarea: bool,
}

impl Place {
    fn pass(&mut self, page: &str, at: usize, letter: char) {
        match (letter, self.tag) {
            ('<', _) => {
                self.tag = Some(at);
                self.in_textarea = page[at..].starts_with("<textarea");
            }
            ('>', _) => (self.tag, self.value) = (None, None),
            ('"', Some(_)) if self.value.is_some() => self.value = None,
            ('"', Some(tag)) => {
                let name = page[tag..at].trim_end_matches('=');
                let name = name.rsplit(' ').next().unwrap_or_default();
                let read = ["alt", "aria-label", "data-sure", "placeholder", "title"];
                self.value = Some(read.contains(&name));
            }
            _ => {}
        }
    }

    /// Whether what stands there is in the value of a field, which a form sends back, or in
    /// something else that a script works with.
    fn is_sent_back(&self) -> bool {
        match self.tag {
            Some(_) => self.value != Some(true),
            None => self.in_textarea,
        }
    }
}

/// Links to the same page of other clusters.
fn switch(clusters: &[Value], current: Option<&str>, area: Area) -> Markup {
    let part = match area {
        Area::Vms => "vms",
        Area::Groups => "groups",
        Area::Reservations => "reservations",
        Area::Decisions => "decisions",
        Area::Plans => "plans",
        Area::Questions => "questions",
        Area::Settings => "settings",
        _ => "",
    };
    let names = clusters
        .iter()
        .filter_map(|cluster| cluster["name"].as_str());
    let path = |name: &str| match part {
        "" => of_cluster(name, &[]),
        part => of_cluster(name, &[part]),
    };
    if clusters.len() < 2 {
        return html! {};
    }
    html! {
        details.switch {
            summary.field { span { span.vh { "Cluster " } (current.unwrap_or("All clusters")) } span.dim { "⌄" } }
            ul { @for name in names {
                li { a href=(path(name)) aria-current=[(Some(name) == current).then_some("true")] { (name) } }
            } }
        }
    }
}

/// The ways to the other pages.
fn ways(cluster: Option<&Value>, area: Area) -> Markup {
    let counted = |cluster: &Value, name: &str| {
        let count = cluster["counted"][name].as_u64();
        count.map(format::count).unwrap_or_default()
    };
    let way = |to: Area, path: String, name: &str, text: &str, count: String| {
        html! {
            li { a href=(path) aria-current=[(to == area).then_some("page")] {
                (sign(name)) (text) @if !count.is_empty() { span.n { (count) } }
            } }
        }
    };
    html! {
        div.ways {
            ul { (way(Area::Overview, "/".to_owned(), "n-over", "Overview", String::new())) }
            @if let Some(cluster) = cluster {
                @let name = cluster["name"].as_str().unwrap_or_default();
                div {
                    h2 { "Cluster " (name) }
                    ul {
                        (way(Area::Hosts, of_cluster(name, &[]), "n-fleet", "Hosts", counted(cluster, "hosts")))
                        (way(Area::Vms, of_cluster(name, &["vms"]), "n-vm", "VMs", counted(cluster, "vms")))
                        (way(Area::Groups, of_cluster(name, &["groups"]), "n-group", "Groups", counted(cluster, "groups")))
                        (way(Area::Reservations, of_cluster(name, &["reservations"]), "n-res", "Reservations", counted(cluster, "pending")))
                        (way(Area::Decisions, of_cluster(name, &["decisions"]), "n-dec", "Decisions", String::new()))
                        (way(Area::Plans, of_cluster(name, &["plans"]), "n-plan", "Plans", String::new()))
                        (way(Area::Questions, of_cluster(name, &["questions"]), "n-ask", "Questions", String::new()))
                        (way(Area::Settings, of_cluster(name, &["settings"]), "n-set", "Settings", String::new()))
                    }
                }
            }
            div {
                h2 { "Server" }
                ul {
                    (way(Area::Policies, "/policies".to_owned(), "n-pol", "Policies", String::new()))
                    (way(Area::Units, "/units".to_owned(), "n-unit", "Units", String::new()))
                    (way(Area::Quotas, "/quotas".to_owned(), "n-quota", "Quotas", String::new()))
                    (way(Area::Events, "/events".to_owned(), "n-ev", "Events", String::new()))
                    (way(Area::Audit, "/audit".to_owned(), "n-aud", "Audit", String::new()))
                    (way(Area::Tokens, "/tokens".to_owned(), "n-token", "Tokens", String::new()))
                    li { a href="/docs" { (sign("n-api")) "API" } }
                }
            }
        }
    }
}

/// Who looks at the page, with what it may set for itself.
fn me(ask: &Ask) -> Markup {
    let open = ask.console.access.is_open();
    html! {
        div.me {
            p { b { (ask.caller.name) } " · " (ask.caller.role.word()) }
            form.bar action="/scheme" method="post" {
                span.seg role="group" aria-label="Colours" {
                    @for scheme in [Scheme::Automatic, Scheme::Light, Scheme::Dark] {
                        button name="scheme" value=(scheme.word()) type="submit"
                            aria-pressed=(if scheme == ask.scheme { "true" } else { "false" }) {
                            (match scheme { Scheme::Automatic => "Auto", Scheme::Light => "Light", Scheme::Dark => "Dark" })
                        }
                    }
                }
            }
            button.btn.quiet.with-script type="button" data-keys { "Keys " span.kbd { "?" } }
            @if !open {
                form action="/sign-out" method="post" { button.btn.quiet type="submit" { "Sign out" } }
            }
        }
    }
}

/// Where a page is among the others.
pub(crate) fn crumbs(ways: &[(&str, String)], here: &str) -> Markup {
    html! {
        nav.crumbs aria-label="You are here" {
            @for (text, path) in ways { a href=(path) { (text) } span aria-hidden="true" { "/" } }
            span aria-current="page" { (here) }
        }
    }
}

/// How the page is shown on which somebody signs in.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SignIn<'s> {
    pub(crate) scheme: Scheme,
    /// Whether nobody has to.
    pub(crate) is_open: bool,
    /// Whether there is a provider to sign in with.
    pub(crate) by_openid: bool,
    /// Why it did not work, in a sentence.
    pub(crate) wrong: Option<&'s str>,
    /// Whether it was the token.
    pub(crate) is_token_wrong: bool,
    /// The page that is opened then, where it is not the one that the form stands on.
    pub(crate) to: Option<&'s str>,
}

impl SignIn<'_> {
    /// As this server has it.
    pub(crate) fn of(console: &Console, headers: &HeaderMap) -> Self {
        Self {
            scheme: Scheme::of(headers),
            is_open: console.access.is_open(),
            by_openid: console.openid.is_some(),
            ..Self::default()
        }
    }
}

/// The page on which somebody signs in.
pub(crate) fn sign_in(ways: &SignIn<'_>, status: StatusCode) -> Response {
    let body = html! {
        main.alone id="main" tabindex="-1" {
            div.brand { (PreEscaped(MARK)) "Placewright" }
            @if ways.is_open {
                h1 { "No token is needed here" }
                p.soft { "This server has no tokens: whoever uses this machine may do everything." }
                p { a.btn.main href="/" { "Open the overview" } }
            } @else {
                h1 { "Sign in" }
                @if let (Some(wrong), false) = (ways.wrong, ways.is_token_wrong) {
                    p.bad.small role="alert" { (sign("bad")) " " (wrong) }
                }
                @if ways.by_openid {
                    p { a.btn.main href=(OPENID) { "Sign in with OpenID Connect" } }
                    p.small.soft { "Your organisation's sign-in says who you are, and your groups say what you may do." }
                }
                (token_form(ways))
            }
        }
    };
    let whole = document("Sign in", ways.scheme, std::iter::empty(), body);
    answered(status, HeaderMap::new(), whole)
}

/// Where a browser begins to sign in by a provider.
pub(crate) const OPENID: &str = "/sign-in/openid";

fn token_form(ways: &SignIn<'_>) -> Markup {
    let wrong = ways.wrong.filter(|_| ways.is_token_wrong);
    let button = if ways.by_openid { "btn" } else { "btn main" };
    html! {
        form.stack action="/sign-in" method="post" {
            @if let Some(to) = ways.to { input type="hidden" name="to" value=(to); }
            label for="token" { "Token" }
            input.field id="token" name="token" type="password" autocomplete="current-password"
                required autofocus[!ways.by_openid] spellcheck="false" aria-invalid=[wrong.map(|_| "true")]
                aria-describedby="token-help";
            @if let Some(wrong) = wrong { p.bad.small role="alert" { (sign("bad")) " " (wrong) } }
            p.small.soft id="token-help" {
                "An admin makes one with " code { "placewright token new --name NAME --role ROLE" }
                ". It stays on the server: your browser keeps a session that ends after 8 hours without use."
            }
            button class=(button) type="submit" { @if ways.by_openid { "Sign in with the token" } @else { "Sign in" } }
        }
    }
}

/// The page that leads somebody on who has signed in by a provider.
pub(crate) fn signed_in(scheme: Scheme, page: &str) -> Response {
    let body = html! {
        main.alone id="main" tabindex="-1" {
            div.brand { (PreEscaped(MARK)) "Placewright" }
            h1 { "You are signed in" }
            p { a.btn.main href=(page) { "Go on" } }
        }
    };
    let whole = document("Signed in", scheme, std::iter::empty(), body);
    answered(StatusCode::OK, HeaderMap::new(), whole)
}

/// A problem, as people read it, where there is a provider to sign in with.
pub(crate) fn problem_or_openid(problem: Problem, request: &str) -> Response {
    written(problem, request, true)
}

/// A problem, as people read it; `request` is the id of the request.
pub(crate) fn problem(problem: Problem, request: &str) -> Response {
    written(problem, request, false)
}

fn written(problem: Problem, request: &str, by_openid: bool) -> Response {
    if problem.code() == Code::Unauthorized {
        let ways = SignIn {
            by_openid,
            ..SignIn::default()
        };
        return sign_in(&ways, StatusCode::UNAUTHORIZED);
    }
    let (status, headers) = (problem.code().status(), problem.headers());
    let body = problem.body(None);
    let is_of_query =
        status == StatusCode::BAD_REQUEST && body.errors.iter().any(|it| it.place.file == "query");
    let main = html! {
        main.alone id="main" tabindex="-1" {
            div.brand { (PreEscaped(MARK)) "Placewright" }
            h1 tabindex="-1" autofocus { (body.title) }
            p { (sentence(&body.detail)) }
            // A single error is part of the sentence above.
            @if body.errors.len() > 1 || body.errors.iter().any(|it| !body.detail.contains(&it.message)) {
                ul.list { @for error in &body.errors { li { (error.message) } } }
            }
            @if status == StatusCode::FORBIDDEN {
                p.soft { "Nothing was changed. Whoever gave you the token can say who has the role that this needs." }
            }
            p.bar {
                // Links go on working for whoever has one with a parameter that is no longer there.
                @if is_of_query { a.btn.main href="?" { "Open the page without its parameters" } }
                a.btn.main[!is_of_query] href="/" { "Open the overview" }
            }
            p.small.dim { "Status " (status.as_u16()) ", request " code { (request) } }
        }
    };
    let whole = document(body.title, Scheme::default(), std::iter::empty(), main);
    answered(status, headers, whole)
}

/// A sentence with a capital letter and a full stop. An id at its beginning stays as it is.
pub(crate) fn sentence(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default();
    let is_id = !word
        .chars()
        .all(|letter| letter.is_alphabetic() || letter == ',');
    let mut letters = text.chars();
    let first = letters.next().map(|first| match is_id {
        true => first.to_string(),
        false => first.to_uppercase().to_string(),
    });
    let stop = if text.ends_with(['.', '!', '?', ')']) {
        ""
    } else {
        "."
    };
    format!("{}{}{stop}", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_begin_with_a_capital_unless_an_id_does() {
        assert_eq!(sentence("no host has room"), "No host has room.");
        assert_eq!(
            sentence("web-1 moved from a to b"),
            "web-1 moved from a to b."
        );
        assert_eq!(sentence("is it so?"), "Is it so?");
        assert_eq!(sentence(""), ".");
    }

    #[test]
    fn characters_that_turn_or_hide_a_text_are_written_out() {
        let page = "VM \u{202e}exe.txt\u{200b} of z\u{fc}rich".to_owned();
        assert_eq!(visible(page), "VM [U+202E]exe.txt[U+200B] of z\u{fc}rich");
    }

    #[test]
    fn what_forms_send_back_stays_as_it_is() {
        let page = "<p title=\"a\u{200b}\" id=\"x\">b\u{200b}</p><input name=\"vm\" value=\"=\u{200b}\">c\u{200b}<textarea rows=\"3\">d\u{200b}</textarea>e\u{200b}";
        assert_eq!(
            visible(page.to_owned()),
            "<p title=\"a[U+200B]\" id=\"x\">b[U+200B]</p><input name=\"vm\" value=\"=\u{200b}\">c[U+200B]<textarea rows=\"3\">d\u{200b}</textarea>e[U+200B]"
        );
    }

    #[test]
    fn a_problem_is_a_page_that_says_what_to_do_and_shows_texts_as_texts() {
        let told = Problem::new(Code::Forbidden, "the token \"<b>x</b>\" may not");
        let response = problem(told, "id-1");
        assert_eq!(response.status(), StatusCode::FORBIDDEN);
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY]
            .to_str()
            .unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"));
        let unknown = problem(Problem::new(Code::Unauthorized, "sign in"), "id-2");
        assert_eq!(unknown.status(), StatusCode::UNAUTHORIZED);
    }
}
