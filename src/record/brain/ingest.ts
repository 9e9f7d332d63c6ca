import * as v from "valibot";
import type { Core } from "../../core.ts";
import { collisionKey, judgePath, PATH_SCHEMA } from "../../formats/brain-paths.ts";
import { device } from "../../identity/devices/devices.ts";
import { tierGate } from "../../identity/teams/teams.ts";
import { sha256 } from "../../kit/hash.ts";
import { members } from "../../kit/json.ts";
import { fail, malformed, problem, tooLarge } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { Count, Counter, DateTime, RepoKey } from "../../platform/http/fields.ts";
import { lineCounter, RULES_VERSION, redactLongText } from "../../redact/redact.ts";
import { admit, Intake } from "../intake/intake.ts";
import { cleanRepoKey, digestOfSent, requireAtMost, requireWholeNumber } from "../sent-body/sent-body.ts";
import { rows } from "./rows.ts";
import { refreshIndex } from "./search-index.ts";
import {
  manifestDigest,
  type ReadyFile,
  type Snapshot,
  storeSnapshot,
  withheldDigest,
  withholdVersion,
} from "./store-snapshot.ts";

const rawSecret = problem({
  name: "rawSecret",
  status: 422,
  code: "unprocessable",
  message: "A file holds a raw secret. Nothing was stored; redact it and send the snapshot again.",
});

const BrainSnapshot = v.object({
  version: v.pipe(Counter, v.description("Counts up per device and repository.")),
  files: v.array(
    v.object({
      path: v.pipe(
        v.string(),
        v.description("Relative to the repository, folders separated by /; at most 512 bytes of UTF-8."),
        // Judged by `judgePath`, which says what is wrong and of which file.
        v.metadata(PATH_SCHEMA),
      ),
      content: v.pipe(v.string(), v.description("Markdown.")),
    }),
  ),
  repoKey: v.optional(RepoKey),
  clientTimestamp: v.optional(DateTime),
});

type SentFile = v.InferOutput<typeof BrainSnapshot>["files"][number];

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
    body: { schema: BrainSnapshot, maxBytes: (config) => 2 * config.maxBrainSnapshotBytes },
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
    faults: [...inShape("tierGate", tierGate), rawSecret],
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
    const { core, principal, body, text } = request;
    const ready = { ...admit(core, principal, "brain"), repoKey: cleanRepoKey(body.repoKey), sent: digestOfSent(text) };
    const intake = new Intake(request, "brain", ready);
    requireWholeNumber(text, members(text), "version", 'In the body, "version"');
    requireSoundFiles(core, body.files);
    if (intake.captureMode === "off") {
      intake.withheld = body.files.length;
      const ledger = await intake.store(() => withholdVersion(intake, body.version));
      return intake.reply({ ok: true, version: body.version, files: 0, bytes: 0, redactionHits: 0, ledger });
    }
    const snapshot = await prepare(intake, body);
    const digest = manifestDigest(snapshot.files);
    const ledger = await intake.store(() => storeSnapshot(intake, snapshot, digest));
    if (!ledger.rollback) refreshIndex(core, intake.device.teamId);
    const { version, bytes, redactionHits } = snapshot;
    return intake.reply({ ok: true, version, files: snapshot.files.length, bytes, redactionHits, ledger });
  },
);

const named = (path = "") => JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);

function requireSoundFiles({ config }: Core, files: readonly SentFile[]): void {
  requireAtMost(config.maxBrainFiles, files.length, ["snapshot", "files"]);
  const seen = new Map<string, number>();
  let total = 0;
  files.forEach(({ path, content }, i) => {
    const wrong = judgePath(path);
    if (wrong) fail(malformed, `The path of file ${i} ${wrong}.`);
    const twin = seen.get(collisionKey(path));
    if (twin !== undefined)
      fail(
        malformed,
        `Files ${twin} and ${i} have paths that are the same but for case or Unicode form: ${named(files[twin]?.path)} and ${named(path)}.`,
      );
    seen.set(collisionKey(path), i);
    if (!content.isWellFormed()) fail(malformed, `The content of file ${i} holds a lone surrogate.`);
    const bytes = Buffer.byteLength(content);
    if (bytes > config.maxBrainFileBytes)
      fail(tooLarge, `File ${i} has ${bytes} bytes; at most ${config.maxBrainFileBytes} are taken.`);
    total += bytes;
  });
  if (total > config.maxBrainSnapshotBytes)
    fail(tooLarge, `The files have ${total} bytes together; at most ${config.maxBrainSnapshotBytes} are taken.`);
}

/** Findings named in a refusal; one is enough to refuse, the others save a round trip each. */
const MAX_NAMED = 50;

/** Scans what is new, replaces likely secrets and refuses certain ones; lets other requests in between. */
async function prepare(intake: Intake, sent: v.InferOutput<typeof BrainSnapshot>): Promise<Snapshot> {
  const { core, device } = intake;
  const yieldNow = cooperative(core.clock);
  const isMetadataOnly = intake.captureMode === "metadata";
  const secrets: string[] = [];
  let redactionHits = 0;
  let redactedFiles = 0;
  const clean = async (text: string, name: (line: number, rule: string) => string): Promise<string> => {
    const redacted = await redactLongText(text, yieldNow);
    const lineAt = lineCounter(text);
    for (const { rule, strength, start } of redacted.findings)
      if (strength === "certain") secrets.push(name(lineAt(start), rule));
    redactionHits += redacted.findings.length;
    return redacted.text;
  };
  const files: ReadyFile[] = [];
  for (const [i, { path: sentPath, content }] of sent.files.entries()) {
    await yieldNow();
    const digest = sha256(content);
    const path = await clean(sentPath, (_line, rule) => `the path of file ${i} (${rule})`);
    if (isMetadataOnly && content !== "") intake.withheld++;
    const key = isMetadataOnly ? withheldDigest(digest, Buffer.byteLength(content)) : digest;
    const stored = rows(core.store).blob.get(device.teamId, key);
    if (stored && stored.rulesVersion === RULES_VERSION) {
      files.push({ path, sha256: key, contentSha256: digest, bytes: stored.bytes, blobId: stored.id });
      continue;
    }
    const text = await clean(content, (line, rule) => `${path} line ${line} (${rule})`);
    if (text !== content) redactedFiles++;
    const contentSha256 = text === content ? digest : sha256(text);
    const bytes = Buffer.byteLength(text);
    files.push(
      isMetadataOnly
        ? { path, sha256: withheldDigest(contentSha256, bytes), contentSha256, bytes, content: "" }
        : { path, sha256: contentSha256, contentSha256, bytes, content: text },
    );
  }
  if (secrets.length > 0) {
    const unnamed = secrets.length - MAX_NAMED;
    const more = unnamed > 0 ? `; and ${unnamed} more` : "";
    fail(
      rawSecret,
      `Raw secret in ${secrets.slice(0, MAX_NAMED).join(", ")}${more}. Nothing was stored; redact and send the snapshot again.`,
    );
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const { version, clientTimestamp = null } = sent;
  return { version, files, bytes, redactionHits, redactedFiles, clientTimestamp };
}
