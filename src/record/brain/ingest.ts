import * as v from "valibot";
import type { Core } from "../../core.ts";
import { type DevicePrincipal, device } from "../../identity/devices/devices.ts";
import { isOwnOnly } from "../../identity/sight/sight.ts";
import { tierGate } from "../../identity/teams/teams.ts";
import { endpoint, prepared } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { Count } from "../../platform/http/fields.ts";
import { RULES_VERSION } from "../../redact/redact.ts";
import { admit, Intake } from "../intake/intake.ts";
import {
  BrainSnapshot,
  contentNeeded,
  type KnownAnswer,
  type KnownFile,
  type KnownQuestion,
  rawSecret,
  readSnapshot,
} from "./prepare.ts";
import { rows } from "./rows.ts";
import { refreshIndex } from "./search-index.ts";
import { storeSnapshot, withholdVersion } from "./store-snapshot.ts";

/** Takes a whole snapshot of a repository's brain; files that did not change cost nothing. */
export const ingest = endpoint(
  {
    id: "brainIngest",
    method: "POST",
    path: "/api/brain/ingest",
    summary: "Publish a snapshot of a repository's brain files",
    tag: "Brain",
    auth: device,
    // JSON may spell a byte in six: the snapshot's own cap is checked on the decoded files.
    body: {
      schema: BrainSnapshot,
      maxBytes: (config) => 2 * config.maxBrainSnapshotBytes,
      prepare: prepared(
        readSnapshot,
        (core, principal: DevicePrincipal) => ({
          ...admit(core, principal, "brain"),
          mayName: !isOwnOnly(core, principal),
          maxFiles: core.config.maxBrainFiles,
          maxFileBytes: core.config.maxBrainFileBytes,
          maxSnapshotBytes: core.config.maxBrainSnapshotBytes,
        }),
        findKnown,
      ),
    },
    ok: v.object({
      ok: v.boolean(),
      version: Count,
      files: Count,
      bytes: v.optional(Count),
      redactionHits: v.optional(v.pipe(Count, v.description("Likely secrets that the server replaced."))),
      ledger: v.optional(
        v.object({
          gap: v.pipe(v.boolean(), v.description("Versions were skipped.")),
          rollback: v.pipe(
            v.boolean(),
            v.description("The version is not above the last and its content differs: kept as evidence, not current."),
          ),
        }),
      ),
    }),
    faults: [...inShape("tierGate", tierGate), ...inShape("canonical", contentNeeded), rawSecret],
    limits: [{ name: "brain", quota: (config) => config.limitBrain, per: "team", headers: "limited" }],
    example: {
      ok: { ok: true, version: 7, files: 1, bytes: 96, redactionHits: 0, ledger: { gap: false, rollback: false } },
      body: {
        version: 7,
        repoKey: "github.com/acme/shop",
        files: [
          {
            path: ".claude/brain/errors.md",
            content:
              "## 2026-11-20 Login loop\n\nThe cookie lacked its path.\n\n**Prevention rule:** set Path on every cookie.\n",
          },
        ],
      },
    },
  },
  async (request) => {
    const { core, body: snapshot } = request;
    const intake = new Intake(request, "brain", snapshot);
    intake.withheld = snapshot.withheld;
    const isOff = snapshot.captureMode === "off";
    const ledger = await intake.store(() =>
      isOff ? withholdVersion(intake, snapshot.version) : storeSnapshot(intake, snapshot, snapshot.digest),
    );
    if (!isOff && !ledger.rollback) refreshIndex(core, intake.device.teamId);
    const { version, files, bytes, redactionHits } = snapshot;
    const ok = { ok: true, version, files: files.length, bytes, redactionHits, ledger };
    // The contract knows nothing of it: clients that send digests are told that they may.
    const mayName = snapshot.captureMode !== "metadata" && !isOwnOnly(core, intake.device);
    return intake.reply(ok, mayName ? { "reckon-accepts": "contentSha256" } : {});
  },
);

function findKnown(core: Core, { teamId }: DevicePrincipal, question: KnownQuestion): KnownAnswer {
  const answer = Array<KnownFile | undefined>(question.length).fill(undefined);
  const known = rows(core.store).knownBlobs.all({
    teamId,
    digests: JSON.stringify(question),
    rulesVersion: RULES_VERSION,
  });
  for (const { place, ...file } of known) answer[place] = file;
  return answer;
}
