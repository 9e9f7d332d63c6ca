/**
 * Sight: which devices may be told of what a whole team sent, and say something of it.
 * Not here: what people may open (the pages), who has which role (members).
 */
export { changingDevice, isOwnOnly, readsAudit, teamDevice } from "./team-device.ts";
