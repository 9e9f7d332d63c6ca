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
import { clearRejection } from "./exchange.ts";
import { makeHome, type Places } from "./home.ts";
import { expectKnown } from "./known-sessions.ts";
import { streamsThere, wasRestored } from "./restored-server.ts";
import { chanceOf } from "./schedule.ts";
import {
  type Capture,
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
/** Settings that say what may be read: they hold until others are made. Pauses of long ago are known by the last of them alone. */
const READ_LIMITS = [SINCE, "agents", FORGOTTEN];

export interface Binding {
  readonly url: string;
  readonly code: string;
  readonly label?: string | undefined;
  /** Whether the machine stays with this server, whatever that says of another. */
  readonly isPinned?: boolean | undefined;
}

/**
 * Binds this machine with a connect code.
 * @throws Error with the server's reason
 */
export async function bind(capture: Capture, { url, code, label, isPinned }: Binding): Promise<Credentials> {
  tryRoom(capture.places);
  const before = readCredentialsIfAny(capture.places);
  const consent = { version: CONSENT_VERSION, deviceLabel: label ?? hostname() };
  const body = JSON.stringify({ code, consent, previousDeviceId: before?.deviceId ?? undefined });
  const answer = await exchangeInTurn(url, body);
  // The server may have taken the code all the same, where its reply is what was lost.
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
  // First what the old binding recorded: what it was for must never reach another team. A server may have moved; its teams have not.
  // One that was restored may have lost the device itself with all that it took of it; one that moved took it along.
  if (before?.teamId === teamId)
    startAnew(capture, answer.body.previousErased === true ? "erased" : await keptBy(capture, before, credentials));
  else forgetAll(capture);
  expectKnown(capture);
  writeCredentials(capture.places, credentials);
  clearRejection(capture);
  // Nobody has its token any more: it would take a seat, and be missed, until that runs out.
  if (before) await unbind(before);
  return credentials;
}

/** How long the server may have it wait for its turn: hundreds of jobs of a CI begin in the same minute, behind one address. */
const MAX_TURN_MS = 2 * MINUTE_MS;

async function exchangeInTurn(url: string, body: string): Promise<Answer> {
  for (const until = performance.now() + MAX_TURN_MS; ; ) {
    const answer = await ask(url, "/api/connect/exchange", { method: "POST", body });
    if (answer.kind !== "later" || answer.afterMs === undefined || performance.now() + answer.afterMs > until)
      return answer;
    // Those who were told the same do not come back at the same moment.
    await sleep(answer.afterMs * (1 + chanceOf() / 2));
  }
}

/** Ends a binding on its server. @returns why that could not be said to it; undefined when it was */
export async function unbind({ url, token }: Credentials): Promise<string | undefined> {
  const answer = await ask(url, "/api/connect/disconnect", { method: "POST", token, timeoutMs: 10_000 });
  // A server that does not know the token has nothing to end.
  return answer.kind === "ok" || (answer.kind === "refused" && answer.status === 401) ? undefined : answer.reason;
}

/** What binding writes, at most. */
const ROOM_BYTES = 512 * 1024;

/** A disk that is full would cost the code, and leave a device that nobody is: it is tried out before. @throws Error when there is no room */
function tryRoom({ home, credentials }: Places): void {
  // As `removeHome` knows it, should this be killed.
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
    // Unreadable: whose records these are is not known, so they are nobody's.
    return undefined;
  }
}

/** How far a server that was restored has the streams of the old binding; undefined where it has all that it acknowledged. */
async function keptBy(capture: Capture, before: Credentials, { url, token }: Credentials) {
  if (!(await wasRestored(capture, url, token))) return undefined;
  // While the old address answers, the team moved with all of it; and the old token, which is for that server, is shown to no other.
  const hasMoved = before.url !== url && (await ask(before.url, "/api/policy", { timeoutMs: 10_000 })).kind !== "later";
  return hasMoved ? undefined : streamsThere(capture, { ...before, url });
}

const TOLD = "revision <= (SELECT sent FROM sessions WHERE id = session AND sent_at IS NOT NULL)";
/** Forgets what was told so far, but for what sessions need to go on. */
const FORGET_TOLD = `
  DELETE FROM prompts WHERE ${TOLD};
  DELETE FROM spans WHERE ${TOLD};
  UPDATE sessions SET head = json_set(json_remove(head, '$.title', '$.startedAt', '$.endedAt'), '$.files', json('[]'), '$.commits', json((
    SELECT json_group_array(json(value)) FROM json_each(head, '$.commits') WHERE unixepoch(value ->> 'at', 'subsec') * 1000 > sent_at)))
  WHERE sent_at IS NOT NULL`;

/**
 * To the server this is another device, whose streams begin at 1: what it has not got yet is numbered anew.
 * @param old how far it has the old device's by repository, where it may have lost what it acknowledged; nothing of those that are missing
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
    // What was erased is not told again, not even with a session that goes on.
    if (old === "erased") capture.db.exec(FORGET_TOLD);
    // What an old device told stays with it: sessions would be there twice.
    if (kept) rows.resendSessions.run({ since: null });
    else rows.disownSessions.run();
    rows.forgetBrains.run({ since: 0 });
    rows.clearSchedule.run();
  });
}

/**
 * Forgets whatever was recorded, read and heard; not which of people's files were written to, nor what was not to be read: what a
 * person did in a pause is nobody's, and what is paused stays so. Another team's policy rules no longer.
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
  // Another team's words.
  rmSync(capture.places.briefings, { recursive: true, force: true });
  makeHome(capture.places);
}
