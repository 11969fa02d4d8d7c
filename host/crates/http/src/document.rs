//! Bodies that are documents, and what is done with them off the threads that serve.

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::budget::Held;
use super::chunks::Written;
use super::pool::Pool;
use super::problem::{Code, Problem};
use placewright_scheduler::Cancel;

/// Documents up to this size are read at once; greater ones on a thread that may take
/// its time.
const SMALL: usize = 16 << 10;

/// Documents up to this size do not wait for greater ones to be read.
const MEDIUM: usize = 1 << 20;

/// How many documents are read at the same time: while one is read, it takes some twenty
/// times the memory of its text.
#[derive(Debug, Clone)]
pub struct Readers {
    medium: Arc<Semaphore>,
    large: Arc<Semaphore>,
}

impl Default for Readers {
    fn default() -> Self {
        Self {
            medium: Arc::new(Semaphore::new(4)),
            large: Arc::new(Semaphore::new(2)),
        }
    }
}

/// The body of a request: a document, in JSON or TOML.
#[derive(Debug)]
pub struct Document {
    /// The text.
    pub text: String,
    /// What problems call it, with the ending of its language.
    pub file: &'static str,
    readers: Option<Readers>,
    /// What it takes of the budget for bodies.
    held: Option<Arc<Held>>,
}

impl Document {
    /// Make of the text and what problems call it what it says.
    ///
    /// # Errors
    /// What is wrong with it.
    pub async fn read<T, E>(
        self,
        read: impl FnOnce(&str, &'static str) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: Into<Problem> + Send + 'static,
    {
        let bytes = self.text.len();
        if bytes <= SMALL {
            return read(&self.text, self.file).map_err(Into::into);
        }
        let reader = match self.readers() {
            Some(readers) => readers.acquire_owned().await.ok(),
            None => None,
        };
        aside(move || {
            let _reader = reader;
            read(&self.text, self.file)
        })
        .await
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
        let readers = self.readers();
        let Self { text, held, .. } = self;
        pool.run(about, move |cancel| {
            let _held = held;
            // On a thread that may wait.
            let reader = readers.map(|readers| Handle::current().block_on(readers.acquire_owned()));
            let done = work(text, cancel);
            drop(reader);
            done
        })
        .await
    }

    /// Those among whom it waits to be read; None: it is small.
    fn readers(&self) -> Option<Arc<Semaphore>> {
        let readers = self.readers.as_ref()?;
        match self.text.len() {
            bytes if bytes <= SMALL => None,
            bytes if bytes <= MEDIUM => Some(readers.medium.clone()),
            _ => Some(readers.large.clone()),
        }
    }
}

impl<S: Send + Sync> FromRequest<S> for Document {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
        let kind = kind.unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        let file = match essence.to_ascii_lowercase().as_str() {
            "application/json" => "body.json",
            "application/toml" | "text/toml" => "body.toml",
            _ => {
                let sentence =
                    "send a document with Content-Type: application/json or application/toml";
                return Err(Problem::new(Code::UnsupportedType, sentence).into_response());
            }
        };
        let readers = request.extensions().get().cloned();
        let held = request.extensions().get().cloned();
        let bytes = axum::body::Bytes::from_request(request, state)
            .await
            .map_err(IntoResponse::into_response)?;
        let text = String::from_utf8(bytes.into()).map_err(|_| {
            Problem::new(Code::InvalidJson, "the body is not UTF-8").into_response()
        })?;
        Ok(Self {
            text,
            file,
            readers,
            held,
        })
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

/// Do work as [`aside`], and write what comes of it there, too: it may be long.
///
/// # Errors
/// Those of the work.
pub async fn written<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<Response, Problem>
where
    T: Serialize,
    E: Into<Problem> + Send + 'static,
{
    let text = aside(move || {
        let shown = work().map_err(Into::into)?;
        let mut text = Written::default();
        let written = serde_json::to_writer(&mut text, &shown);
        written.map_err(|error| Problem::internal(&error))?;
        Ok::<_, Problem>(text.into_body())
    });
    Ok(json(text.await?))
}

/// The same for what is there already.
///
/// # Errors
/// If it cannot be written.
pub async fn long<T: Serialize + Send + 'static>(shown: T) -> Result<Response, Problem> {
    written(move || Ok::<_, Problem>(shown)).await
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

    use super::*;

    /// Writes whether it is written on another thread than this one.
    struct Here(ThreadId);

    impl Serialize for Here {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bool(thread::current().id() != self.0)
        }
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
