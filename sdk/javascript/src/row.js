// Rows: objects whose fields read the columns of the call at hand.
//
// A row holds nothing but its number, and is used again in every call: to make an object of all its values
// costs more than to read those that are asked for. So a row is good for the call that it was given in.

const NUMBER = Symbol("number");
const NONE = Object.freeze([]);

/** Where the values of a column lie in a call; `read` is the getter of the field. */
class ColumnAccessor {
  constructor(kind) {
    let values = NONE;
    let start = 0;
    let texts = NONE;
    this.turnTo = (newValues, newStart, newTexts) => {
      values = newValues;
      start = newStart;
      texts = newTexts;
    };
    this.read = {
      integer: (row) => values[start + row],
      number: (row) => values[start + row],
      boolean: (row) => {
        const value = values[start + row];
        return value === null ? null : value !== 0;
      },
      text: (row) => {
        const code = values[start + row];
        return code === null ? null : texts[code];
      },
    }[kind];
    // The two commonest without a second call.
    this.getter =
      kind === "integer" || kind === "number"
        ? function () {
            return values[start + this[NUMBER]];
          }
        : null;
  }
}

/** Where the offsets of a nested table lie in a call. */
class NestedAccessor {
  constructor(field, type) {
    let values = NONE;
    let start = 0;
    this.turnTo = (newValues, newStart) => {
      values = newValues;
      start = newStart;
    };
    this.read = field.many
      ? (row) => type.between(values[start + row], values[start + row + 1])
      : (row) => {
          const first = values[start + row];
          return first < values[start + row + 1] ? type.at(first) : null;
        };
    this.getter = null;
  }
}

/** The type of the rows of one use of a table. */
export class RowType {
  #fields = [];
  #rows = [];
  #prototype = Object.create(guard(this.#fields));

  constructor() {
    const fields = this.#fields;
    // What `JSON.stringify` and the console show.
    Object.defineProperty(this.#prototype, "toJSON", {
      value() {
        return Object.fromEntries(fields.map((field) => [field, this[field]]));
      },
    });
  }

  /** Adds a field; returns what is told where its values lie. */
  add(attribute, field, nested) {
    const accessor = nested ? new NestedAccessor(field, nested) : new ColumnAccessor(field.kind);
    const { read } = accessor;
    const get =
      accessor.getter ??
      function () {
        return read(this[NUMBER]);
      };
    Object.defineProperty(this.#prototype, attribute, { get, enumerable: true });
    this.#fields.push(attribute);
    return accessor;
  }

  /** The row of that number. */
  at(number) {
    const rows = this.#rows;
    while (rows.length <= number) {
      rows.push({ __proto__: this.#prototype, [NUMBER]: rows.length });
    }
    return rows[number];
  }

  /** The rows from one number up to another, which is not included. */
  between(first, end) {
    // Most hosts have none of a relation.
    if (first >= end) return NONE;
    this.at(end - 1);
    return Object.freeze(this.#rows.slice(first, end));
  }
}

/**
 * What stands behind the fields of a row: a field that was never declared would be `undefined`, compare as
 * false, and look like an answer.
 */
function guard(fields) {
  return new Proxy(Object.prototype, {
    get(target, key, row) {
      if (typeof key === "symbol" || key in target || key === "then") return Reflect.get(target, key, row);
      throw new TypeError(`there is no field ${key}; what is declared to be read: ${fields.join(", ") || "nothing"}`);
    },
    set(_, key) {
      throw new TypeError(`rows cannot be changed, and ${String(key)} was to be`);
    },
  });
}
