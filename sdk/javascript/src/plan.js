// What a part reads: the declaration that the runtime gets, and the uses that rows are made by.
//
// A table that is used several times is declared once, with the columns of all; each use knows which of
// them are its own.

import { RowType } from "./row.js";

/** All that is worked out once about a part: what it reads and where that lies. */
export class Plan {
  /** As the contract wants them: `{ table, columns: [{ column, kind, required, gate }] }`. */
  tables = [];
  /** Of each table, the number of the table that it stands below, or null. */
  parents = [];
  /** Nested ones come after the use that has them. */
  uses = [];

  /** Declares that rows of these fields are read from the table, its parents included. */
  use(fields, name) {
    const table = this.table(name);
    const use = { table, type: new RowType(), sources: [] };
    this.uses.push(use);
    for (const [attribute, field] of Object.entries(fields)) {
      const inner = field.nameFor(attribute);
      const source = field.rows
        ? { nested: this.use(field.rows, `${name}/${inner}`) }
        : { column: this.column(table, inner, field) };
      use.sources.push({ ...source, accessor: use.type.add(attribute, field, source.nested?.type) });
    }
    return use;
  }

  /** The number of a table, which is declared if it is not yet. */
  table(name) {
    const known = this.tables.findIndex((it) => it.table === name);
    if (known >= 0) return known;
    const above = name.lastIndexOf("/");
    const parent = above < 0 ? null : this.table(name.slice(0, above));
    this.parents.push(parent);
    return this.tables.push({ table: name, columns: [] }) - 1;
  }

  /**
   * The number of a column in its table. One that is declared already is shared; it is required or a gate if
   * any declaration says so.
   */
  column(table, name, field) {
    const { columns } = this.tables[table];
    let number = columns.findIndex((it) => it.column === name && it.kind === field.kind);
    if (number < 0) {
      number = columns.push({ column: name, kind: field.kind, required: false, gate: false }) - 1;
    }
    columns[number].required ||= !field.isOptional;
    columns[number].gate ||= field.isGate;
    return number;
  }

  /** Does it read the time? */
  readsNow() {
    return this.tables.some((it) => it.table === "request" && it.columns.some((of) => of.column === "now"));
  }
}
