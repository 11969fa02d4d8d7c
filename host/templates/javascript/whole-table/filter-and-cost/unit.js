// Leaves out hosts of which a much greater share of the memory is promised than of the emptiest host, and
// prefers those that would come closest to the mean.
//
// Each answer depends on the other hosts, so all are looked at together. A rule that looks at one host at a
// time is better written with `rowWise`: it is asked again only about hosts that have changed.

import { bytes, integer, number, rows, setting, wholeTable } from "placewright";

// What is read of a host: these columns and no others. `placewright columns` lists all.
const host = {
  total: bytes("memory.total"),
  // Promised to the VMs that run here.
  committed: bytes("memory.committed"),
  // Promised to the VMs that have a place reserved here.
  pending: bytes("memory.pending"),
  // Those of the VMs that run here already. What they have is promised to them.
  current: rows({ member: integer(), memory: bytes() }),
};

export default wholeTable({
  // What is read of all VMs that are to be placed together on one host, usually one.
  vms: { memory: bytes() },

  host,

  // What the admin of a cluster may set.
  settings: {
    tolerance: setting(number, {
      default: 0.25,
      least: 0,
      measure: "fraction",
      meaning: "How much fuller than the emptiest host a host may be, as a share of its memory.",
    }),
  },

  // Why a host is left out: each completes the sentence "host h1 ...".
  reasons: { muchFuller: "is much fuller than the emptiest host" },

  costRange: [0, 1],

  keep({ vms, settings }, hosts) {
    const memory = vms.map((vm) => vm.memory);
    const shares = hosts.map((host) => promised(host, 0));
    const least = shares.reduce((one, other) => Math.min(one, other), 1);
    const mayBeFuller = (share) => share - least <= settings.tolerance;
    // Who takes nothing more may stay, however full the host is.
    return hosts.map((host, place) => takes(memory, host.current) === 0 || mayBeFuller(shares[place]) || "muchFuller");
  },

  // How far from the mean of now the host would be; lower is better.
  cost({ vms }, hosts) {
    const memory = vms.map((vm) => vm.memory);
    // Added up in order of size: a sum of floats depends on the order, and the order of hosts must not matter.
    const shares = hosts.map((host) => promised(host, 0)).sort((one, other) => one - other);
    const mean = shares.reduce((sum, share) => sum + share, 0) / Math.max(shares.length, 1);
    return hosts.map((host) => Math.abs(promised(host, takes(memory, host.current)) - mean));
  },
});

// The share of a host's memory that is promised, with so much more: 0 to 1, also where more was promised than there is.
function promised(host, more) {
  if (host.total <= 0) return 1;
  return Math.min(Math.max((host.committed + host.pending + more) / host.total, 0), 1);
}

// What the VMs take of a host: what each asks for, less what it has there if it runs there.
function takes(asked, current) {
  return asked.reduce((sum, memory, vm) => {
    const has = current.find((row) => row.member === vm)?.memory ?? 0;
    return sum + Math.max(memory - has, 0);
  }, 0);
}
