import * as v from "valibot";
import type { Core } from "../../core.ts";
import { instantOrNull } from "../../kit/clock.ts";
import { Instant, repoKeyOf } from "../../platform/http/fields.ts";
import { runningSessions, type Session } from "../../record/traces/traces.ts";
import { Id, RepoKey, Text, When } from "./fields.ts";

/** What lists and single replies tell of a session alike. */
export const SessionFacts = v.object({
  id: v.pipe(Id, v.description("Names it in addresses: `/api/sessions/{id}`, and `/sessions/{id}` on the dashboard.")),
  sessionId: v.pipe(v.string(), v.description("As its agent named it.")),
  deviceId: v.string(),
  deviceLabel: Text,
  userEmail: v.pipe(
    Text,
    v.description(
      "The person whom the agent names as signed in; null where it names nobody: then the session is that of the device's person.",
    ),
  ),
  repoKey: RepoKey,
  outcome: v.string(),
  running: v.pipe(
    v.boolean(),
    v.description("As far as one can tell: no end is known, and it changed less than 15 minutes ago."),
  ),
  agent: Text,
  model: Text,
  branch: Text,
  startedAt: When,
  endedAt: When,
  createdAt: v.pipe(Instant, v.description("When it was received first.")),
  updatedAt: v.pipe(Instant, v.description("When it changed last.")),
});

type Facts = Pick<
  Session,
  | (
      | "id"
      | "externalId"
      | "deviceId"
      | "deviceLabel"
      | "userEmail"
      | "repoKey"
      | "outcome"
      | "agent"
      | "model"
      | "branch"
    )
  | ("startedAt" | "endedAt" | "createdAt" | "updatedAt")
>;

export function factsOf(core: Core, row: Facts) {
  const { id, externalId, deviceId, deviceLabel, userEmail, repoKey, outcome, agent, model, branch } = row;
  return {
    id,
    sessionId: externalId,
    ...{
      deviceId,
      deviceLabel,
      userEmail,
      repoKey: repoKeyOf(repoKey),
      outcome,
      running: runningSessions.runs(core, row),
      agent,
      model,
      branch,
    },
    startedAt: instantOrNull(row.startedAt),
    endedAt: instantOrNull(row.endedAt),
    createdAt: instantOrNull(row.createdAt),
    updatedAt: instantOrNull(row.updatedAt),
  };
}

export const EXAMPLE_SESSION = {
  id: 7,
  sessionId: "b7c0a1",
  deviceId: "dev_06a15c9c007x7v3w3nbxrw2s5m",
  deviceLabel: "ada-laptop",
  userEmail: null,
  repoKey: "github.com/acme/shop",
  outcome: "success",
  running: false,
  agent: "claude-code",
  model: "claude-sonnet-4-5",
  branch: "main",
  startedAt: "2026-11-21T07:59:00.000Z",
  endedAt: "2026-11-21T08:12:30.000Z",
  createdAt: "2026-11-21T08:12:31.000Z",
  updatedAt: "2026-11-21T08:12:31.000Z",
};
