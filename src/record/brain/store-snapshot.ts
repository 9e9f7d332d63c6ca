import type { Core } from "../../core.ts";
import { sha256 } from "../../kit/hash.ts";

import { RULES_VERSION } from "../../redact/redact.ts";
import type { Intake } from "../intake/intake.ts";
import { rows } from "./rows.ts";

/** A file ready to be stored: free of secrets, addressed by its content. */
export interface ReadyFile {
  readonly path: string;
  readonly sha256: Buffer;
  readonly bytes: number;
  /** Absent when a blob of this content, scanned with today's rules, is held already. */
  readonly content?: string;
  readonly blobId?: number;
}

export interface Snapshot {
  readonly version: number;
  /** Sorted by path. */
  readonly files: readonly ReadyFile[];
  readonly bytes: number;
  readonly redactionHits: number;
  readonly redactedFiles: number;
  readonly clientTimestamp: string | null;
}

export interface Stored {
  readonly gap: boolean;
  readonly rollback: boolean;
}

/** The digest of a set of files: of every path with its content's digest. */
export function manifestDigest(files: readonly { readonly path: string; readonly sha256: Buffer }[]): Buffer {
  return sha256(files.map((file) => `${file.path}\0${file.sha256.toString("hex")}\n`).join(""));
}

/** What the ledger keeps of a snapshot. */
export function snapshotDigest(manifest: Buffer, version: number, accepted: boolean): Buffer {
  return sha256(Buffer.concat([manifest, Buffer.from(`${version} ${accepted ? "accepted" : "evidence"}`)]));
}

/**
 * Stores a snapshot. Call inside a transaction. A version above the stream's last becomes current; one that is not is a retry when its
 * content is known under that version, and otherwise kept as evidence without becoming current.
 */
export function storeSnapshot(intake: Intake, snapshot: Snapshot, digest: Buffer): Stored {
  const { core, repoKey } = intake;
  const { teamId, deviceId } = intake.device;
  const { version } = snapshot;
  const sql = rows(core.store);
  const stream = sql.stream.get(deviceId, repoKey);
  const known = sql.manifest.get(teamId, digest) as number | undefined;
  const accepted = stream === undefined || version > stream.lastVersion;
  if (stream && known !== undefined && !accepted) {
    const twin = sql.snapshot.get(stream.id, version, known);
    if (twin) return { gap: twin.gap === 1, rollback: twin.accepted === 0 };
  }
  const gap = accepted && stream !== undefined && version > stream.lastVersion + 1;
  const manifestId = known ?? insertManifest(core, teamId, snapshot, digest);
  const streamId = stream?.id ?? Number(sql.insertStream.run(teamId, deviceId, repoKey, version).lastInsertRowid);
  const flagged = gap ? "gap" : null;
  const deliveryId = intake.record({
    mode: null,
    items: snapshot.files.length,
    redacted: snapshot.redactedFiles,
    flagged: accepted ? flagged : "rollback",
    contentSha256: snapshotDigest(digest, version, accepted),
  });
  const { lastInsertRowid } = sql.insertSnapshot.run(
    streamId,
    teamId,
    repoKey,
    version,
    manifestId,
    deliveryId,
    Number(accepted),
    Number(gap),
    snapshot.redactionHits,
    snapshot.clientTimestamp,
  );
  if (accepted) {
    sql.updateStream.run(version, streamId);
    sql.setCurrent.run(teamId, repoKey, Number(lastInsertRowid));
  }
  return { gap, rollback: !accepted };
}

function insertManifest(core: Core, teamId: string, snapshot: Snapshot, digest: Buffer): number {
  const sql = rows(core.store);
  const entries = snapshot.files.map((file) => [
    file.path,
    file.blobId ??
      (sql.insertBlob.get(teamId, file.sha256, RULES_VERSION, file.bytes, file.content as string) as number),
  ]);
  return Number(
    sql.insertManifest.run(teamId, digest, snapshot.files.length, snapshot.bytes, JSON.stringify(entries))
      .lastInsertRowid,
  );
}
