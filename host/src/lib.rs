//! Placewright: a host for policy units that place virtual machines.

#![deny(unsafe_code)]

pub mod contract;
pub mod engine;
pub mod library;
pub mod model;
pub mod unit;
