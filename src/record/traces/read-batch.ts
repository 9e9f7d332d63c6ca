import type { Fields } from "../../formats/values.ts";
import { sha256 } from "../../kit/hash.ts";
import { duplicateKey, elements, findMember, members } from "../../kit/json.ts";
import { fail, malformed, tooLarge } from "../../kit/problem.ts";
import type { SentBody } from "../sent-body/sent-body.ts";
import {
  contentId,
  LABEL_FACTS,
  type LabelFacts,
  parsedMembers,
  readLabel,
  readSession,
  readSpan,
  SESSION_FACTS,
  type SessionFacts,
  SPAN_FACTS,
  type SpanFacts,
  spell,
  spelledMembers,
} from "./rules.ts";
import { signsOf } from "./signs.ts";

export interface ReadSpan extends SpanFacts {
  readonly externalId: string;
  readonly document: string;
  /** See `signsOf`. */
  readonly signs: number;
}

export interface ReadSession extends SessionFacts {
  readonly externalId: string;
  /** Its members except `spans`, each in its own spelling, redacted. */
  readonly members: Map<string, string>;
  readonly spans: readonly ReadSpan[];
}

export interface ReadLabel extends LabelFacts {
  readonly document: string;
  readonly contentSha256: Buffer;
}

export interface ReadBatch {
  readonly sessions: readonly ReadSession[];
  readonly labels: readonly ReadLabel[];
  /** Sessions, spans and labels in which a secret was replaced. */
  readonly redacted: number;
  /** Sessions, spans and labels of which text was left out, because only metadata may be kept. */
  readonly withheld: number;
}

/** Members of one session, many times what any agent sends. */
const MAX_MEMBERS = 5_000;

/** Takes a validated batch apart into what is stored, each part a redacted slice of the text; lets other requests in between. */
export async function readBatch(sent: SentBody): Promise<ReadBatch> {
  const sessions: ReadSession[] = [];
  for (const [i, { start }] of sent.list("sessions").entries()) sessions.push(await readSessionAt(sent, start, i));
  const labels: ReadLabel[] = [];
  for (const { start, end } of sent.list("labels"))
    labels.push(labelOf(await sent.clean(sent.text.slice(start, end), "label")));
  return { sessions, labels, redacted: sent.redacted, withheld: sent.withheld };
}

/** @param span at least the members that `readSpan` reads, of the document */
export function spanOf(span: Fields, document: string): ReadSpan {
  const facts = readSpan(span);
  return { ...facts, externalId: facts.externalId ?? contentId(document), document, signs: signsOf(document) };
}

async function readSessionAt(sent: SentBody, start: number, i: number): Promise<ReadSession> {
  const { text, yieldNow } = sent;
  await yieldNow();
  const own = members(text, start);
  if (own.length > MAX_MEMBERS)
    fail(tooLarge, `Session ${i} has ${own.length} members; at most ${MAX_MEMBERS} are taken.`);
  if (duplicateKey(own) !== undefined) fail(malformed, `Session ${i} names a member twice.`);
  await yieldNow();
  const spans: ReadSpan[] = [];
  const slices = elements(text, findMember(own, "spans")?.start);
  const unclean = await sent.unclean(text, slices);
  for (const [i, slice] of slices.entries()) {
    const wait = yieldNow();
    if (wait) await wait;
    const part = text.slice(slice.start, slice.end);
    const document = unclean.has(i) ? await sent.clean(part, "span") : part;
    spans.push(spanOf(parsedMembers(document, SPAN_FACTS), document));
  }
  const spelled = spelledMembers(text, own);
  spelled.delete("spans");
  const document = await sent.clean(spell(spelled), "session");
  const facts = readSession(parsedMembers(document, SESSION_FACTS));
  return {
    ...facts,
    externalId: facts.externalId ?? contentId(document + spans.map((span) => span.document).join("\0")),
    members: spelledMembers(document),
    spans,
  };
}

function labelOf(document: string): ReadLabel {
  return { ...readLabel(parsedMembers(document, LABEL_FACTS)), document, contentSha256: sha256(document) };
}
