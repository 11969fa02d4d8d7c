// How a unit is asked.

import { turnTo } from "./call.js";
import { shown } from "./fields.js";
import { Plan } from "./plan.js";
import { Failed, Refused } from "./problem.js";

/** The `until` of an answer that time does not change: 2^53 - 1 seconds. */
export const FOR_GOOD = Number.MAX_SAFE_INTEGER;

/** The `until` of an answer that holds for the second of the call only. */
export const THIS_SECOND = -Infinity;

/** The judge part of a unit: what its author declares, ready to be asked. */
export class Judge {
  /** Of the request, by name: the use, and how many rows are wanted. */
  #request = [];

  constructor(author) {
    this.author = author;
    this.plan = new Plan();
    for (const [name, { table, fields, rows }] of Object.entries(author.request)) {
      this.#request.push({ name, table, rows, use: this.plan.use(fields, table) });
    }
    this.hosts = author.host && this.plan.use(author.host, "hosts");
    this.settings = Object.keys(author.settings).length > 0 ? this.plan.use(author.settings, "settings") : null;
    this.now = this.plan.readsNow() ? this.#timeReader() : null;
    this.answers = { verdicts: author.keep !== null, costs: author.cost !== null };
  }

  /** The part as it is described to the runtime. */
  described() {
    return {
      answers: this.answers,
      evaluation: this.author.evaluation,
      reads: this.plan.tables,
      reasons: this.answers.verdicts ? this.author.reasons.described : [],
      costRange: this.author.costRange,
    };
  }

  /**
   * Answers a call. Throws what the author's code throws, and `Failed` if the call or an answer has not the
   * declared shape.
   */
  judge(want, sent) {
    const counts = turnTo(this.plan, sent);
    const entries = this.hosts ? counts[this.hosts.table] : 1;
    const keeps = want.verdicts && this.answers.verdicts;
    const prices = want.costs && this.answers.costs;
    const judgement = {
      verdicts: zeros(Uint8Array, keeps ? entries : 0),
      costs: zeros(Float64Array, prices ? entries : 0),
      until: [],
    };
    this.#given(counts).forEach((given, number) => {
      const prepared = frozen(this.author.prepare(given));
      if (keeps) this.#keep(prepared, judgement.verdicts, number === 0);
      if (prices) this.#price(prepared, judgement.costs);
      if (this.now) judgement.until = soonest(judgement.until, this.#until(prepared, entries), number === 0);
    });
    if (judgement.until.every((it) => it === FOR_GOOD)) judgement.until = [];
    return judgement;
  }

  /** What `prepare` is given: once, or once for each VM. */
  #given(counts) {
    const common = {};
    if (this.settings) common.settings = this.settings.type.at(0);
    let each = null;
    for (const { name, table, rows, use } of this.#request) {
      const count = counts[use.table];
      if (rows === "all") common[name] = use.type.between(0, count);
      else if (rows === "each") each = { name, use, count };
      else common[name] = onlyRow(use, table, count, rows === "first");
    }
    if (!each) return [common];
    return Array.from({ length: each.count }, (_, vm) => ({ ...common, [each.name]: each.use.type.at(vm) }));
  }

  /** Asks about each host; of several VMs the first reason counts. */
  #keep(prepared, verdicts, first) {
    const { keep, reasons } = this.author;
    const { numbers } = reasons;
    const said = this.#answers("keep", prepared, verdicts.length);
    for (let host = 0; host < verdicts.length; host += 1) {
      const verdict = said ? said[host] : keep(prepared, this.hosts?.type.at(host));
      if (verdict === true) continue;
      const number = numbers.get(verdict);
      if (number === undefined) throw new Failed(noVerdict(verdict, reasons));
      if (first || verdicts[host] === 0) verdicts[host] = number;
    }
  }

  /** Asks what each host costs, and adds that. */
  #price(prepared, costs) {
    const { cost } = this.author;
    const said = this.#answers("cost", prepared, costs.length);
    for (let host = 0; host < costs.length; host += 1) {
      const price = said ? said[host] : cost(prepared, this.hosts?.type.at(host));
      // NaN is not itself.
      if (typeof price !== "number" || price !== price) throw new Failed(noCost(price));
      costs[host] += price;
    }
  }

  /** What a whole-table unit answers: as many as there are hosts. Null for a row-wise one. */
  #answers(method, prepared, hosts) {
    if (this.author.evaluation === "row-wise") return null;
    const said = this.author[method](prepared, this.hosts.type.between(0, hosts));
    if (!Array.isArray(said) || said.length !== hosts) {
      throw new Failed(`${method} returned ${shown(said)} where it was asked about ${hosts} hosts`);
    }
    return said;
  }

  /** How long each answer holds. */
  #until(prepared, entries) {
    const now = this.now();
    const { until } = this.author;
    if (!until) return Array(entries).fill(now);
    const wholeTable = this.author.evaluation === "whole-table";
    const said = wholeTable
      ? this.#answers("until", prepared, entries)
      : Array.from({ length: entries }, (_, host) => until(prepared, this.hosts?.type.at(host)));
    return said.map((it) => {
      if (it === THIS_SECOND) return now;
      if (it === Infinity) return FOR_GOOD;
      if (!Number.isSafeInteger(it)) {
        throw new Failed(`until returned ${shown(it)}, which is no whole number of seconds below 2^53`);
      }
      return it;
    });
  }

  /** Reads the time of the call at hand, 0 if it is not known. */
  #timeReader() {
    const use = this.plan.uses.find((it) => this.plan.tables[it.table].table === "request");
    const { columns } = this.plan.tables[use.table];
    const source = use.sources.find((it) => it.column !== undefined && columns[it.column].column === "now");
    return () => source.accessor.read(0) ?? 0;
  }
}

/** So many zeros. An empty typed array is sent with an address that the runtime refuses. */
function zeros(type, count) {
  return count > 0 ? new type(count) : [];
}

/** What `prepare` made is asked about many hosts, and must be the same for all. */
function frozen(prepared) {
  const plain = prepared !== null && typeof prepared === "object";
  return plain ? Object.freeze(prepared) : prepared;
}

/** The only row of a table. */
function onlyRow(use, table, count, mayLack) {
  if (count === 0 && mayLack) return null;
  if (count === 0) throw new Refused(`needs a row of \`${table}\`, and there is none`);
  if (count > 1) throw new Failed(`reads one row of \`${table}\`, and there are ${count}`);
  return use.type.at(0);
}

/** For each host the earlier of two ends. */
function soonest(one, other, first) {
  return first ? other : one.map((it, host) => Math.min(it, other[host]));
}

function noVerdict(verdict, reasons) {
  const hint = verdict === false ? `; write for example: fits || "${reasons.names[0]}"` : "";
  return `keep returned ${shown(verdict)}, which is neither true nor one of its reasons (${reasons.names.join(", ")})${hint}`;
}

function noCost(price) {
  const hint = typeof price === "bigint" ? "; write Number(...)" : "";
  return `cost returned ${shown(price)}, which is no number${hint}`;
}
