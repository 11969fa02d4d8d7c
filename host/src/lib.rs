//! Placewright: a host for policy units that place virtual machines.

pub mod contract;
pub mod document;
pub mod engine;
pub mod inventory;
pub mod library;
pub mod model;
pub mod policy;
pub mod unit;
