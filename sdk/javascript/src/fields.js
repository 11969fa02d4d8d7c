// How fields are declared: what stands behind the name of a row's field.

import { BYTES, MILLICORES, SECONDS } from "./amounts.js";
import { DeclarationError } from "./problem.js";

/** A field of a row: a column, or a table. */
export class Field {
  /** The column or table; that of the field's own name if null. */
  column = null;
  /** The kind of a single value; null for a table. */
  kind = null;
  measure = null;
  isOptional = false;
  isGate = false;
  said = "";
  /** The fields of the rows of a table; null for a column. */
  rows = null;
  /** Are all rows of a table wanted? */
  many = false;

  constructor(values) {
    Object.assign(this, values);
    Object.freeze(this);
  }

  with(changed) {
    return new Field({ ...this, ...changed });
  }

  optional() {
    return this.with({ isOptional: true });
  }

  gate() {
    return this.with({ isGate: true });
  }

  meaning(sentence) {
    return this.with({ said: sentence });
  }

  /** The column, table or setting of the field, which is called `attribute` in JavaScript. */
  nameFor(attribute) {
    return this.column ?? kebab(attribute);
  }
}

/** `countThreads` as the contract writes it: `count-threads`. */
function kebab(attribute) {
  return attribute.replaceAll("_", "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function columnOf(kind, measure = null) {
  return (column = null) => {
    if (column !== null && typeof column !== "string") {
      throw new DeclarationError(`a column is given by its name, for example "memory.free"; not ${shown(column)}`);
    }
    return new Field({ column, kind, measure });
  };
}

export const integer = columnOf("integer");
export const number = columnOf("number");
export const boolean = columnOf("boolean");
export const text = columnOf("text");
export const bytes = columnOf("integer", BYTES);
export const millicores = columnOf("integer", MILLICORES);
export const seconds = columnOf("integer", SECONDS);

export const rows = (name, fields) => table(name, fields, true);
export const row = (name, fields) => table(name, fields, false);

function table(name, fields, many) {
  const [column, given] = typeof name === "string" ? [name, fields] : [null, name];
  return new Field({ column, rows: checkedFields(given, many ? "rows" : "row"), many });
}

/** The fields of a row; `where` is told if they are none. */
export function checkedFields(fields, where) {
  if (fields === null || typeof fields !== "object") {
    throw new DeclarationError(`${where}: fields are declared as { name: bytes("memory.free"), ... }`);
  }
  for (const [attribute, field] of Object.entries(fields)) {
    if (!(field instanceof Field)) {
      const hint = typeof field === "function" ? `; write ${field.name || "bytes"}() with its brackets` : "";
      throw new DeclarationError(
        `${where}.${attribute}: a field is integer(), number(), boolean(), text(), bytes(), millicores(), ` +
          `seconds(), rows({...}) or row({...})${hint}`,
      );
    }
  }
  return fields;
}

/** A value as people write it. */
export function shown(value) {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return `the function ${value.name || "without a name"}`;
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Promise) return "a promise (a unit cannot wait: no async)";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return value !== null && typeof value === "object" ? "an object" : String(value);
}
