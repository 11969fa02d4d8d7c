/** Why there is no component: what is wrong, where, and what to do. */
export class BuildError extends Error {}
