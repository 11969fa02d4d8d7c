// What becomes of a call.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  bytes,
  Failed,
  FOR_GOOD,
  integer,
  number,
  boolean,
  Refused,
  row,
  rows,
  rowWise,
  seconds,
  setting,
  text,
  THIS_SECOND,
  wholeTable,
} from "placewright";
import { Unit } from "placewright/unit";

const BOTH = { verdicts: true, costs: true };
const IDENTITY = { name: "sample", version: "0.1.0", summary: "A sample.", aliases: [] };

const unit = (author) => new Unit(author, IDENTITY);

/** A call's tables. */
function tables(rows, integers = [], numbers = [], more = {}) {
  return { rows, integers, numbers, absentIntegers: [], absentNumbers: [], texts: [], ...more };
}

/** The answer in plain arrays. */
function judged(author, call, want = BOTH) {
  const { verdicts, costs, until } = unit(author).judge(want, call);
  return { verdicts: [...verdicts], costs: [...costs], until };
}

/** The example in the contract's documentation, with these VMs. */
function contractExample(members) {
  const integers = [...members, 8, 1, 0, 2, 3, 0, 1, 1];
  return tables([members.length, 2, 3], integers, [0.25, 0], { absentNumbers: [1], texts: ["red", "blue"] });
}

const memory = rowWise({
  vm: { memory: bytes() },
  host: {
    free: bytes("memory.free"),
    usage: number("cpu.usage").optional(),
    networks: rows({ name: text() }),
  },
  reasons: { full: "is full", noRed: "has no network red" },
  prepare: ({ vm }) => vm.memory,
  keep(need, host) {
    if (host.free < need) return "full";
    return host.networks.some((network) => network.name === "red") || "noRed";
  },
  cost: (need, host) => (host.usage === null ? Infinity : host.usage + need),
});

test("rows are read with nested tables, texts and absent values", () => {
  assert.deepEqual(judged(memory, contractExample([4])), { verdicts: [0, 1], costs: [4.25, Infinity], until: [] });
});

test("only what is wanted is answered", () => {
  const wanted = (verdicts, costs) => judged(memory, contractExample([1]), { verdicts, costs });
  assert.deepEqual(wanted(true, false), { verdicts: [0, 2], costs: [], until: [] });
  assert.deepEqual(wanted(false, true), { verdicts: [], costs: [1.25, Infinity], until: [] });
});

test("with several VMs the first reason counts and costs are added", () => {
  assert.deepEqual(judged(memory, contractExample([1, 4])), { verdicts: [0, 2], costs: [5.5, Infinity], until: [] });
  assert.deepEqual(judged(memory, contractExample([])), { verdicts: [0, 0], costs: [0, 0], until: [] });
});

test("a call leaves nothing behind for the next one", () => {
  const made = unit(memory);
  const costs = (call) => [...made.judge(BOTH, call).costs];
  assert.deepEqual(costs(contractExample([4])), [4.25, Infinity]);
  const smaller = tables([1, 1, 0], [2, 8, 0, 0], [0.5]);
  assert.deepEqual(costs(smaller), [2.5]);
  assert.deepEqual(costs(contractExample([4])), [4.25, Infinity]);
});

test("a call for another part fails", () => {
  for (const [wrong, why] of [
    [tables([1]), /holds 1 tables where the part declared 3/],
    [tables([0, 0, 0], [0, 0]), /holds 2 integers where the part declared 1/],
    [tables([0, 0, 0], [0], [0.5]), /holds 1 numbers where the part declared 0/],
  ]) {
    assert.throws(() => judged(memory, wrong), (error) => error instanceof Failed && why.test(error.message));
  }
});

test("an answer that only looks like one fails", () => {
  for (const [keep, why] of [
    [() => undefined, /keep returned undefined/],
    [() => false, /keep returned false.*write for example: fits \|\| "full"/],
    [() => "fulll", /keep returned "fulll", which is neither true nor one of its reasons \(full\)/],
    [async () => true, /keep returned a promise/],
  ]) {
    const wrong = rowWise({ host: { free: integer() }, reasons: { full: "is full" }, keep });
    assert.throws(() => judged(wrong, tables([1], [1])), why);
  }
  for (const [cost, why] of [
    [() => undefined, /cost returned undefined/],
    [() => NaN, /cost returned NaN/],
    [() => 5n, /cost returned 5n.*write Number/],
    [() => "5", /cost returned "5"/],
  ]) {
    assert.throws(() => judged(rowWise({ host: { free: integer() }, cost }), tables([1], [1])), why);
  }
});

test("a field that was not declared is no undefined", () => {
  const misspelt = rowWise({ host: { free: integer() }, cost: (_, host) => host.fre });
  assert.throws(() => judged(misspelt, tables([1], [1])), /there is no field fre; what is declared to be read: free/);
});

test("rows and what was prepared cannot be changed", () => {
  for (const cost of [
    (_, host) => (host.free = 1),
    (_, host) => (host.more = 1),
    (prepared) => (prepared.seen += 1),
    (prepared) => (prepared.more = 1),
  ]) {
    const unsound = rowWise({ host: { free: integer() }, prepare: () => ({ seen: 0 }), cost });
    assert.throws(() => judged(unsound, tables([1], [1])), TypeError);
  }
});

test("rows are shown with their values", () => {
  let seen;
  const shows = rowWise({
    host: { free: integer(), on: boolean(), label: text().optional() },
    cost(_, host) {
      seen = JSON.stringify(host);
      return 0;
    },
  });
  judged(shows, tables([1], [3, 1, 0], [], { absentIntegers: [2] }));
  assert.equal(seen, '{"free":3,"on":true,"label":null}');
});

test("a unit without hosts answers once for all", () => {
  const heavy = rowWise({
    vms: { memory: bytes() },
    reasons: { full: "is full" },
    keep: ({ vms }) => vms.reduce((sum, vm) => sum + vm.memory, 0) < 10 || "full",
  });
  assert.deepEqual(judged(heavy, tables([2], [4, 5])).verdicts, [0]);
  assert.deepEqual(judged(heavy, tables([2], [5, 5])).verdicts, [1]);
});

test("a request reads several tables", () => {
  const asked = rowWise({
    vm: { memory: bytes() },
    tables: { tenant: row({ name: text() }).optional() },
    cost: ({ vm, tenant }) => vm.memory + (tenant ? 100 : 0),
  });
  assert.deepEqual(judged(asked, tables([0 + 1, 0], [3])).costs, [3]);
  const call = { rows: [1, 2], integers: [3, 0, 0], numbers: [], absentIntegers: [], absentNumbers: [], texts: ["red"] };
  assert.throws(() => judged(asked, call), /reads one row of `tenant`, and there are 2/);
});

test("a row that there must be refuses the request", () => {
  const strict = rowWise({ tables: { tenant: row({ name: text() }) }, cost: () => 0 });
  assert.throws(() => judged(strict, tables([0])), Refused);
});

test("until is told by units that read the time", () => {
  const reads = { tables: { request: row({ now: seconds() }) }, host: { end: seconds() } };
  const rests = rowWise({
    ...reads,
    reasons: { busy: "is busy" },
    keep: ({ request }, host) => request.now > host.end || "busy",
    until: ({ request }, host) => (request.now <= host.end ? host.end : FOR_GOOD),
  });
  assert.deepEqual(judged(rests, tables([1, 2], [5, 9, 1])).until, [9, FOR_GOOD]);
  assert.deepEqual(judged(rests, tables([1, 2], [10, 9, 1])).until, []);
  const unsaid = rowWise({ ...reads, cost: () => 0 });
  assert.deepEqual(judged(unsaid, tables([1, 2], [5, 9, 1])).until, [5, 5]);
  const second = rowWise({ ...reads, cost: () => 0, until: () => THIS_SECOND });
  assert.deepEqual(judged(second, tables([1, 1], [5, 9])).until, [5]);
  const beyond = rowWise({ ...reads, cost: () => 0, until: () => 2 ** 53 });
  assert.throws(() => judged(beyond, tables([1, 1], [5, 9])), /no whole number of seconds below 2\^53/);
});

test("a whole-table unit sees all hosts at once", () => {
  const share = wholeTable({
    host: { free: integer() },
    reasons: { least: "has least" },
    keep(_, hosts) {
      const least = Math.min(...hosts.map((host) => host.free));
      return hosts.map((host) => host.free > least || "least");
    },
    cost: (_, hosts) => hosts.map((host) => host.free / hosts.reduce((sum, it) => sum + it.free, 0)),
  });
  assert.deepEqual(judged(share, tables([3], [1, 1, 2])), { verdicts: [1, 1, 0], costs: [0.25, 0.25, 0.5], until: [] });
  const short = wholeTable({ host: { free: integer() }, cost: () => [1] });
  assert.throws(() => judged(short, tables([2], [1, 2])), /cost returned an array of 1 where it was asked about 2 hosts/);
});

test("settings are checked by the unit", () => {
  const made = unit(
    rowWise({
      settings: {
        low: setting(integer, { default: 1, meaning: "Low." }),
        high: setting(integer, { default: 2, meaning: "High." }),
      },
      check({ low, high }) {
        if (low > high) throw new Refused("low is above high");
      },
      cost: ({ settings }) => settings.low,
    }),
  );
  assert.ok(made.checksSettings);
  made.check(tables([1], [1, 2]));
  assert.throws(() => made.check(tables([1], [3, 2])), Refused);
  assert.ok(!unit(memory).checksSettings);
});

test("the functions of a unit are plain functions", () => {
  const need = memory.prepare({ vm: { memory: 5 } });
  assert.equal(memory.keep(need, { free: 4, networks: [] }), "full");
});
