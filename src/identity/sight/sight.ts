/**
 * Sight: which devices may read what the whole team sent, and change something about it.
 * Not here: what people may open (the pages), who has which role (members).
 */
export { changingDevice, isOwnOnly, readsAudit, teamDevice } from "./team-device.ts";
