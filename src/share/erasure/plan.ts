import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Core } from "../../core.ts";
import { isoInstant } from "../../kit/clock.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { cooperative } from "../../kit/yield.ts";
import { brainErasure } from "../../record/brain/brain.ts";
import { telemetryErasure } from "../../record/telemetry/telemetry.ts";
import { traceErasure } from "../../record/traces/traces.ts";
import { lakeCopies } from "../lake/lake.ts";
import { listTeamPacks } from "../packs/packs.ts";
import { whichOf } from "./content-steps.ts";
import { requireNotesNotHeld, requireNotHeld } from "./erasures.ts";
import {
  devicesOf,
  EVERYTHING,
  type NamedSession,
  portionsOf,
  type Resolved,
  sessionsNaming,
  teamsOf,
  withNamed,
} from "./targets.ts";

/** What an erasure would take, and what it cannot reach. */
export interface ErasurePlan {
  readonly target: string;
  /** Rows by what they are. */
  readonly counts: Readonly<Record<string, number>>;
  /** Devices whose bindings end, with what they sent. */
  readonly devices: readonly string[];
  /** What holds copies and stays as it is. */
  readonly copies: readonly string[];
}

/** Counts what would go. Changes nothing. @throws Problem when a hold keeps any of it */
export async function planErasure(core: Core, resolved: Resolved): Promise<ErasurePlan> {
  const { label } = resolved;
  const target = await withNamed(core, resolved.target);
  requireNotHeld(core, target);
  await requireNotesNotHeld(core, target);
  const portions = await portionsOf(core, target, EVERYTHING, "");
  const endsDevices = target.kind === "person" || target.kind === "device";
  return {
    target: `${target.kind} ${label}`,
    counts: await countsOf(core, target, portions),
    devices: endsDevices ? devicesOf(core, target) : [],
    copies: copiesOf(core, target),
  };
}

async function countsOf(core: Core, target: Resolved["target"], portions: Awaited<ReturnType<typeof portionsOf>>) {
  const { countEntries, ofSession } = telemetryErasure;
  const counts = { entries: 0, sessions: 0, spans: 0, labels: 0, snapshots: 0 };
  const notes = new Set<number>();
  const yieldNow = cooperative(core.clock);
  for (const portion of portions) {
    await yieldNow();
    const isMeant = (session: string) => target.kind !== "session" || sha256Hex(session) === target.sessionSha256;
    const sessions =
      target.kind === "entry"
        ? []
        : await whichOf(core, traceErasure.sessionsOfPortion(core, portion), ({ externalId }) => isMeant(externalId));
    const isWhole = target.kind !== "session" && target.kind !== "entry";
    for (const id of traceErasure.notesOf(core, portion, sessions, isWhole)) notes.add(id);
    const { spans, labels } = traceErasure.countOfSessions(core, sessions);
    counts.sessions += sessions.length;
    counts.spans += spans;
    counts.labels += labels;
    const some =
      target.kind === "entry" ? ({ seq }: { readonly seq: number }) => seq === target.seq : ofSession(isMeant);
    counts.entries += await countEntries(core, portion, isWhole ? undefined : some);
    if (isWhole) {
      counts.labels += (await whichOf(core, traceErasure.looseLabels(core, portion))).length;
      counts.snapshots += (await whichOf(core, brainErasure.snapshotsOfPortion(core, portion, false))).length;
    }
  }
  const named: NamedSession[] = [];
  for (const some of sessionsNaming(core, target)) {
    await yieldNow();
    for (const id of traceErasure.notesOfSessions(core, some)) notes.add(id);
    const { spans, labels } = traceErasure.countOfSessions(core, some);
    counts.sessions += some.length;
    counts.spans += spans;
    counts.labels += labels;
    named.push(...some);
  }
  for (const [deviceId, of] of Map.groupBy(named, (one) => one.deviceId)) {
    const ids = new Set(of.map(({ externalId }) => externalId));
    const portion = { teamId: (of[0] as NamedSession).teamId, deviceId, repoKey: null, ...EVERYTHING };
    counts.entries += await countEntries(
      core,
      portion,
      ofSession((id) => ids.has(id)),
    );
  }
  return { ...counts, notes: notes.size };
}

/** What else may hold what is erased here: nothing of it is reached. */
function copiesOf(core: Core, target: Resolved["target"]): string[] {
  const { directory } = core.store;
  const backups = join(directory, "backups");
  const found = existsSync(backups) ? readdirSync(backups).sort() : [];
  const packs = teamsOf(core, target).flatMap((teamId) => listTeamPacks(core, teamId));
  const replicas = readdirSync(directory).filter((name) => name.includes("litestream"));
  return [
    ...found.map((name) => `backups/${name}`),
    ...replicas.map(
      (name) =>
        `${name} and the replica that it feeds, for as long as that reaches back, and reckon.db-wal, until Litestream is stopped for two minutes while the server runs`,
    ),
    ...packs.map(({ name }) => `the published pack ${name}, if it holds any of it`),
    ...lakeCopies(core),
    `backups made before ${isoInstant(core.clock.now())} and kept elsewhere (restored here, they are erased again by erasures.json)`,
    "what was exported, downloaded or printed, and the logs of the server and of the proxy before it",
  ];
}
