//! Bodies that are documents, and what is done with them off the threads that serve.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequest, Request};
use axum::http::{Extensions, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::runtime::Handle;

use super::access::Caller;
use super::answers::Answers;
use super::background::Background;
use super::budget::{Budget, Held, Purpose};
use super::chunks::Written;
use super::guard::OnCluster;
use super::headers::media_type;
use super::pool::{About, Permit, Pool};
use super::problem::{Code, Problem};
use placewright_scheduler::Cancel;

/// Documents up to this size are read at once; greater ones on a thread that may take
/// its time.
const SMALL: usize = 16 << 10;

/// Documents up to this size do not wait for greater ones to be read.
const MEDIUM: usize = 1 << 20;

/// What documents that were read take.
const DOCUMENTS: Purpose = Purpose {
    what: "documents that are being read or carried out",
    option: None,
};

/// The bytes for all of them, and for those of one caller. What it takes to serve comes to
/// 256 MiB besides: a server stays below 1 GiB.
const ROOM: usize = 768 << 20;
const ROOM_OF_ONE: usize = 512 << 20;

/// How long a document waits for that room.
const WAIT: Duration = Duration::from_secs(30);

/// What a value of a document takes in memory from when it is read until it is carried out: as a
/// tree, as what the tree says, and as the rows that come of it. Measured with entries that have
/// an id and a host and nothing else.
const BYTES_OF_VALUE: usize = 400;

/// How many documents of each size are read at the same time.
const MEDIUM_READERS: usize = 4;
const LARGE_READERS: usize = 2;

/// How many documents are read at the same time, and what those take that were read and are not
/// carried out yet.
#[derive(Debug, Clone)]
pub struct Readers(Arc<ReadersOfServer>);

#[derive(Debug)]
struct ReadersOfServer {
    medium: Arc<Pool>,
    large: Arc<Pool>,
    room: Arc<Budget>,
    threads: Background,
}

impl Default for Readers {
    fn default() -> Self {
        // Nothing ends the reading of a document: it has no time of its own.
        let pool = |slots| Pool::new("documents", slots, Duration::MAX);
        Self(Arc::new(ReadersOfServer {
            medium: pool(MEDIUM_READERS),
            large: pool(LARGE_READERS),
            room: Arc::new(Budget::new(DOCUMENTS, ROOM, ROOM_OF_ONE).waiting_for(WAIT)),
            threads: Background::new("documents", MEDIUM_READERS + LARGE_READERS),
        }))
    }
}

/// What a document that was read takes in memory, until this is dropped. It is to be held until
/// what the document says is carried out.
#[derive(Debug, Default)]
pub struct Weight(#[cfg_attr(not(test), expect(dead_code, reason = "held"))] Option<Held>);

/// How many values a text in JSON or TOML may have: each is followed by a comma, or is the last
/// one of a list or a table, or stands in a line of TOML. In XML an element begins with a `<`, and
/// an attribute has a `=`.
fn values(text: &str, file: &str) -> usize {
    let is_xml = file.ends_with(".xml");
    let marks = text.bytes();
    marks
        .filter(|it| match is_xml {
            true => matches!(it, b'<' | b'='),
            false => matches!(it, b',' | b'[' | b'{' | b'='),
        })
        .count()
}

/// Whose the body of a request is, and among whom it waits to be read.
#[derive(Debug, Clone)]
pub struct Incoming {
    readers: Option<Readers>,
    about: About,
    held: Option<Arc<Held>>,
}

impl Incoming {
    /// That of the request with these extensions.
    pub fn of(extensions: &Extensions) -> Self {
        let caller = extensions.get::<Caller>();
        let cluster = extensions.get::<OnCluster>();
        Self {
            readers: extensions.get().cloned(),
            about: About {
                caller: caller.map(|it| it.name.clone()).unwrap_or_default(),
                cluster: cluster.map(|OnCluster(name)| name.clone()),
            },
            held: extensions.get().cloned(),
        }
    }

    /// The text of that body, which problems call `file`.
    pub fn document(self, text: String, file: &'static str) -> Document {
        let Self {
            readers,
            about,
            held,
        } = self;
        let readers = readers.filter(|_| text.len() > SMALL);
        Document {
            text,
            file,
            waits: readers.map(|readers| (readers, about)),
            held,
        }
    }
}

/// The body of a request: a document, in JSON, TOML or, of some faces, XML.
#[derive(Debug)]
pub struct Document {
    /// The text.
    pub text: String,
    /// What problems call it, with the ending of its language.
    pub file: &'static str,
    /// Among whom it waits to be read; None: it is small.
    waits: Option<(Readers, About)>,
    /// What it takes of the budget for bodies.
    held: Option<Arc<Held>>,
}

impl Document {
    /// Make of the text and what problems call it what it says. What is given with it stands for
    /// the memory that it takes, and is to be held until it is carried out.
    ///
    /// # Errors
    /// What is wrong with it, and that too many wait to be read, or too many are carried out.
    pub async fn read<T, E>(
        self,
        read: impl FnOnce(&str, &'static str) -> Result<T, E> + Send + 'static,
    ) -> Result<(T, Weight), Problem>
    where
        T: Send + 'static,
        E: Into<Problem> + Send + 'static,
    {
        if self.text.len() <= SMALL {
            let read = read(&self.text, self.file).map_err(Into::into)?;
            return Ok((read, Weight::default()));
        }
        let Some((readers, about)) = self.waits.clone() else {
            let read = aside(move || read(&self.text, self.file)).await?;
            return Ok((read, Weight::default()));
        };
        // Room comes first: whoever waits for it keeps no other document from being read.
        let (document, weight) = self.weighed(&readers.0.threads).await?;
        let mut held = Held::new(&readers.0.room, Some(&about.caller), about.cluster.as_ref());
        held.grow_to(weight.min(readers.0.room.share())).await?;
        let reader = readers.of(&document.text).admit(about).await?;
        let read = readers.0.threads.run(move || {
            let _reader = reader;
            read(&document.text, document.file)
        });
        Ok((read.await?, Weight(Some(held))))
    }

    /// With what it takes once it is read. That of a large one is counted on a thread that may
    /// take its time.
    async fn weighed(self, threads: &Background) -> Result<(Self, usize), Problem> {
        let weigh = |it: Self| {
            let weight = values(&it.text, it.file).saturating_mul(BYTES_OF_VALUE) + it.text.len();
            (it, weight)
        };
        match self.text.len() <= MEDIUM {
            true => Ok(weigh(self)),
            false => threads.run(move || Ok::<_, Problem>(weigh(self))).await,
        }
    }

    /// Do work with the text when it is the turn of whoever asks, as for a question: work that
    /// takes its time, and memory besides that of the text. Until it is done the body has its
    /// share of the budget.
    ///
    /// # Errors
    /// Those of the work, and that too many questions wait already.
    pub async fn read_in_turn<T, E>(
        self,
        pool: &Arc<Pool>,
        about: (&Arc<str>, &Arc<str>),
        work: impl FnOnce(String, Cancel) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: Into<Problem> + Send + 'static,
    {
        let Self {
            text, waits, held, ..
        } = self;
        pool.run(about, move |cancel| {
            let _held = held;
            // On a thread that may wait.
            let reader = waits.map(|(readers, about)| {
                let readers = readers.of(&text);
                Handle::current().block_on(readers.admit(about))
            });
            let _reader: Option<Permit> = reader.transpose()?;
            work(text, cancel).map_err(Into::into)
        })
        .await
    }
}

impl Readers {
    /// Those that read a text of that size.
    fn of(&self, text: &str) -> Arc<Pool> {
        match text.len() <= MEDIUM {
            true => self.0.medium.clone(),
            false => self.0.large.clone(),
        }
    }
}

impl<S: Send + Sync> FromRequest<S> for Document {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let essence = media_type(request.headers()).map_err(IntoResponse::into_response)?;
        let file = match essence.as_str() {
            "application/json" => "body.json",
            "application/toml" | "text/toml" => "body.toml",
            _ => {
                let sentence =
                    "send a document with Content-Type: application/json or application/toml";
                return Err(Problem::new(Code::UnsupportedType, sentence).into_response());
            }
        };
        let incoming = Incoming::of(request.extensions());
        let bytes = axum::body::Bytes::from_request(request, state)
            .await
            .map_err(IntoResponse::into_response)?;
        let text = String::from_utf8(bytes.into())
            .map_err(|_| crate::extract::not_utf8().into_response())?;
        Ok(incoming.document(text, file))
    }
}

/// Do work that takes its time on a thread that may take it.
///
/// # Errors
/// Those of the work.
pub async fn aside<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T, Problem>
where
    T: Send + 'static,
    E: Into<Problem> + Send + 'static,
{
    let span = tracing::Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(work)).await {
        Ok(done) => done.map_err(Into::into),
        Err(error) => Err(Problem::internal(&error)),
    }
}

tokio::task_local! {
    /// Among whom those wait whose request this task serves, until something is worked out and
    /// written for them. Of the task, so that no route can forget to wait.
    static TURN: Turn;
}

/// Among whom, and as whom, somebody waits.
#[derive(Debug, Clone)]
struct Turn {
    pool: Arc<Pool>,
    about: About,
    answers: Arc<Answers>,
}

/// Serve a request; what is [`written`] for it waits its turn in that pool, and takes of the room
/// for answers while it is written.
pub(super) fn in_turn<F: Future>(
    (pool, answers): (&Arc<Pool>, &Arc<Answers>),
    (caller, cluster): (&Arc<str>, Option<&Arc<str>>),
    served: F,
) -> impl Future<Output = F::Output> + use<F> {
    let about = About {
        caller: caller.clone(),
        cluster: cluster.cloned(),
    };
    let turn = Turn {
        pool: pool.clone(),
        about,
        answers: answers.clone(),
    };
    TURN.scope(turn, served)
}

/// Do work as [`aside`] when it is the caller's turn, and write what comes of it there, too: both
/// may be long.
///
/// # Errors
/// Those of the work, and that too many wait already.
pub async fn written<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<Response, Problem>
where
    T: Serialize,
    E: Into<Problem> + Send + 'static,
{
    let turn = TURN.try_with(Turn::clone).ok();
    let (permit, room) = match turn {
        Some(Turn {
            pool,
            about,
            answers,
        }) => {
            let room = answers.room(&about);
            (Some(pool.admit(about).await?), Some(room))
        }
        None => (None, None),
    };
    aside(move || {
        // The place is free when the work has ended, whether or not anybody waits for it.
        let _permit = permit;
        answer_of(&work().map_err(Into::into)?, room)
    })
    .await
}

/// Wait for the turn of the caller whose request is served, where callers take turns.
///
/// # Errors
/// If too many of those of the caller, or of all, wait already.
pub async fn turn() -> Result<Option<Permit>, Problem> {
    match TURN.try_with(Turn::clone) {
        Ok(Turn { pool, about, .. }) => pool.admit(about).await.map(Some),
        Err(_) => Ok(None),
    }
}

/// Write what is there already, off the threads that serve. It waits for nobody: what it tells
/// of is done.
///
/// # Errors
/// If it cannot be written.
pub async fn long<T: Serialize + Send + 'static>(shown: T) -> Result<Response, Problem> {
    aside(move || answer_of(&shown, None)).await
}

/// The answer that shows this, which takes that room as it is written.
fn answer_of(shown: &impl Serialize, room: Option<Held>) -> Result<Response, Problem> {
    let mut text = Written::with_room(room);
    if let Err(error) = serde_json::to_writer(&mut text, shown) {
        let refused = text.refused();
        return Err(refused.unwrap_or_else(|| Problem::internal(&error)));
    }
    let mut response = text.into_response().map_err(|it| Problem::internal(&it))?;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

/// An answer whose JSON is there already.
pub fn json(text: impl Into<axum::body::Body>) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, text.into()).into_response()
}

#[cfg(test)]
mod tests {
    use std::thread::{self, ThreadId};

    use serde::Serializer;

    use super::super::limits::ApiLimits;
    use super::*;

    /// Writes whether it is written on another thread than this one.
    struct Here(ThreadId);

    impl Serialize for Here {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bool(thread::current().id() != self.0)
        }
    }

    fn about() -> (Arc<str>, Arc<str>) {
        ("a".into(), "x".into())
    }

    #[tokio::test]
    async fn what_is_written_for_a_caller_waits_its_turn_and_holds_it_until_it_is_written() {
        let pool = Pool::new("lists", 1, Duration::MAX);
        let answers = Arc::new(Answers::new(&ApiLimits::default()));
        let (caller, cluster) = about();
        let first = pool.place(&caller, Some(&cluster)).await.unwrap();
        let asked = written(|| Ok::<_, Problem>(1));
        let asked = in_turn((&pool, &answers), (&caller, Some(&cluster)), asked);
        tokio::pin!(asked);
        assert!(futures_util::poll!(&mut asked).is_pending());
        drop(first);
        assert!(asked.await.is_ok());
        // Whoever goes leaves the work that goes on, and its place is taken until it has ended.
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let (begun, begins) = tokio::sync::oneshot::channel();
        let work = move || {
            let _ = begun.send(());
            let _ = ends.recv();
            Ok::<_, Problem>(())
        };
        let gone = in_turn((&pool, &answers), (&caller, Some(&cluster)), written(work));
        let gone = tokio::spawn(gone);
        begins.await.unwrap();
        gone.abort();
        let _ = gone.await;
        let next = pool.place(&caller, Some(&cluster));
        tokio::pin!(next);
        assert!(futures_util::poll!(&mut next).is_pending());
        drop(end);
        assert!(next.await.is_ok());
    }

    fn document(readers: &Readers, caller: &str, text: String) -> Document {
        let (caller, cluster) = (caller.into(), Some("x".into()));
        Document {
            text,
            file: "body.json",
            waits: Some((readers.clone(), About { caller, cluster })),
            held: None,
        }
    }

    #[tokio::test]
    async fn one_caller_leaves_readers_for_others() {
        let readers = Readers::default();
        let text = "x".repeat(SMALL + 1);
        let (end, ends) = tokio::sync::watch::channel(());
        let mut busy = Vec::new();
        for _ in 0..8 {
            let (document, mut ends) = (document(&readers, "greedy", text.clone()), ends.clone());
            let runtime = Handle::current();
            busy.push(tokio::spawn(document.read(move |_, _| {
                // It is read until the test ends it.
                let _ = runtime.block_on(ends.changed());
                Ok::<_, Problem>(())
            })));
        }
        let read = document(&readers, "other", text).read(|text, _| Ok::<_, Problem>(text.len()));
        assert_eq!(read.await.unwrap().0, SMALL + 1);
        drop(end);
        for busy in busy {
            assert!(busy.await.unwrap().is_ok());
        }
    }

    #[tokio::test]
    async fn what_was_read_counts_by_its_values_until_it_is_carried_out() {
        let readers = Readers::default();
        let text = format!("[{}1]", "1,".repeat(100_000));
        let (bytes, values) = (text.len(), values(&text, "body.json"));
        assert_eq!(values, 100_001);
        let read = document(&readers, "a", text).read(|_, _| Ok::<_, Problem>(()));
        let ((), weight) = read.await.unwrap();
        let held = weight.0.as_ref().map(Held::bytes);
        assert_eq!(held, Some(values * BYTES_OF_VALUE + bytes));
        let mut rest = Held::new(&readers.0.room, Some(&"a".into()), None);
        assert!(!rest.try_grow_to(ROOM_OF_ONE));
        drop(weight);
        assert!(rest.try_grow_to(ROOM_OF_ONE));
    }

    #[test]
    fn elements_and_attributes_of_a_text_in_xml_are_values() {
        let text = "<a b='1'><c/>x, [y]</a>";
        assert_eq!(values(text, "body.xml"), 4);
        assert_eq!(values(text, "body.json"), 3);
    }

    #[tokio::test]
    async fn long_answers_are_written_off_the_threads_that_serve() {
        let here = thread::current().id();
        let asked = written(move || Ok::<_, Problem>((thread::current().id() != here, Here(here))));
        for (answer, expected) in [
            (asked.await, "[true,true]"),
            (long(Here(here)).await, "true"),
        ] {
            let response = answer.unwrap();
            assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
            let text = axum::body::to_bytes(response.into_body(), 100).await;
            assert_eq!(text.unwrap(), expected);
        }
    }
}
