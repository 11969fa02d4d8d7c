// One call: the values that the runtime sent, found again by the plan.

import { Failed } from "./problem.js";

/**
 * Turns the rows of the plan's uses to the values of a call; returns how many rows each table has.
 *
 * Throws `Failed` if the call does not hold the tables of the plan.
 */
export function turnTo(plan, sent) {
  const { rows, integers, numbers } = sent;
  fits("tables", rows.length, plan.tables.length);
  // Where there is no value, the lists say so themselves from now on.
  for (const position of sent.absentIntegers) integers[position] = null;
  for (const position of sent.absentNumbers) numbers[position] = null;
  const places = locate(plan, rows);
  fits("integers", integers.length, places.integers);
  fits("numbers", numbers.length, places.numbers);
  for (const use of plan.uses) {
    const columns = places.columns[use.table];
    for (const source of use.sources) {
      if (source.nested) {
        source.accessor.turnTo(integers, places.offsets[source.nested.table]);
      } else {
        const number = plan.tables[use.table].columns[source.column].kind === "number";
        source.accessor.turnTo(number ? numbers : integers, columns[source.column], sent.texts);
      }
    }
  }
  return rows;
}

/** Where the columns and offsets of each table begin, and how many values there are in all. */
function locate(plan, rows) {
  let integers = 0;
  let numbers = 0;
  const columns = [];
  const offsets = [];
  plan.tables.forEach((table, number) => {
    const count = rows[number];
    const parent = plan.parents[number];
    offsets.push(integers);
    if (parent !== null) integers += rows[parent] + 1;
    const starts = [];
    for (const { kind } of table.columns) {
      if (kind === "number") {
        starts.push(numbers);
        numbers += count;
      } else {
        starts.push(integers);
        integers += count;
      }
    }
    columns.push(starts);
  });
  return { columns, offsets, integers, numbers };
}

function fits(what, sent, declared) {
  if (sent !== declared) {
    throw new Failed(`the call holds ${sent} ${what} where the part declared ${declared}`);
  }
}
