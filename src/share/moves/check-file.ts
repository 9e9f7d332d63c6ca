import { requireFile } from "../../kit/files.ts";
import { sameDigest } from "../../kit/hash.ts";
import { fail, invalid, Problem } from "../../kit/problem.ts";
import { openCheckpoint, type SignedCheckpoint } from "../../kit/transparency/checkpoint.ts";
import { type NoteKey, parseVkey } from "../../kit/transparency/note.ts";
import { CURRENT_SCHEMA, checkStructure, local, type Store } from "../../platform/store/store.ts";
import { rootOfParts } from "../../platform/transparency/transparency.ts";
import { type Parts, verifyExcerpt, withCopy } from "../maintenance/maintenance.ts";
import { PROOF_TABLES } from "./export-team.ts";
import {
  brokenReferences,
  counts,
  filledTables,
  foreignErasures,
  hasStrangeNumbers,
  hasStrangePacks,
  hasStrangePeople,
  leafRows,
  manifestNote,
  nodeRows,
  strayRows,
} from "./file-rows.ts";
import { type Manifest, readManifest, requireSigned } from "./manifest.ts";
import { digestOf, FILE_TABLES } from "./rows.ts";
import { MOVED } from "./tables.ts";

/** A file in which everything holds. */
export interface CheckedFile {
  readonly manifest: Manifest;
  readonly manifestSha256: string;
  readonly head: SignedCheckpoint;
  readonly counts: ReturnType<typeof counts>;
}

/**
 * Reads a file through and through: that the log's key signed what it says of itself, that every row is as it was signed and the
 * team's, that its leaves are in the log whose head was signed, and that what is held is what the leaves commit to. Changes nothing.
 * @param vkey of the log that it comes from, had from elsewhere; undefined believes the one in the file
 * @param onProgress told the share done, 0 to 1
 * @throws Problem saying what is wrong with it
 */
export async function checkFile(
  parts: Parts,
  file: string,
  vkey: string | undefined,
  onProgress: (share: number) => void,
): Promise<CheckedFile> {
  requireFile(file);
  try {
    const checked = checkRows(file, vkey, (share) => onProgress(share / 2));
    await checkContent(parts, file, (share) => onProgress(0.5 + share / 2));
    onProgress(1);
    return checked;
  } catch (error) {
    const { message } = error as Error;
    return fail(error instanceof Problem ? error.row : invalid, `${file} cannot be used: ${message.split("\n")[0]}`);
  }
}

function checkRows(file: string, vkey: string | undefined, onProgress: (share: number) => void): CheckedFile {
  const db = local.openForeign(file);
  try {
    db.exec("BEGIN");
    requireForm(db);
    const note = manifestNote(db) ?? fail(invalid, "it has no manifest");
    const { manifest, name, sha256 } = readManifest(note);
    const key = keyOf(vkey ?? manifest.key);
    requireSigned(note, name, key);
    requireRows(db, manifest, onProgress);
    const head = openCheckpoint(manifest.checkpoint, key);
    const root = rootOfParts(leafRows(db), nodeRows(db));
    if (root?.size !== head.size || !sameDigest(root.root, head.root))
      fail(invalid, `its leaves are not those of the log of ${head.size} leaves that ${head.origin} signed`);
    return { manifest, manifestSha256: sha256, head, counts: counts(db) };
  } finally {
    db.close();
  }
}

const keyOf = (vkey: string): NoteKey => {
  try {
    return parseVkey(vkey.trim());
  } catch (error) {
    return fail(invalid, `the key cannot be used: ${(error as Error).message}`);
  }
};

/** A file that somebody brings declares what ours do and nothing more, so that nothing of it is carried out. */
function requireForm(db: Store["db"]): void {
  const schema = db.pragma("user_version", { simple: true });
  if (schema !== CURRENT_SCHEMA.version)
    fail(
      invalid,
      `it has schema ${schema}, and this program schema ${CURRENT_SCHEMA.version}: bring both instances to one version, and export it again`,
    );
  if (local.declaredIn(db) !== local.excerptSchema(FILE_TABLES))
    fail(invalid, "it is no file of a team's, or one of another version of this program");
  const damage = checkStructure(db, "integrity_check");
  if (damage !== undefined) fail(invalid, `it is damaged (${damage})`);
}

function requireRows(db: Store["db"], { tables, team }: Manifest, onProgress: (share: number) => void): void {
  const names = [...MOVED.map(({ name }) => name), ...PROOF_TABLES];
  for (const [i, name] of names.entries()) {
    const { rows, sha256 } = digestOf(db, name);
    if (tables[name]?.sha256 !== sha256 || tables[name].rows !== rows)
      fail(invalid, `the table ${name} is not as it was signed`);
    onProgress((i + 1) / names.length);
  }
  const [filled] = filledTables(db);
  if (filled !== undefined) fail(invalid, `it has something in the table ${filled}, of which nothing moves`);
  if (brokenReferences(db)) fail(invalid, "its rows name what is not in it");
  if (hasStrangePacks(db)) fail(invalid, "it has packs under names that no pack has");
  if (hasStrangePeople(db)) fail(invalid, "it has people under what no account has");
  const strange = MOVED.find((table) => hasStrangeNumbers(db, table));
  if (strange) fail(invalid, `it has rows under numbers that no instance gives in the table ${strange.name}`);
  const stray = MOVED.find((table) => strayRows(db, table, team.id) > 0);
  if (stray) fail(invalid, `it has rows of others than the team in the table ${stray.name}`);
  if (foreignErasures(db, team.id) > 0) fail(invalid, "it has erasures that are not done, or of others than the team");
}

/** That what is held is what the leaves commit to. */
async function checkContent(parts: Parts, file: string, onProgress: (share: number) => void): Promise<void> {
  const [first, ...more] = await withCopy(parts, file, (copy) => verifyExcerpt(copy, onProgress));
  if (first)
    fail(
      invalid,
      `what it holds is not what its leaves commit to: ${first.problem} of leaf ${first.deliveryId}: ${first.detail}${more.length > 0 ? ` (and ${more.length} more)` : ""}`,
    );
}
