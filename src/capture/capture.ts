/**
 * Capture: what runs where the agents run. Reads what agents write down of their sessions, keeps it in an outbox of this machine's own,
 * and sends it to a server of ours, whatever happens in between.
 * Not here: how an agent writes (formats), what a secret is (redact), what the commands print (surfaces/cli), and nothing of the server.
 */
export { runInBackground, watchOn } from "./background.ts";
export { readBriefing } from "./brain/briefing.ts";
export { type NightlyResult, runNightly } from "./brain/nightly.ts";
export { type ConnectPlan, connectMachine, disconnectMachine, planConnect } from "./connect.ts";
export { examine } from "./doctor.ts";
export { ring } from "./hook.ts";
export { importTranscripts } from "./import.ts";
export { openBridge } from "./mcp.ts";
export { type PassResult, runPass } from "./pass.ts";
export { recording } from "./policy.ts";
export { readReceipts } from "./receipts.ts";
export { type Scanned, scan } from "./scan.ts";
export { managedFiles } from "./setup.ts";
export { type Capture, type CaptureParts, openCapture } from "./state.ts";
export { readStatus, type Status } from "./status.ts";
