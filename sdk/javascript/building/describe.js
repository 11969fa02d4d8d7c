// Runs in a thread of its own, since the author's module is run there, with a clock and chance that refuse.

import { parentPort, workerData } from "node:worker_threads";

import { sentence } from "../src/fault.js";

/** What is wrong with the unit; the name tells errors of the SDK in the script from those of the author. */
function problem(error) {
  return error?.name === "DeclarationError" ? error.message : sentence(error);
}

try {
  const { unit } = await import(workerData.script);
  const made = unit();
  made.describe();
  parentPort.postMessage({ checksSettings: made.checksSettings });
} catch (error) {
  parentPort.postMessage({ problem: problem(error) });
}
