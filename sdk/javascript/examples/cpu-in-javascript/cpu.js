// CPU: the unit `plugins/reference/cpu` in JavaScript, with the same answers.
//
// Keeps the hosts that have a CPU for each core of the widest VM beside the CPUs that VMs have for themselves,
// and that have not promised too much if there is a limit; prefers those of which the smallest share is promised.

import { boolean, integer, millicores, number, passing, rows, rowWise, setting } from "placewright";

/** What a VM takes: CPU in millicores, CPUs of its own, and cores if it shares CPUs. */
function needed(vm) {
  const width = vm.sockets * vm.cores;
  return { cpu: vm.cpu, exclusive: vm.exclusive ? vm.vcpus : 0, widest: vm.exclusive ? 0 : width };
}

/** What several take together. */
function together(each) {
  const all = { cpu: 0, exclusive: 0, widest: 0 };
  for (const one of each) {
    all.cpu += one.cpu;
    all.exclusive += one.exclusive;
    all.widest = Math.max(all.widest, one.widest);
  }
  return all;
}

/**
 * What is asked for beyond what is held: a VM that is no wider than it is has its CPUs, and CPUs of its own that it
 * gives back are shared from then on.
 */
function less(asked, held) {
  return {
    cpu: Math.max(asked.cpu - held.cpu, 0),
    exclusive: asked.exclusive - held.exclusive,
    widest: asked.widest > held.widest ? asked.widest : 0,
  };
}

/** What the VMs take of a host: what they ask for, less what they hold there. */
function neededOn(host, { each, all }) {
  const { current } = host;
  if (current.length === 0) return all;
  const takes = [...each];
  for (const row of current) takes[row.member] = less(takes[row.member], needed(row));
  return together(takes);
}

/** Cores of the widest VM that shares CPUs on a host, once the VMs have what they ask for. */
function widestWith(host, { allExclusive }) {
  const { current } = host;
  if (current.length === 0 || !allExclusive) return host.widest;
  let least = Infinity;
  for (const row of current) least = Math.min(least, row.othersWidest);
  return least;
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
    // Those of the VMs that run there now, and what they hold.
    current: rows({
      member: integer(),
      sockets: integer(),
      cores: integer(),
      vcpus: integer(),
      exclusive: boolean(),
      cpu: millicores(),
      othersWidest: integer("others.widest"),
    }),
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
    const each = vms.map(needed);
    return {
      each,
      all: together(each),
      allExclusive: vms.every((vm) => vm.exclusive),
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
    const { cpu, exclusive, widest } = neededOn(host, need);
    const takesCpus = exclusive > 0 || widest > 0;
    // One CPU stays shared even if no VM shares it yet.
    const least = Math.max(widest, widestWith(host, need), 1);
    if (takesCpus && cpus - host.exclusive - exclusive < least) return "tooFewCpus";
    if (cpu === 0) return true;
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
