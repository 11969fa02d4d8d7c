// componentize-qjs, run with what a unit needs.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { BuildError } from "./build-error.js";
import { componentScript, descriptionScript } from "./bundle.js";
import { imports } from "./imports.js";
import { tools } from "./tools.js";

/** What a unit may import. */
const ALLOWED = ["placewright:policy/log@", "placewright:policy/types@"];

/** The name of the world that is written for each build. */
const WORLD = "built";

/** Builds the component of a project; throws `BuildError`. */
export async function build(project, nodeModules) {
  const { componentize, esbuild } = await tools(project.home, nodeModules);
  const folder = mkdtempSync(join(tmpdir(), "placewright-"));
  let component;
  try {
    const described = await describe(folder, await descriptionScript(esbuild, project));
    const script = await componentScript(esbuild, { ...project, ...described });
    lay(folder, described.checksSettings);
    const options = { witPath: folder, jsSource: script, world: WORLD, stubWasi: true, sync: true };
    ({ component } = await componentize(options));
  } catch (error) {
    if (error instanceof BuildError) throw error;
    throw new BuildError(`componentize-qjs could not build the unit: ${error.message}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
  const more = imports(component).filter((name) => !ALLOWED.some((it) => name.startsWith(it)));
  if (more.length > 0) {
    throw new BuildError(`the component imports ${more.join(", ")}, and a unit may import nothing but the log`);
  }
  return component;
}

/** Runs the author's module on this machine, where it can say best what is wrong with it. */
function describe(folder, text) {
  const script = join(folder, "described.mjs");
  writeFileSync(script, text);
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("describe.js", import.meta.url), { workerData: { script } });
    worker.on("message", (said) => (said.problem ? reject(new BuildError(said.problem)) : resolve(said)));
    worker.on("error", (error) => reject(new BuildError(`the unit's module cannot be run: ${error.message}`)));
    worker.on("exit", () => reject(new BuildError("the unit's module ended the program")));
  });
}

/** The contract, and a world of the parts that the unit has. */
function lay(folder, checksSettings) {
  const worlds = ["judging", ...(checksSettings ? ["checking-settings"] : [])];
  const text = readFileSync(contract(), "utf8");
  const world = `world ${WORLD} {\n${worlds.map((it) => `  include ${it};\n`).join("")}}\n`;
  writeFileSync(join(folder, "policy.wit"), text + world);
}

/** The contract: beside the SDK, or in the repository around it. */
function contract() {
  const places = ["../wit/policy.wit", "../../../wit/policy.wit"].map((it) => fileURLToPath(new URL(it, import.meta.url)));
  const found = places.find((file) => existsSync(file));
  if (!found) throw new BuildError(`the contract is missing: ${places.join(" or ")}`);
  return found;
}
