// Keeps hosts that have enough memory left to promise.

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
    headroom: setting(bytes, { default: "1 GiB", least: 0, meaning: "Memory that no VM gets, on every host." }),
  },

  // Why a host is left out: each completes the sentence "host h1 ...".
  reasons: { tooLittleMemory: "has too little memory left" },

  // Worked out once, before any host is looked at: what each of the VMs asks for.
  prepare({ vms, settings }) {
    return { memory: vms.map((vm) => vm.memory), headroom: settings.headroom };
  },

  keep(need, host) {
    const more = takes(need.memory, host.current);
    const left = host.total - host.committed - host.pending;
    // Who takes nothing more may stay, however little is left.
    return more === 0 || left >= more + need.headroom || "tooLittleMemory";
  },
});

// What the VMs take of a host: what each asks for, less what it has there if it runs there.
function takes(asked: readonly number[], current: readonly { member: number; memory: number }[]): number {
  return asked.reduce((sum, memory, vm) => {
    const has = current.find((row) => row.member === vm)?.memory ?? 0;
    return sum + Math.max(memory - has, 0);
  }, 0);
}
