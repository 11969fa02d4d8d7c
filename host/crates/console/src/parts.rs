//! What pages are put together from.

use maud::{Markup, html};

use crate::ask::Ask;
use crate::format::{Moment, percent};
use crate::url;
use placewright_document::Word;
use placewright_http::Permission;

/// A sign of the sprite that every page has. Its id is none of anything else on a page.
pub(crate) fn sign(name: &str) -> Markup {
    html! { svg.i aria-hidden="true" { use href={ "#sign-" (name) } {} } }
}

/// A state: its sign, in its colour, and a word.
pub(crate) fn state(colour: &str, name: &str, text: &str) -> Markup {
    html! { span class={ "state " (colour) } { (sign(name)) span { (text) } } }
}

/// The state of a host.
pub(crate) fn host_state(word: &str) -> Markup {
    match word {
        "up" => state("ok", "ok", "up"),
        "maintenance" => state("warn", "maint", "maintenance"),
        "down" => state("bad", "bad", "down"),
        other => state("bad", "warn", other),
    }
}

/// A moment: the time of the day, with the whole in the title. A script writes it in the zone of
/// the reader.
pub(crate) fn time(moment: Moment) -> Markup {
    let written = moment.written();
    html! { time datetime=(written) title=(written) { (moment.clock()) } }
}

/// A moment of the audit log, which is a text in UTC: its day and time, to the second.
pub(crate) fn day(written: &str) -> Markup {
    let seconds = written.get(..19).unwrap_or(written);
    html! { time data-day datetime=(written) title=(written) { (seconds.replace('T', " ")) } }
}

/// A sentence of others, in which moments as in "2026-11-25T18:10:22Z" are told as times: a script
/// writes them in the zone of the reader.
pub(crate) fn with_times(text: &str) -> Markup {
    let mut parts = Vec::new();
    let (mut rest, mut from) = (text, 0);
    while let Some(found) = rest.get(from..).and_then(|it| it.find('T')) {
        let at = from + found;
        let moment = at.checked_sub(10).and_then(|start| {
            let length = moment_length(rest.get(start..)?)?;
            Some((start, start + length))
        });
        match moment {
            Some((start, end)) => {
                parts.push((&rest[..start], &rest[start..end]));
                (rest, from) = (&rest[end..], 0);
            }
            None => from = at + 1,
        }
    }
    html! {
        @for (before, moment) in parts { (before) time data-day datetime=(moment) title=(moment) { (moment) } }
        (rest)
    }
}

/// How long the moment is that a text begins with: a day and a time of it, in UTC.
fn moment_length(text: &str) -> Option<usize> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let bytes = text.as_bytes();
    let fits = |(expected, letter): (&u8, &u8)| match expected {
        b'0' => letter.is_ascii_digit(),
        sign => letter == sign,
    };
    if bytes.len() <= SHAPE.len() || !SHAPE.iter().zip(bytes).all(fits) {
        return None;
    }
    let rest = &text[SHAPE.len()..];
    let after = match rest.strip_prefix('.') {
        Some(digits) => digits.trim_start_matches(|letter: char| letter.is_ascii_digit()),
        None => rest,
    };
    let zone = after.strip_prefix('Z')?;
    Some(text.len() - zone.len())
}

/// How long ago something was, with the moment in the title.
pub(crate) fn ago(moment: Moment) -> Markup {
    let written = moment.written();
    html! { time.ago datetime=(written) title=(written) data-ago { (moment.ago()) } }
}

/// A part of what may be promised, as the bar shows it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measure {
    pub(crate) committed: f64,
    pub(crate) reserved: f64,
    pub(crate) used: Option<f64>,
    /// What may be promised.
    pub(crate) promisable: f64,
    /// What there is to be used.
    pub(crate) total: f64,
}

impl Measure {
    /// The share that is promised, of what may be.
    pub(crate) fn share(&self) -> f64 {
        match self.promisable {
            all if all > 0.0 => (self.committed + self.reserved) / all,
            _ if self.committed + self.reserved > 0.0 => 1.0,
            _ => 0.0,
        }
    }

    /// What is used of what there is: how wide its line is in percent, and in words.
    pub(crate) fn used_share(&self) -> Option<(String, String)> {
        let share = self.used? / self.total.max(f64::MIN_POSITIVE);
        let wide = format!("{:.1}", (share * 100.0).clamp(0.0, 100.0));
        Some((wide, percent(share)))
    }

    /// The bar of three measures: used inside committed, reserved behind it. What is used is a share
    /// of what there is, the others of what may be promised: a host of which all is used has a full
    /// line, whatever its overcommit.
    pub(crate) fn bar(&self, what: &str) -> Markup {
        let all = self
            .promisable
            .max(self.committed + self.reserved)
            .max(f64::MIN_POSITIVE);
        let wide = |amount: f64| format!("{:.1}", (amount / all * 100.0).clamp(0.0, 100.0));
        let committed = (self.committed / all * 100.0).clamp(0.0, 100.0);
        let of_promisable = |amount: f64| match self.promisable {
            all if all > 0.0 => amount / all,
            _ => f64::from(amount > 0.0),
        };
        let label = format!(
            "{what}: {} committed, {} reserved{}",
            percent(of_promisable(self.committed)),
            percent(of_promisable(self.reserved)),
            match self.used_share() {
                Some((_, used)) => format!(", {used} used"),
                None => String::new(),
            }
        );
        html! {
            span.meas {
                svg viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label=(label) {
                    rect.f-track y="2" width="100" height="8" {}
                    rect.f-com y="2" width=(wide(self.committed)) height="8" {}
                    @if self.reserved > 0.0 {
                        rect.f-res x=(format!("{committed:.1}")) y="2" width=(wide(self.reserved)) height="8" {}
                    }
                    @if let Some((used, _)) = self.used_share() {
                        rect.f-used y="4.5" width=(used) height="3" {}
                    }
                }
                span.num { (percent(self.share())) }
            }
        }
    }
}

/// What the colours of the bar are.
pub(crate) fn measure_key() -> Markup {
    html! {
        span.bar {
            span.key { svg viewBox="0 0 12 10" aria-hidden="true" { rect.f-used y="3.5" width="12" height="3" {} } "used" }
            span.key { svg viewBox="0 0 12 10" aria-hidden="true" { rect.f-com y="1" width="12" height="8" {} } "committed" }
            span.key { svg viewBox="0 0 12 10" aria-hidden="true" { rect.f-res y="1" width="12" height="8" {} } "reserved" }
        }
    }
}

/// The head of a column by which a table can be sorted: a link that turns the order round.
pub(crate) fn sorted_head(
    ask: &Ask,
    sorted: &str,
    name: &str,
    title: &str,
    is_number: bool,
) -> Markup {
    let (by, descends) = match sorted.strip_prefix('-') {
        Some(by) => (by, true),
        None => (sorted, false),
    };
    let is_this = by == name;
    // Of numbers the greatest are looked for most often.
    let next = match (is_this, descends) {
        (true, false) => format!("-{name}"),
        (true, true) => name.to_owned(),
        (false, _) if is_number => format!("-{name}"),
        (false, _) => name.to_owned(),
    };
    let order = is_this.then_some(if descends { "descending" } else { "ascending" });
    let arrow = match order {
        Some("descending") => "\u{a0}↓",
        Some(_) => "\u{a0}↑",
        None => "",
    };
    html! {
        th scope="col" class=[is_number.then_some("num")] aria-sort=[order] {
            a href=(url::with(&ask.query, "sort", &next, &["page"])) { (title) (arrow) }
        }
    }
}

/// A button that sends its form; dashed, with the role that may, where the caller may not.
pub(crate) fn button(
    ask: &Ask,
    needs: Permission,
    cluster: Option<&str>,
    class: &str,
    text: &str,
) -> Markup {
    match ask.may(needs, cluster) {
        true => html! { button class={ "btn " (class) } type="submit" { (text) } },
        false => barred(ask, needs, text),
    }
}

/// A button for an action that needs a confirmation: a dialog asks for it, and without scripts the
/// button that the question opens.
pub(crate) fn sure_button(class: &str, deed: &str, text: &str, question: &str) -> Markup {
    html! {
        button class={ "btn with-script " (class) } type="submit" name="deed" value=(deed) data-sure=(question) { (text) }
        details.sure.without-script {
            summary class={ "btn " (class) } { (text) " …" }
            p { (question) }
            button class={ "btn " (class) } type="submit" name="deed" value=(deed) { (text) }
        }
    }
}

/// What stands in the place of a button that the caller may not use.
pub(crate) fn barred(ask: &Ask, needs: Permission, text: &str) -> Markup {
    all_barred(ask, needs, &[text])
}

/// Buttons of one permission that the caller has not, with the reason once.
pub(crate) fn all_barred(ask: &Ask, needs: Permission, texts: &[&str]) -> Markup {
    let role = needs.least_role();
    let why = match ask.caller.role >= role {
        true => "your token is for other clusters".to_owned(),
        false => format!("needs the role {}", role.word()),
    };
    barred_because(texts, &why)
}

/// The same where something else keeps everybody from using them.
pub(crate) fn barred_because(texts: &[&str], why: &str) -> Markup {
    html! {
        span.barred {
            @for text in texts { button.btn type="button" aria-disabled="true" title=(why) { (text) } }
            span.small.dim { (why) }
        }
    }
}

/// What stands where a list is empty.
pub(crate) fn empty(title: &str, text: Markup) -> Markup {
    html! { div.empty { p { b { (title) } } p.soft { (text) } } }
}

/// A sentence in a frame of its colour: `bad`, `warn`, `ok`, or none.
pub(crate) fn note(colour: &str, text: Markup) -> Markup {
    let name = match colour {
        "bad" => "bad",
        "warn" => "warn",
        "ok" => "ok",
        _ => "idle",
    };
    html! { div class={ "note " (colour) } { (sign(name)) div { (text) } } }
}

/// Why what a form has sent was not done: whoever sent it is led there.
pub(crate) fn alert(colour: &str, text: Markup) -> Markup {
    html! { div role="alert" tabindex="-1" autofocus { (note(colour, text)) } }
}

/// What came of what a form has sent, on the page that answers it: the same.
pub(crate) fn outcome(colour: &str, text: Markup) -> Markup {
    html! { div role="status" tabindex="-1" autofocus { (note(colour, text)) } }
}

/// A link to a host of a cluster, or a dash.
pub(crate) fn host_link(cluster: &str, host: Option<&str>) -> Markup {
    match host {
        Some(host) => html! {
            a.mono href=(url::of_cluster(cluster, &["hosts", host])) { (crate::format::cut(host, 80)) }
        },
        None => html! { span.dim { "no host" } },
    }
}

/// A link to a VM of a cluster.
pub(crate) fn vm_link(cluster: &str, vm: &str) -> Markup {
    html! { a.mono href=(url::of_cluster(cluster, &["vms", vm])) { (crate::format::cut(vm, 80)) } }
}

/// Text to be copied by a button; without scripts it stands there to be read.
pub(crate) fn copies(curl: &str, command: Option<&str>) -> Markup {
    html! {
        details.copies {
            summary.btn.quiet { (sign("copy")) "Copy as …" }
            div.copied {
                p.small.dim { "The same by the API, with SERVER and TOKEN set:" }
                pre.code tabindex="0" { (curl) }
                @if let Some(command) = command {
                    p.small.dim { "The same on the command line, with SERVER and PLACEWRIGHT_TOKEN set:" }
                    pre.code tabindex="0" { (command) }
                }
            }
        }
    }
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A command line of the program that reads a document from its standard input.
pub(crate) fn command_about(document: &str, words: &[&str]) -> String {
    format!("printf %s {} | {}", quoted(document), command(words))
}

/// A command line of the program. A word with other characters than letters, digits, `-`, `_` and
/// `.` is quoted for a shell.
pub(crate) fn command(words: &[&str]) -> String {
    let is_plain = |word: &str| {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        !word.is_empty() && word.chars().all(plain)
    };
    // Without the server, some commands are about files.
    let mut line = "placewright --server \"$SERVER\"".to_owned();
    let mut is_value = false;
    for word in words {
        // An id may begin as an option does.
        line.push(if is_value && word.starts_with('-') {
            '='
        } else {
            ' '
        });
        match is_plain(word) {
            true => line.push_str(word),
            false => line.push_str(&quoted(word)),
        }
        is_value = !is_value && word.starts_with("--");
    }
    line
}

/// The command that lists what the API lists with these parameters of a query.
pub(crate) fn list_command(
    kind: &str,
    cluster: Option<&str>,
    filters: &[(&str, Option<&str>)],
) -> String {
    let filters = filters.iter().filter_map(|(name, value)| {
        let value = value.filter(|value| !value.is_empty())?;
        Some(format!("{name}={value}"))
    });
    let filters: Vec<String> = filters.collect();
    let mut words = vec!["get", kind];
    words.extend(cluster.iter().flat_map(|cluster| ["--cluster", *cluster]));
    words.extend(
        filters
            .iter()
            .flat_map(|filter| ["--where", filter.as_str()]),
    );
    command(&words)
}

/// The line of curl that asks the API the same.
pub(crate) fn curl(method: &str, path: &str, body: Option<&str>) -> String {
    let mut line = "curl -H \"Authorization: Bearer $TOKEN\"".to_owned();
    if method != "GET" {
        line.push_str(&format!(" -X {method}"));
    }
    if let Some(body) = body {
        line.push_str(" -H 'Content-Type: application/json' -d ");
        line.push_str(&quoted(body));
    }
    format!("{line} \"$SERVER\"{}", quoted(path))
}

/// The line of curl that sends a document in TOML.
pub(crate) fn curl_toml(path: &str, document: &str) -> String {
    let line =
        "curl -H \"Authorization: Bearer $TOKEN\" -X POST -H 'Content-Type: application/toml'";
    format!(
        "{line} --data-binary {} \"$SERVER\"{}",
        quoted(document),
        quoted(path)
    )
}

/// Pages of a long list: where this one is, and the ones beside it.
pub(crate) fn pager(ask: &Ask, page: usize, of: usize) -> Markup {
    if of <= 1 {
        return html! {};
    }
    let link = |page: usize| url::with(&ask.query, "page", &page.to_string(), &[]);
    html! {
        nav.pager aria-label="Pages" {
            @if page > 1 { a.btn href=(link(page - 1)) rel="prev" { "Previous" } }
            span.soft { "Page " (page) " of " (of) }
            @if page < of { a.btn href=(link(page + 1)) rel="next" { "Next" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deed_that_is_asked_about_is_not_done_at_one_press_without_scripts() {
        let shown = sure_button("risk", "cancel", "Stop the plan", "Stop this plan?").into_string();
        let (with, without) = shown.split_once("<details").unwrap();
        // Whichever of them a browser shows.
        assert!(with.contains("class=\"btn with-script risk\""), "{shown}");
        assert!(with.contains("data-sure=\"Stop this plan?\""), "{shown}");
        assert!(without.contains("class=\"sure without-script\""), "{shown}");
        let (closed, opened) = without.split_once("</summary>").unwrap();
        assert!(!closed.contains("<button"), "{shown}");
        assert!(opened.contains("<p>Stop this plan?</p>"), "{shown}");
        assert!(opened.contains("value=\"cancel\""), "{shown}");
    }

    #[test]
    fn a_list_is_narrowed_by_what_the_address_says() {
        let filters = [("tenant", Some("a b")), ("host", None), ("sort", Some(""))];
        let line = list_command("vms", Some("north"), &filters);
        let expected =
            "placewright --server \"$SERVER\" get vms --cluster north --where 'tenant=a b'";
        assert_eq!(line, expected);
    }

    #[test]
    fn moments_in_a_sentence_become_times_and_all_else_stays_text() {
        let told = with_times("TTL of <v> ends 2026-11-28T13:15:21Z, not 2026-11-28T14:00:00.5Z.")
            .into_string();
        let time =
            |it: &str| format!("<time data-day datetime=\"{it}\" title=\"{it}\">{it}</time>");
        let expected = format!(
            "TTL of &lt;v&gt; ends {}, not {}.",
            time("2026-11-28T13:15:21Z"),
            time("2026-11-28T14:00:00.5Z")
        );
        assert_eq!(told, expected);
        for other in [
            "",
            "T",
            "äT2026",
            "2026-11-28T13:15:21",
            "2026-11-28T13:1",
            "x2026-11-28T13:15:21+02:00",
        ] {
            assert_eq!(with_times(other).into_string(), other);
        }
    }
}
