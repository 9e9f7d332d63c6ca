/**
 * A witness: somebody who looks at a log again and again, makes sure that it only grows, and says so under every checkpoint
 * (C2SP tlog-witness, tlog-cosignature), on a machine of their own. Whoever keeps a log cannot show two histories to people who ask
 * the same witness. It knows a log by its key and its answers alone; not here: the log itself.
 */

import { dirname } from "node:path";
import { isoInstant } from "../../kit/clock.ts";
import { visible } from "../../kit/escape-invisible.ts";
import { writeFileAtomically } from "../../kit/files.ts";
import { verifyConsistency } from "../../kit/merkle.ts";
import { conflict, fail, invalid } from "../../kit/problem.ts";
import {
  isOriginOf,
  openCheckpoint,
  parseCheckpointText,
  type SignedCheckpoint,
} from "../../kit/transparency/checkpoint.ts";
import { type NoteKey, parseNote, parseVkey, signatureLine, vkeyOf } from "../../kit/transparency/note.ts";
import { openSource, type Source } from "./source.ts";
import { exclusively, readState, type WitnessState, witnessSigner, writeState } from "./state.ts";

export interface WitnessQuery {
  /** What the witness remembers of the log. */
  readonly statePath: string;
  /** The address of a log's server, or a file that was brought. */
  readonly place: string;
  /** Of the log; needed once. */
  readonly logKey?: NoteKey | undefined;
  /** Of the witness, when its key is made; the machine's by default. */
  readonly name?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What came of looking at a log. */
export type Observation = Cosigned | Refused;

export interface Cosigned {
  readonly kind: "cosigned";
  readonly checkpoint: SignedCheckpoint;
  /** At the last look; null at the first. Of another name where the log went on under a new one, as it does after a restore. */
  readonly previous: { readonly origin: string; readonly size: number } | null;
  /** The checkpoint with the witness's line added. */
  readonly note: string;
  /** The witness's verifier key, and whether it was made just now. */
  readonly vkey: string;
  readonly isNewKey: boolean;
}

/** The log signed what does not follow from what it signed before. Nothing was cosigned and the state is what it was. */
export interface Refused {
  readonly kind: "refused";
  /** `fork`: another history; `shrunk`: less than there was, which may be an old copy. */
  readonly reason: "fork" | "shrunk";
  readonly detail: string;
  /** Files with the two notes, the one that was cosigned before and the one seen now. */
  readonly evidence: readonly [cosigned: string, seen: string];
}

/** @throws Problem where there is nothing to judge: no answer, no valid signature, no state and no key */
export function observe(query: WitnessQuery): Promise<Observation> {
  return exclusively(query.statePath, async () => {
    const state = readState(query.statePath);
    const logKey = logKeyOf(query, state);
    const source = await openSource(query.place);
    const seen = open(source.checkpoint, logKey, query.place);
    const known = state && openCheckpoint(state.checkpoint, logKey);
    const refusal = known && (await contradiction(known, seen, source));
    if (state && refusal) return { kind: "refused", ...refusal, evidence: keep(query, state, source) };
    return cosign(query, seen, known ?? null, logKey);
  });
}

function logKeyOf({ statePath, logKey }: WitnessQuery, state: WitnessState | undefined): NoteKey {
  if (!state) return logKey ?? fail(invalid, "no log was witnessed here before: give its key once, with --key");
  if (logKey && vkeyOf(logKey) !== state.log)
    fail(conflict, `${statePath} is of a log with another key: keep the state of each log in a file of its own`);
  return parseVkey(state.log);
}

function open(text: string, logKey: NoteKey, place: string): SignedCheckpoint {
  try {
    return openCheckpoint(text, logKey);
  } catch (error) {
    const origin = originOf(text);
    const isAnother = origin !== undefined && !isOriginOf(origin, logKey);
    if (isAnother) fail(conflict, `${place} is of the log ${visible(origin)}, not of ${logKey.name}`);
    fail(invalid, `${place} gives no checkpoint that can be believed: ${(error as Error).message}`);
  }
}

function originOf(text: string): string | undefined {
  try {
    return parseCheckpointText(parseNote(text).text).origin;
  } catch {
    return undefined;
  }
}

/** What is wrong with a checkpoint after one that was cosigned; undefined where the log only grew. */
async function contradiction(
  known: SignedCheckpoint,
  seen: SignedCheckpoint,
  source: Source,
): Promise<Pick<Refused, "reason" | "detail"> | undefined> {
  const renamed =
    seen.origin === known.origin
      ? ""
      : `; since a restore it goes by the name of ${seen.origin}, and lacks what came after the backup`;
  if (seen.size < known.size)
    return {
      reason: "shrunk",
      detail: `it has ${seen.size} leaves and had ${known.size}: this is an old copy, or the log was cut${renamed}`,
    };
  const proof = seen.size === known.size || known.size === 0 ? [] : await source.growth(known.size, seen);
  if (verifyConsistency(known.size, seen.size, known.root, seen.root, proof)) return undefined;
  const detail =
    seen.size === known.size
      ? `the log signed two different trees of ${seen.size} leaves`
      : `the ${known.size} leaves that were there are not the beginning of the ${seen.size} that are there now`;
  return { reason: "fork", detail: detail + renamed };
}

/** Puts both notes beside the state, for whoever has to be shown them. */
function keep({ statePath, now }: WitnessQuery, state: WitnessState, source: Source): Refused["evidence"] {
  const at = isoInstant(now).replace(/[:.]/g, "-");
  const [cosigned, seen] = [`${statePath}.${at}.cosigned.txt`, `${statePath}.${at}.seen.txt`] as const;
  writeFileAtomically(cosigned, state.checkpoint, true);
  writeFileAtomically(seen, source.checkpoint, true);
  return [cosigned, seen];
}

function cosign(
  query: WitnessQuery,
  checkpoint: SignedCheckpoint,
  previous: SignedCheckpoint | null,
  logKey: NoteKey,
): Cosigned {
  const { signer, isNew } = witnessSigner(dirname(query.statePath), query.name);
  const { text, signatures } = checkpoint.note;
  const others = signatures.filter(({ name, keyId }) => name !== signer.name || keyId !== signer.id);
  const lines = others.map(({ name, keyId, bytes }) => {
    const encoded = Buffer.concat([Buffer.from(keyId, "hex"), bytes]).toString("base64");
    return `— ${name} ${encoded}\n`;
  });
  const note = `${text}\n${lines.join("")}${signatureLine(text, signer, query.now)}`;
  // Remembered before it is handed out: who is killed in between has promised nothing that is forgotten.
  writeState(query.statePath, { log: vkeyOf(logKey), checkpoint: note });
  return { kind: "cosigned", checkpoint, previous, note, vkey: vkeyOf(signer), isNewKey: isNew };
}
