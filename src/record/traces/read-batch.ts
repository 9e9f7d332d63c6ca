import { sha256 } from "../../kit/hash.ts";
import { duplicateKey, elements, findMember, members } from "../../kit/json.ts";
import { fail, malformed, tooLarge } from "../../kit/problem.ts";
import { mightLongHoldSecret, redactLongJson } from "../../redact/redact.ts";
import {
  contentId,
  parsedMembers,
  readId,
  readSession,
  readSpan,
  SESSION_FACTS,
  type SessionFacts,
  SPAN_FACTS,
  type SpanFacts,
  spell,
  spelledMembers,
} from "./rules.ts";

export interface ReadSpan extends SpanFacts {
  readonly externalId: string;
  readonly document: string;
}

export interface ReadSession extends SessionFacts {
  readonly externalId: string;
  /** Its own members but `spans`, each in its own spelling, redacted. */
  readonly members: Map<string, string>;
  readonly spans: readonly ReadSpan[];
}

export interface ReadLabel {
  readonly sessionId: string | null;
  readonly spanId: string | null;
  readonly name: string | null;
  readonly document: string;
  readonly contentSha256: Buffer;
}

export interface ReadBatch {
  readonly sessions: readonly ReadSession[];
  readonly labels: readonly ReadLabel[];
  /** Sessions, spans and labels in which a secret was replaced. */
  readonly redacted: number;
}

/** Members of one session, many times what any agent sends. */
const MAX_MEMBERS = 5_000;

type YieldNow = () => Promise<void> | undefined;

/**
 * Takes a validated batch apart into what is stored, each part a redacted slice of the text; lets other requests in between.
 * @param text the body as sent
 * @param yieldNow as `kit/yield.ts` makes it
 */
export async function readBatch(text: string, yieldNow: YieldNow): Promise<ReadBatch> {
  const cleaner = new Cleaner(await mightLongHoldSecret(text, yieldNow), yieldNow);
  await yieldNow();
  const top = members(text);
  if (duplicateKey(top) !== undefined) fail(malformed, "The body names a member twice.");
  await yieldNow();
  const sessions: ReadSession[] = [];
  for (const [i, { start }] of elements(text, findMember(top, "sessions")?.start).entries())
    sessions.push(await readSessionAt(text, start, i, cleaner));
  const labels: ReadLabel[] = [];
  const labelsAt = findMember(top, "labels")?.start;
  if (labelsAt !== undefined)
    for (const { start, end } of elements(text, labelsAt))
      labels.push(readLabel(await cleaner.clean(text.slice(start, end))));
  return { sessions, labels, redacted: cleaner.redacted };
}

/** Redacts one part after another, and counts those that held a secret. */
class Cleaner {
  readonly yieldNow: YieldNow;
  readonly #isSuspicious: boolean;
  redacted = 0;

  constructor(isSuspicious: boolean, yieldNow: YieldNow) {
    this.#isSuspicious = isSuspicious;
    this.yieldNow = yieldNow;
  }

  async clean(raw: string): Promise<string> {
    await this.yieldNow();
    if (!this.#isSuspicious) return raw;
    const result = await redactLongJson(raw, this.yieldNow);
    if (result.findings.length === 0) return raw;
    this.redacted++;
    return result.text;
  }
}

async function readSessionAt(text: string, start: number, i: number, cleaner: Cleaner): Promise<ReadSession> {
  await cleaner.yieldNow();
  const own = members(text, start);
  if (own.length > MAX_MEMBERS)
    fail(tooLarge, `Session ${i} has ${own.length} members; at most ${MAX_MEMBERS} are taken.`);
  if (duplicateKey(own) !== undefined) fail(malformed, `Session ${i} names a member twice.`);
  await cleaner.yieldNow();
  const spans: ReadSpan[] = [];
  for (const slice of elements(text, findMember(own, "spans")?.start)) {
    const document = await cleaner.clean(text.slice(slice.start, slice.end));
    const facts = readSpan(parsedMembers(document, SPAN_FACTS));
    spans.push({ ...facts, externalId: facts.externalId ?? contentId(document), document });
  }
  const spelled = spelledMembers(text, own);
  spelled.delete("spans");
  const document = await cleaner.clean(spell(spelled));
  const facts = readSession(parsedMembers(document, SESSION_FACTS));
  return {
    ...facts,
    externalId: facts.externalId ?? contentId(document + spans.map((span) => span.document).join("\0")),
    members: spelledMembers(document, members(document)),
    spans,
  };
}

function readLabel(document: string): ReadLabel {
  const label = parsedMembers(document, ["sessionId", "spanId", "name"]);
  return {
    sessionId: readId(label.sessionId) ?? null,
    spanId: readId(label.spanId) ?? null,
    name: readId(label.name) ?? null,
    document,
    contentSha256: sha256(document),
  };
}
