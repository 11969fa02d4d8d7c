// The packages that make components of JavaScript, found where the author has installed them.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

import { BuildError } from "./build-error.js";

/** The versions that units are built with. Another one may speak the contract another way. */
export const VERSIONS = { "componentize-qjs": "0.4.3", esbuild: "0.28.2" };

/**
 * The packages, from the folder `node_modules` that is given, or else as a module of the project finds them.
 */
export async function tools(home, nodeModules) {
  const from = nodeModules ? dirname(resolve(nodeModules)) : home;
  const require = createRequire(join(from, "package.json"));
  const problems = Object.keys(VERSIONS).flatMap((name) => problem(require, name));
  if (problems.length > 0) {
    const pinned = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`);
    throw new BuildError(
      `${problems.join(", and ")}; get what builds units with: npm install --prefix ${from} --save-dev --save-exact ${pinned.join(" ")}`,
    );
  }
  const [componentize, esbuild] = await Promise.all(Object.keys(VERSIONS).map((name) => import(require.resolve(name))));
  return { componentize: componentize.componentize ?? componentize.default.componentize, esbuild };
}

/** Why a package will not do. */
function problem(require, name) {
  let found;
  try {
    found = JSON.parse(readFileSync(manifest(require, name), "utf8")).version;
  } catch {
    return [`the package ${name} ${VERSIONS[name]} is missing`];
  }
  return found === VERSIONS[name] ? [] : [`the package ${name} is here in version ${found}, and units are built with ${VERSIONS[name]}`];
}

/** The package's own package.json, which it need not export. */
function manifest(require, name) {
  const place = require.resolve.paths(name).find((folder) => {
    try {
      return readFileSync(join(folder, name, "package.json"));
    } catch {
      return false;
    }
  });
  return join(place, name, "package.json");
}
