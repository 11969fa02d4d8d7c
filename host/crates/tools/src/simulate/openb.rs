//! Replays lists of pods on a cluster of GPUs, as a published comparison of policies
//! does, and compares with what it published.
//!
//! The data is Alibaba's trace `cluster-trace-gpu-v2023` ("openb") and the lists of pods
//! derived from it: Q. Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing
//! Workloads with Fragmentation Gradient Descent", USENIX ATC 2023. A [`PodList`] is
//! shuffled by a seed and lengthened until it asks for 130 % of the GPUs
//! ([`arrivals`]); nobody leaves, and a pod without a place is dropped
//! ([`GpuReplay`]). A [`Study`] does so for many lists, policies and seeds, and a
//! [`Comparison`] puts the means beside the [`Published`] ones.

mod comparison;
mod files;
mod numbers;
mod published;
mod replay;
mod study;
#[cfg(test)]
mod tests;
mod typical;
mod workload;

pub use comparison::{Comparison, Line};
pub use files::{GpuNode, Nodes, Pod, PodList, WORKLOADS, file_in};
pub use published::Published;
pub use replay::{GpuReplay, GpuReport, POINTS, Point};
pub use study::{POLICIES, Study};
pub use typical::{Shape, typical, with_typical};
pub use workload::arrivals;
