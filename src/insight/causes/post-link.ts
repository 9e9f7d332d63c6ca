import * as v from "valibot";
import type { Core } from "../../core.ts";
import { type DevicePrincipal, findDeviceOf, touchDevice } from "../../identity/devices/devices.ts";
import { changingDevice } from "../../identity/sight/sight.ts";
import { requireCapability, tierGate } from "../../identity/teams/teams.ts";
import { fail, forbidden, malformed } from "../../kit/problem.ts";
import type { Actor } from "../../platform/audit/audit.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { Counter, commit, either, identifier, line, NO_REPO } from "../../platform/http/fields.ts";
import { catchUp } from "../../platform/projections/projections.ts";
import { redactText } from "../../redact/redact.ts";
import { linksProjection } from "./follow-deliveries.ts";
import { CausalLink, EXAMPLE_LINK, entryUnknown, linkReply, sessionUnknown } from "./replies.ts";
import { createLink, type Doubt, findEntry } from "./verdicts.ts";

const Cause = v.object({
  repoKey: v.pipe(line(512), v.description('As the brain was published; "" for one that was published without.')),
  file: v.pipe(identifier(512), v.description("Path of the brain file.")),
  heading: v.pipe(identifier(1_100), v.description("The entry's heading, with or without ##, or its title alone.")),
  ordinal: v.optional(
    v.pipe(Counter, v.description("Among equal headings of the file, counted from its end; the newest without it.")),
  ),
  sessionId: v.optional(v.pipe(identifier(256), v.description("As its agent named it."))),
  commit: v.optional(commit("A commit that no session made is taken as well.")),
  promptExcerpt: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(4_000, "must have at most 4000 characters"),
      v.description("Kept up to 280 characters."),
    ),
  ),
});

/** Without either nothing is said; the handler refuses that with a sentence. */
const PersonsLink = v.pipe(Cause, v.metadata(either("sessionId", "commit")));

/** Keeps somebody's own word of what caused a defect; it outranks what is computed. */
export const createCausalLink = endpoint(
  {
    id: "causalLinkCreate",
    method: "POST",
    path: "/api/causal-link",
    summary: "Say what a defect was caused by",
    tag: "Causes",
    auth: changingDevice,
    body: { schema: PersonsLink, maxBytes: () => 64 * 1024 },
    ok: v.object({ ok: v.boolean(), link: CausalLink }),
    faults: [...inShape("tierGate", tierGate), forbidden, entryUnknown, sessionUnknown],
    limits: [{ name: "link", quota: (config) => config.limitBrain, per: "team", headers: "limited" }],
    example: {
      body: {
        repoKey: "github.com/acme/shop",
        file: ".claude/brain/errors.md",
        heading: "2026-11-20 Login loop",
        commit: "3f2a9c1",
      },
      ok: { ok: true, link: { ...EXAMPLE_LINK, origin: "person" } },
    },
  },
  async ({ core, principal, body, ip }) => {
    requireCapability(principal.tier, "traces");
    const { repoKey, file, heading, ordinal, sessionId, commit, promptExcerpt } = body;
    if (sessionId === undefined && commit === undefined)
      fail(malformed, 'In the body, "sessionId" or "commit" must say what the defect was caused by.');
    await core.store.write(() => touchDevice(core, principal, core.clock.now()));
    await catchUp(core, linksProjection);
    const place = repoKey === NO_REPO ? NO_REPO : redactText(repoKey).text;
    const entry = findEntry(core, principal.teamId, { repoKey: place, path: file, heading, ordinal });
    if (!entry) return fail(entryUnknown);
    const excerpt = promptExcerpt === undefined ? undefined : redactText(promptExcerpt).text;
    const cause = { sessionId, commit, promptExcerpt: excerpt };
    const link = await createLink(core, principal.teamId, entry, cause, actorOf(core, principal, ip()));
    if (typeof link === "string") return refuseDoubt(link);
    return { ok: true, link: linkReply(link) };
  },
);

function actorOf(core: Core, { deviceId, teamId }: DevicePrincipal, ip: string): Actor {
  return { kind: "device", id: deviceId, label: findDeviceOf(core, teamId, deviceId)?.label ?? deviceId, ip };
}

function refuseDoubt(doubt: Doubt): never {
  switch (doubt) {
    case "unknownSession":
      return fail(sessionUnknown);
    case "noCommit":
      return fail(malformed, 'In the body, "commit" must have 7 to 64 hexadecimal digits.');
    case "ambiguousCommit":
      return fail(malformed, 'In the body, "commit" fits several commits of the team: send more digits.');
    case "notMadeBySession":
      return fail(
        malformed,
        'In the body, "commit" was made by another session than "sessionId" names: send one of the two.',
      );
    default:
      return doubt satisfies never;
  }
}
