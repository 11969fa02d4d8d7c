// What the types say of units: checked by the compiler alone. A line below `@ts-expect-error` must be refused.

import { boolean, bytes, integer, number, passing, row, rows, rowWise, seconds, setting, text, wholeTable } from "placewright";

export const whole = rowWise({
  vm: { memory: bytes(), label: text().optional() },
  tables: { request: row({ now: seconds() }), tenant: row({ name: text() }).optional() },
  host: {
    free: bytes("memory.free"),
    usage: number("cpu.usage").optional(),
    vms: rows({ memory: bytes() }),
    location: row({ rack: text() }).optional(),
  },
  settings: {
    headroom: setting(bytes, { default: "1 GiB", meaning: "Kept free." }),
    share: setting(number, { optional: true, meaning: "A share." }),
    way: setting(text, { choices: ["pack", "spread"], default: "pack", meaning: "Which way." }),
    weights: setting(rows({ host: text(), weight: number() }), { meaning: "Weights." }),
  },
  reasons: { full: "is full", reserved: passing("is full while places are reserved") },

  prepare({ vm, settings, request, tenant }) {
    const label: string | null = vm.label;
    const share: number | null = settings.share;
    const way: "pack" | "spread" = settings.way;
    const weight: number | undefined = settings.weights[0]?.weight;
    const of: string | undefined = tenant?.name;
    // @ts-expect-error: it may be absent
    settings.share + 1;
    return { need: vm.memory + settings.headroom, now: request.now, label, share, way, weight, of };
  },

  keep(prepared, host) {
    const rack: string | undefined = host.location?.rack;
    const used = host.vms.reduce((sum, vm) => sum + vm.memory, 0);
    // @ts-expect-error: it was not declared
    host.total;
    // @ts-expect-error: rows cannot be changed
    host.free = 1;
    return (host.free - used >= prepared.need && rack !== "r1") || "full";
  },

  cost: (prepared, host) => host.usage ?? prepared.now,
});

export const alone = rowWise({
  host: { on: boolean() },
  reasons: { off: "is off" },
  keep: (_, host) => host.on || "off",
});

export const misspelt = rowWise({
  host: { on: boolean() },
  reasons: { off: "is off" },
  // @ts-expect-error: it is none of the reasons
  keep: (_, host) => host.on || "of",
});

export const given = rowWise({
  vms: { cores: integer() },
  cost: ({ vms }) => vms.length,
});

export const all = wholeTable({
  host: { free: bytes("memory.free") },
  cost: (_, hosts) => hosts.map((host) => host.free),
});

// The functions of a unit are there for tests.
const need = whole.prepare({
  vm: { memory: 5, label: null },
  settings: whole.defaults(),
  request: { now: 0 },
  tenant: null,
});
export const kept = whole.keep(need, { free: 5, usage: null, vms: [], location: null });
