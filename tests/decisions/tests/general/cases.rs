//! What a VM can need, each beside a host that lacks just that.

/// A need by itself.
pub(crate) struct Case {
    /// As the schema calls it, or what is special of it.
    pub need: &'static str,
    /// What the cluster has besides the two hosts, in TOML.
    pub cluster: &'static str,
    /// What the host has that lacks it.
    pub lacks: &'static str,
    /// What the host has that has it.
    pub has: &'static str,
    /// The document of the request.
    pub request: &'static str,
    /// The unit that removes the one that lacks it.
    pub unit: &'static str,
    /// And its reason.
    pub reason: &'static str,
    /// Whether the need stands in the request, rather than in the cluster.
    pub is_of_the_request: bool,
}

const fn case(
    need: &'static str,
    hosts: [&'static str; 2],
    request: &'static str,
    [unit, reason]: [&'static str; 2],
) -> Case {
    let [lacks, has] = hosts;
    Case {
        need,
        cluster: "",
        lacks,
        has,
        request,
        unit,
        reason,
        is_of_the_request: true,
    }
}

const fn in_cluster(case: Case, cluster: &'static str) -> Case {
    Case {
        cluster,
        is_of_the_request: false,
        ..case
    }
}

const NEW: &str = "id = \"new\"";

/// Every need, at least once.
pub(crate) const CASES: &[Case] = &[
    case(
        "memory",
        ["", "memory.overcommit = 2.0"],
        "id = \"new\"\nmemory = \"80 GiB\"",
        ["memory", "has too little memory left to promise"],
    ),
    case(
        "cpu",
        ["", "cpu.overcommit = 2.0"],
        "id = \"new\"\ncpu = \"24 cores\"\ncores = 1",
        ["cpu", "has too little CPU left to promise"],
    ),
    case(
        "zone",
        ["zone = \"a\"", "zone = \"b\""],
        "zone = \"b\"\n[[vms]]\nid = \"new\"",
        [
            "availability-zone",
            "is not in the availability zone that is asked for",
        ],
    ),
    case(
        "pinned",
        ["", ""],
        "id = \"new\"\npinned = [\"has\"]",
        [
            "pin-to-host",
            "is not among the hosts that the VM is pinned to",
        ],
    ),
    case(
        "location",
        ["", ""],
        "id = \"new\"\nlocation = [{ host = \"lacks\", score = -1000000 }]",
        [
            "location-scores",
            "is forbidden to the VM: its score there is minus infinity",
        ],
    ),
    case(
        "gpu.count",
        ["", "gpus = [{ index = 0 }, { index = 1 }]"],
        "id = \"new\"\ngpu.count = 2",
        ["gpus", "has no GPUs"],
    ),
    case(
        "gpu.count",
        [
            "gpus = [{ index = 0 }]",
            "gpus = [{ index = 0 }, { index = 1 }]",
        ],
        "id = \"new\"\ngpu.count = 2\ngpu.share = 500",
        ["gpus", "has too few GPUs with enough free"],
    ),
    case(
        "gpu-models",
        [
            "gpu.model = \"T4\"\ngpus = [{ index = 0 }]",
            "gpu.model = \"A100\"\ngpus = [{ index = 0 }]",
        ],
        "id = \"new\"\ngpu.count = 1\ngpu-models = [{ model = \"A100\" }]",
        ["gpus", "has no GPUs of a model that the VM accepts"],
    ),
    case(
        "nics",
        ["", "networks = [{ name = \"mgmt\" }]"],
        "id = \"new\"\nnics = [{ network = \"mgmt\" }]",
        ["network", "is not connected to a network that the VM needs"],
    ),
    in_cluster(
        case(
            "networks that every host must have",
            ["", "networks = [{ name = \"storage\" }]"],
            NEW,
            [
                "network",
                "is not connected to a network that every host must have",
            ],
        ),
        "[[networks]]\nname = \"storage\"\nrequired = true",
    ),
    case(
        "devices",
        ["", "devices = [{ name = \"hsm\" }]"],
        "id = \"new\"\ndevices = [{ name = \"hsm\" }]",
        [
            "host-device",
            "has not all devices free that the VM is to get",
        ],
    ),
    case(
        "devices",
        ["", "devices = [{ name = \"card\", kind = \"pci\" }]"],
        "id = \"new\"\ndevices = [{ name = \"card\", kind = \"pci\" }]",
        [
            "host-device",
            "has not all devices free that the VM is to get",
        ],
    ),
    case(
        "huge-pages",
        ["", "huge-pages = [{ size = \"1 GiB\", free = 8 }]"],
        "id = \"new\"\nmemory = \"4 GiB\"\nhuge-pages = [{ size = \"1 GiB\", count = 4 }]",
        ["huge-pages", "has too few free huge pages"],
    ),
    case(
        "memory beside huge pages",
        ["huge-pages = [{ size = \"1 GiB\", free = 56 }]", ""],
        "id = \"new\"\nmemory = \"32 GiB\"",
        ["memory", "has too little memory left to promise"],
    ),
    case(
        "cpu-flags",
        ["", "cpu-flags = [{ flag = \"avx512f\" }]"],
        "id = \"new\"\ncpu-flags = [{ flag = \"avx512f\" }]",
        [
            "cpu-level",
            "has a CPU without all the flags that the VM needs",
        ],
    ),
    case(
        "numa-nodes",
        [
            "numa-nodes = [{ index = 0, memory.total = \"64 GiB\", memory.free = \"60 GiB\" }]",
            "numa-nodes = [{ index = 0, memory.total = \"32 GiB\" }, { index = 1, memory.total = \"32 GiB\", memory.free = \"30 GiB\" }]",
        ],
        "id = \"new\"\nnuma-nodes = [{ index = 0, memory = \"8 GiB\", mode = \"strict\", host-nodes = [{ index = 1 }] }]",
        [
            "numa",
            "has too little memory on the NUMA nodes that the VM is pinned to",
        ],
    ),
    case(
        "pins",
        [
            "cpus = [{ cpu = 0, online = true }]",
            "cpus = [{ cpu = 0, online = true }, { cpu = 1, online = true }]",
        ],
        "id = \"new\"\npins = [{ vcpu = 0, cpu = 1 }]",
        [
            "cpu-pinning",
            "has not all CPUs online and unclaimed that the VM is pinned to",
        ],
    ),
    case(
        "exclusive",
        ["cpu.cores = 4", "cpu.cores = 16"],
        "id = \"new\"\ncores = 4\ncpu = \"1 core\"\nexclusive = true",
        ["cpu", "has too few CPUs"],
    ),
    case(
        "machine",
        ["", "machine-types = [{ name = \"q35\" }]"],
        "id = \"new\"\nmachine = \"q35\"",
        ["emulated-machine", "cannot emulate the VM's machine type"],
    ),
    case(
        "amounts",
        ["", "amounts = [{ name = \"licences\", total = 4 }]"],
        "id = \"new\"\namounts = [{ name = \"licences\", need = 1 }]",
        ["utilization", "has nothing of an amount that is needed"],
    ),
    in_cluster(
        case(
            "bindings",
            ["", ""],
            "tenant = \"acme\"\n[[vms]]\nid = \"new\"",
            [
                "tenant-bindings",
                "is not among the hosts that the tenant is bound to",
            ],
        ),
        "[[tenants]]\nid = \"acme\"\nbindings = [{ host = \"has\", start = 0 }]",
    ),
    in_cluster(
        case(
            "groups.hard",
            ["", ""],
            NEW,
            [
                "affinity",
                "does not run the VMs that these must be together with",
            ],
        ),
        "[[groups]]\nid = \"g\"\nvms = [\"busy\", \"new\"]\nrule = \"positive\"\nhard = true",
    ),
    in_cluster(
        case(
            "groups.host-hard",
            ["", ""],
            NEW,
            [
                "affinity",
                "is not among the hosts that these VMs must run on",
            ],
        ),
        "[[groups]]\nid = \"g\"\nvms = [\"new\"]\nhosts = [\"has\"]\nhost-rule = \"positive\"\nhost-hard = true",
    ),
];
