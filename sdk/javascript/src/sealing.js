// What a unit has not: a clock and chance.
//
// In a component such functions would end the call without a word, or give what was drawn when it was built.
// So they are replaced before the author's module is run, and say what to do instead.

const CLOCK = "a unit has no clock: read `now` of the table `request`";
const CHANCE = "a unit has no chance of its own: read `draw` of the table `request`";

function refusing(name, advice) {
  return () => {
    throw new Error(`${name}: ${advice}`);
  };
}

/** A date and time, without the present one. */
function sealedDate(Real) {
  const sealed = new Proxy(Real, {
    apply: refusing("Date()", CLOCK),
    construct(target, values, made) {
      if (values.length === 0) refusing("new Date()", CLOCK)();
      return Reflect.construct(target, values, made === sealed ? target : made);
    },
    get: (target, key) => (key === "now" ? refusing("Date.now", CLOCK) : target[key]),
  });
  Real.prototype.constructor = sealed;
  return sealed;
}

Math.random = refusing("Math.random", CHANCE);
globalThis.Date = sealedDate(Date);
globalThis.performance = { now: refusing("performance.now", CLOCK) };
if (globalThis.crypto) {
  Object.defineProperty(globalThis, "crypto", { value: undefined });
}
