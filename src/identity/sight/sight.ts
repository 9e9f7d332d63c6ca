/**
 * Sight: which devices may be told of what a whole team sent.
 * Not here: what people may open (the pages), who has which role (members).
 */
export { isOwnOnly, readsAudit, teamDevice } from "./team-device.ts";
