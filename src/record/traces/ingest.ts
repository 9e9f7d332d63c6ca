import * as v from "valibot";
import { type DevicePrincipal, device } from "../../identity/devices/devices.ts";
import { tierGate } from "../../identity/teams/teams.ts";
import { endpoint, prepared } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { Count } from "../../platform/http/fields.ts";
import { admit, Intake } from "../intake/intake.ts";
import { readTraces, TraceBatch } from "./prepare.ts";
import { stepsOf } from "./steps.ts";
import { requireRoom, storePart } from "./store-batch.ts";

/** Takes agent sessions with their spans and labels; sessions known by their id grow. */
export const ingest = endpoint(
  {
    id: "agentTracesIngest",
    method: "POST",
    path: "/api/agent-traces/ingest",
    summary: "Publish agent sessions, spans and labels",
    tag: "Agent traces",
    auth: device,
    body: {
      schema: TraceBatch,
      maxBytes: (config) => config.maxTraceBytes,
      freeForm: true,
      prepare: prepared(readTraces, (core, principal: DevicePrincipal) => ({
        ...admit(core, principal, "traces"),
        maxSessions: core.config.maxTraceSessions,
        maxSpans: core.config.maxTraceSpans,
        maxLabels: core.config.maxTraceLabels,
      })),
    },
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
    const { core, body: batch } = request;
    const intake = new Intake(request, "traces", batch);
    intake.withheld = batch.withheld;
    if (batch.captureMode === "off") await intake.store(() => undefined);
    await requireRoom(core, intake.device, batch.heads);
    for (const part of batch.parts) {
      const steps = await stepsOf(core, intake.device, part);
      if (steps.length > 1) await requireRoom(core, intake.device, part.sessions);
      for (const step of steps) await intake.store((now) => storePart(intake, step, now));
    }
    const { sessions, spans, labels, redacted } = batch;
    return intake.reply({ ok: true, sessions, spans, labels, serverRedacted: redacted });
  },
);
