//! Answers that are large: how many of them are made at the same time, what those may take that
//! are on their way, and how fast they are to be taken.

use std::num::NonZero;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::response::{IntoResponse, Response};
use http_body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::access::Caller;
use super::budget::{Budget, Held, Purpose};
use super::chunks::PIECE;
use super::limits::ApiLimits;
use super::pace::SLOWEST;
use super::packed::Packed;
use super::pool::About;
use super::problem::{Code, Problem};
use super::shares::Shares;

/// Answers up to this size are not counted: there are no more of them than connections.
const SMALL: u64 = 64 << 10;

/// How long an answer may take to be taken, however large it is.
const LONGEST: Duration = Duration::from_secs(300);

/// The same while others wait for room.
const LONGEST_IF_SHORT: Duration = Duration::from_secs(60);

/// How long a large answer waits to be made.
const WAIT: Duration = Duration::from_secs(10);

/// Large answers of one caller that are made at the same time, at most; of all there are two
/// more.
const MAKING: usize = 4;

/// What answers take.
const ANSWERS: Purpose = Purpose {
    what: "answers that are on their way",
    option: Some("answers"),
};

/// What answers take that are made and find no room.
const WAITING: Purpose = Purpose {
    what: "answers that wait for others to be taken",
    option: None,
};

/// The part of the bytes for answers that there is for those besides.
const OF_WAITING: usize = 4;

/// The large answers of a server.
#[derive(Debug)]
pub struct Answers {
    budget: Arc<Budget>,
    waiting: Arc<Budget>,
    stall: Duration,
    wait: Duration,
    making: Arc<Semaphore>,
    callers: Shares<Arc<str>>,
    clusters: Shares<Arc<str>>,
}

/// A large answer that is being made, until this is dropped.
#[derive(Debug, Clone)]
pub struct Making(#[expect(dead_code, reason = "held")] Arc<[OwnedSemaphorePermit; 3]>);

impl Answers {
    pub(super) fn new(limits: &ApiLimits) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let of_one = cores.min(MAKING);
        Self {
            budget: Arc::new(Budget::new(ANSWERS, limits.answers, 0)),
            waiting: Arc::new(
                Budget::new(WAITING, limits.answers / OF_WAITING, 0).waiting_for(Duration::ZERO),
            ),
            stall: limits.stall,
            wait: WAIT,
            making: Arc::new(Semaphore::new(of_one + 2)),
            callers: Shares::of_each(of_one),
            clusters: Shares::of_each(of_one + 1),
        }
    }

    /// Wait until a large answer to the caller, of that cluster, may be made. What is given is
    /// added to the answer's extensions.
    ///
    /// # Errors
    /// If others were made for too long.
    pub async fn make(&self, caller: &Caller, cluster: &Arc<str>) -> Result<Making, Problem> {
        let of_caller = self.callers.of(caller.name.clone());
        let of_cluster = self.clusters.of(cluster.clone());
        let permits = async {
            let own = of_caller.acquire_owned().await.ok()?;
            let of_cluster = of_cluster.acquire_owned().await.ok()?;
            let of_all = self.making.clone().acquire_owned().await.ok()?;
            Some([own, of_cluster, of_all])
        };
        let permits = tokio::time::timeout(self.wait, permits).await;
        match permits.ok().flatten() {
            Some(permits) => Ok(Making(Arc::new(permits))),
            None => Err(Problem::new(
                Code::TooManyRequests,
                format!(
                    "other large answers were made for {} s, to you or of the same cluster: wait for those, then ask again",
                    self.wait.as_secs_f64()
                ),
            )),
        }
    }

    /// What an answer takes that is being written, nothing yet.
    pub(super) fn room(&self, about: &About) -> Held {
        Held::new(&self.budget, Some(&about.caller), about.cluster.as_ref())
    }

    /// Let a large answer to that caller, on that cluster, go once there is room for it; as it is
    /// if it is packed and the client takes gzip.
    pub(super) async fn hold(
        &self,
        mut response: Response,
        (caller, cluster): (Option<&Arc<str>>, Option<&Arc<str>>),
        takes_gzip: bool,
    ) -> Response {
        let all = response.body().size_hint().exact().unwrap_or(0);
        if all <= SMALL {
            return response;
        }
        let all = usize::try_from(all).unwrap_or(usize::MAX);
        let packed = Packed::take(&mut response);
        let bytes = packed.as_ref().map_or(all, Packed::bytes);
        let held = packed.as_ref().and_then(Packed::take_held);
        let mut held = held.unwrap_or_else(|| Held::new(&self.budget, caller, cluster));
        // One that is larger than all room has all of it.
        let room = bytes.min(self.budget.share());
        // The next one may be made, also if this one has to wait: there is room for some that do.
        response.extensions_mut().remove::<Making>();
        if !held.try_grow_to(room) {
            let mut waiting = Held::new(&self.waiting, caller, cluster);
            let waits = async {
                let most = self.waiting.share();
                waiting.grow_to(bytes.min(most)).await?;
                held.grow_to(room).await
            };
            if let Err(problem) = waits.await {
                return problem.into_response();
            }
        }
        let stall = self.stall;
        let is_packed = packed.is_some();
        let (response, sent) = match packed.filter(|_| takes_gzip) {
            Some(packed) => (packed.into_gzip(response), bytes),
            None => (response, all),
        };
        response.map(|body| {
            let answer = OnItsWay::new(body, sent, held, stall);
            Body::new(OnItsWay {
                is_packed,
                ..answer
            })
        })
    }
}

/// An answer that is being taken, with what it takes of the budget.
struct OnItsWay {
    body: Body,
    held: Held,
    all: usize,
    /// Bytes of it that were given on.
    given: usize,
    /// Bytes of it that take memory still: a frame does until its last piece was given on.
    rest: usize,
    /// Whether it is packed: then all of it takes memory until its end.
    is_packed: bool,
    /// What was not given on of the last frame, and the bytes of all that frame.
    frame: (Bytes, usize),
    began: Instant,
    stall: Duration,
}

impl OnItsWay {
    fn new(body: Body, all: usize, held: Held, stall: Duration) -> Self {
        Self {
            body,
            held,
            all,
            given: 0,
            rest: all,
            is_packed: false,
            frame: (Bytes::new(), 0),
            began: Instant::now(),
            stall,
        }
    }

    /// Whether its peer takes it too slowly: the larger it is, the faster it is to be taken,
    /// and still faster where others wait for room.
    fn is_too_slow(&self) -> bool {
        let longest = match self.held.is_wanted() {
            true => LONGEST_IF_SHORT,
            false => LONGEST,
        };
        let rate = (self.all as f64 / longest.as_secs_f64()).max(SLOWEST as f64);
        let taken = self.given as f64;
        self.began.elapsed().as_secs_f64() > self.stall.as_secs_f64() + taken / rate
    }
}

impl HttpBody for OnItsWay {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.is_too_slow() {
            tracing::debug!("a connection is closed: its peer takes a large answer too slowly");
            return Poll::Ready(Some(Err(axum::Error::new(TooSlow))));
        }
        // What was given before is taken by now.
        let rest = self.rest;
        if !self.is_packed && rest < self.held.bytes() {
            self.held.shrink_to(rest);
        }
        if self.frame.0.is_empty() {
            let polled = Pin::new(&mut self.body).poll_frame(context);
            let Poll::Ready(Some(Ok(frame))) = polled else {
                return polled;
            };
            match frame.into_data() {
                Ok(bytes) => self.frame = (bytes.clone(), bytes.len()),
                Err(other) => return Poll::Ready(Some(Ok(other))),
            }
        }
        // In pieces: a connection takes all that it is given, whether or not its peer does.
        let most = PIECE.min(self.frame.0.len());
        let piece = self.frame.0.split_to(most);
        self.given += most;
        if self.frame.0.is_empty() {
            self.rest = self.rest.saturating_sub(self.frame.1);
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.frame.0.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.frame.0.len() as u64;
        match self.body.size_hint().exact() {
            Some(exact) => SizeHint::with_exact(exact + rest),
            None => SizeHint::default(),
        }
    }
}

/// Why an answer ends early.
#[derive(Debug, thiserror::Error)]
#[error("the answer is taken too slowly")]
struct TooSlow;

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;

    /// Longer than any test takes, on the slowest machine.
    const PATIENT: Duration = Duration::from_secs(600);

    /// Room for two answers of 100 KiB of one caller.
    fn answers() -> Answers {
        let limits = ApiLimits {
            answers: 400 << 10,
            stall: PATIENT,
            ..ApiLimits::default()
        };
        Answers {
            wait: Duration::from_millis(1),
            ..Answers::new(&limits)
        }
    }

    fn caller(name: &str) -> Caller {
        Caller {
            name: name.into(),
            role: crate::Role::Viewer,
            clusters: None,
            expires: None,
            sha256: None,
            session: None,
            authority: crate::access::Authority::default(),
        }
    }

    fn on_its_way(answers: &Answers, held: Held, bytes: usize) -> OnItsWay {
        let chunks = (0..bytes / 1024).map(|_| Bytes::from(vec![b'a'; 1024]));
        let chunks = super::super::chunks::Chunks::of(chunks.collect());
        OnItsWay::new(Body::new(chunks), bytes, held, answers.stall)
    }

    async fn held(answers: &Answers, bytes: usize) -> Held {
        let mut held = Held::new(&answers.budget, None, None);
        held.grow_to(bytes).await.unwrap();
        held
    }

    async fn next(answer: &mut OnItsWay) -> Option<Result<usize, axum::Error>> {
        let frame = std::future::poll_fn(|context| Pin::new(&mut *answer).poll_frame(context));
        frame
            .await
            .map(|frame| frame.map(|frame| frame.into_data().map_or(0, |it| it.len())))
    }

    #[tokio::test]
    async fn what_was_taken_of_an_answer_is_given_back_to_the_budget() {
        let answers = answers();
        let held = held(&answers, 100 << 10).await;
        let mut answer = on_its_way(&answers, held, 100 << 10);
        for taken in 0..50 {
            assert_eq!(answer.held.bytes(), (100 - usize::max(taken, 1) + 1) << 10);
            assert_eq!(next(&mut answer).await.unwrap().unwrap(), 1024);
        }
        let rest = to_bytes(Body::new(answer), usize::MAX).await.unwrap();
        assert_eq!(rest.len(), 50 << 10);
        assert!(!answers.budget.is_short());
    }

    #[tokio::test]
    async fn an_answer_of_one_piece_counts_until_all_of_it_was_given_on() {
        let answers = answers();
        let bytes = 150 << 10;
        let held = held(&answers, bytes).await;
        let body = Body::from(vec![b'a'; bytes]);
        let mut answer = OnItsWay::new(body, bytes, held, PATIENT);
        for rest in [86 << 10, 22 << 10] {
            assert_eq!(next(&mut answer).await.unwrap().unwrap(), PIECE);
            assert_eq!(answer.size_hint().exact(), Some(rest));
            assert_eq!(answer.held.bytes(), bytes);
            assert!(!answer.is_end_stream());
        }
        assert_eq!(next(&mut answer).await.unwrap().unwrap(), 22 << 10);
        assert!(answer.is_end_stream());
        assert!(next(&mut answer).await.is_none());
        assert_eq!(answer.held.bytes(), 0);
    }

    #[tokio::test]
    async fn whoever_takes_a_large_answer_by_drops_is_cut_off() {
        let answers = answers();
        let held = held(&answers, 100 << 10).await;
        let mut answer = on_its_way(&answers, held, 100 << 10);
        answer.stall = Duration::from_secs(1);
        // At a kibibyte a second it ends once the stall is over.
        let mut taken = 0;
        while let Some(Ok(_)) = next(&mut answer).await {
            taken += 1;
            answer.began -= Duration::from_secs(1);
        }
        assert!(taken < 5, "{taken}");
        assert!(answer.rest > 0);
    }

    #[tokio::test]
    async fn a_caller_has_some_large_answers_made_and_others_need_not_wait_for_it() {
        let answers = answers();
        let x = "x".into();
        let mut made = Vec::new();
        for _ in 0..answers.callers.most() {
            made.push(answers.make(&caller("greedy"), &x).await.unwrap());
        }
        let refused = answers.make(&caller("greedy"), &x).await.unwrap_err();
        assert_eq!(refused.code(), Code::TooManyRequests);
        answers.make(&caller("other"), &x).await.unwrap();
        made.pop();
        answers.make(&caller("greedy"), &x).await.unwrap();
    }

    #[tokio::test]
    async fn the_callers_of_one_cluster_leave_a_place_for_large_answers_of_others() {
        let answers = answers();
        let (x, y) = ("x".into(), "y".into());
        let mut made = Vec::new();
        while let Ok(making) = answers.make(&caller(&made.len().to_string()), &x).await {
            made.push(making);
        }
        assert_eq!(made.len(), answers.clusters.most());
        answers.make(&caller("other"), &y).await.unwrap();
    }

    #[tokio::test]
    async fn answers_that_find_no_room_wait_in_bounds_and_keep_no_others_from_being_made() {
        let answers = Arc::new(answers());
        let (greedy, x) = ("greedy".into(), "x".into());
        let answer = |bytes: usize| {
            let mut response = Body::from(vec![b'a'; bytes]).into_response();
            response.headers_mut().clear();
            response
        };
        let hold = async |bytes: usize| {
            let mut response = answer(bytes);
            let making = answers.make(&caller("greedy"), &x).await.unwrap();
            response.extensions_mut().insert(making);
            answers
                .hold(response, (Some(&greedy), Some(&x)), false)
                .await
        };
        // All that one caller may have is on its way.
        let first = hold(200 << 10).await;
        assert_eq!(first.status(), 200);
        // The next one waits, with all the room that those of one caller have for that ...
        let (waits, held) = (hold(100 << 10), answers.clone());
        tokio::pin!(waits);
        assert!(futures_util::poll!(&mut waits).is_pending());
        assert_eq!(held.making.available_permits(), held.callers.most() + 2);
        // ... so that there is none for another one.
        let refused = hold(100 << 10).await;
        assert_eq!(refused.status(), 429);
        drop(first);
        assert_eq!(waits.await.status(), 200);
    }

    /// Digits that shrink little.
    fn digits(bytes: usize) -> String {
        let mut state = 1_u64;
        let digit = |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            char::from(b'0' + (state >> 60) as u8 % 10)
        };
        (0..bytes).map(digit).collect()
    }

    async fn written_for(answers: &Arc<Answers>, caller: &str) -> Result<Response, Problem> {
        let pool = super::super::pool::Pool::new("lists", 2, Duration::MAX);
        let caller: Arc<str> = caller.into();
        let text = || Ok::<_, Problem>(digits(4 << 20));
        let asked = super::super::document::written(text);
        super::super::document::in_turn((&pool, answers), (&caller, None), asked).await
    }

    #[tokio::test]
    async fn a_long_answer_takes_its_room_while_it_is_written_and_is_refused_without() {
        let budget = Budget::new(ANSWERS, 6 << 20, 0).waiting_for(Duration::ZERO);
        let answers = Arc::new(Answers {
            budget: Arc::new(budget),
            ..answers()
        });
        let answer = written_for(&answers, "greedy").await.unwrap();
        let again = written_for(&answers, "greedy").await;
        let refused = again.map(|_| ()).unwrap_err();
        assert_eq!(refused.code(), Code::TooManyRequests);
        assert!(written_for(&answers, "other").await.is_ok());
        // It goes with the answer, until that is taken.
        let greedy = "greedy".into();
        let answer = answers.hold(answer, (Some(&greedy), None), false).await;
        assert!(written_for(&answers, "greedy").await.is_err());
        let text = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        assert_eq!(text, format!("\"{}\"", digits(4 << 20)));
        assert!(written_for(&answers, "greedy").await.is_ok());
    }

    #[tokio::test]
    async fn a_packed_answer_goes_as_it_is_to_whoever_reads_it_so() {
        let answers = Arc::new(answers());
        let text = "word ".repeat(1 << 20);
        let expected = text.len() + 2;
        for takes_gzip in [true, false] {
            let text = text.clone();
            let written = super::super::document::long(text).await.unwrap();
            let greedy = "greedy".into();
            let answer = answers.hold(written, (Some(&greedy), None), takes_gzip);
            let (head, body) = answer.await.into_parts();
            let coding = head.headers.get(axum::http::header::CONTENT_ENCODING);
            assert_eq!(coding.is_some(), takes_gzip);
            let read = to_bytes(body, usize::MAX).await.unwrap();
            match takes_gzip {
                true => assert!(read.len() * 10 < expected, "{}", read.len()),
                false => assert_eq!(read.len(), expected),
            }
        }
    }
}
