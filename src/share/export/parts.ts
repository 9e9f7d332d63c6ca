import type { Core } from "../../core.ts";
import { formerAddresses } from "../../identity/people/people.ts";
import { listTeams } from "../../identity/teams/teams.ts";
import { exportTriage } from "../../insight/triage/triage.ts";
import { isoInstant } from "../../kit/clock.ts";
import { deliveryExport } from "../../log/log.ts";
import { exportEvents } from "../../platform/audit/audit.ts";
import { checkpoint, proveLeaf } from "../../platform/transparency/transparency.ts";
import { brainExport, readBlob } from "../../record/brain/brain.ts";
import { exportEntries, telemetryExport } from "../../record/telemetry/telemetry.ts";
import { traceExport } from "../../record/traces/traces.ts";
import { accountOf, leftBy, readable } from "./person.ts";
import type { ExportScope } from "./scope.ts";

/** Some of an archive: lines of a file that is cut where it grows long, or a file of its own. */
export type Part =
  | { readonly lines: string; readonly text: string }
  | { readonly file: string; readonly content: string };

/**
 * Everything of a scope, in pieces that are held in memory one at a time. Checkpoint first: what is delivered meanwhile is none that was
 * signed. Deliveries before what they brought, as erasing takes the salts of that away, and those that may have changed again after it:
 * what was replaced or erased meanwhile has its hash noted by then.
 */
export async function* partsOf(core: Core, scope: ExportScope): AsyncGenerator<Part> {
  const { teams, repoKey, person } = scope;
  if (person) yield { file: "person.json", content: `${JSON.stringify(accountOf(core, person), readable, 2)}\n` };
  const head = checkpoint(core);
  if (head) yield { file: "checkpoint", content: head.note };
  const contents = new Set<string>();
  for (const { teamId, deviceIds } of teams) {
    const written = new Set<number>();
    const ofTeam = { teamId, devices: new Set(deviceIds), repoKey, head, written };
    yield* deliveries(core, ofTeam, "deliveries");
    yield* entries(core, teamId, { deviceIds, repoKey: repoKey ?? undefined });
    for (const deviceId of deviceIds) yield* sessions(core, deviceId, repoKey);
    yield* brains(core, deviceIds, repoKey, contents);
    yield* deliveries(core, ofTeam, "deliveries-since");
    if (!person) yield* triage(core, teamId, { repoKey, personId: null });
    if (scope.kind === "team") yield* events(core, { teamId });
  }
  if (!person) return;
  // Somebody may have spoken of errors in a team where no device is theirs.
  for (const { id } of listTeams(core)) yield* triage(core, id, { repoKey: null, personId: person.id });
  for (const [name, line] of leftBy(core, person)) yield { lines: name, text: `${JSON.stringify(line, readable)}\n` };
  const addresses = [person.email, ...formerAddresses.of(core, person.id)];
  const others = formerAddresses.holders(core, person.email);
  yield* events(core, { teamId: null, about: { id: person.id, addresses, others } });
}

interface DeliveriesOfTeam extends Pick<ExportScope, "repoKey"> {
  readonly teamId: string;
  readonly devices: ReadonlySet<string>;
  readonly head: ReturnType<typeof checkpoint>;
  /** Those that the archive has already. */
  readonly written: Set<number>;
}

/** What people said of errors. */
function* triage(core: Core, teamId: string, scope: Parameters<typeof exportTriage>[2]): Generator<Part> {
  for (const one of exportTriage(core, teamId, scope)) yield lines("triage", one);
}

/**
 * Each with the audit path of its leaf to the checkpoint; null for what came after that. Of what it brought of other repositories than
 * the one asked for there are hashes.
 */
function* deliveries(
  core: Core,
  { teamId, devices, repoKey, head, written }: DeliveriesOfTeam,
  name: "deliveries" | "deliveries-since",
): Generator<Part> {
  for (const delivery of deliveryExport.deliveries(core, teamId)) {
    const { id, kind } = delivery;
    if (!devices.has(delivery.deviceId)) continue;
    const placed = repoKey !== null && kind === "traces" ? traceExport.besideRepo(core, id, repoKey) : undefined;
    if (repoKey !== null && delivery.repoKey !== repoKey && !placed?.isAny) continue;
    const unshown = placed?.others ?? unshownOf(core, delivery);
    const others = unshown.size > 0 ? deliveryExport.itemDigests(core, id, unshown) : undefined;
    const isChanged = delivery.erasedBy !== null || delivery.itemSalts !== null || delivery.noted || others;
    if (written.has(id) && !isChanged) continue;
    written.add(id);
    const proof = proveLeaf(core, id, head);
    yield lines(name, {
      ...delivery,
      ...(others ? { noted: { ...delivery.noted, ...others } } : {}),
      receivedAt: isoInstant(delivery.receivedAt),
      inclusion: proof?.hashes.map((hash) => hash.toString("base64")) ?? null,
    });
  }
}

/** Conflicting entries by item. They are not exported, but their digests are: whoever checks the delivery's other items needs them. */
const unshownOf = (
  core: Core,
  delivery: Parameters<typeof telemetryExport.conflictsOf>[1] & { kind: string; flagged: string | null },
) =>
  delivery.kind === "telemetry" && delivery.flagged === "rollback"
    ? telemetryExport.conflictsOf(core, delivery)
    : new Map<number, Buffer>();

/** By one walk over the team's deliveries, however many devices there are. */
async function* entries(core: Core, teamId: string, of: Parameters<typeof exportEntries>[2]): AsyncGenerator<Part> {
  for await (const text of exportEntries(core, teamId, of, true)) yield { lines: "telemetry", text };
}

/** Notes of commits name no repository. */
function* sessions(core: Core, deviceId: string, repoKey: string | null): Generator<Part> {
  for (const text of traceExport.sessions(core, deviceId, repoKey)) yield { lines: "sessions", text };
  if (repoKey !== null) return;
  for (const text of traceExport.notes(core, deviceId)) yield { lines: "notes", text };
}

async function* events(core: Core, filter: Parameters<typeof exportEvents>[1]): AsyncGenerator<Part> {
  for await (const text of exportEvents(core, filter, "jsonl")) yield { lines: "audit", text };
}

const lines = (name: string, value: object): Part => ({ lines: name, text: `${JSON.stringify(value)}\n` });

/** Snapshots, and each of their files once, by what it is addressed by: teams may have the same. @param written those that are there */
function* brains(
  core: Core,
  deviceIds: readonly string[],
  repoKey: string | null,
  written: Set<string>,
): Generator<Part> {
  for (const deviceId of deviceIds)
    for (const { files, ...snapshot } of brainExport.snapshots(core, deviceId, repoKey)) {
      yield lines("brain", { ...snapshot, files: files.map(({ path, sha256 }) => ({ path, sha256 })) });
      for (const { blobId, sha256 } of files) {
        if (written.has(sha256)) continue;
        written.add(sha256);
        yield { file: `brain/${sha256}.md`, content: readBlob(core, blobId) };
      }
    }
}
