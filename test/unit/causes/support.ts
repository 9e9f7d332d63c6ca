import { expect } from "vitest";
import { evidenceProjection, linksProjection, listLinks } from "../../../src/insight/causes/causes.ts";
import { catchUp } from "../../../src/platform/projections/projections.ts";
import type { TestDevice, TestInstance } from "../../support/instance.ts";

export const ERRORS = ".claude/brain/errors.md";
export const SHA = "a1b2c3d4e5f60718293a4b5c6d7e8f9012345678";
export const OTHER = "b2c3d4e5f60718293a4b5c6d7e8f9012345678a1";

/** An instant of November 2026. */
export const at = (day: number, hour = 12, minute = 0): string =>
  new Date(Date.UTC(2026, 10, day, hour, minute)).toISOString();

/** Publishes a brain whose errors file has these entries, the newest first. */
export async function publish(
  t: TestInstance,
  { token }: TestDevice,
  entries: readonly string[],
  { repoKey = "shop", version = 1, path = ERRORS } = {},
): Promise<void> {
  const json = { version, repoKey, files: [{ path, content: `# Errors\n\n${entries.join("\n\n")}\n` }] };
  expect((await t.post("/api/brain/ingest", { token, json })).status).toBe(200);
}

/** A session of an hour on a day of November 2026. */
export const session = (id: string, day: number, more: object = {}) => ({
  ...{ id, outcome: "success", startedAt: at(day, 12), endedAt: at(day, 13), spans: [] },
  ...{ agent: "claude-code", model: "m-1", prompts: [{ at: at(day, 12), text: `Do ${id}` }] },
  ...more,
});

export async function trace(
  t: TestInstance,
  { token }: TestDevice,
  sessions: readonly object[],
  repoKey: string | undefined = "shop",
): Promise<void> {
  const json = { ...(repoKey === "" ? {} : { repoKey }), sessions };
  expect((await t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
}

export async function follow(t: TestInstance): Promise<void> {
  await catchUp(t.instance.core, linksProjection);
  await catchUp(t.instance.core, evidenceProjection);
}

/** What a team's entries are put down to, each as `title: session band`. */
export async function linked(t: TestInstance, { team }: TestDevice): Promise<string[]> {
  await follow(t);
  return (await listLinks(t.instance.core, team.id, { limit: 1_000 })).links.map(
    ({ heading, sessionId, band }) => `${heading.slice(11)}: ${sessionId} ${band}`,
  );
}

/** Every row that this room keeps. */
export const everything = (t: TestInstance) =>
  ["trace_session_windows", "trace_session_commits", "trace_session_files", "trace_session_edits", "causal_links"].map(
    (table) => t.rows(`SELECT * FROM ${table} ORDER BY 1, 2, 3`),
  );
