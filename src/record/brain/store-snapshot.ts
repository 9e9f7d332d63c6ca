import type { Core } from "../../core.ts";
import { StoreUnavailable } from "../../kit/errors.ts";
import { sameDigest, sha256 } from "../../kit/hash.ts";
import { deliveryItems } from "../../kit/items.ts";
import { deliveryErasure } from "../../log/log.ts";
import { RULES_VERSION } from "../../redact/redact.ts";
import type { Intake } from "../intake/intake.ts";
import { isWithheld, rangeText, withhold } from "../withheld/withheld.ts";
import { rows } from "./rows.ts";
import { manifestDigest, type ReadyFile, type Snapshot, withheldDigest } from "./snapshot.ts";

export interface Stored {
  readonly gap: boolean;
  readonly rollback: boolean;
}

/** The digests that a set of files has with its contents and without them: a retry may meet another policy. */
function bothDigests(files: readonly ReadyFile[]): Buffer[] {
  return [
    manifestDigest(files.map(({ path, contentSha256 }) => ({ path, sha256: contentSha256 }))),
    manifestDigest(
      files.map(({ path, contentSha256, bytes }) => ({ path, sha256: withheldDigest(contentSha256, bytes) })),
    ),
  ];
}

/** What a delivery of a snapshot commits to: its version, and each file with its content's digest. */
export function snapshotTexts(
  files: readonly { readonly path: string; readonly sha256: Buffer }[],
  version: number,
  accepted: boolean,
): string[] {
  return [
    `${version} ${accepted ? "accepted" : "evidence"}`,
    ...files.map(({ path, sha256: digest }) => `${path}\0${digest.toString("hex")}`),
  ];
}

/** What was noted of a snapshot before deliveries had items. */
export function snapshotDigest(manifest: Buffer, version: number, accepted: boolean): Buffer {
  return sha256(Buffer.concat([manifest, Buffer.from(`${version} ${accepted ? "accepted" : "evidence"}`)]));
}

/**
 * Stores a snapshot. Call inside a transaction. A version above the stream's last becomes current; one that is not is a retry when its
 * content is known under that version, and otherwise kept as evidence without becoming current; where that version may have been erased,
 * not even that.
 */
export function storeSnapshot(intake: Intake, snapshot: Snapshot, digest: Buffer): Stored {
  const { core, repoKey } = intake;
  const { teamId, deviceId } = intake.device;
  const { version } = snapshot;
  const sql = rows(core.store);
  const stream = sql.stream.get(deviceId, repoKey);
  const known = sql.manifest.get(teamId, digest);
  const accepted = stream === undefined || version > stream.lastVersion;
  const before = stream && !accepted ? storedBefore(core, teamId, stream.id, snapshot) : undefined;
  if (before) return before;
  // An erased snapshot may be sent again by a machine that still has it: it is refused as a rollback, but not kept as evidence.
  if (stream && !accepted && isErased(intake, stream.id, version)) return { gap: false, rollback: true };
  const gap = accepted && stream !== undefined && version > stream.lastVersion + 1;
  const manifestId = known ?? insertManifest(core, teamId, snapshot, digest);
  const streamId = stream?.id ?? Number(sql.insertStream.run(teamId, deviceId, repoKey, version).lastInsertRowid);
  const flagged = gap ? "gap" : null;
  const deliveryId = intake.record({
    mode: null,
    items: snapshot.files.length,
    redacted: snapshot.redactedFiles,
    withheld: intake.withheld,
    flagged: accepted ? flagged : "rollback",
    content: deliveryItems(repoKey, null, snapshotTexts(snapshot.files, version, accepted)),
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

/** The answer to a snapshot when it came first; undefined for one that did not come before. */
function storedBefore(core: Core, teamId: string, streamId: number, { version, files }: Snapshot): Stored | undefined {
  const sql = rows(core.store);
  if (isWithheld(core, "brain", streamId, version)) return { gap: false, rollback: false };
  for (const digest of bothDigests(files)) {
    const manifestId = sql.manifest.get(teamId, digest);
    const twin = manifestId === undefined ? undefined : sql.snapshot.get(streamId, version, manifestId);
    if (twin) return { gap: twin.gap === 1, rollback: twin.accepted === 0 };
  }
  return undefined;
}

/** Whether a version of a stream may have been erased: nothing is held of it, and something of the stream was erased. */
const isErased = ({ core, repoKey, device: { deviceId } }: Intake, streamId: number, version: number): boolean =>
  rows(core.store).anyOfVersion.get(streamId, version) === undefined &&
  deliveryErasure.hasErasedOfStream(core, "brain", deviceId, repoKey);

/** Takes the version of a snapshot of which nothing may be kept, so that its stream goes on without a gap. Call inside a transaction. */
export function withholdVersion(intake: Intake, version: number): Stored {
  const { core, repoKey } = intake;
  const { teamId, deviceId } = intake.device;
  const sql = rows(core.store);
  const stream = sql.stream.get(deviceId, repoKey);
  if (stream && version <= stream.lastVersion) return { gap: false, rollback: false };
  const gap = stream !== undefined && version > stream.lastVersion + 1;
  const range = { first: version, last: version };
  const deliveryId = intake.record({
    mode: null,
    items: 0,
    redacted: 0,
    flagged: gap ? "gap" : null,
    withheld: intake.withheld,
    content: deliveryItems(repoKey, null, [rangeText(range)]),
  });
  const streamId = stream?.id ?? Number(sql.insertStream.run(teamId, deviceId, repoKey, version).lastInsertRowid);
  withhold(core, "brain", streamId, deliveryId, [range]);
  sql.updateStream.run(version, streamId);
  return { gap, rollback: false };
}

function insertManifest(core: Core, teamId: string, snapshot: Snapshot, digest: Buffer): number {
  const sql = rows(core.store);
  const insert = ({ sha256, contentSha256, bytes, content = "" }: ReadyFile) => {
    const withheld = sameDigest(sha256, contentSha256) ? null : contentSha256;
    return sql.insertBlob.get(teamId, sha256, RULES_VERSION, bytes, content, withheld) as number;
  };
  const entries = snapshot.files.map((file) => [file.path, file.blobId ?? insert(file)]);
  // A blob found during the preparation may have been erased since. The client sends the snapshot again, and then it is stored anew.
  const ids = snapshot.files.flatMap(({ blobId = [] }) => blobId);
  if (sql.countBlobs.get(JSON.stringify(ids)) !== ids.length)
    throw new StoreUnavailable("a file of the snapshot was erased meanwhile");
  return Number(
    sql.insertManifest.run(teamId, digest, snapshot.files.length, snapshot.bytes, JSON.stringify(entries))
      .lastInsertRowid,
  );
}
