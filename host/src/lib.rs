//! Placewright: a host for policy units that place virtual machines.

pub mod contract;
pub mod inventory;
pub mod model;
