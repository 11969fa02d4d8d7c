// Prefers hosts of which the smallest share of the memory would be promised.

import { bytes, integer, rows, rowWise, setting } from "placewright";

export default rowWise({
  // What is read of all VMs that are to be placed together on one host, usually one.
  vms: { memory: bytes() },

  // What is read of a host: these columns and no others. `placewright columns` lists all.
  host: {
    total: bytes("memory.total"),
    // Promised to the VMs that run here.
    committed: bytes("memory.committed"),
    // Promised to the VMs that have a place reserved here.
    pending: bytes("memory.pending"),
    // Those of the VMs that run here already. What they have is promised to them.
    current: rows({ member: integer(), memory: bytes() }),
  },

  // What the admin of a cluster may set.
  settings: {
    headroom: setting(bytes, { default: "1 GiB", least: 0, meaning: "Memory that no VM gets, on every host: it counts as promised." }),
  },

  costRange: [0, 1],

  // Worked out once, before any host is looked at: what each of the VMs asks for.
  prepare({ vms, settings }) {
    return { memory: vms.map((vm) => vm.memory), headroom: settings.headroom };
  },

  // The share of the host's memory that would be promised, lower is better.
  cost(need, host) {
    if (host.total <= 0) return 1;
    const promised = host.committed + host.pending + takes(need.memory, host.current) + need.headroom;
    const share = promised / host.total;
    return Math.min(Math.max(share, 0), 1);
  },
});

// What the VMs take of a host: what each asks for, less what it has there if it runs there.
function takes(asked, current) {
  return asked.reduce((sum, memory, vm) => {
    const has = current.find((row) => row.member === vm)?.memory ?? 0;
    return sum + Math.max(memory - has, 0);
  }, 0);
}
