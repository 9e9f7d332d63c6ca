import { readEntry } from "../../../src/insight/spend/read-entry.ts";
import { readSession } from "../../../src/insight/spend/read-session.ts";
import {
  FIGURES,
  type Figures,
  isLike,
  isLink,
  isMessage,
  messageOf,
  type Place,
  requestOf,
  type Told,
} from "../../../src/insight/spend/usage-record.ts";
import type { UsageCandidate } from "../../../src/record/telemetry/telemetry.ts";
import { readMetered } from "../../../src/record/traces/traces.ts";
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
  ) as UsageCandidate[];
  const tellings: Telling[] = entries.flatMap((entry) => readEntry(entry).map((told) => ({ ...told, source: 0 })));
  for (const { id } of t.rows("SELECT id FROM trace_sessions")) {
    const session = await readMetered(t.instance.core, id);
    if (session) tellings.push(...readSession(session).map((told) => ({ ...told, source: id as number })));
  }
  const sums: Record<string, Figures> = {};
  for (const { place, figures } of countedOf(tellings)) add(sums, shown(t, place as Place), figures);
  return sums;
}

/** What counts of all tellings, each for itself. */
function countedOf(tellings: readonly Telling[]): Telling[] {
  const all = Map.groupBy(tellings, ({ key }) =>
    isMessage(key) ? "message" : isLike(key) ? "like" : isLink(key) ? "link" : "own",
  );
  const nameOfMessage = namesByLinks(all.get("link") ?? []);
  const own = [...Map.groupBy(all.get("own") ?? [], ({ teamId, key }) => `${teamId} ${key.toString("hex")}`).values()];
  const messages: Telling[] = [];
  /** Messages that one side told alone, by session and figures: `home` is the telling that counts where it is of this session. */
  const alone: { readonly of: string; readonly by: "entries" | "spans"; readonly home: Telling | undefined }[] = [];
  for (const of of Map.groupBy(all.get("message") ?? [], nameOfMessage).values()) {
    const [best] = [...of].sort(firstBest) as [Telling];
    messages.push(best);
    for (const told of Map.groupBy(of, sessionOf).values()) {
      const [most] = [...told].sort(firstBest) as [Telling];
      const sides = new Set(told.map(sideOf));
      if (sides.size === 1 && most.place?.session !== "")
        alone.push({ of: likeness(most), by: sideOf(most), home: told.includes(best) ? best : undefined });
    }
  }
  const others: Telling[] = [];
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
  return [...own.flatMap((of) => (of.some(({ place }) => place === null) ? [] : of)), ...messages, ...others];
}

/** What a message is called: a request is the message that it is linked to, where that is one. */
function namesByLinks(links: readonly Telling[]): (one: Telling) => string {
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

const isEntry = ({ source }: Telling) => source === 0;
const sideOf = (one: Telling) => (isEntry(one) ? "entries" : "spans");
const sessionOf = ({ place }: Telling) => JSON.stringify([place?.deviceId, place?.session]);
function likeness({ teamId, place, figures }: Telling): string {
  const { usages, input, output, cacheWrite, cacheWrite1h, cacheRead, reportedNano } = figures;
  const alike = usages === 0 ? reportedNano : [input, output, cacheWrite + cacheWrite1h, cacheRead];
  return JSON.stringify([teamId, place?.deviceId, place?.session, alike]);
}

/** Takes pairs out of two lists, those of the same model first. */
function pairs(some: Telling[], others: Telling[]): [Telling, Telling][] {
  const found: [Telling, Telling][] = [];
  const model = ({ place }: Telling) => place?.model.replace(/-20\d{6}$/, "");
  for (const isPair of [(a: Telling, b: Telling) => model(a) === model(b), () => true])
    for (const one of [...some]) {
      const other = others.find((each) => isPair(one, each));
      if (!other) continue;
      found.push([one, other]);
      some.splice(some.indexOf(one), 1);
      others.splice(others.indexOf(other), 1);
    }
  return found;
}

function both(one: Telling, other: Telling): Telling {
  const [a, b] = [one.place as Place, other.place as Place];
  const split = other.figures.cacheWrite1h > one.figures.cacheWrite1h ? other.figures : one.figures;
  const cost = one.figures.reported > 0 ? one.figures : other.figures;
  return {
    ...one,
    place: { ...a, model: a.model || b.model, branch: a.branch || b.branch, repoKey: a.repoKey || b.repoKey },
    figures: {
      ...one.figures,
      cacheWrite: split.cacheWrite,
      cacheWrite1h: split.cacheWrite1h,
      reported: cost.reported,
      reportedNano: cost.reportedNano,
    },
  };
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
