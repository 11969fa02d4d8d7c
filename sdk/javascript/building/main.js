// node building/main.js FOLDER [--out FILE] [--node-modules FOLDER]

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { BuildError } from "./build-error.js";
import { build } from "./component.js";
import { readProject } from "./project.js";

const OPTIONS = { out: { type: "string" }, "node-modules": { type: "string" } };

try {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  const project = readProject(positionals[0] ?? ".");
  const component = await build(project, values["node-modules"]);
  const out = values.out ?? join(project.home, `${project.identity.name}.wasm`);
  writeFileSync(out, component);
  console.log(`${out}: ${(component.length / 2 ** 20).toFixed(1)} MiB`);
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.error(`error: ${error.message}`);
  process.exitCode = 2;
}
