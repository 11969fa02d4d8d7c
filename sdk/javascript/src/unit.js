// A unit called as plain JavaScript, by the same code as in a component.

import { Author } from "./author.js";
import { turnTo } from "./call.js";
import { shown } from "./fields.js";
import { Judge } from "./judge.js";
import { Plan } from "./plan.js";
import { DeclarationError } from "./problem.js";
import * as settings from "./settings.js";

/** Rows of hosts that are made with the component; most calls are about fewer hosts. */
const WARM = 256;

/** The exports of a unit. */
export class Unit {
  /** `identity` is who it is, from its package.json: name, version, summary, aliases. */
  constructor(author, identity) {
    if (!(author instanceof Author)) {
      throw new DeclarationError(
        `a unit's module ends with: export default rowWise({ ... }); it exports ${shown(author)} by default`,
      );
    }
    this.author = author;
    this.identity = identity;
    this.part = new Judge(author);
  }

  /** Are there rules between settings? */
  get checksSettings() {
    return this.author.check !== null;
  }

  /** Says what the unit is. */
  describe() {
    const absent = { selection: null, effects: null, balance: null, order: null, explain: null };
    return {
      ...this.identity,
      settings: settings.described(this.author.settings),
      judge: this.part.described(),
      ...absent,
    };
  }

  /** Makes what every call needs, so that it is part of the component. */
  warm() {
    this.part.hosts?.type.at(WARM - 1);
  }

  /** Filters, prices, or both. Throws what the author's code throws. */
  judge(want, call) {
    return this.part.judge(want, call);
  }

  /** Accepts the settings, or throws `Refused` with a sentence for the admin. */
  check(sent) {
    const plan = new Plan();
    const use = plan.use(this.author.settings, "settings");
    turnTo(plan, sent);
    this.author.check(use.type.at(0));
  }
}
