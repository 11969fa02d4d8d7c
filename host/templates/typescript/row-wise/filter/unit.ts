// Keeps hosts that have enough memory left to promise.

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
    headroom: setting(bytes, { default: "1 GiB", least: 0, meaning: "Memory that no VM gets, on every host." }),
  },

  // Why a host is left out: each completes the sentence "host h1 ...".
  reasons: { tooLittleMemory: "has too little memory left" },

  // Worked out once, before any host is looked at: what a host must have left.
  prepare({ vms, settings }) {
    return vms.reduce((sum, vm) => sum + vm.memory, settings.headroom);
  },

  keep(need, host) {
    return host.total - host.committed - host.pending >= need || "tooLittleMemory";
  },
});
