// What an author exports: the declaration of a unit, checked as far as it can be without running it.

import { checkedFields, shown } from "./fields.js";
import { DeclarationError } from "./problem.js";
import { Reasons } from "./reasons.js";
import { checkedSettings, defaults } from "./settings.js";

/** What may stand in a declaration; the last of them are the author's functions. */
const KEYS = ["vm", "vms", "host", "tables", "settings", "reasons", "costRange"];
const FUNCTIONS = ["prepare", "keep", "cost", "until", "check"];

export const rowWise = (declaration) => new Author(declaration, "row-wise");
export const wholeTable = (declaration) => new Author(declaration, "whole-table");

/** A unit as its author declares it. */
export class Author {
  constructor(declaration, evaluation) {
    const how = evaluation === "row-wise" ? "rowWise" : "wholeTable";
    const wrong = (what) => new DeclarationError(`${how}({...}): ${what}`);
    if (declaration === null || typeof declaration !== "object") throw wrong(`not ${shown(declaration)}`);
    for (const key of Object.keys(declaration)) {
      if (!KEYS.includes(key) && !FUNCTIONS.includes(key)) {
        throw wrong(`${key} is unknown; there may be ${[...KEYS, ...FUNCTIONS].join(", ")}`);
      }
    }
    for (const key of FUNCTIONS) {
      const given = declaration[key];
      if (given !== undefined && typeof given !== "function") throw wrong(`${key} is a function, not ${shown(given)}`);
    }
    this.evaluation = evaluation;
    this.host = declaration.host === undefined ? null : checkedFields(declaration.host, "host");
    this.request = requestOf(declaration, wrong);
    this.perVm = declaration.vm !== undefined;
    this.settings = checkedSettings(checkedFields(declaration.settings ?? {}, "settings"));
    this.reasons = new Reasons(declaration.reasons ?? {});
    this.costRange = declaration.costRange ?? null;
    this.prepare = declaration.prepare ?? ((given) => given);
    for (const key of FUNCTIONS.slice(1)) this[key] = declaration[key] ?? null;
    if (!this.keep && !this.cost) throw wrong("there is neither keep nor cost: it has nothing to say");
    if (this.keep && this.reasons.described.length === 0) {
      throw wrong('keep needs reasons: { tooLittle: "has too little free memory" }');
    }
    if (evaluation === "whole-table" && (this.perVm || !this.host)) {
      throw wrong("it declares vms and host: it is asked once about all hosts");
    }
    Object.freeze(this);
  }

  /** The settings of an admin who sets nothing but these. */
  defaults(given = {}) {
    return defaults(this.settings, given);
  }
}

/**
 * What is read besides hosts and settings, by the name under which `prepare` gets it: its table, its fields,
 * and how many rows it has.
 */
function requestOf(declaration, wrong) {
  const { vm, vms, tables = {} } = declaration;
  if (vm && vms) throw wrong("it reads either vm (it is asked about one at a time) or vms (about all at once)");
  const request = {};
  if (vm) request.vm = { table: "members", fields: checkedFields(vm, "vm"), rows: "each" };
  if (vms) request.vms = { table: "members", fields: checkedFields(vms, "vms"), rows: "all" };
  for (const [name, field] of Object.entries(tables)) {
    if (!field?.rows) throw wrong(`tables.${name}: a table is row({...}), row({...}).optional() or rows({...})`);
    if (["vm", "vms", "settings", "host"].includes(name)) throw wrong(`tables.${name}: that name is taken`);
    const rows = field.many ? "all" : field.isOptional ? "first" : "only";
    request[name] = { table: field.nameFor(name), fields: field.rows, rows };
  }
  return request;
}
