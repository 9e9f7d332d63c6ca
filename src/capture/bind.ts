import { rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { asText } from "../formats/values.ts";
import { isoInstant, MINUTE_MS } from "../kit/clock.ts";
import { withPath } from "../kit/files.ts";
import { visibleLine } from "../kit/strings.ts";
import { readWritten, writeWritten } from "./brain/written.ts";
import { type Answer, ask } from "./client.ts";
import { clearRefusals } from "./exchange.ts";
import { makeHome, type Places } from "./home.ts";
import { expectKnown } from "./known-sessions.ts";
import { streamsThere, wasRestored } from "./restored-server.ts";
import { chanceOf } from "./schedule.ts";
import { forgetCopies } from "./send-telemetry.ts";
import {
  type Capture,
  CHOSEN_AGENTS,
  type Credentials,
  FORGOTTEN,
  readCredentials,
  readSetting,
  SINCE,
  writeCredentials,
  writeSetting,
} from "./state.ts";

/** Version of what a person agrees to when they connect: the summary that `reckon agent connect` prints. */
export const CONSENT_VERSION = "agent-2";

const MAX_NAME_CHARS = 200;
/** Settings that limit what may be read. They outlive a binding. Pauses that were pruned are known by FORGOTTEN alone. */
const READ_LIMITS = [SINCE, CHOSEN_AGENTS, FORGOTTEN];

export interface Binding {
  /** The server's address, or that of one of its pages. */
  readonly url: string;
  readonly code: string;
  readonly label?: string | undefined;
  /** Whether the machine stays with this server even when that sends it on to another. */
  readonly isPinned?: boolean | undefined;
}

/**
 * Binds this machine with a connect code.
 * @throws Error with the server's reason
 */
export async function bind(capture: Capture, { url: given, code, label, isPinned }: Binding): Promise<Credentials> {
  tryRoom(capture.places);
  const before = readCredentialsIfAny(capture.places);
  const consent = { version: CONSENT_VERSION, deviceLabel: label ?? hostname() };
  const body = JSON.stringify({ code, consent, previousDeviceId: before?.deviceId ?? undefined });
  const { url, answer } = await exchangeAbove(given, body);
  // The server may have taken the code although its reply was lost.
  const next = answer.kind === "later" ? "; try again, and ask for another code where this one is refused then" : "";
  if (answer.kind !== "ok") throw new Error(`${url} did not connect this machine: ${answer.reason}${next}`);
  const token = asText(answer.body.deviceToken);
  const teamId = asText(answer.body.teamId);
  if (token === undefined || teamId === undefined) throw new Error(`${url} answered, but not as Reckon does`);
  const credentials: Credentials = {
    url,
    token,
    expiresAt: asText(answer.body.deviceTokenExpiresAt) ?? null,
    deviceId: asText(answer.body.deviceId) ?? null,
    teamId,
    teamName: visibleLine(asText(answer.body.teamName) ?? teamId, MAX_NAME_CHARS),
    connectedAt: isoInstant(capture.clock.now()),
    ...(isPinned ? { isPinned } : {}),
  };
  // First the records of the old binding, which must never reach another team. The team decides, not the address, because a server may
  // move. A restored server may have lost the old device with all that it sent; one that moved has both.
  if (before?.teamId === teamId)
    startAnew(capture, answer.body.previousErased === true ? "erased" : await keptBy(capture, before, credentials));
  else forgetAll(capture);
  expectKnown(capture);
  writeCredentials(capture.places, credentials);
  clearRefusals(capture);
  // Nobody has the old token any more. Left alone, its device would take a seat, and be missed, until the token expires.
  if (before) await unbind(before);
  return credentials;
}

/** Asks at an address and, where Reckon has nothing there because it is a page's, at those above it. @returns whose answer it is */
async function exchangeAbove(given: string, body: string) {
  for (let url = given; ; url = url.slice(0, url.lastIndexOf("/"))) {
    const answer = await exchangeInTurn(url, body);
    // A code of no team is a 404, too, but without a hint.
    if (answer.kind !== "refused" || answer.body.hint === undefined || url === new URL(url).origin)
      return { url, answer };
  }
}

/** How long to wait for a turn at the server: hundreds of jobs of a CI begin in the same minute, behind one address. */
const MAX_TURN_MS = 2 * MINUTE_MS;

async function exchangeInTurn(url: string, body: string): Promise<Answer> {
  for (const until = performance.now() + MAX_TURN_MS; ; ) {
    const answer = await ask(url, "/api/connect/exchange", { method: "POST", body });
    if (answer.kind !== "later" || answer.afterMs === undefined || performance.now() + answer.afterMs > until)
      return answer;
    // With jitter, because others were told the same pause.
    await sleep(answer.afterMs * (1 + chanceOf() / 2));
  }
}

/** Ends a binding on its server. @returns why the server could not be told; undefined when it was */
export async function unbind({ url, token }: Credentials): Promise<string | undefined> {
  const answer = await ask(url, "/api/connect/disconnect", { method: "POST", token, timeoutMs: 10_000 });
  // A server that does not know the token has nothing to end.
  return answer.kind === "ok" || (answer.kind === "refused" && answer.status === 401) ? undefined : answer.reason;
}

/** Bytes that binding writes, at most. */
const ROOM_BYTES = 512 * 1024;

/**
 * Tries whether the disk has room. A full one would cost the code, and leave a device on the server that is no machine's. @throws Error
 * when there is no room
 */
function tryRoom({ home, credentials }: Places): void {
  // A name that `removeHome` removes, should this process be killed.
  const trial = join(home, `.${basename(credentials)}.${process.pid}.tmp`);
  try {
    writeFileSync(trial, Buffer.alloc(ROOM_BYTES));
  } catch (error) {
    throw withPath(home, error);
  } finally {
    rmSync(trial, { force: true });
  }
}

/** @returns undefined where there are none, or none that can be read */
export function readCredentialsIfAny(places: Places): Credentials | undefined {
  try {
    return readCredentials(places);
  } catch {
    // Whose records these are is not known any more: they are treated as another team's.
    return undefined;
  }
}

/** The last number of each stream of the old binding that a restored server still has; undefined where the server lost nothing. */
async function keptBy(capture: Capture, before: Credentials, { url, token }: Credentials) {
  if (!(await wasRestored(capture, url, token))) return undefined;
  // If the old address still answers, the team moved and lost nothing. The old token is for that server, and is shown to no other.
  const hasMoved = before.url !== url && (await ask(before.url, "/api/policy", { timeoutMs: 10_000 })).kind !== "later";
  return hasMoved ? undefined : streamsThere(capture, { ...before, url });
}

const TOLD = "revision <= (SELECT sent FROM sessions WHERE id = session AND sent_at IS NOT NULL)";
/** Forgets what was sent so far, but for what sessions need to go on. */
const FORGET_TOLD = `
  DELETE FROM prompts WHERE ${TOLD};
  DELETE FROM spans WHERE ${TOLD};
  UPDATE sessions SET head = json_set(json_remove(head, '$.title', '$.startedAt', '$.endedAt'), '$.files', json('[]'), '$.commits', json((
    SELECT json_group_array(json(value)) FROM json_each(head, '$.commits') WHERE unixepoch(value ->> 'at', 'subsec') * 1000 > sent_at)))
  WHERE sent_at IS NOT NULL`;

/**
 * To the server this is a new device, whose streams begin at 1: what it does not have yet is numbered anew.
 * @param old the last numbers of the old device's streams that a restored server still has, by repository (0 for those that are missing);
 * undefined where it lost nothing; `erased` where the old device's records were erased
 */
function startAnew(capture: Capture, old: ReadonlyMap<string, number> | "erased" | undefined): void {
  const { rows } = capture;
  const kept = old === "erased" ? undefined : old;
  capture.transact(() => {
    for (const { repo, nextSeq, acknowledged } of rows.streams.all()) {
      const first = rows.entriesAfter.get(repo, 0, 1)?.seq ?? nextSeq;
      const done = kept ? Math.min(acknowledged, Math.max(first - 1, kept.get(repo) ?? 0)) : acknowledged;
      rows.dropEntries.run(repo, done);
      for (const shift of rows.shiftEntries) shift.run({ repo, after: done, by: -done });
      rows.putStream.run({ repo, nextSeq: nextSeq - done, acknowledged: 0, attempted: 0 });
    }
    // What was erased is not sent again, not even with a session that goes on.
    if (old === "erased") capture.db.exec(FORGET_TOLD);
    // Where nothing was lost, sessions stay with the old device: sent again they would be there twice.
    if (kept) rows.resendSessions.run({ since: null });
    else rows.disownSessions.run();
    rows.forgetBrains.run({ since: 0 });
    rows.clearSchedule.run();
    forgetCopies(capture);
  });
}

/**
 * Forgets all that was recorded, read and heard. Kept are the list of people's files that were written to, and the limits of what may be
 * read: what a person did in a pause is nobody's, and an open pause goes on. The old team's policy ends.
 */
function forgetAll(capture: Capture): void {
  const { rows, clock } = capture;
  capture.transact(() => {
    const written = readWritten(capture);
    const limits = READ_LIMITS.map((name) => [name, readSetting(capture, name)] as const);
    rows.endQuiet.run(clock.now(), "policy", clock.now());
    for (const clear of rows.clearAll) clear.run();
    writeWritten(capture, written);
    for (const [name, value] of limits) if (value !== undefined) writeSetting(capture, name, value);
  });
  // The briefings are another team's words.
  rmSync(capture.places.briefings, { recursive: true, force: true });
  makeHome(capture.places);
}
