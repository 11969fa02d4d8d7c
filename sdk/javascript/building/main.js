// node building/main.js FOLDER [--out FILE] [--node-modules FOLDER]
// node building/main.js FOLDER --check [--node-modules FOLDER]    only look whether what builds the unit is there

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { BuildError } from "./build-error.js";
import { build } from "./component.js";
import { readProject } from "./project.js";
import { tools } from "./tools.js";

const OPTIONS = { out: { type: "string" }, "node-modules": { type: "string" }, check: { type: "boolean", default: false } };

try {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  const project = readProject(positionals[0] ?? ".");
  if (values.check) {
    await tools(project.home, values["node-modules"]);
  } else {
    const component = await build(project, values["node-modules"]);
    const out = values.out ?? join(project.home, `${project.identity.name}.wasm`);
    writeFileSync(out, component);
    console.log(`${out}: ${(component.length / 2 ** 20).toFixed(1)} MiB`);
  }
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.error(`error: ${error.message}`);
  process.exitCode = 2;
}
