// Exceptions of the author's code as sentences.

/** Frames that are told, innermost first. */
const FRAMES = 4;

/**
 * Where each line of the component's script comes from: `files`, and of each line `[file, line, text]` or null.
 * `placewright unit build` writes it at the end of the script.
 */
const SOURCES = Symbol.for("placewright: sources");

/** What happened and where, in the author's code first of all. */
export function sentence(error) {
  const isError = error instanceof Error;
  const what = isError ? `${error.name}: ${error.message}` : `threw ${told(error)}, which is no Error`;
  return what + frames(isError ? error.stack : "").map((it, number) => `; ${number ? "called from " : "at "}${it}`).join("");
}

function told(value) {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** The innermost frames: in a component those of the author, elsewhere all. */
function frames(stack) {
  const sources = globalThis[SOURCES];
  const found = [];
  for (const line of String(stack ?? "").split("\n")) {
    const [, name, file, number] = /^\s*at (?:(.*?) \()?(.*?):(\d+)(?::\d+)?\)?$/.exec(line) ?? [];
    if (!file) continue;
    const place = sources ? sources.lines[number - 1] : [file.split("/").pop(), number, ""];
    if (place) found.push(frame(sources ? sources.files[place[0]] : place[0], place[1], name, place[2]));
  }
  return found.slice(0, FRAMES);
}

/** One frame: `unit.js line 12 in cost: return 1 / host.free`. */
function frame(file, line, name, text) {
  const within = name && name !== "<anonymous>" ? ` in ${name}` : "";
  return `${file} line ${line}${within}${text ? `: ${text}` : ""}`;
}
