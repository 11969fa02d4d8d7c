//! Situations in which what a request says must decide, beyond those in which a host lacks
//! what a VM needs.

/// Two hosts, of which a request goes to the one or the other by what it says.
pub(crate) struct Situation {
    /// What the cluster has besides the two hosts, in TOML.
    pub cluster: &'static str,
    /// What the host has that would be taken otherwise.
    pub first: &'static str,
    /// What the other host has.
    pub second: &'static str,
    /// The document of the request.
    pub request: &'static str,
    /// Whether room for failures is kept.
    pub reserve: bool,
}

const fn situation(
    cluster: &'static str,
    [first, second]: [&'static str; 2],
    request: &'static str,
) -> Situation {
    Situation {
        cluster,
        first,
        second,
        request,
        reserve: false,
    }
}

/// Every column that no case of a need has.
pub(crate) const SITUATIONS: &[Situation] = &[
    // The overhead of video memory and I/O threads does not fit.
    situation(
        "",
        ["memory.total = \"1 GiB\"", "memory.total = \"8 GiB\""],
        "id = \"new\"\nmemory = \"900 MiB\"\n\"memory.video\" = \"128 MiB\"",
    ),
    situation(
        "",
        ["memory.total = \"1 GiB\"", "memory.total = \"8 GiB\""],
        "id = \"new\"\nmemory = \"900 MiB\"\nio-threads = 64",
    ),
    // A paused VM has its memory already.
    situation(
        "",
        ["memory.total = \"1 GiB\"", "memory.total = \"1 GiB\""],
        "id = \"new\"\nmemory = \"2 GiB\"\nstate = \"paused\"",
    ),
    // What the CPU of a VM is made of.
    situation(
        "",
        ["cpu.cores = 4", "cpu.cores = 16"],
        "id = \"new\"\ncpu = \"1 core\"\ncores = 4\nsockets = 2",
    ),
    situation(
        "",
        ["cpu.cores = 4", "cpu.cores = 16"],
        "id = \"new\"\ncpu = \"1 core\"\ncores = 3\nthreads = 2\nexclusive = true",
    ),
    situation(
        "",
        [
            "cpus = [{ cpu = 0, online = true }]",
            "cpus = [{ cpu = 0, online = true }, { cpu = 1, online = true }, { cpu = 2, online = true }, { cpu = 3, online = true }]",
        ],
        "id = \"new\"\ncpu = \"1 core\"\ncores = 2\nexclusive = true\npinning = \"dedicated\"",
    ),
    // GPUs without their number.
    situation(
        "",
        ["", "gpus = [{ index = 0 }]"],
        "id = \"new\"\ngpu.share = 500",
    ),
    situation(
        "",
        [
            "gpu.model = \"T4\"\ngpus = [{ index = 0 }]",
            "gpu.model = \"A100\"\ngpus = [{ index = 0 }]",
        ],
        "id = \"new\"\ngpu-models = [{ model = \"A100\" }]",
    ),
    // Network cards that need no network, or another thing.
    situation(
        "",
        ["", ""],
        "id = \"new\"\nnics = [{ network = \"mgmt\", plugged = false }]",
    ),
    situation(
        "",
        ["", ""],
        "id = \"new\"\nnics = [{ network = \"overlay\", external = true }]",
    ),
    situation(
        "[attributes.hosts.virtual-functions.table]\nnetwork = \"text\"\nfree = \"integer\"",
        [
            "networks = [{ name = \"fast\" }]",
            "networks = [{ name = \"fast\" }]\nattribute.virtual-functions = [{ network = \"fast\", free = 1 }]",
        ],
        "id = \"new\"\nnics = [{ network = \"fast\", passthrough = true }]",
    ),
    situation(
        "",
        [
            "devices = [{ name = \"card\", kind = \"usb\" }]",
            "devices = [{ name = \"card\", kind = \"pci\" }]",
        ],
        "id = \"new\"\ndevices = [{ name = \"card\", kind = \"pci\" }]",
    ),
    // A preferred node is a wish.
    situation(
        "",
        [
            "numa-nodes = [{ index = 0, memory.total = \"4 GiB\", memory.free = \"4 GiB\" }]",
            "numa-nodes = [{ index = 0, memory.total = \"4 GiB\", memory.free = \"4 GiB\" }]",
        ],
        "id = \"new\"\nnuma-nodes = [{ index = 0, memory = \"8 GiB\", mode = \"preferred\", host-nodes = [{ index = 0 }] }]",
    ),
    // Wishes.
    situation("", ["", ""], "id = \"new\"\npreferred = [\"second\"]"),
    situation(
        "",
        ["", ""],
        "id = \"new\"\nlocation = [{ host = \"first\", score = -1000000 }]",
    ),
    situation(
        "",
        ["", ""],
        "id = \"new\"\nlocation = [{ host = \"second\", score = 5 }]",
    ),
    // The load of a VM that runs elsewhere.
    situation(
        "[[hosts]]\nid = \"third\"\ncpu.total = \"4 cores\"\n[[vms]]\nid = \"new\"\nhost = \"third\"\ncpu = \"1 core\"",
        [
            "cpu.usage = 0.5\nmemory.free = \"60 GiB\"",
            "cpu.usage = 0.1\nmemory.free = \"60 GiB\"\ncpu.total = \"2 cores\"",
        ],
        "id = \"new\"\nagain = true\nexcluded = [\"third\"]\ncpu = \"1 core\"\ncores = 1\n\"cpu.usage\" = 1.0",
    ),
    // The room for failures, where it is enabled.
    Situation {
        reserve: true,
        ..situation(
            "[[vms]]\nid = \"big\"\nhost = \"first\"\nmemory = \"50 GiB\"\n[[vms]]\nid = \"bigger\"\nhost = \"second\"\nmemory = \"50 GiB\"\n",
            ["", ""],
            "kind = \"restart\"\n[[vms]]\nid = \"new\"\nmemory = \"8 GiB\"",
        )
    },
];

/// Columns by which `general` does not choose a host, each with what becomes of it.
pub(crate) const OTHERWISE: &[(&str, &str)] = &[
    (
        "members ha",
        "the runtime: who is restarted elsewhere in `what-if`",
    ),
    (
        "members memory.usage",
        "the runtime: a plan of moves takes it along from host to host",
    ),
    (
        "members migratable",
        "the runtime: `migrate`, plans and evacuations leave the VM where it runs",
    ),
    ("members name", "nobody: it is there for people"),
    (
        "members priority",
        "the runtime: the order in which a batch is placed",
    ),
    (
        "members stickiness",
        "the runtime: the order in which a batch is placed; a wish that the policies `pacemaker…` heed",
    ),
    (
        "members type",
        "nobody: a wish that the policies `ovirt…` heed",
    ),
    (
        "members zone",
        "the runtime: a request for a VM that is known asks for its zone",
    ),
    (
        "members/keys class",
        "nobody: wishes that the policies `flexiant…` heed",
    ),
    (
        "members/keys index",
        "nobody: wishes that the policies `flexiant…` heed",
    ),
    (
        "members/keys level",
        "nobody: wishes that the policies `flexiant…` heed",
    ),
    (
        "members/keys name",
        "nobody: wishes that the policies `flexiant…` heed",
    ),
    (
        "members/keys value",
        "nobody: wishes that the policies `flexiant…` heed",
    ),
    (
        "members/keys weight",
        "nobody: wishes that the policies `flexiant…` heed",
    ),
    (
        "request instances",
        "nobody: the policies `aeolus…` choose by it",
    ),
];

/// Columns of needs that `general` does not check, the need, and a request with it.
pub(crate) const REFUSED: &[(&[&str], &str, &str)] = &[(
    &["members/specs key", "members/specs value"],
    "specs",
    "id = \"new\"\nspecs = [{ key = \"resource\", value = \"gpu\" }]",
)];
