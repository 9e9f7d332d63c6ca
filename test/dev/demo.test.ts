import { describe, expect, it } from "vitest";
import { listMembers } from "../../src/identity/members/members.ts";
import { lastSeenAt } from "../../src/identity/web-sessions/web-sessions.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { listFiles, listRepositories } from "../../src/record/brain/brain.ts";
import { verifyLedger } from "../../src/share/maintenance/maintenance.ts";
import { publications } from "../../src/surfaces/dev/demo/brain.ts";
import { DEVICES } from "../../src/surfaces/dev/demo/data.ts";
import { type DemoSession, demoSessions } from "../../src/surfaces/dev/demo/sessions.ts";
import { startLocal } from "../support/dev.ts";

const START = Date.UTC(2026, 10, 21, 8);
const REPOS = ["shop", "parcels", "app"] as const;

interface Entry {
  readonly date: string;
  readonly title: string;
  readonly body: string;
  readonly open: boolean;
  readonly rule: string | undefined;
  readonly commit: string | undefined;
  readonly file: string;
}

/** Reads an errors file as the contract describes it. */
function entriesOf(markdown: string): Entry[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .flatMap((text) => {
      const [heading = "", ...rest] = text.split("\n");
      const found = /^(?:([⌛⚠]) )?(\d{4}-\d{2}-\d{2}) — (.+)$/u.exec(heading);
      if (!found) return [];
      const body = rest.join("\n");
      return {
        date: found[2] as string,
        title: found[3] as string,
        body,
        open: found[1] !== undefined || /^\*\*Status:\*\* (?:open|in progress)$/m.test(body),
        rule: /^\*\*Prevention rule:\*\* (.+)$/m.exec(body)?.[1],
        commit: /`([0-9a-f]{10})`/.exec(body)?.[1],
        file: /`([\w./]+\.(?:ts|py))`/.exec(body)?.[1] as string,
      };
    });
}

const errorsOf = (repo: (typeof REPOS)[number], sessions: readonly DemoSession[], startAt: number) =>
  publications(repo, sessions, startAt)
    .at(-1)
    ?.files.find(({ path }) => path.endsWith("errors.md"))?.content as string;

describe("the demo brain", () => {
  const sessions = demoSessions(START);
  const all = REPOS.map((repo) => ({ repo, entries: entriesOf(errorsOf(repo, sessions, START)) }));

  it("has dated entries, the newest first, some of them open", () => {
    for (const { entries } of all) {
      const dates = entries.map(({ date }) => date);
      expect(dates).toEqual(dates.toSorted().reverse());
    }
    const entries = all.flatMap((one) => one.entries);
    expect(entries.length).toBe(15);
    expect(entries.filter(({ open }) => open).map(({ title }) => title)).toEqual([
      "Delivery date one day early",
      "Facet counts differ from the list",
      "Label bought twice",
      "Push message shown twice",
    ]);
  });

  it("has lessons that came again, in a repository and across both", () => {
    const times = (entries: readonly Entry[]) =>
      [...Map.groupBy(entries, ({ rule }) => rule)].flatMap(([rule, one]) => (rule === undefined ? [] : [one.length]));
    for (const { repo, entries } of all) if (repo !== "app") expect(Math.max(...times(entries))).toBeGreaterThan(1);
    expect(times(all.flatMap((one) => one.entries)).filter((n) => n > 1).length).toBe(4);
  });

  it("names commits that one session made before, in the file that broke", () => {
    let named = 0;
    for (const { repo, entries } of all)
      for (const { commit, file, date } of entries) {
        if (!commit) continue;
        named++;
        const made = sessions.filter((one) => one.sha?.startsWith(commit));
        expect([commit, made.length]).toEqual([commit, 1]);
        const { repo: of, endedAt, document, sha } = made[0] as DemoSession;
        expect(of).toBe(repo);
        expect(document.files).toContain(file);
        expect(new Date(endedAt).toISOString().slice(0, 10) < date).toBe(true);
        const spans = document.spans as { edits?: { path: string; commit: string }[] }[];
        const edits = spans.flatMap((one) => one.edits ?? []);
        expect(edits.filter((edit) => edit.path === file && edit.commit === sha).length).toBeGreaterThan(0);
      }
    expect(named).toBe(11);
  });
});

/** A span of a demo session, as far as it is looked at here. */
interface Span {
  readonly kind: string;
  readonly usage: Readonly<
    Record<"input_tokens" | "output_tokens" | "cache_creation_input_tokens" | "cache_read_input_tokens", number>
  > & { readonly id: string };
  readonly attributes: object;
}

describe("the demo sessions", () => {
  it("call models with tokens of every kind, told by span and attributes alike", () => {
    const sessions = demoSessions(START);
    expect(sessions.length).toBeGreaterThanOrEqual(40);
    const calls = sessions.flatMap((one) => (one.document.spans as Span[]).filter(({ kind }) => kind === "llm"));
    expect(calls.length).toBeGreaterThan(150);
    expect(new Set(calls.map(({ usage }) => usage.id)).size).toBe(calls.length);
    for (const { usage, attributes } of calls) {
      const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage;
      for (const count of [input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens])
        expect(count).toBeGreaterThan(0);
      expect(attributes).toMatchObject({
        "gen_ai.request.model": expect.stringMatching(/^[a-z]/),
        "gen_ai.usage.output_tokens": output_tokens,
        "gen_ai.usage.input_tokens": input_tokens + cache_creation_input_tokens + cache_read_input_tokens,
      });
    }
    expect(new Set(sessions.map(({ document }) => document.model)).size).toBeGreaterThanOrEqual(4);
  });

  it("go better in the last week than in the one before, on whichever day it starts", () => {
    for (let day = 0; day < 7; day++) {
      const startAt = Date.UTC(2026, 10, 21 + day, 8);
      const today = startAt - (startAt % DAY_MS);
      const share = (from: number) => {
        const week = demoSessions(startAt).filter(
          ({ startedAt }) => startedAt >= from && startedAt < from + 7 * DAY_MS,
        );
        return week.filter(({ document }) => document.outcome === "success").length / week.length;
      };
      expect(share(today - 6 * DAY_MS)).toBeGreaterThan(share(today - 13 * DAY_MS) + 0.15);
    }
  });

  it("lie before the start and beside each other, on whichever day it starts", () => {
    for (let day = 0; day < 8; day++)
      for (const hour of [0, 8, 23]) {
        const startAt = Date.UTC(2026, 10, 21 + day, hour, 59);
        const sessions = demoSessions(startAt);
        for (const device of DEVICES.keys()) {
          const own = sessions.filter((one) => one.device === device);
          for (const [i, one] of own.entries()) {
            expect(one.startedAt).toBeGreaterThan(startAt - 38 * DAY_MS);
            expect(one.endedAt).toBeLessThan(own[i + 1]?.startedAt ?? startAt);
          }
        }
        for (const repo of REPOS) {
          const published = publications(repo, sessions, startAt);
          expect(published.every(({ at }) => at < startAt)).toBe(true);
          expect(entriesOf(errorsOf(repo, sessions, startAt)).length).toBeGreaterThan(1);
        }
      }
  });
});

describe("the demo team", () => {
  it("is stored as devices would have sent it: deliveries, a gap, conflicts, a whole ledger", async () => {
    const t = await startLocal({ empty: false });
    const { counts, devices } = (await t.get("/_dev/state")).body;
    expect(counts).toMatchObject({
      devices: 9,
      repositories: 3,
      missingSequenceNumbers: 3,
      telemetryConflicts: 4,
      errorEntries: 15,
      openErrors: 4,
    });
    expect(counts.telemetryEntries).toBeGreaterThan(400);
    expect(devices.filter(({ status }: { status: string }) => status === "revoked").length).toBe(1);
    const report = verifyLedger(t.local.core, undefined, () => {});
    expect(report).toMatchObject({ deliveries: counts.deliveries, faults: [] });
  });

  it("has people who were all seen, after the last thing that each did", async () => {
    const t = await startLocal({ empty: false });
    const { core, credentials, clock } = t.local;
    for (const { email, userId } of await listMembers(core, credentials.teamId)) {
      // The owner is seen when somebody signs in with what is printed.
      if (userId === credentials.userId) continue;
      const seen = lastSeenAt(core, userId);
      expect(seen, email).toBeLessThan(clock.now());
      const acted = core.store.db.prepare("SELECT max(at) FROM audit_events WHERE actor_id = ?").pluck().get(userId);
      expect(seen, email).toBeGreaterThanOrEqual(Number(acted));
    }
  });

  it("has a brain in each repository, of many kinds in one", async () => {
    const t = await startLocal({ empty: false });
    const { core, credentials } = t.local;
    const repositories = listRepositories(core, credentials.teamId).map(({ repoKey }) => repoKey);
    expect(repositories.toSorted()).toEqual([
      "github.com/brightloom/app",
      "github.com/brightloom/parcel-sync",
      "github.com/brightloom/shop",
    ]);
    const files = listFiles(core, credentials.teamId, "github.com/brightloom/shop")?.files ?? [];
    expect([...new Set(files.map(({ kind }) => kind))].toSorted()).toEqual([
      "anti-pattern",
      "decision",
      "error",
      "note",
      "security",
      "session",
    ]);
  });

  it("holds no secret that its agents typed", async () => {
    const t = await startLocal({ empty: false });
    const text = t.local.core.store.db.serialize().toString("latin1");
    expect(text).not.toContain("tulip-Ferry");
    expect(text).toContain("DATABASE_PASSWORD");
  });
});
