//! What a VM needs, with defaults filled in.

use placewright_model::{Facts, Value, gpus_needed};

/// What there is of every GPU, in thousandths.
pub(super) const WHOLE_GPU: i64 = 1000;

/// No host has more GPUs, and no VM counts for more.
const MOST_GPUS: i64 = 4096;

/// Ways in which vCPUs are pinned to CPUs that no other VM may have.
const OWN_CPUS: [&str; 2] = ["dedicated", "isolate-threads"];

/// The size of a VM: what documents may leave out is worked out here, in one place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Promised CPU, millicores.
    pub cpu: i64,
    /// Promised memory, bytes.
    pub memory: i64,
    /// Sockets.
    pub sockets: i64,
    /// Cores per socket.
    pub cores: i64,
    /// Threads per core.
    pub threads: i64,
    /// Whether it has physical CPUs of its own.
    pub exclusive: bool,
    /// Whether it is highly available.
    pub ha: bool,
    /// Whether it may be moved while it runs.
    pub migratable: bool,
    /// Measured load in millicores: the used share of its vCPUs.
    pub load: Option<i64>,
    /// How many GPUs, from 0 to 4096.
    pub gpus: i64,
    /// Thousandths of each GPU.
    pub gpu_share: i64,
}

/// A column of a VM that follows from its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShapeColumn {
    /// Promised CPU, millicores.
    Cpu,
    /// Promised memory, bytes.
    Memory,
    /// Sockets.
    Sockets,
    /// Cores per socket.
    Cores,
    /// Threads per core.
    Threads,
    /// All its virtual CPUs.
    Vcpus,
    /// Whether it is highly available.
    Ha,
    /// Whether it has physical CPUs of its own.
    Exclusive,
    /// Whether it may be moved while it runs.
    Migratable,
}

impl ShapeColumn {
    /// The column of that name; None: it does not follow from the shape.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "cpu" => Self::Cpu,
            "memory" => Self::Memory,
            "sockets" => Self::Sockets,
            "cores" => Self::Cores,
            "threads" => Self::Threads,
            "vcpus" => Self::Vcpus,
            "ha" => Self::Ha,
            "exclusive" => Self::Exclusive,
            "migratable" => Self::Migratable,
            _ => return None,
        })
    }
}

/// The facts of a VM that its shape follows from, found in one walk over all that it has: a VM has
/// few.
#[derive(Default)]
struct Given {
    cpu: Option<i64>,
    memory: Option<i64>,
    sockets: Option<i64>,
    cores: Option<i64>,
    threads: Option<i64>,
    exclusive: bool,
    ha: bool,
    migratable: Option<bool>,
    /// Load of each vCPU, fraction 0..1.
    usage: Option<f64>,
    gpus: Option<i64>,
    gpu_share: Option<i64>,
}

impl Given {
    fn of(facts: &Facts) -> Self {
        let mut given = Self::default();
        for (column, value) in facts.values() {
            match (&**column, value) {
                ("cpu", Value::Integer(value)) => given.cpu = Some(*value),
                ("memory", Value::Integer(value)) => given.memory = Some(*value),
                ("sockets", Value::Integer(value)) => given.sockets = Some(*value),
                ("cores", Value::Integer(value)) => given.cores = Some(*value),
                ("threads", Value::Integer(value)) => given.threads = Some(*value),
                ("exclusive", Value::Boolean(value)) => given.exclusive |= *value,
                ("pinning", Value::Text(value)) => {
                    given.exclusive |= OWN_CPUS.contains(&&**value);
                }
                ("ha", Value::Boolean(value)) => given.ha = *value,
                ("migratable", value) => given.migratable = Some(*value == Value::Boolean(true)),
                ("cpu.usage", Value::Number(value)) => given.usage = Some(*value),
                ("gpu.count", Value::Integer(value)) => given.gpus = Some(*value),
                ("gpu.share", Value::Integer(value)) => given.gpu_share = Some(*value),
                _ => {}
            }
        }
        given
    }
}

impl Shape {
    /// The shape that the facts of a VM describe. Without a topology a VM has one
    /// socket of as many cores as its CPU needs; without CPU, a core per vCPU.
    pub fn of(facts: &Facts) -> Self {
        let given = Given::of(facts);
        let at_least_one = |value: Option<i64>| value.map(|value| value.max(1));
        let sockets = at_least_one(given.sockets).unwrap_or(1);
        let threads = at_least_one(given.threads).unwrap_or(1);
        let cpu = given.cpu;
        let cores = at_least_one(given.cores).unwrap_or_else(|| {
            let millicores_per_core = sockets.saturating_mul(threads).saturating_mul(1000);
            let cpu = cpu.unwrap_or(0).max(0);
            (cpu / millicores_per_core + i64::from(cpu % millicores_per_core != 0)).max(1)
        });
        let vcpus = sockets.saturating_mul(cores).saturating_mul(threads);
        let has_models = || !facts.rows("gpu-models").is_empty();
        let gpus = gpus_needed(given.gpus, given.gpu_share, has_models);
        Self {
            cpu: cpu.unwrap_or_else(|| vcpus.saturating_mul(1000)),
            memory: given.memory.unwrap_or(0),
            sockets,
            cores,
            threads,
            exclusive: given.exclusive,
            ha: given.ha,
            migratable: given.migratable.unwrap_or(true),
            load: given
                .usage
                .map(|usage| (usage * vcpus as f64 * 1000.0).round() as i64),
            gpus: gpus.unwrap_or(0).clamp(0, MOST_GPUS),
            gpu_share: given.gpu_share.unwrap_or(WHOLE_GPU),
        }
    }

    /// The value of a column of a VM that follows from its shape.
    pub fn value(&self, column: ShapeColumn) -> Value {
        match column {
            ShapeColumn::Cpu => Value::Integer(self.cpu),
            ShapeColumn::Memory => Value::Integer(self.memory),
            ShapeColumn::Sockets => Value::Integer(self.sockets),
            ShapeColumn::Cores => Value::Integer(self.cores),
            ShapeColumn::Threads => Value::Integer(self.threads),
            ShapeColumn::Vcpus => Value::Integer(self.vcpus()),
            ShapeColumn::Ha => Value::Boolean(self.ha),
            ShapeColumn::Exclusive => Value::Boolean(self.exclusive),
            ShapeColumn::Migratable => Value::Boolean(self.migratable),
        }
    }

    /// All its vCPUs.
    pub fn vcpus(&self) -> i64 {
        self.sockets
            .saturating_mul(self.cores)
            .saturating_mul(self.threads)
    }

    /// Its cores: what a host must have for it to run at all.
    pub fn width(&self) -> i64 {
        self.sockets.saturating_mul(self.cores)
    }
}

#[cfg(test)]
mod tests {
    use placewright_model::Vm;

    use super::*;

    #[test]
    fn who_is_pinned_to_cpus_of_its_own_has_them_for_itself() {
        let exclusive = |pinning: &str| Shape::of(&Facts::new().with("pinning", pinning)).exclusive;
        let pinnings = ["dedicated", "isolate-threads", "manual", "resize-and-pin"];
        assert_eq!(pinnings.map(exclusive), [true, true, false, false]);
        assert!(Shape::of(&Facts::new().with("exclusive", true)).exclusive);
    }

    #[test]
    fn a_vm_with_a_share_or_models_of_gpus_alone_needs_one_and_without_a_share_all_of_it() {
        let gpus = |facts: Facts| {
            let shape = Shape::of(&facts);
            let vm = Vm {
                facts,
                ..Vm::new("v")
            };
            assert_eq!(shape.gpus, vm.gpus().unwrap_or(0));
            (shape.gpus, shape.gpu_share)
        };
        let facts = Facts::new;
        assert_eq!(gpus(facts()), (0, WHOLE_GPU));
        assert_eq!(gpus(facts().with("gpu.count", 2)), (2, WHOLE_GPU));
        assert_eq!(gpus(facts().with("gpu.share", 300)), (1, 300));
        assert_eq!(
            gpus(facts().with("gpu.share", 300).with("gpu.count", 0)),
            (0, 300)
        );
        assert_eq!(
            Shape::of(&facts().with("gpu.count", 1 << 40)).gpus,
            MOST_GPUS
        );
        assert_eq!(Shape::of(&facts().with("gpu.count", -1)).gpus, 0);
        let model = Facts::new().with("model", "T4");
        assert_eq!(gpus(facts().with_row("gpu-models", model)), (1, WHOLE_GPU));
    }

    #[test]
    fn cores_follow_from_cpu_and_cpu_from_cores() {
        let fractional = Shape::of(&Facts::new().with("cpu", 420));
        assert_eq!((fractional.cpu, fractional.vcpus()), (420, 1));
        let wide = Shape::of(
            &Facts::new()
                .with("sockets", 2)
                .with("cores", 4)
                .with("threads", 2),
        );
        assert_eq!((wide.cpu, wide.vcpus(), wide.width()), (16_000, 16, 8));
        let both = Shape::of(&Facts::new().with("cpu", 2500).with("sockets", 2));
        assert_eq!((both.cpu, both.cores, both.vcpus()), (2500, 2, 4));
    }
}
