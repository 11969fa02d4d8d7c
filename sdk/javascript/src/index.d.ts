/**
 * Write Placewright policy units in JavaScript or TypeScript.
 *
 * A unit declares what it reads, and judges one host at a time:
 *
 * ```js
 * import { bytes, rows, rowWise, setting } from "placewright";
 *
 * export default rowWise({
 *   vm: { memory: bytes() },
 *   // `current` has the VM, if it runs there now.
 *   host: { free: bytes("memory.free"), current: rows({ memory: bytes() }) },
 *   settings: { headroom: setting(bytes, { default: "1 GiB", meaning: "Memory kept free on every host." }) },
 *   reasons: { tooLittle: "has too little free memory" },
 *
 *   prepare: ({ vm, settings }) => ({ memory: vm.memory, headroom: settings.headroom }),
 *   keep: (need, host) => {
 *     // A VM takes what it asks for, less what it has on the host where it runs.
 *     const has = host.current.reduce((sum, row) => sum + row.memory, 0);
 *     const takes = Math.max(need.memory - has, 0);
 *     return takes === 0 || host.free >= takes + need.headroom || "tooLittle";
 *   },
 *   cost: (need, host) => -host.free,
 * });
 * ```
 *
 * `placewright unit build` makes a component of it, and `placewright columns` prints what may be read.
 */

/** A field of a row: a column or a table, read as a `T`. */
export interface Field<T> {
  /**
   * The value may be absent, and is null then. Without this it is required: a host that lacks it is not shown
   * to the unit. Of a table it is said with `row({...})`: there may be no row.
   */
  optional(): Field<T | null>;
  /**
   * Only for columns of the request and its VMs: where the value is absent or false, the unit has nothing to say
   * and is not asked.
   */
  gate(): Field<T>;
  /** A sentence for the admin, in the rows of a setting that is a table. */
  meaning(sentence: string): Field<T>;
  /** No such property: makes fields of different types differ. */
  readonly ["placewright: type"]?: T;
}

/** The fields of a row: a column of the name that is given, or else of the field's own, `aB` read as `a-b`. */
export type Fields = { readonly [name: string]: Field<any> };

/** A row: good for the call that it was given in, and not to be changed. */
export type Row<F> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

/** A column of whole numbers, which lie within ±(2^53 - 1). */
export function integer(column?: string): Field<number>;
/** A column of numbers. */
export function number(column?: string): Field<number>;
/** A column of truth values. */
export function boolean(column?: string): Field<boolean>;
/** A column of texts. */
export function text(column?: string): Field<string>;
/** A column of amounts of memory or storage, in bytes. */
export function bytes(column?: string): Field<number>;
/** A column of amounts of CPU, in thousandths of a core. */
export function millicores(column?: string): Field<number>;
/** A column of lengths of time in seconds, or of times as seconds since 1970-01-01 UTC. */
export function seconds(column?: string): Field<number>;

/** All rows of the table of that name; in a row, of the table below the row's own. */
export function rows<const F extends Fields>(fields: F): Field<readonly Row<F>[]>;
export function rows<const F extends Fields>(table: string, fields: F): Field<readonly Row<F>[]>;
/** The only row of a table; with `.optional()` the first one, or null if there is none. */
export function row<const F extends Fields>(fields: F): Field<Row<F>>;
export function row<const F extends Fields>(table: string, fields: F): Field<Row<F>>;

/** What may be said of a setting. */
export interface SettingOptions<T> {
  /** A sentence for the admin. */
  meaning: string;
  /** Used where the admin sets nothing; amounts may be written as texts, `"1 GiB"`. */
  default?: T | string;
  /** Without a default: the setting may be absent, and is null then. Else it is required. */
  optional?: boolean;
  /** The setting, if it is not to be called as the field is, `aB` read as `a-b`. */
  name?: string;
  /** Bounds of numbers and amounts, both included. */
  least?: number | string;
  greatest?: number | string;
  /** Of texts: what the whole of it must match. */
  pattern?: string | RegExp;
  /** Of texts: the only ones allowed. */
  choices?: readonly T[];
  /** Of a number: a unit of measure. */
  measure?: "fraction" | "percent";
}

/** A setting of that kind: `setting(bytes, {...})`; or one that is a table: `setting(rows({...}), {...})`. */
export function setting<const T extends string>(
  kind: typeof text,
  options: SettingOptions<T> & { choices: readonly T[]; optional?: false },
): Field<T>;
export function setting<T>(
  kind: (() => Field<T>) | Field<T>,
  options: SettingOptions<T> & { optional: true },
): Field<T | null>;
export function setting<T>(kind: (() => Field<T>) | Field<T>, options: SettingOptions<T>): Field<T>;

/** A reason that may go away without anything being changed, because it counts what is pending. */
export function passing(text: string): Passing;
export interface Passing {
  readonly text: string;
  readonly passing: true;
}

/** Why hosts are removed: texts that complete the sentence "host h1 ...", by name; at most 255. */
export type Reasons = { readonly [name: string]: string | Passing };

/** What is read of the request, and the settings. */
export type Given<V, A, T, S> = ([V] extends [never] ? {} : { readonly vm: Row<V> }) &
  ([A] extends [never] ? {} : { readonly vms: readonly Row<A>[] }) &
  ([T] extends [never] ? {} : Row<T>) &
  ([S] extends [never] ? {} : { readonly settings: Row<S> });

/** What a unit reads, and why it removes hosts. */
export interface Reads<V, A, H, T, S, R> {
  /**
   * One VM to be placed. If several are placed together, the unit is asked for each; a host is kept if it is
   * kept for all, and costs are added. (Row-wise units only.)
   */
  vm?: V;
  /** All VMs that are to be placed together on one host. */
  vms?: A;
  /** What is read of each host. */
  host?: H;
  /** Other tables of the request, by the name under which `prepare` gets them: `{ request: row({ now: seconds() }) }`. */
  tables?: T;
  /** What an admin may set. */
  settings?: S;
  /** Why hosts are removed. */
  reasons?: R;
  /** The least and the greatest cost that is ever returned, if they are fixed. */
  costRange?: readonly [number, number];
  /** Accepts settings that do not go together, or throws `Refused` with a sentence for the admin. */
  check?(settings: [S] extends [never] ? {} : Row<S>): void;
}

type HostRow<H> = [H] extends [never] ? undefined : Row<H>;
type Verdict<R> = true | (keyof R & string);

/**
 * A filter, a cost function, or both, that look at one host at a time.
 *
 * The answer for a host depends on that host's row, the request and the settings, and on nothing else: not on
 * other hosts, not on earlier calls. In return the unit is asked only about hosts that have changed.
 */
export function rowWise<
  const V extends Fields = never,
  const A extends Fields = never,
  const H extends Fields = never,
  const T extends Fields = never,
  const S extends Fields = never,
  const R extends Reasons = never,
  P = Given<V, A, T, S>,
>(
  unit: Reads<V, A, H, T, S, R> & {
    /**
     * What is worked out once for a request, before hosts are looked at; what it returns cannot be changed. May
     * throw `Refused`. Without it, `keep` and `cost` get what it would get.
     */
    prepare?(given: Given<V, A, T, S>): P;
    /** True, or the name of the reason why the host is removed. */
    keep?(prepared: P, host: HostRow<H>): Verdict<R>;
    /**
     * What it would cost to run the request there, lower is better; Infinity is worst. Must be total: it may be
     * asked about hosts that a filter removes.
     */
    cost?(prepared: P, host: HostRow<H>): number;
    /**
     * For a unit that reads `now` of the table `request`: the last second at which the answer still holds if
     * nothing but the time changes, or `FOR_GOOD`. Without it an answer holds for `THIS_SECOND`.
     */
    until?(prepared: P, host: HostRow<H>): number;
  },
): Unit<P, HostRow<H>, Given<V, A, T, S>, S, R>;

/**
 * A filter, a cost function, or both, that look at all hosts at once. Declare one only if an answer depends on
 * other hosts: it is asked anew whenever any of them changes. A filter sees the hosts that the filters before it
 * left, a cost function those that all filters left.
 */
export function wholeTable<
  const H extends Fields,
  const A extends Fields = never,
  const T extends Fields = never,
  const S extends Fields = never,
  const R extends Reasons = never,
  P = Given<never, A, T, S>,
>(
  unit: Omit<Reads<never, A, H, T, S, R>, "vm" | "host"> & {
    host: H;
    prepare?(given: Given<never, A, T, S>): P;
    /** A verdict for each host, in order. */
    keep?(prepared: P, hosts: readonly Row<H>[]): Verdict<R>[];
    /** A cost for each host, in order. */
    cost?(prepared: P, hosts: readonly Row<H>[]): number[];
    until?(prepared: P, hosts: readonly Row<H>[]): number[];
  },
): Unit<P, readonly Row<H>[], Given<never, A, T, S>, S, R>;

/** A unit as it was declared: what its module exports by default. Tests may call its functions. */
export interface Unit<P, H, G, S, R> {
  prepare(given: G): P;
  keep(prepared: P, host: H): any;
  cost(prepared: P, host: H): any;
  until(prepared: P, host: H): any;
  /** The settings of an admin who sets nothing but these. */
  defaults(given?: object): [S] extends [never] ? {} : Row<S>;
}

/** The `until` of an answer that time does not change: 2^53 - 1 seconds. */
export const FOR_GOOD: number;
/** The `until` of an answer that holds for the second of the call only: always right, and never worth keeping. */
export const THIS_SECOND: number;

/** The request or a setting is at fault: the caller is told this sentence, and the unit is not blamed. */
export class Refused extends Error {}
/** The unit itself is at fault. Every other exception that leaves the unit counts as this one. */
export class Failed extends Error {}
/** A unit is declared in a way that cannot be. */
export class DeclarationError extends Error {}
