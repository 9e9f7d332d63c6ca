import { expect } from "vitest";
import { currentPrices } from "../../../src/insight/spend/current-prices.ts";
import { hasId, isByMeasures, isLink, messageOf, requestOf } from "../../../src/insight/spend/dedupe-key.ts";
import { readSession } from "../../../src/insight/spend/project-sessions.ts";
import { readEntry } from "../../../src/insight/spend/read-entry.ts";
import { spendReport } from "../../../src/insight/spend/report.ts";
import type { Grouping } from "../../../src/insight/spend/rows.ts";
import {
  addMeasures,
  type Dimensions,
  type Measures,
  NO_MEASURES,
  TELEMETRY,
  type UsageRecord,
} from "../../../src/insight/spend/usage-record.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { finish } from "../../../src/kit/slices.ts";
import type { UsageCandidate } from "../../../src/record/telemetry/telemetry.ts";
import { readMetered } from "../../../src/record/traces/traces.ts";
import type { TestInstance } from "../../support/instance.ts";

/** What the roll-up must hold, counted anew from everything that is stored: sums by everything they can be asked for by. */
export async function recount(t: TestInstance): Promise<Record<string, Measures>> {
  const entries = t.rows(
    `SELECT e.id, s.team_id AS teamId, s.device_id AS deviceId, s.repo_key AS repoKey, d.received_at AS receivedAt,
       e.client_timestamp AS clientTimestamp, e.payload
     FROM telemetry_entries e JOIN telemetry_streams s ON s.id = e.stream_id JOIN deliveries d ON d.id = e.delivery_id`,
  ) as UsageCandidate[];
  const records: UsageRecord[] = entries.flatMap(readEntry);
  for (const { id } of t.rows("SELECT id FROM trace_sessions")) {
    const session = await readMetered(t.instance.core, id);
    if (session) records.push(...finish(readSession(session)));
  }
  const sums: Record<string, Measures> = {};
  for (const { dimensions, measures } of countedOf(records)) add(sums, shown(t, dimensions as Dimensions), measures);
  return sums;
}

/** What counts of all records, each for itself. */
function countedOf(records: readonly UsageRecord[]): UsageRecord[] {
  const all = Map.groupBy(records, ({ key }) =>
    hasId(key) ? "message" : isByMeasures(key) ? "like" : isLink(key) ? "link" : "own",
  );
  const nameOfMessage = namesByLinks(all.get("link") ?? []);
  const own = [...Map.groupBy(all.get("own") ?? [], ({ teamId, key }) => `${teamId} ${key.toString("hex")}`).values()];
  const messages: UsageRecord[] = [];
  /** Messages that one side told alone, by session and measures: `home` is the telling that counts where it is of this session. */
  const alone: { readonly of: string; readonly by: "entries" | "spans"; readonly home: UsageRecord | undefined }[] = [];
  for (const of of Map.groupBy(all.get("message") ?? [], nameOfMessage).values()) {
    const [best] = [...of].sort(firstBest) as [UsageRecord];
    const repo = [...of].sort(firstBest).find(({ dimensions }) => dimensions?.repoKey)?.dimensions?.repoKey ?? "";
    const dimensions = best.dimensions && { ...best.dimensions, repoKey: best.dimensions.repoKey || repo };
    const placed = { ...best, dimensions };
    messages.push(placed);
    for (const told of Map.groupBy(of, sessionOf).values()) {
      const [most] = [...told].sort(firstBest) as [UsageRecord];
      const sides = new Set(told.map(sideOf));
      if (sides.size === 1 && most.dimensions?.session !== "")
        alone.push({ of: likeness(most), by: sideOf(most), home: told.includes(best) ? placed : undefined });
    }
  }
  const others: UsageRecord[] = [];
  for (const [of, told] of Map.groupBy(all.get("like") ?? [], likeness)) {
    const left = {
      entries: told.filter(isEntry).sort(firstBest),
      spans: told.filter((one) => !isEntry(one)).sort(firstBest),
    };
    for (const by of ["spans", "entries"] as const) {
      const those = alone.filter((one) => one.of === of && one.by === by);
      const known = those.flatMap(({ home }) => home ?? []).sort(firstBest);
      const elsewhere = those.length - known.length;
      const side = left[by === "spans" ? "entries" : "spans"];
      for (const [message, one] of pairs(known, side)) messages[messages.indexOf(message)] = both(message, one);
      side.splice(0, elsewhere);
    }
    for (const [entry, span] of pairs(left.entries, left.spans)) others.push(both(entry, span));
    others.push(...left.entries, ...left.spans);
  }
  return [...own.flatMap((of) => (of.some(({ dimensions }) => dimensions === null) ? [] : of)), ...messages, ...others];
}

/** What a message is called: a request is the message that it is linked to, where that is one. */
function namesByLinks(links: readonly UsageRecord[]): (one: UsageRecord) => string {
  const hex = (teamId: string, key: Buffer | undefined) => `${teamId} ${key?.toString("hex")}`;
  const messages = new Map<string, Set<string>>();
  for (const { teamId, key } of links) {
    const request = hex(teamId, requestOf(key));
    messages.set(request, (messages.get(request) ?? new Set()).add(hex(teamId, messageOf(key))));
  }
  return ({ teamId, key }) => {
    const message = messageOf(key);
    if (message) return hex(teamId, message);
    const of = [...(messages.get(hex(teamId, key)) ?? [])];
    return of.length === 1 ? (of[0] as string) : hex(teamId, key);
  };
}

const isEntry = ({ source }: UsageRecord) => source === TELEMETRY;
const sideOf = (one: UsageRecord) => (isEntry(one) ? "entries" : "spans");
const sessionOf = ({ dimensions }: UsageRecord) => JSON.stringify([dimensions?.deviceId, dimensions?.session]);
function likeness({ teamId, dimensions, measures }: UsageRecord): string {
  const { usages, input, output, cacheWrite, cacheWrite1h, cacheRead, reportedNano } = measures;
  const alike = usages === 0 ? reportedNano : [input, output, cacheWrite + cacheWrite1h, cacheRead];
  return JSON.stringify([teamId, dimensions?.deviceId, dimensions?.session, alike]);
}

/** Takes pairs out of two lists, those of the same model first. */
function pairs(some: UsageRecord[], others: UsageRecord[]): [UsageRecord, UsageRecord][] {
  const found: [UsageRecord, UsageRecord][] = [];
  const model = ({ dimensions }: UsageRecord) => dimensions?.model.replace(/-20\d{6}$/, "");
  for (const isPair of [(a: UsageRecord, b: UsageRecord) => model(a) === model(b), () => true])
    for (const one of [...some]) {
      const other = others.find((each) => isPair(one, each));
      if (!other) continue;
      found.push([one, other]);
      some.splice(some.indexOf(one), 1);
      others.splice(others.indexOf(other), 1);
    }
  return found;
}

function both(one: UsageRecord, other: UsageRecord): UsageRecord {
  const [a, b] = [one.dimensions as Dimensions, other.dimensions as Dimensions];
  const split = other.measures.cacheWrite1h > one.measures.cacheWrite1h ? other.measures : one.measures;
  const cost = one.measures.reported > 0 ? one.measures : other.measures;
  return {
    ...one,
    dimensions: { ...a, model: a.model || b.model, branch: a.branch || b.branch, repoKey: a.repoKey || b.repoKey },
    measures: {
      ...one.measures,
      cacheWrite: split.cacheWrite,
      cacheWrite1h: split.cacheWrite1h,
      reported: cost.reported,
      reportedNano: cost.reportedNano,
    },
  };
}

function firstBest(a: UsageRecord, b: UsageRecord): number {
  const order = ({ measures, dimensions, source }: UsageRecord) => {
    const { output, input, cacheWrite, cacheWrite1h, cacheRead, reported, reportedNano } = measures;
    const at = dimensions as Dimensions;
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
      source === TELEMETRY ? 0 : 1,
    ];
  };
  const words = ({ dimensions }: UsageRecord) => {
    const at = dimensions as Dimensions;
    return [at.repoKey, at.deviceId, at.session, at.branch, at.model, at.context];
  };
  const [x, y] = [order(a), order(b)];
  for (const [i, one] of x.entries()) if (one !== y[i]) return one - (y[i] as number);
  const [v, w] = [words(a), words(b)];
  for (const [i, one] of v.entries()) if (one !== w[i]) return one > (w[i] as string | number) ? -1 : 1;
  return 0;
}

/** A dimensions as it is shown: with what its session says where the record said nothing. */
function shown(t: TestInstance, dimensions: Dimensions): string {
  const [session] = t.rows(
    "SELECT branch, model FROM trace_sessions WHERE device_id = ? AND external_id = ?",
    dimensions.deviceId,
    dimensions.session,
  );
  return nameOf({
    ...dimensions,
    branch: dimensions.branch || (session?.branch ?? ""),
    model: dimensions.model || (session?.model ?? ""),
  });
}

const nameOf = (at: Dimensions) =>
  JSON.stringify([at.teamId, at.day, at.repoKey, at.branch, at.model, at.deviceId, at.session, at.context]);

function add(sums: Record<string, Measures>, name: string, measures: Measures): void {
  sums[name] = addMeasures(sums[name] ?? NO_MEASURES, measures, 1);
}

const MEASURED = "usages, input, output, cache_write, cache_write_1h, cache_read, reported_nano, reported";
const SUMMED = MEASURED.replace(/\w+/g, "sum($&) AS $&");

const KEYS: Record<Exclude<Grouping, "person">, (cell: Cell) => string> = {
  model: ({ model }) => model,
  repo: ({ repoKey }) => repoKey,
  branch: ({ branch }) => branch,
  agent: ({ agent }) => agent,
  device: ({ deviceId }) => deviceId,
  session: ({ session, deviceId }) => `${session} of ${deviceId}`,
  day: ({ day }) => new Date(day * DAY_MS).toISOString().slice(0, 10),
};
type Cell = Dimensions & Measures & { readonly agent: string };

/** Expects that reports, which keep sums from one to the next, say what adding up all cells says. */
function expectReportsOf(t: TestInstance, cells: readonly Cell[]): void {
  const { core } = t.instance;
  const { table } = currentPrices(core);
  const days = cells.map(({ day }) => day * DAY_MS);
  for (const [teamId, ofTeam] of Map.groupBy(cells, (cell) => cell.teamId))
    for (const [by, keyOf] of Object.entries(KEYS) as [keyof typeof KEYS, (cell: Cell) => string][])
      for (const repoKey of [undefined, ofTeam[0]?.repoKey]) {
        const asked = ofTeam.filter((cell) => repoKey === undefined || cell.repoKey === repoKey);
        const query = { from: Math.min(...days), to: Math.max(...days), by, repoKey };
        const { groups, total, groupCount, ...report } = spendReport(core, teamId, query);
        const expected = [...Map.groupBy(asked, keyOf)].map(([key, some]) => {
          const sum = (name: keyof Measures) => some.reduce((all, cell) => all + cell[name], 0);
          const costs = some.map((cell) => [cell, table.cost(cell.model, cell.day, cell.context, cell)] as const);
          const priced = costs.filter(([cell, cost]) => cost !== undefined && tokensOf(cell) > 0);
          return {
            key,
            usd: priced.length === 0 ? null : Number(priced.reduce((all, [, cost]) => all + (cost ?? 0n), 0n)) / 1e12,
            inputTokens: sum("input"),
            outputTokens: sum("output"),
            cacheReadTokens: sum("cacheRead"),
            cacheWriteTokens: sum("cacheWrite") + sum("cacheWrite1h"),
            unpricedTokens: costs.reduce((all, [cell, cost]) => all + (cost === undefined ? tokensOf(cell) : 0), 0),
            usages: sum("usages"),
          };
        });
        const named = groups.map(({ key, deviceId, reportedUsd: _, ...figures }) => ({
          key: by === "session" ? `${key} of ${deviceId}` : key,
          ...figures,
        }));
        const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);
        expect(named.sort(byKey), by).toEqual(expected.sort(byKey));
        expect([groupCount, total.usages]).toEqual([
          expected.length,
          expected.reduce((all, { usages }) => all + usages, 0),
        ]);
        expect(report.firstGroups(3)).toEqual(groups.slice(0, 3));
      }
}

const tokensOf = ({ input, output, cacheWrite, cacheWrite1h, cacheRead }: Measures) =>
  input + output + cacheWrite + cacheWrite1h + cacheRead;

/** What the roll-up holds, which its days and the reports of it hold too. */
export function rolledUp(t: TestInstance): Record<string, Measures> {
  const sums: Record<string, Measures> = {};
  const cells = t.rows(
    `SELECT team_id AS teamId, day, repo_key AS repoKey, iif(branch = '', session_branch, branch) AS branch,
       iif(model = '', session_model, model) AS model, device_id AS deviceId, session, context, usages, input, output,
       session_agent AS agent,
       cache_write AS cacheWrite, cache_write_1h AS cacheWrite1h, cache_read AS cacheRead, reported_nano AS reportedNano, reported
     FROM spend_cells WHERE usages > 0 OR reported > 0`,
  ) as Cell[];
  for (const cell of cells) add(sums, nameOf(cell), cell);
  expectReportsOf(t, cells);
  const days = t.rows(`SELECT team_id, day, model, context, ${MEASURED} FROM spend_days ORDER BY 1, 2, 3, 4`);
  expect(days).toEqual(
    t.rows(
      `SELECT team_id, day, iif(model = '', session_model, model) AS model, context, ${SUMMED} FROM spend_cells
       WHERE usages > 0 OR reported > 0 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
    ),
  );
  return sums;
}
