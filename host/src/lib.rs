//! Placewright: a host for policy units that place virtual machines.

pub mod inventory;
pub mod model;
