// What is printed goes to the log of the unit.

/** The levels of the contract, by the method of the console. */
const LEVELS = { log: "info", info: "info", warn: "warn", error: "error", debug: "debug", trace: "debug" };

/** A console whose sentences go to `say(level, message)`. */
export function consoleTo(say) {
  const methods = Object.entries(LEVELS).map(([method, level]) => [
    method,
    (...values) => say(level, values.map(told).join(" ")),
  ]);
  return Object.fromEntries(methods);
}

/** A value as a reader of the log wants it. */
function told(value) {
  if (typeof value === "string") return value;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value === null || typeof value !== "object") return typeof value === "bigint" ? `${value}n` : String(value);
  try {
    return JSON.stringify(value);
  } catch {
    // What refers to itself, or holds a bigint.
    return String(value);
  }
}
