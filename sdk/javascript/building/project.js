// What a unit's package.json says:
//
//   {
//     "name": "my-unit",
//     "version": "0.1.0",
//     "description": "One sentence for the admin.",
//     "placewright": { "unit": "src/my-unit.ts", "aliases": ["OptimalForMemory"] }
//   }
//
// `aliases` are names of the same rule in other systems. Without `unit` the module is that of `main`, else
// the one of the unit's name.

import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";

import { BuildError } from "./build-error.js";

const MANIFEST = "package.json";
const ENDINGS = ["", ".ts", ".js", ".mts", ".mjs"];

/** The project in the folder, or of the package.json that is given. */
export function readProject(folder) {
  const file = basename(folder) === MANIFEST ? folder : join(folder, MANIFEST);
  const written = parsed(file);
  const home = dirname(resolve(file));
  const own = written.placewright ?? {};
  return { home, identity: identityOf(file, written, own), module: moduleOf(home, written, own) };
}

function parsed(file) {
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    throw new BuildError(`cannot read ${file}: a unit in JavaScript is a folder with a package.json`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BuildError(`${file}: ${error.message}`);
  }
}

/** Who the unit is. */
function identityOf(file, written, own) {
  const missing = ["name", "version", "description"].filter((key) => typeof written[key] !== "string");
  if (missing.length > 0) {
    throw new BuildError(`${file} lacks ${missing.join(", ")}: a unit says who it is`);
  }
  // `@mine/unit` is a unit all the same.
  const name = written.name.replace(/^@[^/]*\//, "");
  return { name, version: written.version, summary: written.description, aliases: own.aliases ?? [] };
}

/** The file of the unit's module. */
function moduleOf(home, written, own) {
  const named = own.unit ?? written.main;
  const names = named ? [named] : [written.name, `src/${written.name}`, "index", "src/index"];
  for (const name of names) {
    for (const ending of ENDINGS) {
      const file = join(home, name + ending);
      if (existsSync(file) && /\.[cm]?[jt]s$/.test(file)) return file;
    }
  }
  const looked = names.map((name) => relative(".", join(home, name))).join(", ");
  throw new BuildError(
    `there is no module of the unit (looked for ${looked}, .js or .ts); package.json names it: "placewright": { "unit": "unit.js" }`,
  );
}
