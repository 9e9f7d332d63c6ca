import * as v from "valibot";
import type { DevicePrincipal } from "../../identity/devices/devices.ts";
import { tierGate } from "../../identity/teams/teams.ts";
import { endpoint, prepared } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { Count, NO_REPO } from "../../platform/http/fields.ts";
import { counter } from "../../platform/metrics/metrics.ts";
import { admit, Intake } from "../intake/intake.ts";
import { commitNotes } from "../traces/traces.ts";
import { apiKey } from "./credential.ts";
import { NoteBatch, readNotes } from "./prepare.ts";

const MAX_BYTES = 64 * 1024 * 1024;

export const received = counter("reckon_git_ai_notes_total", "Notes of commits received from Git AI.");

/**
 * Takes notes of commits. Git AI does not learn which of a batch failed and sends all of it again, at most six times: those that are
 * kept already change nothing then.
 */
export const notesUpload = endpoint(
  {
    id: "gitAiNotesUpload",
    method: "POST",
    path: "/adapters/git-ai/worker/notes/upload",
    alias: "/adapters/git-ai/worker/notes/upload/",
    summary: "Store notes of commits",
    tag: "Git AI",
    auth: apiKey,
    body: {
      schema: NoteBatch,
      maxBytes: () => MAX_BYTES,
      gzip: true,
      prepare: prepared(readNotes, (core, principal: DevicePrincipal) => admit(core, principal, "traces")),
    },
    ok: v.object({
      success_count: v.pipe(Count, v.description("Notes that are kept.")),
      failure_count: v.pipe(
        Count,
        v.description(
          "Notes that cannot be kept: too large, of no commit, with a secret, or against the team's policy.",
        ),
      ),
    }),
    faults: [...inShape("tierGate", tierGate)],
    limits: [{ name: "git-ai", quota: (config) => config.limitTelemetry, per: "team", headers: "limited" }],
    example: {
      body: {
        entries: [
          {
            commit_sha: "80281eb75be77fc3cf9ef8a3c250f98444c42f16",
            content:
              'src/login.ts\n  s_c9883b05a2487d::t_9f8e7d6c5b4a32 1-10\n---\n{"schema_version":"authorship/3.0.0","base_commit_sha":"","prompts":{},' +
              '"sessions":{"s_c9883b05a2487d":{"agent_id":{"tool":"claude","id":"s-1","model":"claude-opus-4-6"}}}}',
          },
        ],
      },
      ok: { success_count: 1, failure_count: 0 },
    },
  },
  async (request) => {
    const { core, body: batch } = request;
    const { notes, failed, withheld } = batch;
    const intake = new Intake(request, "traces", { ...batch, repoKey: NO_REPO });
    intake.withheld = withheld;
    await commitNotes.deliver(intake, notes);
    received.count(core, { fate: "kept" }, notes.length);
    received.count(core, { fate: "failed" }, failed);
    return intake.reply({ success_count: notes.length, failure_count: failed });
  },
);
