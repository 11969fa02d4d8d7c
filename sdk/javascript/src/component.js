// The way from the exports of a component to a unit. Not for use by hand: the script that
// `placewright unit build` writes imports it, and nothing else does.
//
// All of this runs once while the component is built; what it makes is kept in it.

import log from "placewright:policy/log@0.1.0";

import { consoleTo } from "./console.js";
import { sentence } from "./fault.js";
import { Failed, Refused } from "./problem.js";
import { Unit } from "./unit.js";

/** The interfaces that the component exports. */
export function exported(author, identity) {
  const made = new Unit(author, identity);
  const description = made.describe();
  made.warm();
  globalThis.console = consoleTo((level, message) => log.log(level, message));
  return {
    unit: { describe: () => description },
    judge: {
      judge(want, call) {
        try {
          return made.judge(want, call);
        } catch (error) {
          throw problem(error);
        }
      },
    },
    settings: {
      check(settings) {
        try {
          made.check(settings);
        } catch (error) {
          throw problem(error).val;
        }
      },
    },
  };
}

/** What the runtime is told of an exception. What is not caught here would look like a refusal. */
function problem(error) {
  if (error instanceof Refused) return { tag: "refused", val: error.message };
  if (error instanceof Failed) return { tag: "failed", val: error.message };
  return { tag: "failed", val: sentence(error) };
}
