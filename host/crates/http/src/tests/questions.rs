//! Callers who ask more questions than are answered at the same time.

use super::pool::Pool;
use std::num::NonZero;

use axum::Extension;

use super::*;

/// A question that takes until the test lets it end.
pub(super) async fn long(
    State(shared): State<Arc<Shared>>,
    Extension(pool): Extension<Arc<Pool>>,
    caller: Caller,
) -> Result<&'static str, Problem> {
    let runtime = tokio::runtime::Handle::current();
    let work = move |_| {
        let end = runtime.block_on(shared.ends.acquire());
        assert!(end.is_ok(), "it is never closed");
        Ok::<_, Problem>("answered")
    };
    pool.run((&caller.name, &"c".into()), work).await
}

/// A document whose check takes until the test lets it end.
pub(super) async fn check(
    State(shared): State<Arc<Shared>>,
    Extension(pool): Extension<Arc<Pool>>,
    caller: Caller,
    document: document::Document,
) -> Result<String, Problem> {
    let runtime = tokio::runtime::Handle::current();
    let work = move |text: String, _| {
        let end = runtime.block_on(shared.ends.acquire());
        assert!(end.is_ok(), "it is never closed");
        Ok::<_, Problem>(text.len().to_string())
    };
    let about = (&caller.name.clone(), &"".into());
    document.read_in_turn(&pool, about, work).await
}

/// So many callers ask so many questions each at the same time, which all take longer than it
/// takes to ask: the answers of those who are refused, and how many have their answers later.
fn asked(callers: usize, questions: usize, refused: usize) -> (Vec<Told>, usize) {
    asked_of("GET /long-question", "", (callers, questions, refused))
}

/// The same of a route, with that document.
fn asked_of(
    request: &str,
    document: &str,
    (callers, questions, refused): (usize, usize, usize),
) -> (Vec<Told>, usize) {
    let (mut tokens, mut secrets) = (Vec::new(), Vec::new());
    for number in 0..callers {
        let secret = Secret::random().unwrap();
        tokens.push(Token {
            name: format!("caller {number}").into(),
            role: Role::Viewer,
            sha256: secret.sha256(),
            clusters: None,
        });
        secrets.push(secret);
    }
    let server = serving(tokens, ApiLimits::default());
    let (answered, answers) = std::sync::mpsc::channel();
    for secret in secrets
        .iter()
        .flat_map(|it| std::iter::repeat_n(it, questions))
    {
        let mut stream = server.connect();
        let head = format!(
            "{request} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
             connection: close\r\ncontent-type: application/toml\r\n\
             content-length: {}\r\n\r\n{document}",
            secret.reveal(),
            document.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let answered = answered.clone();
        std::thread::spawn(move || answered.send(told(stream)));
    }
    drop(answered);
    let refused = answers.iter().take(refused).collect();
    server.shared.ends.add_permits(callers * questions);
    let others = answers
        .iter()
        .inspect(|answer| assert_eq!(answer.status, 200, "{answer:?}"));
    (refused, others.count())
}

#[test]
fn a_caller_with_too_many_questions_is_told_when_to_ask_again() {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let most = cores.div_ceil(2) + 32;
    let (refused, others) = asked(1, most + 1, 1);
    let detail = refused[0].problem(429, "too-many-requests");
    assert_eq!(detail, "32 of your questions wait already: ask again later");
    assert!(refused[0].head.contains("retry-after: 1"), "{refused:?}");
    assert_eq!(others, most);
}

#[test]
fn checks_of_documents_wait_with_questions_and_a_caller_has_few_of_them() {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let most = cores.div_ceil(2) + 32;
    // Large enough to wait for others to be read, too.
    let document = "# a comment\n".repeat(5000);
    let (refused, others) = asked_of("POST /long-check", &document, (1, most + 1, 1));
    let detail = refused[0].problem(429, "too-many-requests");
    assert_eq!(detail, "32 of your questions wait already: ask again later");
    assert_eq!(others, most);
}

#[test]
fn where_too_many_questions_of_all_callers_wait_everybody_is_told_when_to_ask_again() {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let callers = (cores + 256) / 32 + 1;
    let too_many = callers * 32 - cores - 256;
    let (refused, others) = asked(callers, 32, too_many);
    for refused in refused {
        let detail = refused.problem(503, "unavailable");
        assert_eq!(detail, "256 questions wait already: ask again later");
        assert!(refused.head.contains("retry-after: 1"), "{refused:?}");
    }
    assert_eq!(others, cores + 256);
}
