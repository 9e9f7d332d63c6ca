import * as v from "valibot";
import type { Core } from "../../core.ts";
import { type DevicePrincipal, device, findDeviceOf } from "../../identity/devices/devices.ts";
import { instantOrNull } from "../../kit/clock.ts";
import { cooperative } from "../../kit/yield.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { Count, Instant, identifier } from "../../platform/http/fields.ts";
import { type KnownRow, twinRows } from "./twin-rows.ts";

const MAX_IDS = 100;

const Known = v.object({
  id: v.string(),
  endedAt: v.pipe(v.nullable(Instant), v.description("When the session ended, as far as known.")),
  spans: Count,
  commits: Count,
});

/**
 * Says how much of some sessions came from devices whose binding has ended: a machine that is connected anew need not send that again. One
 * whose state was put back as it was earlier asks for its own as well; any other sends again what it is not sure of.
 */
export const known = endpoint(
  {
    id: "agentTracesKnown",
    method: "GET",
    path: "/api/agent-traces/known",
    summary: "Ask which sessions were sent by devices whose binding has ended",
    tag: "Agent traces",
    auth: device,
    query: v.object({
      ids: v.pipe(
        identifier(8_192),
        v.check((ids) => ids.split(",").length <= MAX_IDS, `must name at most ${MAX_IDS} sessions`),
        v.description(`Of at most ${MAX_IDS} sessions, as their agent named them, with commas between.`),
      ),
      own: v.optional(v.pipe(v.literal("true"), v.description("Those that this device sent as well."))),
    }),
    ok: v.object({
      ok: v.boolean(),
      sessions: v.pipe(
        v.array(Known),
        v.description("Sessions that such a device sent as a whole, unless it is known to be another person's."),
      ),
    }),
    faults: [],
    limits: [],
    example: {
      query: { ids: "s-1,s-2" },
      ok: { ok: true, sessions: [{ id: "s-1", endedAt: "2026-11-20T14:00:05.000Z", spans: 12, commits: 1 }] },
    },
  },
  async ({ core, principal, query: { ids, own } }) => {
    const letOthersIn = cooperative(core.clock);
    const sessions: v.InferOutput<typeof Known>[] = [];
    for (const id of new Set(ids.split(","))) {
      const one = knownAs(core, principal, id, own !== undefined);
      const size = one && twinRows(core.store).sizeOf.get(one.id);
      if (one && size) sessions.push({ id, endedAt: instantOrNull(one.endedAt), ...size });
      await letOthersIn();
    }
    return { ok: true, sessions };
  },
);

/** The latest telling of a session by a device that can send no more of it, or by the device itself if that counts. */
function knownAs(
  core: Core,
  { teamId, deviceId }: DevicePrincipal,
  externalId: string,
  isOwnKnown: boolean,
): KnownRow | undefined {
  const person = findDeviceOf(core, teamId, deviceId)?.person?.id;
  return twinRows(core.store)
    .known.all(teamId, externalId)
    .find((one) => {
      if (one.deviceId === deviceId) return isOwnKnown;
      const before = findDeviceOf(core, teamId, one.deviceId);
      if (before === undefined || before.status === "active") return false;
      return person === undefined || before.person === null || before.person.id === person;
    });
}
