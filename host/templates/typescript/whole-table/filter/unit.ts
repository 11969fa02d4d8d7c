// Leaves out hosts of which a much greater share of the memory is promised than of the emptiest host.
//
// Each answer depends on the other hosts, so all are looked at together. A rule that looks at one host at a
// time is better written with `rowWise`: it is asked again only about hosts that have changed.

import { bytes, integer, number, type Row, rows, setting, wholeTable } from "placewright";

// What is read of a host: these columns and no others. `placewright columns` lists all.
const hostColumns = {
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

  host: hostColumns,

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

  keep({ vms, settings }, hosts) {
    const memory = vms.map((vm) => vm.memory);
    const shares = hosts.map((host) => promised(host, 0));
    const least = shares.reduce((one, other) => Math.min(one, other), 1);
    const mayBeFuller = (share: number) => share - least <= settings.tolerance;
    // Who takes nothing more may stay, however full the host is.
    return hosts.map((host, place) => takes(memory, host.current) === 0 || mayBeFuller(shares[place]) || "muchFuller");
  },
});

// The share of a host's memory that is promised, with so much more: 0 to 1, also where more was promised than there is.
function promised(host: Row<typeof hostColumns>, more: number): number {
  if (host.total <= 0) return 1;
  return Math.min(Math.max((host.committed + host.pending + more) / host.total, 0), 1);
}

// What the VMs take of a host: what each asks for, less what it has there if it runs there.
function takes(asked: readonly number[], current: readonly { member: number; memory: number }[]): number {
  return asked.reduce((sum, memory, vm) => {
    const has = current.find((row) => row.member === vm)?.memory ?? 0;
    return sum + Math.max(memory - has, 0);
  }, 0);
}
