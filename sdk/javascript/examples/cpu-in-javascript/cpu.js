// CPU: the unit `plugins/reference/cpu` in JavaScript, with the same answers.
//
// Keeps the hosts that have a CPU for each core of the widest VM beside the CPUs that VMs have for themselves,
// and that have not promised too much if there is a limit; prefers those of which the smallest share is promised.

import { boolean, integer, millicores, number, passing, rows, rowWise, setting } from "placewright";

/** What VMs need of a host: CPU in millicores, and CPUs of their own. */
function needed(vms) {
  let cpu = 0;
  let exclusive = 0;
  for (const vm of vms) {
    cpu += vm.cpu;
    if (vm.exclusive) exclusive += vm.vcpus;
  }
  return { cpu, exclusive };
}

/** What the VMs need of a host on which some of them may run already. */
function neededOn(host, { vms, all }) {
  const { current } = host;
  if (current.length === 0) return all;
  const here = new Set(current.map((row) => row.member));
  return needed(vms.filter((_, number) => !here.has(number)));
}

export default rowWise({
  vms: {
    sockets: integer(),
    cores: integer(),
    vcpus: integer(),
    exclusive: boolean(),
    cpu: millicores(),
  },
  host: {
    sockets: integer("cpu.sockets").optional(),
    cores: integer("cpu.cores").optional(),
    threads: integer("cpu.threads").optional(),
    total: millicores("cpu.total"),
    overcommit: number("cpu.overcommit").optional(),
    committed: millicores("cpu.committed"),
    pending: millicores("cpu.pending"),
    exclusive: integer("cpu.exclusive"),
    widest: integer("vms.widest"),
    // Those of the VMs that run there now.
    current: rows({ member: integer() }),
  },
  settings: {
    countThreadsAsCores: setting(boolean, {
      default: false,
      meaning: "Whether each thread of a host counts as a CPU, rather than each core.",
    }),
    requireTopology: setting(boolean, {
      default: false,
      meaning:
        "Whether hosts are left out whose sockets, cores or threads are not known; else such a host has a CPU " +
        "for each whole core of its CPU total.",
    }),
    overcommit: setting(number, {
      optional: true,
      least: 0,
      measure: "fraction",
      meaning:
        "How much of a host's CPU may be promised, 1 = all of it once, where the host does not say so itself " +
        "(cpu.overcommit); any amount, if neither does.",
    }),
  },
  reasons: {
    unknownTopology: "has no known CPU topology",
    tooFewCpus: "has too few CPUs",
    tooLittleToPromise: "has too little CPU left to promise",
    tooLittleWhilePending: passing("has too little CPU left to promise while places on it are reserved"),
  },

  prepare({ vms, settings }) {
    const sharing = vms.filter((vm) => !vm.exclusive);
    return {
      vms,
      all: needed(vms),
      // Cores of the widest VM that shares CPUs; 1 if none is wider.
      widest: Math.max(1, ...sharing.map((vm) => vm.sockets * vm.cores)),
      threadsAsCores: settings.countThreadsAsCores,
      requireTopology: settings.requireTopology,
      // For hosts that have none of their own.
      overcommit: settings.overcommit,
    };
  },

  keep(need, host) {
    if (need.requireTopology && (host.sockets === null || host.cores === null || host.threads === null)) {
      return "unknownTopology";
    }
    const { total } = host;
    const cpus = (need.threadsAsCores ? host.threads : host.cores) ?? Math.trunc(total / 1000);
    const { cpu, exclusive } = neededOn(host, need);
    if (cpus - host.exclusive - exclusive < Math.max(need.widest, host.widest)) return "tooFewCpus";
    const overcommit = host.overcommit ?? need.overcommit;
    if (overcommit === null) return true;
    const limit = Math.trunc(total * overcommit);
    const promised = host.committed + cpu;
    if (promised > limit) return "tooLittleToPromise";
    return promised + host.pending <= limit || "tooLittleWhilePending";
  },

  // The share of the CPU that the host may promise which is promised when the VMs are placed.
  cost(need, host) {
    const promisable = host.total * (host.overcommit ?? 1);
    if (promisable <= 0) return Infinity;
    return (host.committed + host.pending + neededOn(host, need).cpu) / promisable;
  },
});
