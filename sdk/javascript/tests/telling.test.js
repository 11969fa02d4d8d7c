// What is told when something goes wrong, and what is printed.

import assert from "node:assert/strict";
import { test } from "node:test";

import { consoleTo } from "../src/console.js";
import { sentence } from "../src/fault.js";

const SOURCES = Symbol.for("placewright: sources");

test("an exception is told with the author's lines alone", () => {
  const error = new TypeError("cannot read property 'x' of null");
  error.stack = "    at divide (/unit.js:2:7)\n    at map (native)\n    at keep (/unit.js:3:1)\n    at sdk (/unit.js:1:1)\n";
  globalThis[SOURCES] = { files: ["sdk.js", "unit.ts"], lines: [null, [1, 12, "return other.x"], [1, 7, "divide()"]] };
  try {
    assert.equal(
      sentence(error),
      "TypeError: cannot read property 'x' of null; at unit.ts line 12 in divide: return other.x; called from unit.ts line 7 in keep: divide()",
    );
  } finally {
    delete globalThis[SOURCES];
  }
});

test("what is thrown without being an error is told so", () => {
  assert.equal(sentence("in a temper"), 'threw "in a temper", which is no Error');
  assert.equal(sentence(undefined), "threw undefined, which is no Error");
});

test("what is printed goes to the log by its level", () => {
  const said = [];
  const console = consoleTo((level, message) => said.push([level, message]));
  const ring = {};
  ring.ring = ring;
  console.log("free", 5, null, undefined, { a: [1] }, 7n, ring);
  console.warn(new RangeError("too far"));
  assert.deepEqual(said, [
    ["info", 'free 5 null undefined {"a":[1]} 7n [object Object]'],
    ["warn", "RangeError: too far"],
  ]);
});
