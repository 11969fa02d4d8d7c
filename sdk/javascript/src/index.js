// Write Placewright policy units in JavaScript or TypeScript; index.d.ts tells what may be said.

export { rowWise, wholeTable } from "./author.js";
export { boolean, bytes, integer, millicores, number, row, rows, seconds, text } from "./fields.js";
export { FOR_GOOD, THIS_SECOND } from "./judge.js";
export { DeclarationError, Failed, Refused } from "./problem.js";
export { passing } from "./reasons.js";
export { setting } from "./settings.js";
