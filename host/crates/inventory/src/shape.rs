//! What a VM needs, with defaults filled in.

use placewright_model::{Facts, Value};

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

impl Shape {
    /// The shape that the facts of a VM describe. Without a topology a VM has one
    /// socket of as many cores as its CPU needs; without CPU, a core per vCPU.
    pub fn of(facts: &Facts) -> Self {
        let at_least_one = |column| facts.integer(column).map(|value| value.max(1));
        let sockets = at_least_one("sockets").unwrap_or(1);
        let threads = at_least_one("threads").unwrap_or(1);
        let cpu = facts.integer("cpu");
        let cores = at_least_one("cores").unwrap_or_else(|| {
            let millicores_per_core = sockets.saturating_mul(threads).saturating_mul(1000);
            let cpu = cpu.unwrap_or(0).max(0);
            (cpu / millicores_per_core + i64::from(cpu % millicores_per_core != 0)).max(1)
        });
        let vcpus = sockets.saturating_mul(cores).saturating_mul(threads);
        Self {
            cpu: cpu.unwrap_or_else(|| vcpus.saturating_mul(1000)),
            memory: facts.integer("memory").unwrap_or(0),
            sockets,
            cores,
            threads,
            exclusive: facts.is("exclusive")
                || (facts.text("pinning")).is_some_and(|pinning| OWN_CPUS.contains(&pinning)),
            ha: facts.is("ha"),
            migratable: facts.get("migratable").is_none() || facts.is("migratable"),
            load: facts
                .number("cpu.usage")
                .map(|usage| (usage * vcpus as f64 * 1000.0).round() as i64),
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
    use super::*;

    #[test]
    fn who_is_pinned_to_cpus_of_its_own_has_them_for_itself() {
        let exclusive = |pinning: &str| Shape::of(&Facts::new().with("pinning", pinning)).exclusive;
        let pinnings = ["dedicated", "isolate-threads", "manual", "resize-and-pin"];
        assert_eq!(pinnings.map(exclusive), [true, true, false, false]);
        assert!(Shape::of(&Facts::new().with("exclusive", true)).exclusive);
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
