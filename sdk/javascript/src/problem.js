// The ways in which a unit gives no answer.

/** The request or a setting is at fault: the caller is told this sentence, and the unit is not blamed. */
export class Refused extends Error {
  name = "Refused";
}

/**
 * The unit itself is at fault: its failure policy applies. Every other exception that leaves the author's
 * code counts as this one, with the last lines of its stack.
 */
export class Failed extends Error {
  name = "Failed";
}

/** A unit is declared in a way that cannot be: says where, and what to write. */
export class DeclarationError extends Error {
  name = "DeclarationError";
}
