import { readEntry } from "../../../src/spend/read-entry.ts";
import { readSession } from "../../../src/spend/read-session.ts";
import { FIGURES, type Figures, isMessage, type Place, type Told } from "../../../src/spend/told.ts";
import type { MeteredEntry } from "../../../src/telemetry/telemetry.ts";
import { readMetered } from "../../../src/traces/traces.ts";
import type { TestInstance } from "../../support/instance.ts";

interface Telling extends Told {
  readonly source: number;
}

/** What the roll-up must hold, counted anew from everything that is stored: sums by everything they can be asked for by. */
export async function recount(t: TestInstance): Promise<Record<string, Figures>> {
  const entries = t.rows(
    `SELECT e.id, s.team_id AS teamId, s.device_id AS deviceId, s.repo_key AS repoKey, d.received_at AS receivedAt,
       e.client_timestamp AS clientTimestamp, e.payload
     FROM telemetry_entries e JOIN telemetry_streams s ON s.id = e.stream_id JOIN deliveries d ON d.id = e.delivery_id`,
  ) as MeteredEntry[];
  const tellings: Telling[] = entries.flatMap((entry) => readEntry(entry).map((told) => ({ ...told, source: 0 })));
  for (const { id } of t.rows("SELECT id FROM trace_sessions")) {
    const session = await readMetered(t.instance.core, id);
    if (session) tellings.push(...readSession(session).map((told) => ({ ...told, source: id as number })));
  }
  const sums: Record<string, Figures> = {};
  for (const of of Map.groupBy(tellings, ({ teamId, key }) => `${teamId} ${key.toString("hex")}`).values())
    for (const { place, figures } of counted(of)) if (place) add(sums, shown(t, place), figures);
  return sums;
}

function counted(of: readonly Telling[]): readonly Telling[] {
  if (isMessage((of[0] as Telling).key)) return [...of].sort(firstBest).slice(0, 1);
  const entries = of.filter(({ source }) => source === 0);
  const sessions = of.filter(({ source }) => source !== 0);
  // However many entries say that a session's own account is not needed, it is said once.
  const isMark = entries.some(({ place }) => place === null);
  return isMark || entries.length >= sessions.length ? entries : sessions;
}

function firstBest(a: Telling, b: Telling): number {
  const order = ({ figures, place, source }: Telling) => {
    const { output, input, cacheWrite, cacheWrite1h, cacheRead, reported, reportedNano } = figures;
    const at = place as Place;
    return [
      -output,
      -(input + cacheWrite + cacheWrite1h + cacheRead),
      -cacheWrite1h,
      -cacheRead,
      -cacheWrite,
      -reported,
      -reportedNano,
      at.model === "" ? 1 : 0,
      at.branch === "" ? 1 : 0,
      at.day,
      source === 0 ? 0 : 1,
    ];
  };
  const words = ({ place }: Telling) => {
    const at = place as Place;
    return [at.repoKey, at.deviceId, at.session, at.branch, at.model, at.context];
  };
  const [x, y] = [order(a), order(b)];
  for (const [i, one] of x.entries()) if (one !== y[i]) return one - (y[i] as number);
  const [v, w] = [words(a), words(b)];
  for (const [i, one] of v.entries()) if (one !== w[i]) return one > (w[i] as string | number) ? -1 : 1;
  return 0;
}

/** A place as it is shown: with what its session says where the record said nothing. */
function shown(t: TestInstance, place: Place): string {
  const [session] = t.rows(
    "SELECT branch, model FROM trace_sessions WHERE device_id = ? AND external_id = ?",
    place.deviceId,
    place.session,
  );
  return nameOf({
    ...place,
    branch: place.branch || (session?.branch ?? ""),
    model: place.model || (session?.model ?? ""),
  });
}

const nameOf = (at: Place) =>
  JSON.stringify([at.teamId, at.day, at.repoKey, at.branch, at.model, at.deviceId, at.session, at.context]);

function add(sums: Record<string, Figures>, name: string, figures: Figures): void {
  const before = sums[name];
  sums[name] = Object.fromEntries(
    FIGURES.map((one) => [one, (before?.[one] ?? 0) + figures[one]]),
  ) as unknown as Figures;
}

/** What the roll-up holds. */
export function rolledUp(t: TestInstance): Record<string, Figures> {
  const sums: Record<string, Figures> = {};
  const cells = t.rows(
    `SELECT team_id AS teamId, day, repo_key AS repoKey, iif(branch = '', session_branch, branch) AS branch,
       iif(model = '', session_model, model) AS model, device_id AS deviceId, session, context, usages, input, output,
       cache_write AS cacheWrite, cache_write_1h AS cacheWrite1h, cache_read AS cacheRead, reported_nano AS reportedNano, reported
     FROM spend_cells WHERE usages > 0 OR reported > 0`,
  ) as (Place & Figures)[];
  for (const cell of cells) add(sums, nameOf(cell), cell);
  return sums;
}
