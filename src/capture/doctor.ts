import { statSync } from "node:fs";
import { join } from "node:path";
import { asCount, asObject, parseJson } from "../formats/values.ts";
import { DAY_MS, isoInstant, MINUTE_MS } from "../kit/clock.ts";
import { counted } from "../kit/strings.ts";
import { AGENT_FOLDERS } from "./agent-folders.ts";
import { ask, movedToOf } from "./client.ts";
import { acceptBinding, rejectionOf } from "./exchange.ts";
import { endOfFile } from "./git.ts";
import { lastMove } from "./moved.ts";
import { hookStates, timerStateHere } from "./setup.ts";
import { type Capture, type Credentials, chosenAgents, isForOneJob, NOT_CONNECTED, readCredentials } from "./state.ts";
import { FORGOTTEN, readStatus } from "./status.ts";

/** One thing that was looked at. */
export interface Check {
  readonly name: string;
  readonly state: "ok" | "warning" | "failed";
  /** What was found and, unless all is well, what to do. */
  readonly message: string;
}

/** Looks whether this machine's sessions reach its server, and says what to do where they do not. */
export async function examine(capture: Capture): Promise<Check[]> {
  const credentials = readCredentials(capture.places);
  if (!credentials) return [failed("binding", NOT_CONNECTED)];
  return [
    ...(await serverChecks(capture, credentials)),
    tokenCheck(capture, credentials),
    ...hookStates(capture, chosenAgents(capture)).map(
      ({ name, state, message }): Check =>
        state === "installed" ? ok(`hook: ${name}`, message) : warning(`hook: ${name}`, message),
    ),
    timerCheck(capture),
    ...moveCheck(capture),
    ...contentChecks(capture),
    folderCheck(capture),
    ...retentionChecks(capture),
  ];
}

const ok = (name: string, message: string): Check => ({ name, state: "ok", message });
const warning = (name: string, message: string): Check => ({ name, state: "warning", message });
const failed = (name: string, message: string): Check => ({ name, state: "failed", message });

async function serverChecks(capture: Capture, { url, token }: Credentials): Promise<Check[]> {
  const answer = await ask(url, "/api/policy", { token, timeoutMs: 10_000 });
  if (answer.kind === "later") return [warning("server", `${url}: ${answer.reason}; what is recorded waits here`)];
  const movedTo = movedToOf(answer);
  if (movedTo !== undefined)
    return [warning("server", `the team moved to ${movedTo}: "reckon agent run" follows it there, or says why not`)];
  if (answer.kind === "refused") {
    // Some reasons of a server end with this advice already.
    const next = answer.reason.endsWith("with a new code") ? "" : "; ask for a code and connect again";
    return [failed("server", `${url} refuses this machine: ${answer.reason}${next}`)];
  }
  const mode = String(answer.body.captureMode);
  const policy =
    mode === "off" ? warning("policy", "the team's policy is to record nothing") : ok("policy", `captureMode ${mode}`);
  // The next pass need not wait an hour for what is known now: the server takes the token.
  acceptBinding(capture);
  return [ok("server", `${url} answers`), policy];
}

function tokenCheck({ clock }: Capture, credentials: Credentials): Check {
  const { expiresAt } = credentials;
  if (expiresAt === null) return ok("token", "does not expire");
  const days = Math.floor((Date.parse(expiresAt) - clock.now()) / DAY_MS);
  if (days < 0) return failed("token", `expired on ${expiresAt}: ask for a code and connect again`);
  if (isForOneJob(credentials, clock.now())) return ok("token", `is for one job, until ${expiresAt}`);
  if (days < 14) return warning("token", `expires in ${counted(days, "day")}, and could not be replaced yet`);
  return ok("token", `expires in ${counted(days, "day")}; it is replaced by itself before`);
}

function timerCheck(capture: Capture): Check {
  try {
    const { state, message } = timerStateHere(capture);
    return state === "installed" || state === "absent" ? ok("timer", message) : warning("timer", message);
  } catch (error) {
    return ok("timer", String((error as Error).message));
  }
}

function contentChecks(capture: Capture): Check[] {
  const { waiting, isFull, rejected, unknown, lastPass, quiet, unreadable, trouble } = readStatus(capture);
  const checks: Check[] = [];
  const age = lastPass === null ? Number.POSITIVE_INFINITY : capture.clock.now() - Date.parse(lastPass);
  checks.push(
    age < 7 * DAY_MS
      ? ok("passes", `the last ended ${counted(Math.max(0, Math.round(age / MINUTE_MS)), "minute")} ago`)
      : warning("passes", 'none in a week: are the hooks called? Try "reckon agent run"'),
  );
  if (quiet)
    checks.push(
      warning(
        "recording",
        `${quiet.reason === "paused" ? "paused" : "off by policy"}${quiet.until === null ? "" : ` until ${quiet.until}`}`,
      ),
    );
  const waits = `${counted(waiting.entries, "entry", "entries")} and ${counted(waiting.sessions, "session")} wait`;
  checks.push(
    isFull
      ? warning("outbox", `full (${waits}): nothing is read until the server has taken some`)
      : ok("outbox", waits),
  );
  if (trouble && !rejectionOf(capture)) checks.push(troubleCheck(trouble.reason, trouble.until));
  if (rejected > 0)
    checks.push(warning("rejected", `the server refused ${rejected}; they are kept in agent.db, table "rejected"`));
  if (unknown.length > 0) {
    const kinds = unknown.slice(0, 3).map(({ agent, kind }) => `${agent} ${kind}`);
    checks.push(
      warning(
        "formats",
        `records of ${counted(unknown.length, "kind")} are not known or too long (${kinds.join(", ")}): a newer version may read more of them`,
      ),
    );
  }
  for (const { path, reason } of unreadable) checks.push(warning("transcript", `${path} cannot be read: ${reason}`));
  return checks;
}

function troubleCheck(reason: string, until: string | null): Check {
  if (reason === FORGOTTEN) return failed("reading", reason);
  return warning("sending", until === null ? reason : `${reason}; next try ${until}`);
}

function moveCheck(capture: Capture): Check[] {
  const move = lastMove(capture);
  if (!move) return [];
  const { from, to, at, problem } = move;
  return problem === null
    ? [ok("move", `followed the team from ${from} to ${to} on ${isoInstant(at)}`)]
    : [warning("move", `the team moved to ${to}, and this machine did not follow: ${problem}`)];
}

function folderCheck({ places, machine }: Capture): Check {
  if (machine.platform === "win32") return ok("folder", places.home);
  const open = [places.home, places.credentials].filter((path) => (statSync(path).mode & 0o077) !== 0);
  return open.length === 0
    ? ok("folder", places.home)
    : failed("folder", `others can read ${open.join(" and ")}: chmod go-rwx them`);
}

const CLAUDE_KEEPS_DAYS = 30;

/** Warns where Claude Code deletes transcripts so early that they may be lost unread. */
function retentionChecks({ machine }: Capture): Check[] {
  const folder = AGENT_FOLDERS["claude-code"](machine);
  let days = CLAUDE_KEEPS_DAYS;
  try {
    days = asCount(asObject(parseJson(endOfFile(join(folder, "settings.json")))).cleanupPeriodDays) || days;
  } catch {
    return [];
  }
  return days >= 7
    ? []
    : [
        warning(
          "retention",
          `Claude Code deletes transcripts after ${counted(days, "day")} ("cleanupPeriodDays"): what was not read by then is lost`,
        ),
      ];
}
