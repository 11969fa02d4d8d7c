// What an admin may set.

import { GREATEST } from "./amounts.js";
import { Field, shown } from "./fields.js";
import { DeclarationError } from "./problem.js";

/** What may be said of a setting. */
const OPTIONS = ["default", "meaning", "name", "optional", "least", "greatest", "pattern", "choices", "measure"];

/** A field of `settings`: what it is to the runtime and the admin stands in `declared`. */
class Setting extends Field {}

/** A setting of that kind (`bytes`, `text` ...), or one that is a table: `rows({...})`. */
export function setting(kind, options = {}) {
  const field = typeof kind === "function" ? kind() : kind;
  if (!(field instanceof Field)) {
    throw new DeclarationError(`a setting is given as setting(bytes, { meaning: "..." }); not ${shown(kind)}`);
  }
  const unknown = Object.keys(options).filter((key) => !OPTIONS.includes(key));
  if (unknown.length > 0) {
    throw new DeclarationError(`a setting has no ${unknown.join(", ")}; it may have ${OPTIONS.join(", ")}`);
  }
  if (field.rows && ["default", "least", "greatest"].some((key) => options[key] !== undefined)) {
    throw new DeclarationError("a setting that is a table has no default or bounds");
  }
  if (options.optional && options.default !== undefined) {
    throw new DeclarationError("with a default a setting is never absent: drop `optional`");
  }
  const read = (key) => (options[key] === undefined ? null : value(field, key, options[key]));
  return new Setting({
    ...field,
    column: options.name ?? null,
    isOptional: options.optional ?? false,
    said: options.meaning ?? "",
    declared: {
      ...options,
      default: read("default"),
      least: read("least"),
      greatest: read("greatest"),
      pattern: options.pattern instanceof RegExp ? options.pattern.source : (options.pattern ?? null),
      choices: options.choices ?? [],
    },
  });
}

/** The values of each kind in JavaScript. */
const TYPES = { integer: "number", number: "number", boolean: "boolean", text: "string" };

/** A default or a bound as it is sent. What the runtime checks as well (bounds, patterns, choices) is left to it. */
function value(field, key, given) {
  const read = typeof given === "string" && field.measure ? field.measure.parse(given) : given;
  if (typeof read !== TYPES[field.kind] || Number.isNaN(read)) {
    throw new DeclarationError(`${key}: ${shown(given)} is no ${field.kind}`);
  }
  if (field.kind === "integer" && !Number.isSafeInteger(read)) {
    const why = Number.isInteger(read) ? `whole numbers lie within ±(2^53 - 1) = ±${GREATEST}` : "it is no whole number";
    throw new DeclarationError(`${key}: ${read}: ${why}`);
  }
  return read;
}

/** Looks whether all fields are settings, each with a meaning. */
export function checkedSettings(fields) {
  for (const [attribute, field] of Object.entries(fields)) {
    if (!(field instanceof Setting)) {
      throw new DeclarationError(`settings.${attribute}: write setting(bytes, { default: "1 GiB", meaning: "..." })`);
    }
    if (field.said === "") {
      throw new DeclarationError(`settings.${attribute} needs a meaning, a sentence for the admin`);
    }
  }
  return fields;
}

/** The settings as they are described to the runtime. */
export function described(fields) {
  return Object.entries(fields).map(([attribute, field]) => {
    const { declared } = field;
    const columns = Object.entries(field.rows ?? {}).map(([inner, of]) => ({
      name: of.nameFor(inner),
      kind: of.kind,
      required: !of.isOptional,
      meaning: of.said,
    }));
    return {
      name: field.nameFor(attribute),
      kind: field.kind ?? "text",
      measure: field.measure?.name ?? declared.measure ?? null,
      default: declared.default === null ? null : { tag: field.kind, val: declared.default },
      required: !field.rows && !field.isOptional && declared.default === null,
      least: declared.least,
      greatest: declared.greatest,
      pattern: declared.pattern,
      choices: [...declared.choices],
      meaning: field.said,
      columns,
    };
  });
}

/** The settings of an admin who sets nothing but `given`. */
export function defaults(fields, given) {
  const values = Object.entries(fields).map(([attribute, field]) => {
    if (attribute in given) return [attribute, given[attribute]];
    if (field.rows) return [attribute, []];
    if (field.declared.default === null && !field.isOptional) {
      throw new TypeError(`the setting ${attribute} has no default: give a value`);
    }
    return [attribute, field.declared.default];
  });
  return Object.fromEntries(values);
}
