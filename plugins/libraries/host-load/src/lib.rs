//! How busy the CPUs of hosts are, how much memory they have left, and which moves of
//! VMs would relieve them.
//!
//! A library for units, no unit itself. [`load`] has loads as exact amounts,
//! [`cpu`] works out the load of a host from what is known of its CPU, [`placing`]
//! what VMs to be placed would add to it, and [`moving`] finds the VMs of a
//! cluster that are better moved; [`memory`] has the memory that hosts have left to
//! promise. Loads are counted in the same way everywhere; a policy may choose how, by
//! [`cpu::Counting`].
//!
//! Formulas are those of oVirt's scheduler.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod cpu;
pub mod load;
pub mod memory;
pub mod moving;
pub mod placing;
