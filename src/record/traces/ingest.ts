import * as v from "valibot";
import { requireCapability, tierGate } from "../../identity/accounts/accounts.ts";
import { fail, tooLarge } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { Count, DateTime, FreeObject, NO_REPO, openObject, RepoKey } from "../../platform/http/fields.ts";
import { redactText } from "../../redact/redact.ts";
import { MAX_ROWS, partsOf } from "./parts.ts";
import { readBatch } from "./read-batch.ts";
import { requireRoom, storePart } from "./store-batch.ts";

const TraceBatch = v.object({
  sessions: v.array(
    openObject({
      outcome: v.string(),
      spans: v.pipe(
        v.array(FreeObject),
        v.description("Free-form; id, parentId, name, kind, startedAt, endedAt, usage and edits are understood."),
      ),
    }),
  ),
  repoKey: v.optional(RepoKey),
  clientTimestamp: v.optional(DateTime),
  labels: v.optional(v.array(FreeObject)),
});

/** Takes agent sessions with their spans and labels; sessions known by their id grow. */
export const ingest = endpoint(
  {
    id: "agentTracesIngest",
    method: "POST",
    path: "/api/agent-traces/ingest",
    summary: "Publish agent sessions, spans and labels",
    tag: "Agent traces",
    auth: "device",
    body: { schema: TraceBatch, maxBytes: (config) => config.maxTraceBytes, freeForm: true },
    ok: v.object({
      ok: v.boolean(),
      sessions: v.optional(Count),
      spans: v.optional(Count),
      labels: v.optional(Count),
      serverRedacted: v.optional(
        v.pipe(Count, v.description("Sessions, spans and labels in which the server removed a secret.")),
      ),
    }),
    faults: [...inShape("tierGate", tierGate)],
    limits: [{ name: "traces", quota: (config) => config.limitTraces, per: "team", headers: "limited" }],
    example: {
      ok: { ok: true, sessions: 1, spans: 1, labels: 1, serverRedacted: 0 },
      body: {
        repoKey: "github.com/acme/shop",
        sessions: [
          {
            id: "s-1",
            outcome: "success",
            agent: "claude-code",
            startedAt: "2026-11-21T08:00:00Z",
            spans: [{ id: "a", name: "edit", edits: [{ path: "src/login.ts", startLine: 10, endLine: 14 }] }],
          },
        ],
        labels: [{ sessionId: "s-1", name: "review", value: "good" }],
      },
    },
  },
  async ({ core, principal, body, text }) => {
    requireCapability(principal.tier, "traces");
    const { config } = core;
    if (body.sessions.length > config.maxTraceSessions)
      fail(tooLarge, `The batch has ${body.sessions.length} sessions; at most ${config.maxTraceSessions} fit in one.`);
    const spans = body.sessions.reduce((sum, session) => sum + session.spans.length, 0);
    if (spans > config.maxTraceSpans)
      fail(tooLarge, `The batch has ${spans} spans; at most ${config.maxTraceSpans} fit in one.`);
    const labels = body.labels?.length ?? 0;
    if (labels > config.maxTraceLabels)
      fail(tooLarge, `The batch has ${labels} labels; at most ${config.maxTraceLabels} fit in one.`);
    const batch = await readBatch(text, cooperative(core.clock));
    const repoKey = body.repoKey === undefined ? NO_REPO : redactText(body.repoKey).text;
    if (body.sessions.length + spans + labels > MAX_ROWS) requireRoom(core, principal, batch);
    for (const part of partsOf(batch)) await core.store.write(() => storePart(core, principal, repoKey, part));
    return { ok: true, sessions: body.sessions.length, spans, labels, serverRedacted: batch.redacted };
  },
);
