// One script of the author's modules and the SDK.

import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { BuildError } from "./build-error.js";
import { linesOf } from "./lines.js";

/** The folder of the SDK that this belongs to. */
const SDK = fileURLToPath(new URL("../src/", import.meta.url));

/** The name of the module that is written for each build. */
const ENTRY = "placewright-entry.js";

/** The script of the component. */
export function componentScript(esbuild, project) {
  const exports = ["unit", "judge", ...(project.checksSettings ? ["settings"] : [])];
  return bundle(
    esbuild,
    project,
    `import { exported } from "placewright/component";\n` +
      `const made = exported(author, ${JSON.stringify(project.identity)});\n` +
      exports.map((name) => `export const ${name} = made.${name};\n`).join(""),
  );
}

/** A script for this machine, which says whether the unit is declared as it must be, and what it is. */
export function descriptionScript(esbuild, project) {
  return bundle(
    esbuild,
    project,
    `import { Unit } from "placewright/unit";\n` +
      `export const unit = () => new Unit(author, ${JSON.stringify(project.identity)});\n`,
  );
}

/** Bundles what is written after the import of the author's module; sealed before that module is run. */
async function bundle(esbuild, project, after) {
  const text =
    `import "placewright/sealing";\n` +
    `import author from ${JSON.stringify(project.module)};\n` +
    after;
  let made;
  try {
    made = await esbuild.build({
      stdin: { contents: text, resolveDir: project.home, sourcefile: ENTRY },
      // What is said of files is told from there.
      absWorkingDir: project.home,
      bundle: true,
      write: false,
      outfile: join(project.home, "unit.js"),
      format: "esm",
      // What QuickJS knows.
      target: "es2023",
      charset: "utf8",
      platform: "neutral",
      mainFields: ["module", "main"],
      conditions: ["import"],
      external: ["placewright:*"],
      alias: {
        "placewright/sealing": join(SDK, "sealing.js"),
        "placewright/component": join(SDK, "component.js"),
        "placewright/unit": join(SDK, "unit.js"),
        placewright: join(SDK, "index.js"),
      },
      keepNames: false,
      sourcemap: "external",
      sourcesContent: true,
      logLevel: "silent",
      tsconfigRaw: {},
    });
  } catch (error) {
    throw new BuildError(error.errors ? error.errors.map((it) => message(it, project)).join("\n") : String(error));
  }
  const file = (ending) => made.outputFiles.find((it) => it.path.endsWith(ending)).text;
  // Before anything can fail, and on the first line, so that the others keep their numbers.
  return sourceTable(JSON.parse(file(".map")), project) + file("unit.js");
}

/** The statement that remembers where the lines of the script come from. */
function sourceTable(map, project) {
  const folder = (source) => join(project.home, source);
  const own = (source) => {
    const file = folder(source);
    return !file.startsWith(SDK) && !file.includes("node_modules") && basename(file) !== ENTRY;
  };
  const files = map.sources.map((source) => (own(source) ? basename(source) : null));
  const lines = linesOf(map.mappings).map((place) => {
    if (place === null || files[place.source] === null) return null;
    const text = map.sourcesContent[place.source].split("\n")[place.line] ?? "";
    return [place.source, place.line + 1, text.trim().replace(/;$/, "")];
  });
  return `globalThis[Symbol.for("placewright: sources")] = ${JSON.stringify({ files, lines })};`;
}

/** What esbuild says of a mistake in the sources: where, and what. */
function message(error, project) {
  const { location } = error;
  const text = error.text.replace(/"[^"]*\/src\/index\.js"/, '"placewright"');
  if (!location) return text;
  if (location.file === ENTRY) {
    return `${relative(project.home, project.module)}: the module of a unit ends with: export default rowWise({ ... })`;
  }
  return `${location.file}:${location.line}:${location.column + 1}: ${text}\n    ${location.lineText.trim()}`;
}
