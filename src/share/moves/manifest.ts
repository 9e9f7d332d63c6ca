import * as v from "valibot";
import { sha256Hex } from "../../kit/hash.ts";
import { parseJson } from "../../kit/json.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { type NoteKey, parseNote, verifiedBy } from "../../kit/transparency/note.ts";
import { Count } from "../../platform/http/fields.ts";

export const FORMAT = "reckon-team/1";

const Hex = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

/** What a file says of itself, signed with the key of the log that its leaves come from. */
const Manifest = v.object({
  format: v.string(),
  /** The schema's version: rows are copied as they stand. */
  schema: Count,
  program: v.string(),
  /** ISO 8601. */
  madeAt: v.string(),
  team: v.object({ id: v.pipe(v.string(), v.regex(/^team_[0-9a-z]{1,40}$/)), name: v.string() }),
  /** Where the team is served from then on; null for a copy of one that goes on here. */
  movedTo: v.nullable(v.string()),
  /** The log's head, as a signed note, and the key that both notes are signed with. */
  checkpoint: v.string(),
  key: v.string(),
  /** At what prices costs are kept. */
  prices: v.nullable(v.string()),
  /** Rows and a digest of each table of the file. */
  tables: v.record(v.string(), v.object({ rows: Count, sha256: Hex })),
});
export type Manifest = Readonly<v.InferOutput<typeof Manifest>>;

/** The lines that are signed, under the log's name. */
export const manifestText = (manifest: Manifest): string => `team\n${JSON.stringify(manifest)}`;

/** Reads what a note says, without believing it. @throws Problem where it is none of ours */
export function readManifest(note: string): {
  readonly manifest: Manifest;
  readonly name: string;
  readonly sha256: string;
} {
  const { text } = parseNote(note);
  const [name = "", kind, json = "", ...rest] = text.split("\n");
  const value = kind === "team" && rest.length === 1 ? parseJson(json) : undefined;
  const format = (value as { format?: unknown } | undefined)?.format;
  if (typeof format === "string" && format !== FORMAT)
    fail(invalid, `it is of the form ${format.slice(0, 40)}, which this program does not know: it knows ${FORMAT}`);
  const read = v.safeParse(Manifest, value);
  if (!read.success) fail(invalid, "its manifest cannot be read");
  return { manifest: read.output, name, sha256: sha256Hex(text) };
}

/** @throws Problem unless the key signed it, under its own name */
export function requireSigned(note: string, name: string, key: NoteKey): void {
  if (name !== key.name || verifiedBy(parseNote(note), [key]).length === 0)
    fail(
      invalid,
      `its manifest is signed by ${name.slice(0, 200)}, and not with the key that was given, of ${key.name}`,
    );
}
