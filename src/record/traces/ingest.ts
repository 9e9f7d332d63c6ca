import * as v from "valibot";
import { device } from "../../identity/devices/devices.ts";
import { tierGate } from "../../identity/teams/teams.ts";
import { cooperative } from "../../kit/yield.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { Count, DateTime, FreeObject, openObject, RepoKey } from "../../platform/http/fields.ts";
import { admit, Intake } from "../intake/intake.ts";
import { cleanRepoKey, requireAtMost, SentBody } from "../sent-body/sent-body.ts";
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
    auth: device,
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
  async (request) => {
    const { core, principal, body, text } = request;
    const ready = { ...admit(core, principal, "traces"), repoKey: cleanRepoKey(body.repoKey) };
    const intake = new Intake(request, "traces", ready);
    const { maxTraceSessions, maxTraceSpans, maxTraceLabels } = core.config;
    const sessions = body.sessions.length;
    const spans = body.sessions.reduce((sum, session) => sum + session.spans.length, 0);
    const labels = body.labels?.length ?? 0;
    requireAtMost(maxTraceSessions, sessions, ["batch", "sessions"]);
    requireAtMost(maxTraceSpans, spans, ["batch", "spans"]);
    requireAtMost(maxTraceLabels, labels, ["batch", "labels"]);
    if (intake.captureMode === "off") {
      intake.withheld = sessions + labels;
      await intake.store(() => undefined);
      return { ok: true, sessions: 0, spans: 0, labels: 0, serverRedacted: 0 };
    }
    const batch = await readBatch(await SentBody.open(text, cooperative(core.clock), intake.captureMode));
    intake.withheld = batch.withheld;
    if (sessions + spans + labels > MAX_ROWS) requireRoom(core, intake.device, batch);
    for (const part of partsOf(batch)) await intake.store((now) => storePart(intake, part, now));
    return { ok: true, sessions, spans, labels, serverRedacted: batch.redacted };
  },
);
