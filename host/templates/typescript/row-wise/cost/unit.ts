// Prefers hosts of which the smallest share of the memory would be promised.

import { bytes, rowWise, setting } from "placewright";

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
  },

  // What the admin of a cluster may set.
  settings: {
    headroom: setting(bytes, { default: "1 GiB", least: 0, meaning: "Memory that no VM gets, on every host: it counts as promised." }),
  },

  costRange: [0, 1],

  // Worked out once, before any host is looked at: what would be promised beyond what is promised now.
  prepare({ vms, settings }) {
    return vms.reduce((sum, vm) => sum + vm.memory, settings.headroom);
  },

  // The share of the host's memory that would be promised, lower is better.
  cost(need, host) {
    if (host.total <= 0) return 1;
    const share = (host.committed + host.pending + need) / host.total;
    return Math.min(Math.max(share, 0), 1);
  },
});
