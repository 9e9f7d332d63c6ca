import type { Core } from "../../core.ts";
import { listDevices } from "../../identity/devices/devices.ts";
import { defectFacts, onWire } from "../../insight/defects/defects.ts";
import { type SessionFact, sessionFacts } from "../../insight/sessions/sessions.ts";
import { type SpendFact, spendFacts } from "../../insight/spend/spend.ts";
import { DAY_MS } from "../../kit/clock.ts";
import { daysIn, foldersOf } from "./day.ts";
import type { Mark } from "./rows.ts";
import type { Row } from "./tables.ts";

/** What the files of a day are made of. */
export interface Source {
  /** The folders of a team that there is anything for. */
  folders(core: Core, teamId: string): Iterable<string>;
  /** The rows of a folder, in portions that are read in some milliseconds each. */
  portions(core: Core, shard: string, teamId: string, folder: string): Iterable<readonly Row[]>;
}

/** Rows read at once. */
const PORTION_ROWS = 500;

/** What a room says of days: see its `facts.ts`. */
interface Facts<Fact> {
  nextDay(core: Core, teamId: string, from: number): number | undefined;
  page(
    core: Core,
    teamId: string,
    days: ReturnType<typeof daysIn>,
    after: Fact | undefined,
    count: number,
  ): readonly Fact[];
}

function sourceOf<Fact>(facts: Facts<Fact>, rowOf: (shard: string, fact: Fact) => Row): Source {
  return {
    folders: (core, teamId) => foldersOf((from) => facts.nextDay(core, teamId, from)),
    *portions(core, shard, teamId, folder) {
      for (let last: Fact | undefined; ; ) {
        const page = facts.page(core, teamId, daysIn(folder), last, PORTION_ROWS);
        if (page.length > 0) yield page.map((fact) => rowOf(shard, fact));
        if (page.length < PORTION_ROWS) return;
        last = page.at(-1);
      }
    },
  };
}

export const SOURCES: Readonly<Record<Mark["kind"], Source>> = {
  spend: sourceOf(spendFacts, spendRow),
  sessions: sourceOf(sessionFacts, sessionRow),
  errors: sourceOf(defectFacts, errorRow),
};

const NANO = 1_000n;
/** What nobody said is nothing here, and not an empty text. */
const said = (text: string) => text || null;

function spendRow(shard: string, fact: SpendFact): Row {
  const { day, deviceId, repoKey, session, sessionAgent, context, usages } = fact;
  return [
    ...[shard, day, deviceId, said(repoKey), said(fact.branch || fact.sessionBranch), said(session)],
    ...[said(sessionAgent), said(fact.model || fact.sessionModel), context, usages],
    ...[fact.input, fact.output, fact.cacheWrite + fact.cacheWrite1h, fact.cacheRead],
    fact.pico === null ? null : String(fact.pico),
    fact.unpriced,
    fact.reported === 0 ? null : String(BigInt(fact.reportedNano) * NANO),
  ];
}

function sessionRow(shard: string, fact: SessionFact): Row {
  const { number, deviceId, externalId, repoKey, branch, agent, model, outcome, result, title } = fact;
  return [
    ...[shard, number, deviceId, externalId, said(repoKey), said(branch), said(agent), said(model)],
    ...[said(outcome), result, title, fact.startedAt === Number.MIN_SAFE_INTEGER ? null : fact.startedAt],
    ...[fact.duration < 0 ? null : fact.duration, fact.commits, fact.failedSteps, fact.caused],
    ...[fact.tokens, fact.unpriced, fact.costNano < 0 ? null : String(BigInt(fact.costNano) * NANO)],
  ];
}

function errorRow(shard: string, fact: ReturnType<typeof defectFacts.page>[number]): Row {
  const { id, repoKey, path, line, kind, date, fingerprint, title, open, rule } = fact;
  return [
    ...[shard, id, said(repoKey), path, line, kind, Date.parse(date) / DAY_MS],
    ...[onWire(fingerprint), title, open === 1, rule],
  ];
}

/** The devices of a team, and whose they are. */
export const deviceRows = (core: Core, shard: string, team: { readonly id: string; readonly name: string }): Row[] =>
  listDevices(core, team.id).map(({ id, label, person, createdAt, revokedAt }) => [
    ...[shard, id, label, person?.id ?? null, person?.email ?? null, team.name, createdAt, revokedAt],
  ]);
