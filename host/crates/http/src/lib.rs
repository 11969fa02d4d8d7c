//! What is the same for everything that the program serves by HTTP: who may call which route,
//! limits, what is recorded, repeated requests, and how errors come to their callers.
//!
//! A [`Face`] is what one kind of client speaks to: our own API, that of another manager, a
//! console. It brings its routes, the table of who may call them, and the way that its clients
//! show a token and read an error. [`router`] joins faces under one set of layers, so that they
//! share the budgets of bodies, connections and questions. Read [`Face`], [`Rule`], [`Caller`]
//! and [`Problem`] first.
//!
//! A request passes, from outside in: `observe` (span, metrics), `compression` of its
//! answer, every error to a problem, `audit` (what is recorded), panics, time limit, the rest of
//! its body if nobody reads it (`unread`), `guard` (who may), its body (`bodies`), repeated
//! requests (`idempotency`), the route.

#![forbid(unsafe_code)]

pub mod access;
pub mod actions;
pub mod answers;
pub mod audit;
mod background;
mod bodies;
mod budget;
mod chunks;
pub mod compression;
mod connections;
pub mod document;
pub mod extract;
mod face;
mod fault;
pub mod gone;
mod guard;
mod headers;
mod idempotency;
mod layers;
mod limits;
mod observe;
mod pace;
mod packed;
pub mod pages;
pub mod permission;
pub mod pool;
pub mod problem;
pub mod revision;
mod scoped;
mod server;
mod sessions;
pub mod shared_stream;
mod shares;
mod stop;
mod tls;
mod unread;
mod within;

pub use access::{
    Access, AccessError, Caller, GroupRole, IssuedToken, Listed, NewToken, Person, Secret, Token,
    Transport, why_reserved,
};
pub use connections::{Address, OpenStream, Streams};
pub use extract::{Json, Path, Query};
pub use face::Face;
pub use layers::{Foundation, router};
pub use limits::ApiLimits;
pub use observe::RequestId;
pub use pages::{NumberedPageQuery, Page, PageQuery};
pub use permission::{BodySize, Permission, Role, Rule, Scope};
pub use problem::{CarriedOut, Code, Problem, ProblemBody, ProblemError};
pub use server::{Handle, serve};
pub use stop::{Stop, Stopper};
pub use tls::{Tls, TlsError};
pub use within::{Asker, Within};

#[cfg(test)]
mod tests;
