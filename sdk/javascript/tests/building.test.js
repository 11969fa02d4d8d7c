// From a project to what is built of it.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { imports } from "../building/imports.js";
import { linesOf } from "../building/lines.js";
import { readProject } from "../building/project.js";
import { tools } from "../building/tools.js";

/** A folder with these files, for as long as the test runs. */
function folder(context, files) {
  const home = mkdtempSync(join(tmpdir(), "placewright-test-"));
  context.after(() => rmSync(home, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(home, name, ".."), { recursive: true });
    writeFileSync(join(home, name), typeof text === "string" ? text : JSON.stringify(text));
  }
  return home;
}

const MANIFEST = { name: "@mine/racks", version: "1.2.0", description: "Spreads over racks." };

test("a project says who the unit is and where its module is", (context) => {
  const home = folder(context, {
    "package.json": { ...MANIFEST, placewright: { unit: "src/rule.ts", aliases: ["Racks"] } },
    "src/rule.ts": "",
  });
  assert.deepEqual(readProject(home), {
    home,
    identity: { name: "racks", version: "1.2.0", summary: "Spreads over racks.", aliases: ["Racks"] },
    module: join(home, "src/rule.ts"),
  });
});

test("the module is named by main, or called as the unit or index", (context) => {
  const plain = { ...MANIFEST, name: "racks" };
  const module = (files) => {
    const home = folder(context, files);
    return readProject(home).module.slice(home.length + 1);
  };
  assert.equal(module({ "package.json": { ...plain, main: "main.js" }, "main.js": "", "racks.js": "" }), "main.js");
  assert.equal(module({ "package.json": plain, "racks.ts": "", "index.js": "" }), "racks.ts");
  assert.equal(module({ "package.json": plain, "src/index.js": "" }), "src/index.js");
});

test("what a project lacks is told", (context) => {
  const read = (files) => () => readProject(folder(context, files));
  assert.throws(read({}), /a unit in JavaScript is a folder with a package\.json/);
  assert.throws(read({ "package.json": "{" }), /package\.json/);
  assert.throws(read({ "package.json": { name: "racks" } }), /lacks version, description/);
  assert.throws(read({ "package.json": MANIFEST }), /there is no module of the unit.*"placewright": \{ "unit"/);
});

test("packages that are missing or of another version are told with how to get them", async (context) => {
  const home = folder(context, { "node_modules/esbuild/package.json": { version: "0.1.0" } });
  await assert.rejects(tools(home), (error) => {
    assert.match(error.message, /componentize-qjs 0\.4\.3 is missing/);
    assert.match(error.message, /esbuild is here in version 0\.1\.0/);
    assert.match(error.message, /npm install --prefix .* componentize-qjs@0\.4\.3 esbuild@/);
    return true;
  });
});

test("lines of a source map are those that each line begins with", () => {
  // Second line: source 0, line 1; third: nothing; fourth: source 1, line 0.
  assert.deepEqual(linesOf(";AACA,IAAI;;ACDA"), [null, { source: 0, line: 1 }, null, { source: 1, line: 0 }]);
});

test("imports are read from a component, and nothing else is", () => {
  const header = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];
  const name = [..."a:b/c"].map((letter) => letter.charCodeAt(0));
  const section = [1, 0x00, name.length, ...name, 0x05, 0x00];
  const custom = [0, 3, 1, 120, 7];
  const component = new Uint8Array([...header, ...custom, 10, section.length, ...section]);
  assert.deepEqual(imports(component), ["a:b/c"]);
  assert.throws(() => imports(component.subarray(0, 6)), /does not begin/);
  assert.throws(() => imports(component.subarray(0, component.length - 6)), /cut off/);
});
