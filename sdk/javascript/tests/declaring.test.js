// What a unit declares, and what is said of one that cannot be.

import assert from "node:assert/strict";
import { test } from "node:test";

import { boolean, bytes, DeclarationError, integer, millicores, number, passing, row, rows, rowWise, seconds, setting, text, wholeTable } from "placewright";
import { Unit } from "placewright/unit";

const IDENTITY = { name: "sample", version: "0.1.0", summary: "A sample.", aliases: ["other"] };
const described = (author) => new Unit(author, IDENTITY).describe();

test("tables are declared in the order request, hosts, settings, parents first", () => {
  const { judge } = described(
    rowWise({
      settings: { headroom: setting(bytes, { default: "1 GiB", meaning: "Kept free." }) },
      vms: { cpuTime: seconds(), pinned: boolean().gate() },
      tables: { networks: rows("members/nics/networks", { name: text() }) },
      host: { free: bytes("memory.free"), vms: rows({ cpu: millicores().optional(), keys: rows({ name: text() }) }) },
      cost: () => 0,
    }),
  );
  const column = (name, kind, required = true, gate = false) => ({ column: name, kind, required, gate });
  assert.deepEqual(judge.reads, [
    { table: "members", columns: [column("cpu-time", "integer"), column("pinned", "boolean", true, true)] },
    { table: "members/nics", columns: [] },
    { table: "members/nics/networks", columns: [column("name", "text")] },
    { table: "hosts", columns: [column("memory.free", "integer")] },
    { table: "hosts/vms", columns: [column("cpu", "integer", false)] },
    { table: "hosts/vms/keys", columns: [column("name", "text")] },
    { table: "settings", columns: [column("headroom", "integer")] },
  ]);
});

test("a table that is read twice is declared once", () => {
  const { judge } = described(
    rowWise({
      vm: { memory: bytes(), cores: integer() },
      tables: { all: rows("members", { cores: integer().optional(), cpu: millicores() }) },
      cost: () => 0,
    }),
  );
  const [{ columns }] = judge.reads;
  assert.deepEqual(columns.map((it) => [it.column, it.required]), [["memory", true], ["cores", true], ["cpu", true]]);
  assert.equal(judge.reads.length, 1);
});

test("parts say what they answer", () => {
  const { judge, aliases, name } = described(
    rowWise({ host: {}, reasons: { a: "is a", b: passing("is b") }, costRange: [0, 1], keep: () => true, cost: () => 0 }),
  );
  assert.deepEqual([name, aliases], ["sample", ["other"]]);
  assert.deepEqual(judge.answers, { verdicts: true, costs: true });
  assert.equal(judge.evaluation, "row-wise");
  assert.deepEqual(judge.reasons, [{ text: "is a", passing: false }, { text: "is b", passing: true }]);
  assert.deepEqual(judge.costRange, [0, 1]);
  assert.equal(described(wholeTable({ host: {}, cost: () => [] })).judge.evaluation, "whole-table");
});

test("settings are described with amounts as numbers", () => {
  const { settings } = described(
    rowWise({
      settings: {
        headRoom: setting(bytes, { default: "1.5 GiB", least: "1 MiB", meaning: "Kept free." }),
        share: setting(number, { optional: true, measure: "fraction", least: 0, meaning: "A share." }),
        tag: setting(text, { pattern: /[a-z]+/, choices: ["a", "b"], meaning: "A tag." }),
        weights: setting(rows({ host: text().meaning("Which."), weight: number().optional().meaning("How much.") }), {
          meaning: "Weights.",
        }),
      },
      cost: () => 0,
    }),
  );
  const plain = { measure: null, default: null, required: false, least: null, greatest: null, pattern: null, choices: [], columns: [] };
  assert.deepEqual(settings, [
    {
      ...plain,
      name: "head-room",
      kind: "integer",
      measure: "bytes",
      default: { tag: "integer", val: 1_610_612_736 },
      least: 1_048_576,
      meaning: "Kept free.",
    },
    { ...plain, name: "share", kind: "number", measure: "fraction", least: 0, meaning: "A share." },
    { ...plain, name: "tag", kind: "text", required: true, pattern: "[a-z]+", choices: ["a", "b"], meaning: "A tag." },
    {
      ...plain,
      name: "weights",
      kind: "text",
      meaning: "Weights.",
      columns: [
        { name: "host", kind: "text", required: true, meaning: "Which." },
        { name: "weight", kind: "number", required: false, meaning: "How much." },
      ],
    },
  ]);
});

test("the settings of an admin who sets nothing are at hand for tests", () => {
  const author = rowWise({
    settings: {
      headroom: setting(bytes, { default: "1 KiB", meaning: "Kept free." }),
      tag: setting(text, { optional: true, meaning: "A tag." }),
      must: setting(integer, { meaning: "Must be set." }),
    },
    cost: () => 0,
  });
  assert.deepEqual(author.defaults({ must: 3 }), { headroom: 1024, tag: null, must: 3 });
  assert.throws(() => author.defaults(), /the setting must has no default/);
});

test("what cannot be declared is told with what to write", () => {
  const meaning = "A sentence.";
  for (const [declare, why] of [
    [() => rowWise({ host: {} }), /neither keep nor cost/],
    [() => rowWise({ host: {}, keep: () => true }), /keep needs reasons/],
    [() => rowWise({ hosts: {}, cost: () => 0 }), /hosts is unknown; there may be vm, vms, host/],
    [() => rowWise({ host: { free: bytes }, cost: () => 0 }), /host\.free.*with its brackets/],
    [() => rowWise({ host: { free: "memory.free" }, cost: () => 0 }), /host\.free: a field is integer\(\)/],
    [() => rowWise({ host: {}, cost: 5 }), /cost is a function, not 5/],
    [() => rowWise({ vm: {}, vms: {}, cost: () => 0 }), /either vm .* or vms/],
    [() => rowWise({ tables: { request: { now: seconds() } }, cost: () => 0 }), /tables\.request: a table is row/],
    [() => rowWise({ tables: { vm: row({}) }, cost: () => 0 }), /that name is taken/],
    [() => rowWise({ reasons: { full: "" }, host: {}, keep: () => true }), /reasons\.full is a text/],
    [() => rowWise({ settings: { a: bytes() }, cost: () => 0 }), /settings\.a: write setting/],
    [() => rowWise({ settings: { a: setting(bytes, { default: 1 }) }, cost: () => 0 }), /settings\.a needs a meaning/],
    [() => setting(bytes, { default: "1 GB and a half", meaning }), /is no whole number of bytes; write for example "512 MiB"/],
    [() => setting(integer, { default: 2 ** 53, meaning }), /whole numbers lie within ±\(2\^53 - 1\)/],
    [() => setting(bytes, { least: "9000 TiB", meaning }), /whole numbers lie within/],
    [() => setting(integer, { default: 1.5, meaning }), /it is no whole number/],
    [() => setting(text, { default: 1, meaning }), /default: 1 is no text/],
    [() => setting(text, { default: "a", optional: true, meaning }), /drop `optional`/],
    [() => setting(text, { defualt: "a", meaning }), /a setting has no defualt/],
    [() => wholeTable({ vm: {}, host: {}, cost: () => [] }), /it declares vms and host/],
    [() => new Unit({}, IDENTITY), /export default rowWise/],
  ]) {
    assert.throws(declare, (error) => {
      assert.match(error.message, why);
      return error instanceof DeclarationError;
    });
  }
});
