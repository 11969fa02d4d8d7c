//! Tokens: who may call, with which role; one is issued, and its secret is shown this once; one is
//! revoked.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::ask::{Ask, Console, Sent};
use crate::form;
use crate::format::{Moment, cut, things};
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{self, ago, empty, state};
use crate::told;
use crate::url::{Pairs, segment};
use crate::value::{text, texts};
use placewright_document::Word;
use placewright_http::problem::{Code, Problem};
use placewright_http::{Permission, Role};

/// Tokens that are shown.
const MOST: usize = 10_000;
/// Clusters that a token may be for.
const CLUSTERS: usize = 1000;

/// What the page tells besides the list.
enum Told {
    Nothing,
    /// A token was issued: its name and its secret.
    Issued(String, String),
    /// None was, because.
    Wrong(Problem),
}

/// The list, with the form that issues one.
pub(crate) async fn list(State(_): State<Arc<Console>>, ask: Ask) -> Result<Response, Problem> {
    shown(&ask, &Pairs::new(), Told::Nothing).await
}

async fn shown(ask: &Ask, entered: &Pairs, told: Told) -> Result<Response, Problem> {
    let main = match ask.may(Permission::Administer, None) {
        true => tokens(ask, entered, &told).await?,
        false => html! {
            (head(None))
            section.panel aria-label="Tokens" { div.in {
                (empty("Not shown to you", html! {
                    "You are " b { (ask.caller.name) } ", with the role " b { (ask.caller.role.word()) } ". "
                    (parts::barred(ask, Permission::Administer, "Show the tokens"))
                }))
            } }
        },
    };
    let status = match &told {
        Told::Nothing => StatusCode::OK,
        Told::Issued(..) => StatusCode::CREATED,
        Told::Wrong(problem) => problem.code().status(),
    };
    let page = Page {
        title: "Tokens".to_owned(),
        area: Area::Tokens,
        cluster: None,
        main,
        // A secret that is shown once is not to go by itself.
        live: "",
        script: None,
    };
    page::shown_as(ask, page, status).await
}

fn head(count: Option<usize>) -> Markup {
    html! { div.head { div {
        (crumbs(&[("Overview", "/".to_owned())], "Tokens"))
        h1 { @match count { Some(count) => (things(count, "token", "tokens")), None => "Tokens" } }
        p { "A token says who calls and what that may do. The server keeps no secret of one, so none can be shown again." }
    } } }
}

async fn tokens(ask: &Ask, entered: &Pairs, told: &Told) -> Result<Markup, Problem> {
    let tokens = ask.list("/v1/tokens", MOST).await?;
    let clusters = ask.list("/v1/clusters", CLUSTERS).await?;
    let clusters: Vec<&str> = clusters.iter().map(|it| text(it, "name")).collect();
    Ok(html! {
        (head(Some(tokens.len())))
        @match told {
            Told::Nothing => {}
            Told::Issued(name, secret) => (parts::outcome("ok", html! {
                p { b { "The token " (cut(name, 64)) " is issued." } " Copy its secret now: it is not shown again." }
                div.copied { pre.code id="secret" tabindex="0" { (secret) } }
            })),
            Told::Wrong(problem) => (parts::alert("bad", html! {
                "Nothing was changed: " (sentence(&problem.clone().body(None).detail))
            })),
        }
        div.cols.two-one {
            section.panel aria-labelledby="listed" {
                header { h2 id="listed" { "Who may call" } }
                @if tokens.is_empty() { div.in { (empty("No token yet", html! {
                    "Whoever reaches this machine's own address may do everything. The first token stands in the server's configuration: "
                    code { "placewright token new --name NAME --role admin" } "."
                })) } } @else {
                    div.scroll { table {
                        caption.vh { "Tokens by name" }
                        thead { tr {
                            th scope="col" { "Name" } th scope="col" { "Role" } th scope="col" { "Clusters" }
                            th scope="col" { "Expires" } th scope="col" { "From" } th scope="col" { span.vh { "Revoke" } }
                        } }
                        tbody { @for token in &tokens { (row(token)) } }
                    } }
                }
            }
            (issue(ask, entered, &clusters))
        }
        div.acts { (parts::copies(&parts::curl("GET", "/v1/tokens", None), Some(&parts::command(&["get", "tokens"])))) }
    })
}

fn row(token: &Value) -> Markup {
    let name = text(token, "name");
    let is_issued = token["origin"] == "api";
    let sure = format!("Revoke the token {name}? Whoever uses it is refused from then on.");
    html! {
        tr.tall {
            th.row.mono scope="row" { (cut(name, 64)) }
            td { (text(token, "role")) }
            td { @if token["clusters"].is_array() { (cut(&texts(token, "clusters").join(", "), 120)) } @else { "all" } }
            td.nowrap { @match (Moment::of(&token["expires"]), token["expired"] == true) {
                (Some(at), true) => { (state("off", "idle", "expired")) " " (ago(at)) }
                (Some(at), false) => (ago(at)),
                (None, _) => span.dim { "never" },
            } }
            td { @if is_issued { (cut(text(token, "by"), 64)) @if let Some(at) = Moment::of(&token["at"]) { span.sub { (ago(at)) } } }
                @else { "the configuration" } }
            td { @if is_issued {
                form action={ "/tokens/" (segment(name)) } method="post" {
                    (parts::sure_button("quiet risk", "revoke", "Revoke", &sure))
                }
            } @else { span.small.dim { "is removed there" } } }
        }
    }
}

/// The form that issues a token.
fn issue(ask: &Ask, entered: &Pairs, clusters: &[&str]) -> Markup {
    let said = |name: &str| form::value(entered, name).unwrap_or_default();
    let ticked: Vec<&str> = form::values(entered, "cluster").collect();
    html! {
        section.panel aria-labelledby="issue" {
            header { h2 id="issue" { "Issue a token" } }
            @if ask.console.access.is_open() {
                div.in { p.soft { "A server without a token in its configuration issues none: the first one would shut everybody else out." } }
            } @else { form.in.stack action="/tokens" method="post" {
                label.lab { "Name" input.field name="name" required maxlength="64" size="20" value=(said("name")) autocomplete="off"; }
                label.lab { "Role" select.field name="role" {
                    @for (word, role) in Role::WORDS { option value=(word) selected[said("role") == *word] disabled[*role > ask.caller.role] { (word) } }
                } }
                fieldset.stack {
                    legend.small { "Clusters; none ticked: all" }
                    @for cluster in clusters.iter().take(100) {
                        label.lab { input type="checkbox" name="cluster" value=(cluster) checked[ticked.contains(cluster)]; (cut(cluster, 60)) }
                    }
                }
                label.lab { "Last day, in UTC; empty: it does not expire" input.field type="date" name="expires" value=(said("expires")); }
                button.btn.main type="submit" { "Issue the token" }
            } }
        }
    }
}

/// Issue a token.
pub(crate) async fn create(
    State(_): State<Arc<Console>>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let sent = form::pairs(&body);
    let mut wanted = Map::new();
    for name in ["name", "role"] {
        let value = form::value(&sent, name).unwrap_or_default().trim();
        wanted.insert(name.to_owned(), value.into());
    }
    let clusters: Vec<&str> = form::values(&sent, "cluster").collect();
    if !clusters.is_empty() {
        wanted.insert("clusters".to_owned(), clusters.into());
    }
    if let Some(day) = form::value(&sent, "expires").filter(|day| !day.is_empty()) {
        wanted.insert("expires".to_owned(), format!("{day}T23:59:59Z").into());
    }
    match ask
        .send("POST", "/v1/tokens", Sent::Json(&wanted.into()))
        .await
    {
        Ok(answer) => {
            let name = text(&answer.body["token"], "name").to_owned();
            let secret = text(&answer.body, "secret").to_owned();
            shown(&ask, &Pairs::new(), Told::Issued(name, secret)).await
        }
        Err(problem) if form::is_told(&problem) => shown(&ask, &sent, Told::Wrong(problem)).await,
        Err(problem) => Err(problem),
    }
}

/// Revoke a token.
pub(crate) async fn act(
    State(_): State<Arc<Console>>,
    Path(name): Path<String>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    if form::value(&form::pairs(&body), "deed") != Some("revoke") {
        let wrong = "\"deed\" must be revoke";
        return Err(Problem::new(Code::InvalidParameter, wrong));
    }
    let path = format!("/v1/tokens/{}", segment(&name));
    match ask.send("DELETE", &path, Sent::Nothing).await {
        Ok(_) => {
            let revoked = format!("token {} is revoked", cut(&name, 64));
            told::done(&ask, "/tokens", &revoked)
        }
        Err(problem) if form::is_told(&problem) => {
            shown(&ask, &Pairs::new(), Told::Wrong(problem)).await
        }
        Err(problem) => Err(problem),
    }
}
