// Amounts: whole numbers with a unit of measure.

import { DeclarationError } from "./problem.js";

/** The greatest whole number that a column or a setting can hold: 2^53 - 1. */
export const GREATEST = Number.MAX_SAFE_INTEGER;

/** A unit of measure, as the schema of the runtime names it, and how amounts may be written. */
class Measure {
  constructor(name, units, example) {
    this.name = name;
    this.units = units;
    this.example = example;
  }

  /** The amount that is written as a text, for example "1 GiB"; throws a `DeclarationError` if it is no whole number. */
  parse(text) {
    const [, amount, unit] = /^\s*(-?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*$/.exec(text) ?? [];
    const value = amount * this.units[unit];
    if (!Number.isInteger(value)) {
      throw new DeclarationError(`"${text}" is no whole number of ${this.name}; write for example ${this.example}`);
    }
    return value;
  }
}

export const BYTES = new Measure(
  "bytes",
  {
    B: 1,
    KiB: 2 ** 10,
    MiB: 2 ** 20,
    GiB: 2 ** 30,
    TiB: 2 ** 40,
    kB: 1e3,
    MB: 1e6,
    GB: 1e9,
    TB: 1e12,
  },
  '"512 MiB"',
);
export const MILLICORES = new Measure("millicores", { m: 1, "": 1000 }, '"500m" or "2" (cores)');
export const SECONDS = new Measure("seconds", { s: 1, min: 60, h: 3_600, d: 86_400 }, '"90 s" or "2 min"');
