// The lines of a source map (https://tc39.es/ecma426).

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Of each line of a script, the source and its line (both counted from 0) that it begins with, or null. */
export function linesOf(mappings) {
  let source = 0;
  let line = 0;
  return mappings.split(";").map((segments) => {
    let first = null;
    for (const segment of segments.split(",")) {
      const [, sources, lines] = numbers(segment);
      if (sources === undefined) continue;
      source += sources;
      line += lines;
      first ??= { source, line };
    }
    return first;
  });
}

/** The numbers of a segment: base 64, five bits a digit, the sign in the last bit. */
function numbers(segment) {
  const found = [];
  let value = 0;
  let shift = 0;
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits < 32) {
      found.push(value & 1 ? -(value >> 1) : value >> 1);
      value = 0;
      shift = 0;
    }
  }
  return found;
}
