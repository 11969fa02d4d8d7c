// Prefers hosts that would come closest to the mean of all hosts, by the share of their memory that is promised.
//
// Each answer depends on the other hosts, so all are looked at together. A rule that looks at one host at a
// time is better written with `rowWise`: it is asked again only about hosts that have changed.

import { bytes, integer, type Row, rows, wholeTable } from "placewright";

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

  costRange: [0, 1],

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
