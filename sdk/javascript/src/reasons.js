// Why hosts are removed.

import { DeclarationError } from "./problem.js";

/** A verdict is sent in one byte, and 0 keeps. */
const MOST = 255;

/** A reason that may go away without anything being changed, because it counts what is pending. */
export function passing(text) {
  return Object.freeze({ text, passing: true });
}

/** The reasons of a unit, numbered from 1 as verdicts name them. */
export class Reasons {
  constructor(declared) {
    const names = Object.keys(declared);
    if (names.length > MOST) throw new DeclarationError(`there are ${names.length} reasons, and ${MOST} are the most`);
    this.names = names;
    this.described = names.map((name) => {
      const given = declared[name];
      const reason = typeof given === "string" ? { text: given, passing: false } : given;
      if (typeof reason?.text !== "string" || reason.text === "") {
        throw new DeclarationError(`reasons.${name} is a text that completes the sentence "host h1 ..."`);
      }
      return reason;
    });
    /** The number of each reason. */
    this.numbers = new Map(names.map((name, index) => [name, index + 1]));
  }
}
