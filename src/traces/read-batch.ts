import { malformed, refuse, tooLarge } from "../http/faults.ts";
import { sha256 } from "../kit/hash.ts";
import { duplicateKey, elements, findMember, members } from "../kit/json.ts";
import { mightHoldSecret, redactJson } from "../redact/redact.ts";
import {
  asObject,
  contentId,
  readId,
  readSession,
  readSpan,
  type SessionFacts,
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
  /** SHA-256 over everything the batch holds, redacted. */
  readonly digest: Buffer;
}

/** Members of one session, many times what any agent sends. */
const MOST_MEMBERS = 5_000;

/**
 * Takes a validated batch apart into what is stored, each part a redacted slice of the text.
 * @param text the body as sent
 */
export function readBatch(text: string): ReadBatch {
  const suspicious = mightHoldSecret(text);
  let redacted = 0;
  const clean = (raw: string): string => {
    if (!suspicious) return raw;
    const result = redactJson(raw);
    if (result.findings.length === 0) return raw;
    redacted++;
    return result.text;
  };
  const top = members(text);
  if (duplicateKey(top) !== undefined) refuse(malformed, { error: "The body names a member twice." });

  const sessions = elements(text, findMember(top, "sessions")?.start).map(({ start }, i): ReadSession => {
    const own = members(text, start);
    if (own.length > MOST_MEMBERS)
      refuse(tooLarge, { error: `Session ${i} has ${own.length} members; at most ${MOST_MEMBERS} are taken.` });
    if (duplicateKey(own) !== undefined) refuse(malformed, { error: `Session ${i} names a member twice.` });
    const spans = elements(text, findMember(own, "spans")?.start).map((slice): ReadSpan => {
      const document = clean(text.slice(slice.start, slice.end));
      const facts = readSpan(asObject(JSON.parse(document)));
      return { ...facts, externalId: facts.externalId ?? contentId(document), document };
    });
    const spelled = spelledMembers(text, own);
    spelled.delete("spans");
    const document = clean(spell(spelled));
    const facts = readSession(asObject(JSON.parse(document)));
    return {
      ...facts,
      externalId: facts.externalId ?? contentId(document + spans.map((span) => span.document).join("\0")),
      members: spelledMembers(document, members(document)),
      spans,
    };
  });

  const labelsAt = findMember(top, "labels")?.start;
  const labels = (labelsAt === undefined ? [] : elements(text, labelsAt)).map(({ start, end }): ReadLabel => {
    const document = clean(text.slice(start, end));
    const label = asObject(JSON.parse(document));
    return {
      sessionId: readId(label.sessionId) ?? null,
      spanId: readId(label.spanId) ?? null,
      name: readId(label.name) ?? null,
      document,
      contentSha256: sha256(document),
    };
  });

  const digest = sha256(
    [
      ...sessions.flatMap((session) => [spell(session.members), ...session.spans.map((span) => span.document)]),
      ...labels.map((label) => label.document),
    ].join("\0"),
  );
  return { sessions, labels, redacted, digest };
}
