//! The console: pages for people, at the paths beside `/v1`.
//!
//! A page shows what the API answers. It asks the API's own routes in this process, in the name
//! of whoever looks at it ([`placewright_http::Within`]), so there is nothing here that a
//! program could not do by the API, and nobody may do more. Every page is whole without
//! scripts: what changes something is a form, what is sorted or filtered is in the URL.
//!
//! Read [`faces`] first, then `ask` (how pages ask the API) and `page` (what all pages have).

#![forbid(unsafe_code)]

mod ask;
mod assets;
mod audit;
mod decision;
mod decisions;
mod events;
mod form;
mod format;
mod group;
mod groups;
mod heat;
mod host;
mod hosts;
mod known;
mod maintenance;
mod matrix;
mod measures;
mod migration;
mod missing;
mod openid;
mod overview;
mod page;
mod parts;
mod plan;
mod plans;
mod policies;
mod policy;
mod questions;
mod quotas;
mod reservations;
mod routes;
mod search;
mod session;
mod settings;
mod standing;
mod tokens;
mod told;
mod unit;
mod units;
mod url;
mod value;
mod vms;
mod why;

pub use openid::{OPENID_BACK, OpenId};
pub use routes::{RULES, faces};
