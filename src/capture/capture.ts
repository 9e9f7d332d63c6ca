/**
 * Capture: what runs where the agents run. Reads what agents write down of their sessions, keeps it in an outbox of this machine's own,
 * and sends it to a server of ours, whatever happens in between.
 * Not here: how an agent writes (formats), what a secret is (redact), what the commands print (surfaces/cli), and nothing of the server.
 */
export { readBriefing } from "./brain/briefing.ts";
export { type NightlyResult, removeManagedBlocks, runNightly } from "./brain/nightly.ts";
export { readServerUrl } from "./client.ts";
export { bind, forgetAll, watch } from "./connect.ts";
export { agentHome, type Machine, placesIn } from "./home.ts";
export { hookScript, ring, startCommand } from "./hook.ts";
export { outboxBytes, type PassResult, runPass } from "./pass.ts";
export { beginQuiet, endQuiet, knownPolicy, quietNow } from "./policy.ts";
export { rejectionOf } from "./send.ts";
export { STORES } from "./sources/stores.ts";
export { type Capture, type Credentials, isConnected, openCapture, readCredentials, readSetting } from "./state.ts";
export { readStatus, type Status } from "./status.ts";
