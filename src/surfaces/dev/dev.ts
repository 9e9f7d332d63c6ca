/**
 * Dev: the local instance for people who test agents. It is the server's own code behind a front that moves its clock, plans its faults,
 * records its requests and takes it back to its seed.
 * Not here: the listener and what is printed (cli), and any decision of the API itself, which the other rooms make as always.
 */

export { type Local, openLocal } from "./local.ts";
export type { Credentials } from "./seed.ts";
export { programIdentity } from "./template.ts";
export type { LocalOptions } from "./types.ts";
